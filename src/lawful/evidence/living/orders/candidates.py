"""The pairs of new rows that can break a POD that held.

*Only pairs that touch a new row can.* Each POD has an index in the plan, which lists for a new row all rows that could
break it with that row. Indexes list pairs again that others have listed; a bit for each row and new row tells. Where a
row would be given more than comparing it with the whole table costs, nothing is listed, and the caller is told so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.evidence.living.orders.plan import IndexPlan
from lawful.evidence.living.orders.ranges import Ranges, total_counts
from lawful.evidence.signs import WORD_BITS

_CHUNK = 1 << 16
_LISTED_COST = 8
"""Looking at a row that an index lists takes about as long as comparing with eight rows that stand side by side."""


@dataclass(frozen=True)
class CandidateChunk:
    """Candidates of some new rows, one after the other.

    Attributes
    ----------
    left, right
        Pairs of a live row with a new one that came after it, each pair once.
    with_all
        New rows that are to be compared with all live rows before them: nothing is listed for these.
    """

    left: Int32s
    right: Int32s
    with_all: Int64s


def violating_candidates(
    plan: IndexPlan, new: Int64s, *, listed_cost: float = _LISTED_COST, chunk: int = _CHUNK
) -> Iterator[CandidateChunk]:
    """Pairs of new rows with live rows before them, among which all are that break a POD of the plan.

    Parameters
    ----------
    plan
        The indexes, after `catch_up` with the new rows in the table.
    new
        The numbers of the new rows, which are live.
    listed_cost
        How many rows a row is compared with, run by run, in the time that one takes which an index lists; 0 to list
        candidates whatever they cost.
    chunk
        How many pairs come at a time, at most.
    """
    visits = sum(len(each.fetches) for each in plan.indexes)
    seen = np.zeros(plan.table.end if visits > 1 else 0, np.uint64)
    for start in range(0, len(new), WORD_BITS):
        numbers = new[start : start + WORD_BITS]
        parts = [part for each in plan.indexes for part in each.ranges(numbers)]
        is_dear = total_counts(parts, len(numbers)) * listed_cost > plan.table.rows
        if is_dear.any():
            none = np.empty(0, np.int32)
            yield CandidateChunk(none, none, numbers[is_dear])
            parts = [part.without(is_dear) for part in parts]
        for left, right in _joined(parts, numbers, plan.table.is_live, seen, chunk):
            yield CandidateChunk(left, right, numbers[:0])
        if start + WORD_BITS < len(new):
            seen[:] = 0


def _joined(
    parts: list[Ranges], numbers: Int64s, is_live: Flags, seen: Words, chunk: int
) -> Iterator[tuple[Int32s, Int32s]]:
    """The pairs of all parts, few of them at a time only at the end."""
    lefts: list[Int32s] = []
    rights: list[Int32s] = []
    waiting = 0
    for part in parts:
        for left, right in part.pairs(numbers, is_live, seen, chunk):
            if waiting + len(left) > chunk:
                yield np.concatenate(lefts), np.concatenate(rights)
                lefts, rights, waiting = [], [], 0
            lefts.append(left)
            rights.append(right)
            waiting += len(left)
    if waiting:
        yield np.concatenate(lefts), np.concatenate(rights)
