"""The rows that are there: their codes and ids, numbered densely so that arrays over rows have no holes."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.meanings import NULL_RANK
from lawful.evidence.signs import words_for

_FIRST_ROOM = 256


class LiveRows:
    """Rows of codes with ids. Row numbers are 0 to `count` - 1; ids stay, numbers change when rows are deleted.

    Rows that come are numbered last. Rows that go are exchanged with the last ones first (`bring_last`), and are
    then dropped: so either batch is, while its pairs are counted, the last rows of the table.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._codes: Int32s = np.zeros((width, _FIRST_ROOM), np.int32)
        self._ids: Int64s = np.zeros(_FIRST_ROOM, np.int64)
        self._numbers: dict[int, int] = {}

    @property
    def codes(self) -> Int32s:
        """The codes of all rows, `int32[width, count]`."""
        return self._codes[:, : self.count]

    @property
    def ids(self) -> Int64s:
        """The ids of all rows."""
        return self._ids[: self.count]

    def append(self, codes: Int32s, ids: Int64s) -> None:
        """Add rows.

        Raises
        ------
        ValueError
            If an id is there already or comes twice, or a code is negative.
        """
        if codes.shape != (self.width, ids.size):
            raise ValueError(f"{ids.size} rows of {self.width} columns were announced, and came as {codes.shape}")
        if codes.size and codes.min() < 0:
            raise ValueError("codes are not negative")
        added = dict(zip(ids.tolist(), range(self.count, self.count + ids.size), strict=True))
        if len(added) < ids.size or not self._numbers.keys().isdisjoint(added):
            raise ValueError("a row of this id is there already")
        self._reserve(self.count + ids.size)
        self._numbers.update(added)
        last = self.count + ids.size
        self._codes[:, self.count : last], self._ids[self.count : last] = codes, ids
        self.count = last

    def bring_last(self, ids: Int64s) -> tuple[Int64s, Int64s]:
        """Exchange rows with others so that they are the last; return the numbers that were exchanged.

        Raises
        ------
        ValueError
            If an id is not there or comes twice.
        """
        wanted = ids.tolist()
        try:
            numbers = np.fromiter(map(self._numbers.__getitem__, wanted), np.int64, len(wanted))
        except KeyError as unknown:
            raise ValueError(f"there is no row of the id {unknown.args[0]}") from None
        if np.unique(numbers).size < numbers.size:
            raise ValueError("a row is to be deleted twice")
        first = self.count - numbers.size
        is_wanted = np.zeros(numbers.size, np.bool_)
        is_wanted[numbers[numbers >= first] - first] = True
        one, other = numbers[numbers < first], first + np.flatnonzero(~is_wanted)
        self._codes[:, one], self._codes[:, other] = self._codes[:, other], self._codes[:, one]
        self._ids[one], self._ids[other] = self._ids[other], self._ids[one]
        for moved in (one, other):
            self._numbers.update(zip(self._ids[moved].tolist(), moved.tolist(), strict=True))
        return one, other

    def drop_last(self, rows: int) -> None:
        """Forget the last rows."""
        for row_id in self._ids[self.count - rows : self.count].tolist():
            del self._numbers[row_id]
        self.count -= rows

    def _reserve(self, rows: int) -> None:
        if rows > self._ids.size:
            more = max(rows, 2 * self._ids.size) - self._ids.size
            self._codes = np.pad(self._codes, ((0, 0), (0, more)))
            self._ids = np.pad(self._ids, (0, more))


def null_words(codes: Int32s) -> Words:
    """In which columns each row of `int32[width, rows]` is null, as `uint64[rows, words]`."""
    width, rows = codes.shape
    packed = np.zeros((rows, 8 * words_for(width)), np.uint8)
    packed[:, : -(-width // 8)] = np.packbits(codes == NULL_RANK, axis=0, bitorder="little").T
    return packed.view(np.uint64)
