"""Columns as planes of bytes: the form in which all pairs of a table are compared.

A column with up to 255 ranks is one plane, a wider one two, three or four, the low byte first. A vector
instruction then compares 32 rows at once. Columns that cannot tell pairs apart take no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Bytes, Int32s, Int64s, Words
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.kernels.layout import BLOCK, byte_planes, extremes, rows_in_order
from lawful.evidence.kernels.tiles import spread_bits
from lawful.evidence.signs import WORD_BITS, words_for
from lawful.tables.ranked_table import RankedTable, chosen_columns, in_lines

BYTE_BITS = 8
DIRECT_BITS = 18
"""Vectors of up to so many bits are counted in a table that they index; longer ones are hashed."""


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Where the planes of lanes and the parts of vectors are.

    A column that varies has a *lane*: bit `lane % 8` of byte `lane // 8` of a vector. A vector has a first part
    (differs, or less) and, of its first lanes, maybe a second (unknown, or greater).

    Attributes
    ----------
    lines
        For each lane the line of ranks that it comes from.
    lane, line, byte, group, bit
        For each plane its lane and line, which byte of the ranks, and the byte and bit of a vector.
    bits
        The length of a vector whose second part comes right after the first.
    groups
        The bytes of the first part.
    second_lanes, second_start
        How many lanes have a second part, and the bit at which it starts; hashed vectors start it at a byte.
    group_start
        The bit at which each byte of a vector starts, first part and second.
    key_words
        The words of a vector.
    """

    lines: Int64s
    lane: Int64s
    line: Int64s
    byte: Int64s
    group: Int64s
    bit: Bytes
    bits: int
    groups: int
    second_lanes: int
    second_start: int
    group_start: Int64s
    key_words: int

    @staticmethod
    def of(lines: tuple[int, ...], planes_of: tuple[int, ...], second_lanes: int) -> Layout:
        """The layout of lanes with so many planes each."""
        lanes = len(planes_of)
        lane = np.repeat(np.arange(lanes), planes_of)
        line_of_lane = np.array(lines, np.int64)
        byte = np.array([byte for planes in planes_of for byte in range(planes)], np.int64)
        bits = lanes + second_lanes
        groups, second_groups = -(-lanes // BYTE_BITS), -(-second_lanes // BYTE_BITS)
        second_start = lanes if bits <= DIRECT_BITS else groups * BYTE_BITS
        starts = [group * BYTE_BITS for group in range(groups)]
        starts += [second_start + group * BYTE_BITS for group in range(second_groups)]
        return Layout(
            line_of_lane,
            lane,
            line_of_lane[lane],
            byte,
            group=lane // BYTE_BITS,
            bit=np.left_shift(1, lane % BYTE_BITS).astype(np.uint8),
            bits=bits,
            groups=groups,
            second_lanes=second_lanes,
            second_start=second_start,
            group_start=np.array(starts, np.int64),
            key_words=words_for(second_start + second_groups * BYTE_BITS),
        )


class ByteColumns(NamedTuple):
    """What the kernels read of a table, and how to read their vectors.

    The columns with nulls that are to be ignored have the first lanes.

    Attributes
    ----------
    layout, planes
        The lanes, and their bytes, `uint8[planes, rows and more]` (see `BLOCK`).
    own
        The same of the first row of a pair; not the same array if different columns are compared.
    ordered_planes
        How many planes, from the first on, tell less from greater.
    nulls
        For the bytes whose columns have nulls to be ignored, where a row is null: `uint8[groups, rows and more]`.
    lanes
        For each lane the bit of its column in the result.
    order
        The row that stands at each position, or None if rows stand in their own order.
    """

    columns: tuple[int, ...]
    policy: NullPolicy
    rows: int
    layout: Layout
    own: Bytes
    planes: Bytes
    ordered_planes: int
    nulls: Bytes
    lanes: Int64s
    always_equal: tuple[int, ...]
    always_differ: tuple[int, ...]
    order: Int32s | None

    @staticmethod
    def of(table: RankedTable, policy: NullPolicy, columns: Sequence[int] | None) -> ByteColumns:
        """Copy columns of a table, all of them unless some are named, to tell where rows differ."""
        chosen = chosen_columns(table, columns)
        ranks, rows = in_lines(table, chosen), table.rows
        lowest, highest = extremes(ranks).tolist()
        ignore = policy is NullPolicy.IGNORE
        nullable, complete, always_equal, always_differ = [], [], [], []
        for bit, values in enumerate(highest):
            has_nulls = lowest[bit] == NULL_RANK
            if ignore and values == 0:
                continue  # no pair is known to agree or to differ
            if values + has_nulls <= 1:
                always_equal.append(bit)
            elif ignore and has_nulls:
                nullable.append(bit)
            elif values + has_nulls < rows or table.distinct(chosen[bit]) + has_nulls < rows:
                complete.append(bit)
            else:
                always_differ.append(bit)
        lanes = (*nullable, *complete)
        layout = Layout.of(lanes, tuple([planes_for(highest[bit]) for bit in lanes]), len(nullable))
        planes = byte_planes(ranks, layout.line, layout.byte)
        nulls = null_bytes(ranks[nullable] == NULL_RANK) if nullable else planes[:0]
        compared = (policy, rows, layout, planes, planes, 0, nulls, layout.lines)
        return ByteColumns(chosen, *compared, tuple(always_equal), tuple(always_differ), None)

    @property
    def for_walks(self) -> tuple[Bytes, Bytes, int, Int64s, Bytes, Bytes, int, Int64s]:
        """What kernels that walk over pairs begin their arguments with."""
        layout = self.layout
        columns = (self.own, self.planes, self.ordered_planes, layout.group, layout.bit)
        return *columns, self.nulls, layout.groups, layout.group_start

    def agree(self, keys: Words) -> Words:
        """The chosen columns on which pairs with these vectors `uint64[vectors, words]` agree.

        Their lanes have no bit in the first part, or they need none.
        """
        agree = spread_bits(keys, 0, self.lanes, words_for(len(self.columns)), True)
        for bit in self.always_equal:
            agree[:, bit // WORD_BITS] |= np.uint64(1 << bit % WORD_BITS)
        return agree

    def decode(self, keys: Words) -> tuple[Words, Words]:
        """Both parts of vectors `uint64[vectors, words]` as two planes over the chosen columns."""
        words, second = words_for(len(self.columns)), self.layout.second_lanes
        first_part = spread_bits(keys, 0, self.lanes, words, False)
        return first_part, spread_bits(keys, self.layout.second_start, self.lanes[:second], words, False)


def sorted_order(ranks: Int32s, highest: Sequence[int], lines: Iterable[int]) -> Int32s:
    """Rows sorted by some lines of ranks, coarse ones first; `highest` has the largest rank of each line.

    Neighbours then have much in common, so their vectors repeat; and of every pair the earlier row is the
    smaller one in the first lane that tells them apart, so that no vector occurs next to its mirror.
    """
    finest_first = sorted(lines, key=lambda line: -highest[line])
    order: Int32s = rows_in_order(ranks, np.array(highest, np.int64), np.array(finest_first, np.int64))
    return order


def planes_for(highest: int) -> int:
    """How many bytes ranks up to the highest need."""
    return (highest.bit_length() + 7) // BYTE_BITS or 1


def null_bytes(is_null: npt.NDArray[np.bool_]) -> Bytes:
    """Where the first lanes are null, eight lanes per byte, with the room that planes have behind their rows."""
    return np.pad(np.packbits(is_null, axis=0, bitorder="little"), ((0, 0), (0, BLOCK - 1)))
