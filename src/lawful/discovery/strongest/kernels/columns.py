"""The loop that tries one left side with many right sides."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.checks.strength.kernels.splits import count_splits
from lawful.common.arrays import Floats, Int32s, Int64s
from lawful.common.compiled import compiled


@compiled
def try_columns(
    rows: Int32s,
    offsets: Int32s,
    lines: Int32s,
    columns: Int64s,
    most_lost: Floats,
    slots: Int32s,
    seen: Int32s,
    out: Floats,
) -> None:
    """Count the splits of a partition by some columns, each until more than its `most_lost` is lost.

    A line of `out` is what `count_splits` gives.
    """
    for place in range(columns.size):
        found = count_splits(rows, offsets, lines[columns[place]], 0, most_lost[place], slots, seen)
        out[place, 0] = found[0]
        out[place, 1] = found[1]
        out[place, 2] = found[2]
        out[place, 3] = found[3]
        out[place, 4] = found[4]
        out[place, 5] = found[5]
        out[place, 6] = found[6]
