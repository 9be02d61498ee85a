"""Counting a batch by comparing it with all rows: the walk of `evidence.exact` over byte planes that are kept.

The walk goes through pairs (i, j), i < j. So the planes hold the rows from their end on, the newest first: a batch
then is a tile of the walk, and what a batch costs is its pairs and nothing that grows with the table besides. The
paper zips bit vectors instead (section 4.2), one bit per row and value; a byte per row and column does the same for
all values at once, and does not grow with their number.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Bytes, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.byte_columns import ByteColumns, Layout, planes_for
from lawful.evidence.exact import Tile, vectors_of_tile
from lawful.evidence.kernels.layout import BLOCK, byte_planes
from lawful.evidence.living.live_rows import LiveRows
from lawful.evidence.living.tally import Tally

_FIRST_ROOM = 256
_PAIRS_A_THREAD = 1 << 20
"""Pairs for which a thread is worth starting: some milliseconds."""


class ComparedRows:
    """The live rows as byte planes. Every column has a lane, since a constant may vary with the next batch."""

    def __init__(self, rows: LiveRows, policy: NullPolicy, threads: int | None = None) -> None:
        self._rows = rows
        self._policy = policy
        self._threads = threads
        self._planes_of = np.ones(rows.width, np.int64)
        self._nullable = np.zeros(rows.width, np.bool_)
        self._room = 0
        self._see(0, rows.count)
        self._rebuild()

    def appended(self, rows: int) -> None:
        """Write the planes of new rows; all planes, if there is no room or a column needs another plane."""
        first, last = self._rows.count - rows, self._rows.count
        if self._see(first, last) or last > self._room:
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

    def pairs_of_last(self, rows: int) -> Tally:
        """Compare the last rows with each other and with all before them."""
        last = self._room - self._rows.count + rows
        tile = Tile(self._room, last - rows, last)
        keys, counts, witnesses = vectors_of_tile(self._columns, tile, self._threads, _PAIRS_A_THREAD)
        agree = self._columns.agree(keys)
        if self._policy is NullPolicy.IGNORE:
            differs, unknown = self._columns.decode(keys)
            agree = np.concatenate([agree, differs & ~unknown], axis=1)
        return Tally(agree, counts, self._room - 1 - witnesses)

    def _see(self, first: int, last: int) -> bool:
        """Look which planes some rows need; say whether they are not there yet."""
        if first == last:
            return False
        codes = self._rows.codes[:, first:last]
        planes_of = np.maximum(self._planes_of, [planes_for(int(highest)) for highest in codes.max(axis=1)])
        nullable = self._nullable
        if self._policy is NullPolicy.IGNORE:
            nullable = nullable | (codes == NULL_RANK).any(axis=1)
        is_more = bool((planes_of > self._planes_of).any() or (nullable > self._nullable).any())
        self._planes_of, self._nullable = planes_of, nullable
        return is_more

    def _rebuild(self) -> None:
        """Lay out anew, with room for twice the rows. Columns that ever had a null to ignore have the first lanes."""
        self._room = max(_FIRST_ROOM, 2 * self._rows.count)
        lanes = tuple(np.argsort(~self._nullable, kind="stable").tolist())
        second_lanes = int(np.count_nonzero(self._nullable))
        layout = Layout.of(lanes, tuple(self._planes_of[list(lanes)].tolist()), second_lanes)
        planes, nulls = self._zeros(layout.lane.size), self._zeros(-(-second_lanes // 8))
        compared = (self._policy, self._room, layout, planes, planes, 0, nulls, layout.lines)
        self._columns = ByteColumns(tuple(range(self._rows.width)), *compared, (), (), None)
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
