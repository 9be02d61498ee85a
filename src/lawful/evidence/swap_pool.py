"""A pool for order compatibility: every agree set that was seen, with the swaps of the pairs that have it.

Distinct sign vectors are many: 700,000 on a table of 33,000 rows and 15 columns. To canonical order dependencies two
pairs that agree on the same columns differ only in which other columns they swap. So the pool keeps each agree set
once with all swaps seen under it, which are a few thousand entries for the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.exact import Tile
from lawful.evidence.kernels import swaps as swap_kernels
from lawful.evidence.signs import CHUNK, RowMatrix, all_columns, compared_words
from lawful.evidence.vector_set import VectorSet
from lawful.tables.ranked_table import ChosenRows, RankedTable


@dataclass(frozen=True, eq=False, slots=True)
class SwapSets:
    """Distinct agree sets and what is swapped under each: what a pool has seen, without the rows.

    Attributes
    ----------
    columns
        The columns that were compared; bit c of every set stands for `columns[c]`.
    agree, refuted
        As of `SwapPool`.
    witnesses
        A pair of rows for each agree set, `int32[sets, 2]`.
    """

    columns: tuple[int, ...]
    agree: Words
    refuted: Words
    witnesses: Int32s

    def __len__(self) -> int:
        return len(self.agree)


def merge_swaps(parts: Sequence[SwapSets]) -> SwapSets:
    """Put together what was seen of several parts of the pairs, sorted by agree set; the first witness stays."""
    if not parts or any(part.columns != parts[0].columns for part in parts):
        raise ValueError("only parts over the same columns can be put together")
    agree = np.concatenate([part.agree for part in parts])
    order = np.lexsort(agree.T)
    agree = agree[order]
    is_first = np.ones(len(agree), np.bool_)
    is_first[1:] = (agree[1:] != agree[:-1]).any(axis=1)
    refuted = np.concatenate([part.refuted for part in parts])[order]
    if len(agree):
        refuted = np.bitwise_or.reduceat(refuted, np.flatnonzero(is_first), axis=0)
    witnesses = np.concatenate([part.witnesses for part in parts])[order[is_first]]
    return SwapSets(parts[0].columns, agree[is_first], refuted, witnesses)


class SwapPool:
    """Distinct agree sets of pairs of rows and what was swapped under each, growing.

    Parameters
    ----------
    table, policy, columns
        As of `Pool`.
    """

    def __init__(self, table: RankedTable, policy: NullPolicy, columns: Sequence[int] | None = None) -> None:
        self.policy = policy
        self.rows = table.rows
        self._table = table
        self.matrix = RowMatrix.of(table, columns)
        words = self.matrix.words
        self._agree = VectorSet(1, words)
        self._everything = all_columns(len(self.columns))
        # At first signs that tell nothing: unknown in every column.
        self._recent: Words = np.full((1 << swap_kernels.RECENT_BITS, 2 * words), ~np.uint64(0))
        self._refuted: Words = np.zeros((0, len(self.columns), 2, words), np.uint64)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the table that are compared, by their bits."""
        return self.matrix.columns

    def __len__(self) -> int:
        """The number of agree sets."""
        return self._agree.size

    @property
    def agree(self) -> Words:
        """The columns on which each set agrees, `uint64[sets, words]`."""
        return self._agree.plane(0)

    @property
    def refuted(self) -> Words:
        """The columns that are swapped with each column under each agree set, `uint64[sets, columns, 2, words]`.

        See `swap_kernels`: first swaps against the same direction, then those against opposite ones.
        """
        return self._refuted[: self._agree.size]

    def add_pairs(self, left: Int32s, right: Int32s) -> int:
        """Compare row `left[k]` with row `right[k]` for every k; return how many pairs told something new."""
        left, right = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        return sum(
            self._add_chunk(left[start : start + CHUNK], right[start : start + CHUNK])
            for start in range(0, left.size, CHUNK)
        )

    def add_pairs_of(self, table: RankedTable, left: Int32s, right: Int32s) -> int:
        """Compare pairs of rows of the whole table, where the pool may have been given some of its rows only."""
        if table is self._table:
            return self.add_pairs(left, right)
        matrix = RowMatrix.of(ChosenRows(table, np.concatenate([left, right])), self.columns)
        places = np.arange(left.size, dtype=np.int32)
        signs = compared_words(matrix, places, places + np.int32(left.size), self.policy, signs=True)
        return self._add_signs(signs, left, right)

    def add_all_pairs(self, should_stop: Callable[[], bool]) -> None:
        """Compare all pairs of rows, those that are close to each other first."""
        left, right = (np.empty(CHUNK, np.int32) for _ in range(2))
        distance, position = 1, 0
        while distance < self.rows and not should_stop():
            listed, distance, position = swap_kernels.next_pairs(self.rows, distance, position, left, right)
            self._add_chunk(left[:listed], right[:listed])

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

    def empty_copy(self) -> SwapPool:
        """A pool of the same rows that has seen nothing, for another thread to fill."""
        other = copy(self)
        other._agree = VectorSet(1, self.matrix.words)
        other._recent = np.full_like(self._recent, ~np.uint64(0))
        other._refuted = np.zeros((0, *self._refuted.shape[1:]), np.uint64)
        return other

    def seen(self) -> SwapSets:
        """Everything that was seen."""
        return SwapSets(self.columns, self.agree.copy(), self.refuted.copy(), self._agree.witnesses.copy())

    def absorb(self, other: SwapSets) -> None:
        """Add what was seen elsewhere of pairs of the same rows."""
        joined = merge_swaps([self.seen(), other])
        self._agree = VectorSet(1, self.matrix.words)
        left, right = np.ascontiguousarray(joined.witnesses.T)
        self._agree.add_pairs(np.ascontiguousarray(joined.agree.T), left, right)
        self._refuted = np.ascontiguousarray(joined.refuted)

    def _add_chunk(self, left: Int32s, right: Int32s) -> int:
        return self._add_signs(compared_words(self.matrix, left, right, self.policy, signs=True), left, right)

    def _add_signs(self, signs: Words, left: Int32s, right: Int32s) -> int:
        agree = self._agree
        agree.reserve(left.size)
        if len(self._refuted) < agree.size + left.size:
            self._grow(max(agree.size + left.size, 2 * agree.size))
        return agree.add_swaps(signs, self._everything, left, right, self._refuted, self._recent)

    def _grow(self, room: int) -> None:
        refuted = np.zeros((room, *self._refuted.shape[1:]), np.uint64)
        refuted[: self._agree.size] = self.refuted
        self._refuted = refuted
