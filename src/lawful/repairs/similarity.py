"""How alike two texts are: a typo leaves most of a value as it was."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s
from lawful.repairs.kernels.edits import edit_distance

_LONGEST = 200
"""Texts are compared so far."""


def similarity(first: str | None, second: str | None) -> float:
    """Give the share of the longer text that is no edit, 0 to 1; nothing is like null."""
    if not first or not second:
        return 0.0
    a, b = _points(first), _points(second)
    distance = edit_distance(a, b, np.empty(b.size + 1, np.int32))
    return 1.0 - distance / max(a.size, b.size)


def _points(text: str) -> Int32s:
    return np.frombuffer(text[:_LONGEST].encode("utf-32-le", "surrogatepass"), np.int32)
