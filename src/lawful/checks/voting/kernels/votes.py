"""The loop that counts, for each row of each class, how the other rows of its class vote on its value."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.common.arrays import Flags, Int32s, Ranks
from lawful.common.compiled import compiled


@compiled
def count_votes(
    rows: Int32s,
    offsets: Int32s,
    votes: Flags,
    column: Ranks,
    lowest: int,
    slots: Int32s,
    seen: Int32s,
    others: Int32s,
    alike: Int32s,
    rival: Int32s,
    suggested: Int32s,
) -> None:
    """Write the votes on the rows of all classes that vote; `slots` is zero on entry and on return.

    Rows below `lowest` take no part. The rival of a row is the most frequent value of its class that is neither null
    nor its own, the first by rank where several are.
    """
    for c in range(offsets.size - 1):
        if not votes[c]:
            continue
        parts = 0
        members = 0
        for i in range(offsets[c], offsets[c + 1]):
            rank = column[rows[i]]
            if rank >= lowest:
                members += 1
                if slots[rank] == 0:
                    seen[parts] = rank
                    parts += 1
                slots[rank] += 1
        first = 0
        second = 0
        for p in range(parts):
            rank = seen[p]
            if rank == 0:
                continue
            if first == 0 or slots[rank] > slots[first] or (slots[rank] == slots[first] and rank < first):
                second = first
                first = rank
            elif second == 0 or slots[rank] > slots[second] or (slots[rank] == slots[second] and rank < second):
                second = rank
        for i in range(offsets[c], offsets[c + 1]):
            row = rows[i]
            rank = column[row]
            if rank >= lowest:
                other = second if rank == first else first
                others[row] = members - 1
                alike[row] = slots[rank] - 1
                rival[row] = slots[other] if other > 0 else 0
                suggested[row] = other
        for p in range(parts):
            slots[seen[p]] = 0
