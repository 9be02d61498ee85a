"""Columns as planes of bytes: the form in which all pairs of a table are compared.

A column with up to 255 ranks is one plane, a wider one two, three or four, the low byte first. A vector
instruction then compares 32 rows at once. Columns that cannot tell pairs apart take no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lawful.evidence.ranked_table import RankedTable, chosen_columns
from lawful.evidence.signs import words_for
from lawful.evidence.tile_kernels import byte_planes, spread_bits
from lawful.evidence.words_kernels import Bytes, Int32s, Int64s, Words
from lawful.meanings import NULL_RANK, NullPolicy

BYTE_BITS = 8
DIRECT_BITS = 18
"""Vectors of up to so many bits are counted in a table that they index; longer ones are hashed."""


@dataclass(frozen=True)
class ByteColumns:
    """What the kernels read of a table, and how to read their vectors.

    A column that varies has a *lane*: bit `lane % 8` of byte `lane // 8` of a vector. The columns with nulls that
    are to be ignored have the first lanes. A vector has a first part (differs, or less) and maybe a second
    (unknown, or greater).

    Attributes
    ----------
    planes, plane_group, plane_bit
        The bytes, `uint8[planes, rows]`, and for each plane the byte and bit of its column's lane.
    own
        The same of the first row of a pair; not the same array if different columns are compared.
    ordered_planes, second_lanes
        How many planes, from the first on, tell less from greater, and how many lanes have a second part.
    nulls
        For the bytes whose columns have nulls to be ignored, where a row is null: `uint8[groups, rows]`.
    lanes
        For each lane the bit of its column in the result.
    order
        The row that stands at each position, or None if rows stand in their own order.
    """

    columns: tuple[int, ...]
    policy: NullPolicy
    rows: int
    own: Bytes
    planes: Bytes
    ordered_planes: int
    plane_group: Int64s
    plane_bit: Bytes
    nulls: Bytes
    second_lanes: int
    lanes: tuple[int, ...]
    always_equal: tuple[int, ...]
    always_differ: tuple[int, ...]
    always_unknown: tuple[int, ...]
    order: Int32s | None

    @staticmethod
    def of(table: RankedTable, policy: NullPolicy, columns: Sequence[int] | None, *, signs: bool) -> ByteColumns:
        """Copy columns of a table, all of them unless some are named."""
        chosen = chosen_columns(table, columns)
        all_ranks = stacked([table.column(column) for column in chosen], table.rows)
        lowest = all_ranks.min(axis=1, initial=NULL_RANK + 1).tolist()
        ignore = policy is NullPolicy.IGNORE
        nullable, complete, always_equal, always_differ, always_unknown = [], [], [], [], []
        for bit, column in enumerate(chosen):
            values, has_nulls = table.distinct(column), lowest[bit] == NULL_RANK
            if ignore and values == 0:
                always_unknown.append(bit)
            elif values + has_nulls <= 1:
                always_equal.append(bit)
            elif ignore and has_nulls:
                nullable.append(bit)
            elif signs or values + has_nulls < table.rows:
                complete.append(bit)
            else:
                always_differ.append(bit)
        lanes = (*nullable, *complete)
        ranks = all_ranks if lanes == tuple(range(len(chosen))) else all_ranks[list(lanes)]
        order = sorted_order(ranks) if signs and lanes else None
        if order is not None:
            ranks = ranks[:, order]
        planes, lane_of_plane = split(ranks, ranks.max(axis=1, initial=NULL_RANK).tolist())
        return ByteColumns(
            columns=chosen,
            policy=policy,
            rows=table.rows,
            own=planes,
            planes=planes,
            ordered_planes=len(planes) if signs else 0,
            plane_group=lane_of_plane // BYTE_BITS,
            plane_bit=np.left_shift(1, lane_of_plane % BYTE_BITS).astype(np.uint8),
            nulls=null_bytes(ranks[: len(nullable)] == NULL_RANK),
            second_lanes=len(lanes) if signs else len(nullable),
            lanes=lanes,
            always_equal=tuple(always_equal),
            always_differ=tuple(always_differ),
            always_unknown=tuple(always_unknown),
            order=order,
        )

    @property
    def groups(self) -> int:
        """The bytes of the first part."""
        return -(-len(self.lanes) // BYTE_BITS)

    @property
    def second_groups(self) -> int:
        """The bytes of the second part."""
        return -(-self.second_lanes // BYTE_BITS)

    @property
    def bits(self) -> int:
        """The length of a vector whose second part comes right after the first."""
        return len(self.lanes) + self.second_lanes

    @property
    def second_start(self) -> int:
        """The bit at which the second part starts; hashed vectors start it at a byte."""
        return len(self.lanes) if self.bits <= DIRECT_BITS else self.groups * BYTE_BITS

    @property
    def group_start(self) -> Int64s:
        """The bit at which each byte of a vector starts, first part and second."""
        first = np.arange(self.groups) * BYTE_BITS
        return np.concatenate([first, self.second_start + np.arange(self.second_groups) * BYTE_BITS])

    @property
    def key_words(self) -> int:
        """The words of a vector."""
        return words_for(self.second_start + self.second_groups * BYTE_BITS)

    def decode(self, keys: Words) -> tuple[Words, Words]:
        """Both parts of vectors `uint64[vectors, words]` as two planes over the chosen columns."""
        first = self._spread(keys, 0, len(self.lanes))
        if self.second_lanes == 0:
            return first, np.zeros_like(first)
        return first, self._spread(keys, self.second_start, self.second_lanes)

    def _spread(self, keys: Words, start: int, lanes: int) -> Words:
        """Move bit `start + lane` of every key to the bit of the lane's column."""
        placed = np.array(self.lanes[:lanes], np.int64)
        return spread_bits(keys, start, placed, words_for(len(self.columns)))


def stacked(columns: Sequence[Int32s], rows: int) -> Int32s:
    """Columns as the lines of one array: one call then does what would take a call for each."""
    return np.array(columns, np.int32) if columns else np.empty((0, rows), np.int32)


def sorted_order(ranks: Int32s) -> Int32s:
    """Rows sorted by all lanes, coarse columns first.

    Neighbours then have much in common, so their vectors repeat; and of every pair the earlier row is the
    smaller one in the first lane that tells them apart, so that no vector occurs next to its mirror.
    """
    by_values = np.argsort(-ranks.max(axis=1, initial=NULL_RANK), kind="stable")
    return np.lexsort(ranks[by_values]).astype(np.int32)


def split(ranks: Int32s, highest: Sequence[int]) -> tuple[Bytes, Int64s]:
    """The bytes of the lanes, plane by plane, and the lane of each plane; enough of them for the highest ranks."""
    planes_of = [max(1, -(-most.bit_length() // BYTE_BITS)) for most in highest]
    lane_of_plane = np.array([lane for lane, planes in enumerate(planes_of) for _ in range(planes)], np.int64)
    byte_of_plane = np.array([byte for planes in planes_of for byte in range(planes)], np.int64)
    return byte_planes(ranks, lane_of_plane, byte_of_plane), lane_of_plane


def null_bytes(is_null: npt.NDArray[np.bool_]) -> Bytes:
    """Where the first lanes are null, eight lanes a byte."""
    return np.packbits(is_null, axis=0, bitorder="little")
