"""The table that checks read: columns of order-preserving ranks, and nothing else."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Int32s = NDArray[np.int32]
Ranks = NDArray[np.int32] | NDArray[np.uint16]
"""Ranks as they are, or in half of the memory; see `Workspace.slim_column`."""


class RankedTable(Protocol):
    """Columns as dense int32 ranks: 1 to `distinct` in the order of the values, 0 for null."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def width(self) -> int:
        """The number of columns."""

    def column(self, i: int) -> Int32s:
        """Column `i`: contiguous, one rank a row, possibly a read-only memory map."""

    def distinct(self, i: int) -> int:
        """The number of distinct values of column `i`, null not counted."""
