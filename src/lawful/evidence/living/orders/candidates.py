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
from lawful.evidence.living.orders.ranges import Ranges
from lawful.evidence.signs import WORD_BITS

_CHUNK = 1 << 16
LISTED_COST = 24
"""A row that an index lists takes as long as comparing with so many rows that are laid out for it. A listed pair took
10 ns per column; laid out, 0.2 ns with up to nine columns and 0.55 ns with 17."""
_MOST_RANGES = 1 << 17
"""Ranges that are made at a time."""
_MOST_LOOKED_FOR = 1 << 20
"""Rows times sorted lists that they are looked for in, at a time."""
_LAYING_OUT = 30
"""Laying all rows out takes as long as comparing so many rows with them: 13 ns per value."""


@dataclass(frozen=True)
class CandidateChunk:
    """Candidates of some new rows: pairs of a live row with a new one that came after it, each pair once."""

    left: Int32s
    right: Int32s


def candidate_counts(plan: IndexPlan, new: Int64s) -> Int64s:
    """How many rows the indexes would list for each of some rows, those included that several of them list."""
    counts = np.zeros(len(new), np.int64)
    for each in plan.indexes:
        step = max(1, _MOST_RANGES // max(1, each.rank))
        for start in range(0, len(new), step):
            counts[start : start + step] += each.counts(new[start : start + step])
    return counts


def is_better_with_all(expected: float, pairs: int, rows: int) -> bool:
    """Whether indexes need not be asked: by what they are thought to list, comparing with all costs half as much.

    `expected` of all `pairs` is what they are thought to list, in a table of so many rows.
    """
    return expected * LISTED_COST > 2 * (pairs + _LAYING_OUT * rows)


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
    seen = np.zeros(plan.table.end if plan.visits > 1 else 0, np.uint64)
    # Many rows are looked for at once, which takes fewer steps for each, and listed a word of bits at a time.
    block = WORD_BITS * max(1, _MOST_LOOKED_FOR // (WORD_BITS * max(1, sum(each.rank for each in plan.indexes))))
    for start in range(0, len(new), block):
        looked_for = new[start : start + block]
        found = [part for each in plan.indexes for part in each.ranges(looked_for)]
        for at in range(0, len(looked_for), WORD_BITS):
            numbers = looked_for[at : at + WORD_BITS]
            parts = [part.of(slice(at, at + WORD_BITS)) for part in found]
            for left, right in _joined(parts, numbers, plan.table.is_live, seen, chunk):
                yield CandidateChunk(left, right)
            if start + at + WORD_BITS < len(new):
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
