"""Sign vectors: how the rows of a pair compare, column by column, and the agree sets that they project to.

A sign is one of <, =, > and unknown, and takes two bits: `less` and `greater`. Equal has neither, unknown has
both. Column c is bit `c % 64` of word `c // 64` of either plane. Under `NullPolicy.EQUAL` null is equal to
null and less than every value, and nothing is unknown; under `IGNORE` a null on either side is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.kernels import compare as compare_kernels
from lawful.tables.ranked_table import RankedTable, chosen_columns

WORD_BITS = 64
CHUNK = 8192
"""Pairs compared at once: their words stay in the nearest cache until they are looked up."""

_LINE_BYTES = 64
_PADDING = 8
_BLOCK_ROWS = 4096


@dataclass(frozen=True, slots=True)
class SignVectors:
    """Two planes of words, one row per pair: `less` and `greater`, both `uint64[pairs, words]`."""

    less: Words
    greater: Words

    def __len__(self) -> int:
        return len(self.less)


@dataclass(frozen=True, slots=True)
class RowMatrix:
    """Chosen columns of a table row by row, each row padded and aligned so that it spans few cache lines.

    Attributes
    ----------
    ranks
        `int32[rows, padded]`; bit c of a vector is column c of this matrix, which is `columns[c]` of the table.
    masks
        The bit of each column within its piece of 32, zero for padding.
    columns
        The columns of the table.
    """

    ranks: Int32s
    masks: npt.NDArray[np.uint32]
    columns: tuple[int, ...]

    @staticmethod
    def of(table: RankedTable, columns: Sequence[int] | None = None) -> RowMatrix:
        """Copy columns of a table, all of them unless some are named."""
        chosen = chosen_columns(table, columns)
        padded = max(1, -(-len(chosen) // _PADDING)) * _PADDING
        ranks = _aligned_zeros(table.rows, padded)
        for start in range(0, table.rows, _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            for position, column in enumerate(chosen):
                ranks[block, position] = table.column(column)[block]
        positions = np.arange(padded, dtype=np.uint32)
        masks = np.left_shift(np.uint32(1), positions % np.uint32(compare_kernels.PIECE))
        masks[len(chosen) :] = 0
        return RowMatrix(ranks, masks, chosen)

    @property
    def words(self) -> int:
        """The words of one plane."""
        return words_for(len(self.columns))


def words_for(width: int) -> int:
    """The number of words that `width` columns need; at least one."""
    return max(1, -(-width // WORD_BITS))


def all_columns(width: int) -> Words:
    """The set of the first `width` columns, as `uint64[words]`."""
    bits = np.zeros(words_for(width) * WORD_BITS, np.uint8)
    bits[:width] = 1
    return np.packbits(bits, bitorder="little").view(np.uint64)


def compared_words(matrix: RowMatrix, left: Int32s, right: Int32s, policy: NullPolicy, *, signs: bool) -> Words:
    """Compare a chunk of pairs as the kernels want it: `words[plane * width + word, pair]`.

    With `signs` the planes are less and greater. Without, they are agree and, under `IGNORE` only, differ.
    """
    ignore = policy is NullPolicy.IGNORE
    planes = 2 if signs or ignore else 1
    words = np.empty((planes * matrix.words, left.size), np.uint64)
    if signs:
        compare_kernels.sign_words(matrix.ranks, matrix.masks, left, right, ignore, words)
    elif ignore:
        compare_kernels.known_words(matrix.ranks, matrix.masks, left, right, words)
    else:
        compare_kernels.agree_words(matrix.ranks, matrix.masks, left, right, words)
    return words


def _aligned_zeros(rows: int, padded: int) -> Int32s:
    item = np.dtype(np.int32).itemsize
    raw = np.zeros(rows * padded + _LINE_BYTES // item, np.int32)
    skipped = (-raw.ctypes.data % _LINE_BYTES) // item
    return raw[skipped : skipped + rows * padded].reshape(rows, padded)
