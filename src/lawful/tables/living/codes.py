"""The codes of all rows that ever came: a base that may be memory-mapped, and a tail that grows with every batch."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s

_FIRST_ROOM = 1024


class Codes:
    """Rows as codes, one line per column; a row keeps its number for ever, and what it holds never changes.

    Parameters
    ----------
    base
        The first rows, `int32[columns, rows]`; it is never written to, so it may be a read-only memory map.
    """

    def __init__(self, base: Int32s) -> None:
        self._base = base
        self._tail: Int32s = np.empty((base.shape[0], 0), np.int32)
        self._in_tail = 0

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self._base.shape[0])

    def __len__(self) -> int:
        """How many rows there are, those that have left included."""
        return int(self._base.shape[1]) + self._in_tail

    @property
    def segments(self) -> tuple[Int32s, Int32s]:
        """The base and the tail, each `int32[columns, rows]`; the tail's rows come after the base's."""
        return self._base, self._tail[:, : self._in_tail]

    def append(self, rows: Int32s) -> None:
        """Add rows, `int32[columns, rows]`, behind all others."""
        needed = self._in_tail + rows.shape[1]
        if needed > self._tail.shape[1]:
            grown = np.empty((self.width, max(needed, 2 * self._in_tail, _FIRST_ROOM)), np.int32)
            grown[:, : self._in_tail] = self._tail[:, : self._in_tail]
            self._tail = grown
        self._tail[:, self._in_tail : needed] = rows
        self._in_tail = needed

    def column(self, column: int) -> Int32s:
        """One column of all rows; a copy once rows were added."""
        base, tail = self.segments
        return base[column] if not self._in_tail else np.concatenate([base[column], tail[column]])

    def of_rows(self, rows: Int64s) -> Int32s:
        """The codes of some rows, `int32[columns, rows]`."""
        found = np.empty((self.width, len(rows)), np.int32)
        for column in range(self.width):
            found[column] = self.column_of_rows(column, rows)
        return found

    def column_of_rows(self, column: int, rows: Int64s) -> Int32s:
        """The codes of some rows in one column."""
        base, tail = self.segments
        if not self._in_tail:
            return np.asarray(base[column][rows])
        in_base = rows < base.shape[1]
        found = np.empty(len(rows), np.int32)
        found[in_base] = base[column][rows[in_base]]
        found[~in_base] = tail[column][rows[~in_base] - base.shape[1]]
        return found

    def matrix(self, rows: Int64s | None = None) -> Int32s:
        """All codes, or those of some rows, in one array of their own."""
        if rows is not None:
            return self.of_rows(rows)
        return np.concatenate(self.segments, axis=1)
