"""All left sides of a right side at once."""

from __future__ import annotations

import numpy as np

from lawful.search.pods.goals import GoalSearch
from lawful.search.pods.left_sides import Goal, GoalEdges


def minimal_left_sides(edges: np.ndarray, goal: Goal, columns: int, max_columns: int) -> np.ndarray:
    search = GoalSearch(GoalEdges.of(edges, goal), columns, max_columns)
    return np.concatenate([np.zeros((0, edges.shape[1]), np.uint64), *search.chunks(lambda: None)])
