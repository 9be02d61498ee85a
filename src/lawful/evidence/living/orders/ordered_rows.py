"""The live rows of a table that changes as ranks, for whoever compares with all of them."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s
from lawful.evidence.living.orders.order_keys import TableKeys


class OrderedRows:
    """A table of ranks. Values that have left keep theirs, so ranks need not be dense; nothing is sorted for them.

    Parameters
    ----------
    keys
        The order of the values, up to date.
    """

    def __init__(self, keys: TableKeys) -> None:
        self._keys = keys
        self.numbers = keys.table.live_rows()
        """The number in the living table of each row."""
        self.rows, self.width = len(self.numbers), keys.table.width

    def column(self, i: int, /) -> Int32s:
        """The ranks of a column."""
        codes = self._keys.table.codes.column_of_rows(i, self.numbers)
        return np.asarray(self._keys.column(i).ranks()[codes])

    def distinct(self, i: int, /) -> int:
        """The highest rank of a column."""
        return self._keys.column(i).known
