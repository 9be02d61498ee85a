"""The pool: every distinct vector that was seen on a table, with one pair of rows that shows it.

All families of a run share one pool. Whatever pair one of them looks at, a sampled pair or the witness of a
refuted law, is compared once and refutes the candidates of the others too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.kernels import compare as compare_kernels
from lawful.evidence.signs import CHUNK, RowMatrix, SignVectors, all_columns, compared_words
from lawful.evidence.vector_set import VectorSet
from lawful.tables.ranked_table import ChosenRows, RankedTable


class Mark(NamedTuple):
    """How much a pool held at some moment."""

    agree: int
    signs: int


class Evidence(NamedTuple):
    """A part of a pool, in the order in which it came; see the properties of `Pool`."""

    agree: Words
    differ: Words
    witnesses: Int32s
    signs: SignVectors | None
    sign_witnesses: Int32s | None


class Pool:
    """Distinct vectors of pairs of rows, growing.

    Parameters
    ----------
    table
        The table; its columns are copied row by row once.
    policy
        What null means.
    columns
        The columns to compare, all unless some are named. Bit c of every set is `columns[c]`.
    signs
        Whether to keep sign vectors; agree sets are then their projection, each kept once.

    Notes
    -----
    A pair has two sign vectors, one the mirror of the other. The pool keeps the one whose first column that
    orders the pair has <, and turns the witness accordingly: whoever needs both takes `signs.mirrored()` too.
    """

    def __init__(
        self, table: RankedTable, policy: NullPolicy, columns: Sequence[int] | None = None, signs: bool = False
    ) -> None:
        self.policy = policy
        self.rows = table.rows
        self.matrix = RowMatrix.of(table, columns)
        # Without a null nothing is unknown, and vectors are half as long. Rows that were not chosen may have some.
        has_nulls = isinstance(table, ChosenRows) or not self.matrix.ranks[:, : self.width].all()
        self._has_unknown = policy is NullPolicy.IGNORE and has_nulls
        self._agree = VectorSet(2 if self._has_unknown else 1, self.matrix.words)
        self._signs = VectorSet(2, self.matrix.words) if signs else None
        self._everything = all_columns(self.width)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the table that are compared, by their bits."""
        return self.matrix.columns

    @property
    def width(self) -> int:
        """How many columns are compared."""
        return len(self.matrix.columns)

    def __len__(self) -> int:
        """The number of distinct vectors: sign vectors if they are kept, else agree sets."""
        return (self._signs or self._agree).size

    @property
    def agree(self) -> Words:
        """The columns on which each vector agrees, `uint64[vectors, words]`."""
        return self._agree.plane(0)

    @property
    def differ(self) -> Words:
        """The columns on which each vector is known to differ: all others, but for nulls to be ignored."""
        return self._differ(self._agree, 0)

    @property
    def witnesses(self) -> Int32s:
        """A pair of rows for each agree set, `int32[vectors, 2]`."""
        return self._agree.witnesses

    @property
    def signs(self) -> SignVectors:
        """The distinct sign vectors, if they are kept."""
        assert self._signs is not None, "this pool keeps no signs"
        return SignVectors(self._signs.plane(0), self._signs.plane(1))

    @property
    def sign_witnesses(self) -> Int32s:
        """A pair of rows for each sign vector, in the order that gives this vector and not its mirror."""
        assert self._signs is not None, "this pool keeps no signs"
        return self._signs.witnesses

    def mark(self) -> Mark:
        """What the pool holds now, for `new_since`."""
        return Mark(self._agree.size, self._signs.size if self._signs is not None else 0)

    def new_since(self, mark: Mark) -> Evidence:
        """Everything that came after a mark."""
        agree = self._agree
        new = Evidence(
            agree.plane(0)[mark.agree :], self._differ(agree, mark.agree), agree.witnesses[mark.agree :], None, None
        )
        if self._signs is None:
            return new
        signs = SignVectors(*(self._signs.plane(plane)[mark.signs :] for plane in range(2)))
        return new._replace(signs=signs, sign_witnesses=self._signs.witnesses[mark.signs :])

    def add_pairs(self, left: Int32s, right: Int32s) -> int:
        """Compare row `left[k]` with row `right[k]` for every k; return how many vectors are new.

        Raises
        ------
        IndexError
            If a row is not there or is paired with itself.
        """
        left, right = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        self._check_rows(left, right)
        before = len(self)
        for start in range(0, left.size, CHUNK):
            self._add_chunk(left[start : start + CHUNK], right[start : start + CHUNK])
        return len(self) - before

    def add_pairs_of(self, table: RankedTable, left: Int32s, right: Int32s) -> int:
        """Compare pairs of rows of the whole table, where the pool was given some of its rows.

        The witnesses of what is new are rows of this table.
        """
        left, right = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        matrix = RowMatrix.of(ChosenRows(table, np.concatenate([left, right])), self.columns)
        places = np.arange(left.size, dtype=np.int32)
        before = len(self)
        self._add_words(self._compared(matrix, places, places + np.int32(left.size)), left, right)
        return len(self) - before

    def add_pairs_of_classes(self, rows: Int32s, offsets: Int32s, should_stop: Callable[[], bool]) -> bool:
        """Compare all pairs of rows that share a class; say whether that came to its end before it had to stop.

        Class c is `rows[offsets[c]:offsets[c + 1]]`.
        """
        assert self._signs is None, "a pool that keeps signs compares listed pairs only"
        return self._agree.add_pairs_of_classes(rows, offsets, self.matrix.ranks, self.matrix.masks, should_stop)

    def empty_copy(self) -> Pool:
        """A pool of the same rows without any vector, for another thread to fill; see `absorb`."""
        other = copy(self)
        other._agree = VectorSet(2 if self._has_unknown else 1, self.matrix.words)
        other._signs = None if self._signs is None else VectorSet(2, self.matrix.words)
        return other

    def absorb(self, other: Pool) -> int:
        """Add what a pool of the same rows holds; return how many agree sets are new."""
        if self._signs is not None and other._signs is not None:
            self._signs.absorb(other._signs)
        return self._agree.absorb(other._agree)

    @property
    def knows_unknown(self) -> bool:
        """Whether there are nulls to be ignored, so that a pair may neither agree nor differ on a column."""
        return self._has_unknown

    def add_sets(self, agree: Words, differ: Words | None, witnesses: Int32s) -> int:
        """Add agree sets that were found elsewhere on the same rows; return how many are new."""
        assert self._signs is None, "a pool that keeps signs compares listed pairs only"
        planes = [agree, differ] if self._has_unknown and differ is not None else [agree]
        words = np.ascontiguousarray(np.concatenate(planes, axis=1).T)
        left, right = np.ascontiguousarray(witnesses.T)
        return self._agree.add_pairs(words, left, right)

    def _add_chunk(self, left: Int32s, right: Int32s) -> None:
        self._add_words(self._compared(self.matrix, left, right), left, right)

    def _compared(self, matrix: RowMatrix, left: Int32s, right: Int32s) -> Words:
        policy = NullPolicy.IGNORE if self._has_unknown else NullPolicy.EQUAL
        return compared_words(matrix, left, right, policy, signs=self._signs is not None)

    def _add_words(self, words: Words, left: Int32s, right: Int32s) -> None:
        if self._signs is None:
            self._agree.add_pairs(words, left, right)
            return
        left, right = left.copy(), right.copy()
        compare_kernels.orient(words, left, right)
        before = self._signs.size
        if self._signs.add_pairs(words, left, right):
            self._project(before)

    def _project(self, before: int) -> None:
        """Add the agree sets of the sign vectors from number `before` on."""
        assert self._signs is not None
        less, greater = (self._signs.plane(plane)[before:] for plane in range(2))
        planes = [~(less | greater) & self._everything]
        if self._has_unknown:
            planes.append(less ^ greater)
        left, right = self._signs.witnesses[before:].T
        words = np.ascontiguousarray(np.concatenate(planes, axis=1).T)
        self._agree.add_pairs(words, np.ascontiguousarray(left), np.ascontiguousarray(right))

    def _differ(self, vectors: VectorSet, start: int) -> Words:
        if self._has_unknown:
            return vectors.plane(1)[start:]
        return ~vectors.plane(0)[start:] & self._everything

    def _check_rows(self, left: Int32s, right: Int32s) -> None:
        if left.size == 0:
            return
        if left.shape != right.shape or left.ndim != 1:
            raise ValueError(f"pairs need one left row for each right row, not {left.shape} and {right.shape}")
        lowest, highest = min(left.min(), right.min()), max(left.max(), right.max())
        if lowest < 0 or highest >= self.rows or (left == right).any():
            raise IndexError(f"a pair is two different rows of 0 to {self.rows - 1}")
