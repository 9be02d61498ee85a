"""The pool: what the pairs of rows that a run has looked at say about single columns, kept once for all families.

A pair of rows is one sign (<, =, > or unknown) per column. Distinct sign vectors are many: 700,000 on a table of 33,000
rows and 15 columns. Laws over sets of columns need less. Keys and FDs ask where pairs agree. Order compatibility also
asks which two columns a pair swaps, and two pairs that agree on the same columns differ in nothing else. So the pool
keeps each agree set once, on request with all swaps that were seen under it, and every pair that told something new.
Whatever pair one family looks at, a sampled one or the witness of a refuted law, refutes the candidates of the others
too; who needs more of a pair than its agree set and swaps follows the pool and compares the pairs itself (`follow`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Protocol

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.exact import Tile
from lawful.evidence.kernels import swaps as swap_kernels
from lawful.evidence.signs import CHUNK, RowMatrix, all_columns, compared_words
from lawful.evidence.swap_sets import SwapSets, merge_swaps
from lawful.evidence.swaps import Swaps
from lawful.evidence.vector_set import VectorSet
from lawful.tables.ranked_table import ChosenRows, RankedTable


class Follower(Protocol):
    """Whoever looks at the pairs of a pool in its own way."""

    def add_pairs(self, left: Int32s, right: Int32s) -> int:
        """Look at pairs of rows of the whole table; return how many told something new."""


class Pool:
    """Distinct agree sets of pairs of rows, and the swaps seen under each, growing.

    Parameters
    ----------
    table
        The table, or some of its rows; its columns are copied row by row once.
    policy
        What null means.
    columns
        The columns to compare, all unless some are named. Bit c of every set is `columns[c]`.
    swaps
        Whether to keep swaps too.

    Attributes
    ----------
    compared
        How many pairs were compared.
    """

    def __init__(
        self, table: RankedTable, policy: NullPolicy, columns: Sequence[int] | None = None, *, swaps: bool = False
    ) -> None:
        self.policy = policy
        self.rows = table.rows
        self.matrix = RowMatrix.of(table, columns)
        self.compared = 0
        self._table = table
        # Without a null nothing is unknown, and vectors are half as long. Rows that were not chosen may have some.
        has_nulls = isinstance(table, ChosenRows) or not self.matrix.ranks[:, : self.width].all()
        self._has_unknown = policy is NullPolicy.IGNORE and has_nulls
        self._swaps = Swaps(self.width, self.matrix.words) if swaps else None
        # Beside swaps, where pairs differ is kept with these.
        self._agree = VectorSet(2 if self._has_unknown and not swaps else 1, self.matrix.words)
        self._everything = all_columns(self.width)
        self._followers: list[Follower] = []

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the table that are compared, by their bits."""
        return self.matrix.columns

    @property
    def width(self) -> int:
        """How many columns are compared."""
        return len(self.matrix.columns)

    @property
    def knows_unknown(self) -> bool:
        """Whether there are nulls to be ignored, so that a pair may neither agree nor differ on a column."""
        return self._has_unknown

    def __len__(self) -> int:
        """The number of distinct agree sets."""
        return self._agree.size

    @property
    def agree(self) -> Words:
        """The columns on which each vector agrees, `uint64[vectors, words]`."""
        return self._agree.plane(0)

    @property
    def differ(self) -> Words:
        """The columns on which each vector is known to differ: all others, but for nulls to be ignored."""
        if not self._has_unknown:
            return ~self.agree & self._everything
        return self._agree.plane(1) if self._swaps is None else self._swaps.differ(len(self))

    @property
    def refuted(self) -> Words:
        """The columns that are swapped with each column under each agree set, `uint64[sets, columns, 2, words]`.

        See `kernels.swaps`: first swaps against the same direction, then those against opposite ones.
        """
        assert self._swaps is not None, "this pool keeps no swaps"
        return self._swaps.refuted(len(self))

    @property
    def witnesses(self) -> Int32s:
        """A pair of rows of the whole table for each agree set, `int32[vectors, 2]`."""
        return self._agree.witnesses

    @property
    def pairs(self) -> Int32s:
        """All pairs of rows of the whole table that told something new, `int32[pairs, 2]`."""
        return self.witnesses if self._swaps is None else self._swaps.pairs

    def follow(self, follower: Follower) -> None:
        """Let somebody look at all pairs that told something new, and at those that will: rows of the whole table."""
        follower.add_pairs(*np.ascontiguousarray(self.pairs.T))
        self._followers.append(follower)

    def leave(self, follower: Follower) -> None:
        """Show pairs to a follower no more."""
        self._followers.remove(follower)

    def add_pairs(self, left: Int32s, right: Int32s) -> int:
        """Compare row `left[k]` with row `right[k]` for every k; return how many pairs told something new.

        Raises
        ------
        IndexError
            If a row is not there or is paired with itself.
        """
        left, right = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        self._check_rows(left, right)
        return sum(
            self._add_chunk(left[start : start + CHUNK], right[start : start + CHUNK])
            for start in range(0, left.size, CHUNK)
        )

    def add_pairs_of(self, table: RankedTable, left: Int32s, right: Int32s) -> int:
        """Compare pairs of rows of the whole table, where the pool may have been given some of its rows only."""
        left, right = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        matrix = RowMatrix.of(ChosenRows(table, np.concatenate([left, right])), self.columns)
        places = np.arange(left.size, dtype=np.int32)
        return self._add_words(self._compare(matrix, places, places + np.int32(left.size)), left, right)

    def add_tile(self, tile: Tile, should_stop: Callable[[], bool]) -> bool:
        """Compare the pairs of a tile; say whether that came to its end before it had to stop."""
        left, right = (np.empty(CHUNK, np.int32) for _ in range(2))
        i, j = tile.first, tile.first + 1
        while i < tile.last:
            if should_stop():
                return False
            listed, i, j = swap_kernels.pairs_of_tile(tile.rows, tile.last, i, j, left, right)
            self._add_chunk(left[:listed], right[:listed])
        return True

    def add_pairs_of_classes(self, rows: Int32s, offsets: Int32s, should_stop: Callable[[], bool]) -> bool:
        """Compare all pairs of rows that share a class; say whether that came to its end before it had to stop.

        Class c is `rows[offsets[c]:offsets[c + 1]]`.
        """
        assert self._swaps is None, "a pool that keeps swaps absorbs one that does not"
        return self._agree.add_pairs_of_classes(rows, offsets, self.matrix.ranks, self.matrix.masks, should_stop)

    def empty_copy(self, *, swaps: bool = False) -> Pool:
        """A pool of the same rows that has seen nothing, for another thread to fill; see `absorb`."""
        other = copy(self)
        other._agree = VectorSet(2 if self._has_unknown and not swaps else 1, self.matrix.words)
        other._swaps = Swaps(self.width, self.matrix.words) if swaps else None
        other._followers, other.compared = [], 0
        return other

    def seen(self) -> SwapSets:
        """Everything that was seen, of a pool that keeps swaps."""
        return SwapSets(self.columns, self.agree.copy(), self.refuted.copy(), self.witnesses.copy())

    def absorb_swaps(self, other: SwapSets) -> None:
        """Add the agree sets and swaps that were seen elsewhere of pairs of the same rows."""
        assert self._swaps is not None, "this pool keeps no swaps"
        joined = merge_swaps([self.seen(), other])
        self._agree = VectorSet(1, self.matrix.words)
        left, right = np.ascontiguousarray(joined.witnesses.T)
        self._agree.add_pairs(np.ascontiguousarray(joined.agree.T), left, right)
        self._swaps.replace(joined.refuted, other.witnesses)
        self._show(other.witnesses)

    def add_sets(self, agree: Words, differ: Words | None, witnesses: Int32s) -> int:
        """Add agree sets that were found elsewhere on the same rows; return how many are new."""
        assert self._swaps is None, "a pool that keeps swaps absorbs one that does not"
        planes = [agree, differ] if self._has_unknown and differ is not None else [agree]
        words = np.ascontiguousarray(np.concatenate(planes, axis=1).T)
        left, right = np.ascontiguousarray(witnesses.T)
        return self._agree.add_pairs(words, left, right)

    def absorb(self, other: Pool) -> int:
        """Add what a pool of the same rows holds, which must be all rows; return how many agree sets are new."""
        before = len(self)
        if self._swaps is None:
            self._agree.absorb(other._agree)
            self._show(self.witnesses[before:])
        else:
            self.add_pairs(*np.ascontiguousarray(other.witnesses.T))
        return len(self) - before

    def _add_chunk(self, left: Int32s, right: Int32s) -> int:
        words = self._compare(self.matrix, left, right)
        if isinstance(self._table, ChosenRows):
            left, right = self._table.ids[left], self._table.ids[right]
        return self._add_words(words, left, right)

    def _compare(self, matrix: RowMatrix, left: Int32s, right: Int32s) -> Words:
        self.compared += left.size
        policy = NullPolicy.IGNORE if self._has_unknown else NullPolicy.EQUAL
        return compared_words(matrix, left, right, policy, signs=self._swaps is not None)

    def _add_words(self, words: Words, left: Int32s, right: Int32s) -> int:
        before = len(self.pairs)
        if self._swaps is None:
            self._agree.add_pairs(words, left, right)
        else:
            self._swaps.take_in(self._agree, words, self._everything, left, right)
        new = self.pairs[before:]
        self._show(new)
        return len(new)

    def _show(self, new: Int32s) -> None:
        if len(new):
            for follower in self._followers:
                follower.add_pairs(*np.ascontiguousarray(new.T))

    def _check_rows(self, left: Int32s, right: Int32s) -> None:
        if left.size == 0:
            return
        if left.shape != right.shape or left.ndim != 1:
            raise ValueError(f"pairs need one left row for each right row, not {left.shape} and {right.shape}")
        lowest, highest = min(left.min(), right.min()), max(left.max(), right.max())
        if lowest < 0 or highest >= self.rows or (left == right).any():
            raise IndexError(f"a pair is two different rows of 0 to {self.rows - 1}")
