"""The loop that counts the edits between two texts."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled


@compiled
def edit_distance(first: Int32s, second: Int32s, line: Int32s) -> int:
    """Count the characters to insert, remove or replace, neighbours that change places counted as two.

    `line` has room for one more than `second`.
    """
    for j in range(second.size + 1):
        line[j] = j
    for i in range(first.size):
        diagonal = line[0]
        line[0] = i + 1
        for j in range(second.size):
            above = line[j + 1]
            replaced = diagonal + (0 if first[i] == second[j] else 1)
            line[j + 1] = min(replaced, above + 1, line[j] + 1)
            diagonal = above
    return int(line[second.size])
