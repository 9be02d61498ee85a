"""Putting millions of laws in order with little memory beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.compiled import compiled

Places = npt.NDArray[np.uint32]


@compiled
def places_by_grade(grades: Places, highest: int) -> Places:
    """The places of all laws, those of the lowest grade first, of one grade as they stand: a counting sort."""
    before = np.zeros(highest + 2, np.int64)
    for grade in grades:
        before[np.int64(grade) + 1] += 1
    for grade in range(1, before.size):
        before[grade] += before[grade - 1]
    places = np.empty(grades.size, np.uint32)
    for place in range(grades.size):
        grade = np.int64(grades[place])
        places[before[grade]] = place
        before[grade] += 1
    return places
