"""Columns as planes of bytes: the form in which all pairs of a table are compared.

A column with up to 255 ranks is one plane, a wider one two, three or four, the low byte first. A vector
instruction then compares 32 rows at once. Columns that cannot tell pairs apart take no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lawful.evidence.layout_kernels import byte_planes, extremes, rows_in_order
from lawful.evidence.ranked_table import RankedTable, chosen_columns
from lawful.evidence.signs import words_for
from lawful.evidence.tile_kernels import spread_bits
from lawful.evidence.words_kernels import Bytes, Int32s, Int64s, Words
from lawful.meanings import NULL_RANK, NullPolicy

BYTE_BITS = 8
DIRECT_BITS = 18
"""Vectors of up to so many bits are counted in a table that they index; longer ones are hashed."""

_REMEMBERED_LAYOUTS = 32


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """For each plane its lane, which byte of it, and the byte and bit of a vector; by how many planes lanes have."""

    lane: Int64s
    byte: Int64s
    group: Int64s
    bit: Bytes

    @staticmethod
    @lru_cache(maxsize=_REMEMBERED_LAYOUTS)
    def of(planes_of: tuple[int, ...]) -> Layout:
        """The layout of lanes with so many planes each; made once for all tables of the same kind."""
        lane = np.repeat(np.arange(len(planes_of)), planes_of)
        byte = np.array([byte for planes in planes_of for byte in range(planes)], np.int64)
        return Layout(lane, byte, lane // BYTE_BITS, np.left_shift(1, lane % BYTE_BITS).astype(np.uint8))


@dataclass(frozen=True, eq=False)
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
        lowest, highest = extremes(all_ranks).tolist()
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
        lanes = nullable + complete
        ranks = all_ranks if lanes == list(range(len(chosen))) else all_ranks.take(lanes, axis=0)
        highest = [highest[bit] for bit in lanes]
        order = sorted_order(ranks, highest, range(len(lanes))) if signs and lanes else None
        if order is not None:
            ranks = ranks[:, order]
        layout = Layout.of(tuple(map(planes_for, highest)))
        planes = byte_planes(ranks, layout.lane, layout.byte)
        return ByteColumns(
            columns=chosen,
            policy=policy,
            rows=table.rows,
            own=planes,
            planes=planes,
            ordered_planes=len(planes) if signs else 0,
            plane_group=layout.group,
            plane_bit=layout.bit,
            nulls=null_bytes(ranks[: len(nullable)] == NULL_RANK) if nullable else planes[:0],
            second_lanes=len(lanes) if signs else len(nullable),
            lanes=tuple(lanes),
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
        first = range(0, BYTE_BITS * self.groups, BYTE_BITS)
        second = range(self.second_start, self.second_start + BYTE_BITS * self.second_groups, BYTE_BITS)
        return np.array([*first, *second], np.int64)

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
    return np.concatenate(columns).reshape(len(columns), rows) if columns else np.empty((0, rows), np.int32)


def sorted_order(ranks: Int32s, highest: Sequence[int], lanes: Iterable[int]) -> Int32s:
    """Rows sorted by some lanes, coarse ones first; `highest` has the largest rank of each line of `ranks`.

    Neighbours then have much in common, so their vectors repeat; and of every pair the earlier row is the
    smaller one in the first lane that tells them apart, so that no vector occurs next to its mirror.
    """
    finest_first = sorted(lanes, key=lambda lane: -highest[lane])
    order: Int32s = rows_in_order(ranks, np.array(highest, np.int64), np.array(finest_first, np.int64))
    return order


def planes_for(highest: int) -> int:
    """How many bytes ranks up to the highest need."""
    return -(-highest.bit_length() // BYTE_BITS) or 1


def null_bytes(is_null: npt.NDArray[np.bool_]) -> Bytes:
    """Where the first lanes are null, eight lanes a byte."""
    return np.packbits(is_null, axis=0, bitorder="little")
