"""The pairs of new rows that can break a POD that held.

*Only pairs that touch a new row can.* Each POD has an index in the plan, which lists for a new row all rows that could
break it with that row. Indexes list pairs again that others have listed; a bit for each row and new row tells. How many
rows they would list can be told before. Where that is much, comparing a row with the whole table costs less.
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
LISTED_COST = 24
"""A row that an index lists takes as long as comparing with so many rows that are laid out for it. A listed pair took
10 ns per column; laid out, 0.2 ns with up to nine columns and 0.55 ns with 17."""
_LAYING_OUT = 30
"""Laying all rows out takes as long as comparing so many rows with them: 13 ns per value."""


@dataclass(frozen=True)
class CandidateChunk:
    """Candidates of some new rows: pairs of a live row with a new one that came after it, each pair once."""

    left: Int32s
    right: Int32s


def candidate_counts(plan: IndexPlan, new: Int64s) -> Int64s:
    """How many rows the indexes would list for each of some rows, those included that several of them list."""
    counts = [np.zeros(0, np.int64)]
    for start in range(0, len(new), WORD_BITS):
        numbers = new[start : start + WORD_BITS]
        counts.append(total_counts((part for each in plan.indexes for part in each.ranges(numbers)), len(numbers)))
    return np.concatenate(counts)


def better_with_all(counts: Int64s, rows: int) -> Flags:
    """Which new rows are better compared with all rows of the table than with those that indexes list.

    For few of them it does not pay to lay the table out.
    """
    saved = counts * LISTED_COST - rows
    is_dear: Flags = saved > 0
    return is_dear if saved[is_dear].sum() > _LAYING_OUT * rows else np.zeros(len(counts), np.bool_)


def violating_candidates(plan: IndexPlan, new: Int64s, *, chunk: int = _CHUNK) -> Iterator[CandidateChunk]:
    """Pairs of new rows with live rows before them, among which all are that break a POD of the plan.

    Parameters
    ----------
    plan
        The indexes, after `catch_up` with the new rows in the table.
    new
        The numbers of the new rows, which are live.
    chunk
        How many pairs come at a time, at most.
    """
    visits = sum(len(each.fetches) for each in plan.indexes)
    seen = np.zeros(plan.table.end if visits > 1 else 0, np.uint64)
    for start in range(0, len(new), WORD_BITS):
        numbers = new[start : start + WORD_BITS]
        parts = [part for each in plan.indexes for part in each.ranges(numbers)]
        for left, right in _joined(parts, numbers, plan.table.is_live, seen, chunk):
            yield CandidateChunk(left, right)
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
