"""The pool for denial constraints: every distinct vector over a predicate space that was seen, with a pair of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.common.memory import make_room
from lawful.dependencies import Constant
from lawful.dependencies.predicate_space import Group, PredicateSpace
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.evidence.denials.operands import Operands, no_look, operands_of
from lawful.evidence.kernels import compare as compare_kernels
from lawful.evidence.signs import CHUNK, SignVectors, all_columns, words_for
from lawful.evidence.vector_set import VectorSet
from lawful.tables.ranked_table import RankedTable, has_nulls
from lawful.tables.sample import SampleTable

_PADDING = 8


class ComparesPairs(Protocol):
    """What compares pairs of rows by their ids."""

    rows: int

    def compare(self, left: Int64s, right: Int64s) -> SignVectors:
        """The vectors of listed pairs."""


class DenialPool:
    """Distinct vectors of signs of pairs (t, s), growing; samplers fill it as they fill a `Pool`.

    Of the two vectors of a pair one is kept. If only single columns are
    compared, it is always the one whose first column that orders the pair has <.

    Parameters
    ----------
    table, space, policy
        The table, what is compared, and what null means.
    look
        Called now and then while the table is laid out; raises what ends that.
    """

    def __init__(
        self, table: RankedTable, space: PredicateSpace, policy: NullPolicy, look: Callable[[], None] = no_look
    ) -> None:
        self.policy = policy
        self.rows = table.rows
        self.columns = space.columns
        self._space = space
        operands = operands_of(table, space, policy, look)
        self._matrix = _row_matrix(operands.values, table.rows, look)
        positions = np.arange(self._matrix.shape[1], dtype=np.uint32)
        self._masks = np.left_shift(np.uint32(1), positions % np.uint32(compare_kernels.PIECE))
        self._masks[len(space.groups) :] = 0
        self._operands = _in_pairs(operands, space, self._matrix.shape[1])
        self._words = words_for(len(space.groups))
        self._has_unknown = policy is NullPolicy.IGNORE and any(has_nulls(table, column) for column in space.columns)
        self._orderless = all_columns(len(space.groups)) & ~_places([group.is_ordered for group in space.groups])
        self._turns = not space.compares_across
        self._vectors = VectorSet(2, self._words)

    def __len__(self) -> int:
        """The number of distinct vectors."""
        return self._vectors.size

    @property
    def evidence(self) -> DenialEvidence:
        """All that was seen, uncounted."""
        signs = SignVectors(self._vectors.plane(0), self._vectors.plane(1))
        return DenialEvidence(signs, None, self._vectors.witnesses)

    def add_pairs(self, left: Int32s, right: Int32s) -> int:
        """Compare row `left[k]` as t with row `right[k]` as s for every k; return how many vectors are new."""
        left, right = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        before = len(self)
        for start in range(0, left.size, CHUNK):
            t, s = left[start : start + CHUNK], right[start : start + CHUNK]
            words = self._compared(t, s)
            if self._turns:
                t, s = self._oriented(words, t, s)
            self._vectors.add_pairs(words, t, s)
        return len(self) - before

    def add_pairs_of(self, table: SampleTable, left: Int32s, right: Int32s) -> int:
        """Compare pairs of rows of a sample of which the pool was given the first rows only."""
        rows = np.concatenate([left, right]).astype(np.int32)
        places = np.arange(len(left), dtype=np.int32)
        others = DenialPool(table.chosen(rows), self._space, self.policy)
        words, before = others._compared(places, places + np.int32(len(left))), len(self)
        t, s = np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32)
        if self._turns:
            t, s = self._oriented(words, t, s)
        self._vectors.add_pairs(words, t, s)
        return len(self) - before

    def compare(self, left: Int32s | Int64s, right: Int32s | Int64s) -> SignVectors:
        """The vectors of listed pairs, which are not added."""
        words = self._compared(np.ascontiguousarray(left, np.int32), np.ascontiguousarray(right, np.int32))
        planes = (np.ascontiguousarray(plane.T) for plane in np.split(words, 2))
        return SignVectors(*planes)

    def _compared(self, left: Int32s, right: Int32s) -> Words:
        words = np.empty((2 * self._words, left.size), np.uint64)
        if self._turns:
            compare_kernels.sign_words(self._matrix, self._masks, left, right, self._has_unknown, words)
        else:
            compare_kernels.sign_words_across(self._matrix, *self._operands, left, right, self._has_unknown, words)
        less, greater = words[: self._words], words[self._words :]
        orderless = self._orderless[:, np.newaxis]
        differs, unknown = (less | greater) & orderless, less & greater & orderless
        less[:] = (less & ~orderless) | differs
        greater[:] = (greater & ~orderless) | unknown
        return words

    def _oriented(self, words: Words, left: Int32s, right: Int32s) -> tuple[Int32s, Int32s]:
        """Turn the pairs whose first column with an order has >, here and now."""
        less, greater = words[: self._words], words[self._words :]
        ordered = ~self._orderless[:, np.newaxis]
        undecided = np.ones(left.size, np.bool_)
        turns = np.zeros(left.size, np.bool_)
        for word in range(self._words):
            differing = (less[word] ^ greater[word]) & ordered[word]
            lowest = differing & (~differing + np.uint64(1))
            turns |= undecided & (greater[word] & lowest != 0)
            undecided &= differing == 0
        exchanged = np.where(turns, (less ^ greater) & ordered, np.uint64(0))
        less ^= exchanged
        greater ^= exchanged
        return np.where(turns, right, left), np.where(turns, left, right)


def _in_pairs(operands: Operands, space: PredicateSpace, width: int) -> tuple[Int64s, Int64s]:
    """For each group the places of its operands in a pair: in all that t has, and then all that s has."""
    left = [width * (group.left.row == "s") for group in space.groups]
    right = [width * (_row_of_right(group) == "s") for group in space.groups]
    return operands.left + np.array(left, np.int64), operands.right + np.array(right, np.int64)


def _row_of_right(group: Group) -> str:
    """The row of the operand on the right; a constant is the same in both."""
    return group.left.row if isinstance(group.right, Constant) else group.right.row


def _row_matrix(values: list[Int32s], rows: int, look: Callable[[], None]) -> Int32s:
    """Operands row by row, padded as the kernels want them."""
    width = max(1, -(-len(values) // _PADDING)) * _PADDING
    make_room(rows * width * np.dtype(np.int32).itemsize)
    matrix = np.zeros((rows, width), np.int32)
    for place, of_rows in enumerate(values):
        look()
        matrix[:, place] = of_rows
    return matrix


def _places(flags: list[bool]) -> Words:
    bits = np.zeros(words_for(len(flags)) * 64, np.uint8)
    bits[: len(flags)] = flags
    return np.packbits(bits, bitorder="little").view(np.uint64)
