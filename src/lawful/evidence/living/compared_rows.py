"""Counting a batch by comparing it with all rows: the walk of `evidence.exact` over byte planes that are kept.

The walk goes through pairs (i, j), i < j. So the planes hold the rows from their end on, the newest first: a batch
then is a tile of the walk, and what a batch costs is its pairs and nothing that grows with the table besides. The
paper zips bit vectors instead (section 4.2), one bit per row and value; a byte per row and column does the same for
all values at once, and does not grow with their number.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Bytes, Int32s, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.byte_columns import ByteColumns, Layout, planes_for
from lawful.evidence.exact import ShouldStop, Tile, vectors_of_tile
from lawful.evidence.kernels.layout import BLOCK, byte_planes
from lawful.evidence.living.live_rows import LiveRows
from lawful.evidence.living.tally import Tally

_FIRST_ROOM = 256
_PAIRS_A_THREAD = 1 << 20
"""Pairs for which a thread is worth starting: some milliseconds."""


class ComparedRows:
    """The live rows as byte planes.

    What a column needs follows from the lowest and highest code that came: no plane while it is constant, one for each
    byte of its codes otherwise, and a second bit in every vector if it has nulls to ignore. When a batch brings more
    than that, all planes are laid out anew, which happens to a column a few times at most.
    """

    def __init__(self, rows: LiveRows, policy: NullPolicy, threads: int | None = None) -> None:
        self._rows = rows
        self._policy = policy
        self._threads = threads
        self._lowest: Int32s
        self._highest: Int32s
        self._rebuild()

    def appended(self, rows: int) -> None:
        """Write the planes of new rows; all planes, if there is no room or a column needs another plane."""
        first, last = self._rows.count - rows, self._rows.count
        self._see(first, last)
        if last > self._room or self._needs() != self._has:
            self._rebuild()
        else:
            self._write(first, last)

    def exchanged(self, one: Int64s, other: Int64s) -> None:
        """Exchange rows in the planes."""
        one, other = self._room - 1 - one, self._room - 1 - other
        for lines in (self._columns.planes, self._columns.nulls):
            lines[:, one], lines[:, other] = lines[:, other], lines[:, one]

    def dropping(self, rows: int) -> None:
        """Rows that are not counted are not looked at."""

    def pairs_of_last(self, rows: int, should_stop: ShouldStop | None = None) -> Tally:
        """Compare the last rows with each other and with all before them."""
        last = self._room - self._rows.count + rows
        tile = Tile(self._room, last - rows, last)
        keys, counts, witnesses = vectors_of_tile(self._columns, tile, self._threads, _PAIRS_A_THREAD, should_stop)
        agree = self._columns.agree(keys)
        if self._policy is NullPolicy.IGNORE:
            differs, unknown = self._columns.decode(keys)
            agree = np.concatenate([agree, differs & ~unknown], axis=1)
        return Tally(agree, counts, self._room - 1 - witnesses)

    def _see(self, first: int, last: int) -> None:
        if first < last:
            codes = self._rows.codes[:, first:last]
            self._lowest = np.minimum(self._lowest, codes.min(axis=1))
            self._highest = np.maximum(self._highest, codes.max(axis=1))

    def _needs(self) -> list[tuple[int, bool]]:
        """For each column how many planes it needs, and whether it has nulls to ignore."""
        ignore = self._policy is NullPolicy.IGNORE
        ends = zip(self._lowest.tolist(), self._highest.tolist(), strict=True)
        return [
            (planes_for(highest) if lowest < highest else 0, ignore and lowest == NULL_RANK) for lowest, highest in ends
        ]

    def _rebuild(self) -> None:
        """Lay out anew, with room for twice the rows. Columns with nulls to ignore have the first lanes."""
        self._room = max(_FIRST_ROOM, 2 * self._rows.count)
        self._lowest = np.full(self._rows.width, np.iinfo(np.int32).max, np.int32)
        self._highest = np.full(self._rows.width, NULL_RANK - 1, np.int32)
        self._see(0, self._rows.count)
        self._has = self._needs()
        varying = [column for column, (planes, _) in enumerate(self._has) if planes]
        lanes = tuple(sorted(varying, key=lambda column: not self._has[column][1]))
        second_lanes = sum(self._has[column][1] for column in lanes)
        layout = Layout.of(lanes, tuple(self._has[column][0] for column in lanes), second_lanes)
        planes, nulls = self._zeros(layout.lane.size), self._zeros(-(-second_lanes // 8))
        compared = (self._policy, self._room, layout, planes, planes, 0, nulls, layout.lines)
        equal = tuple(column for column, needs in enumerate(self._has) if needs == (0, False))
        self._columns = ByteColumns(tuple(range(self._rows.width)), *compared, equal, (), None)
        self._write(0, self._rows.count)

    def _zeros(self, lines: int) -> Bytes:
        return np.zeros((lines, self._room + BLOCK - 1), np.uint8)

    def _write(self, first: int, last: int) -> None:
        layout, codes = self._columns.layout, np.ascontiguousarray(self._rows.codes[:, first:last][:, ::-1])
        places = slice(self._room - last, self._room - first)
        self._columns.planes[:, places] = byte_planes(codes, layout.line, layout.byte)[:, : last - first]
        if layout.second_lanes:
            is_null = codes[layout.lines[: layout.second_lanes]] == NULL_RANK
            self._columns.nulls[:, places] = np.packbits(is_null, axis=0, bitorder="little")
