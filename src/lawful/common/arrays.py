"""The kinds of arrays that rooms hand to each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
"""Sets packed into words of 64 bits: bit c of a set is bit `c % 64` of word `c // 64`."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Ints = Int32s | Int64s
"""Row ids or ranks: 32 bits where a node holds the table."""
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

Ranks = npt.NDArray[np.int32] | npt.NDArray[np.uint16]
"""Ranks as they are, or in half of the memory."""
