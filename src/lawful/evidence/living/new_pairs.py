"""The pairs of rows that a batch brings: those that can break a law that held.

*Only pairs that touch a new row can refute a law that held.* A pair that refutes X -> A or key X agrees on X. So for
each new row and each left side X it is enough to look at the rows that share its value in one column of X, the column
with the fewest such rows. All that follows from a law that held, by adding columns to X, is decided by the same pairs.
Where that would mean more work than comparing the row with the whole table, this is done; and so it is for a row that
breaks a law with an empty left side, since then all of its pairs count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Words
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.evidence.living.kernels.partners import choose_columns, compare_listed, compare_with_run
from lawful.evidence.living.row_clusters import RowClusters
from lawful.evidence.living.witnessed_sets import WitnessedSets
from lawful.evidence.signs import words_for
from lawful.tables.living.living_table import LivingTable

_RUN = 4096
_CHUNK = 8192
_LISTED_COST = 8
"""Looking at a row that an index lists takes about as long as comparing with eight rows that stand side by side."""
_MOST_SETS = 50_000
"""More left sides than this are not looked through for every new row."""


class Plan(NamedTuple):
    """Which pairs of new rows to look at.

    Attributes
    ----------
    pairs
        How many pairs of rows that stand side by side are compared in the time that this takes.
    is_listed
        Whether a new row is compared with the rows that the index lists, or with all.
    chosen
        For each new row that is, the columns whose values it looks up.
    """

    pairs: int
    is_listed: Flags
    chosen: Flags


def plan_new_rows(
    table: LivingTable,
    clusters: RowClusters,
    new: range,
    left_sides: Mapping[tuple[int, ...], list[int]] | None,
    constants: list[int],
    policy: NullPolicy,
) -> Plan:
    """Say which pairs of a new row can refute a law.

    Parameters
    ----------
    table
        The table with the new rows in it; only rows that are live are compared.
    clusters
        An index of its rows.
    new
        The numbers of the new rows, the last ones of the table.
    left_sides
        The left sides of all laws that held, without the empty one, each with what it determined, -1 if it was a key;
        None to compare new rows with all others.
    constants
        The columns that had one value in all rows.
    """
    clusters.catch_up()
    if left_sides is None or len(left_sides) > _MOST_SETS:
        with_all = len(new) * table.rows
        return Plan(with_all, np.zeros(len(new), np.bool_), np.zeros((len(new), table.width), np.bool_))
    rows = _codes_of(table, new)
    by_size = sorted(left_sides, key=len)
    offsets = np.cumsum([0, *map(len, by_size)], dtype=np.int64)
    members = np.array([column for columns in by_size for column in columns], np.int64)
    sizes = clusters.sizes(rows, sorted(set(members.tolist())))
    is_needed = np.ones((len(new), len(by_size)), np.bool_)
    for place, columns in enumerate(by_size):
        if len(columns) == 1 and -1 not in left_sides[columns]:
            is_needed[:, place] = _breaks_law(clusters, new, rows, columns[0], left_sides[columns], policy)
    chosen, cost = choose_columns(sizes, offsets, members, is_needed)
    is_listed = cost * _LISTED_COST < table.rows
    for column in constants:
        is_listed &= ~_breaks_constant(table, new, rows[column], column, policy)
    return Plan(int(np.where(is_listed, cost * _LISTED_COST, table.rows).sum()), is_listed, chosen)


def compare_new_rows(
    table: LivingTable,
    clusters: RowClusters,
    new: range,
    plan: Plan,
    into: WitnessedSets,
    should_stop: Callable[[], bool],
) -> Words:
    """Add the agree sets of all pairs of a new row that can refute a law; return those that are new."""
    rows = _codes_of(table, new)
    came = [np.empty((0, words_for(table.width)), np.uint64)]

    def take(words: Words, left: Int32s, right: Int32s) -> None:
        if should_stop():
            raise StoppedError("comparing the new rows was stopped")
        came.append(into.add(words, left, right).agree)

    for place, number in enumerate(new):
        if not plan.is_listed[place]:
            for compared in _with_all(table, rows[:, place], number, into.policy):
                take(*compared)
    for compared in _with_listed(table, clusters, new, rows, plan, into.policy):
        take(*compared)
    return np.concatenate(came)


def compare_pairs_of_rows(table: LivingTable, pairs: Int32s, into: WitnessedSets) -> Words:
    """Add the agree sets of some pairs of live rows; return those that are new."""
    came = [np.empty((0, words_for(table.width)), np.uint64)]
    for start in range(0, len(pairs), _CHUNK):
        left, right = np.ascontiguousarray(pairs[start : start + _CHUNK].T)
        came.append(into.add(_compared(table, left, right, into.policy), left, right).agree)
    return np.concatenate(came)


def _codes_of(table: LivingTable, new: range) -> Int32s:
    return table.codes.of_rows(np.arange(new.start, new.stop, dtype=np.int64))


def _breaks_law(
    clusters: RowClusters, new: range, rows: Int32s, column: int, right_sides: list[int], policy: NullPolicy
) -> Flags:
    """Which new rows have to look at all rows with their value in a column that determined others.

    All old rows with that value have one value in each of these: looking at one of them tells. Where a new row has
    another, all new rows with its value in the column have to look, at each other too.
    """
    broken = np.zeros(len(new), np.bool_)
    for right_side in right_sides:
        ignore = policy is NullPolicy.IGNORE
        broken |= clusters.breaks_class(column, rows[column], right_side, rows[right_side], new, ignore)
    return np.isin(rows[column], rows[column][broken])


def _breaks_constant(table: LivingTable, new: range, codes: Int32s, column: int, policy: NullPolicy) -> Flags:
    """Which new rows have another value than the rest in a column that was constant."""
    known = _first_code(table, new.start, column, policy)
    if known is None:
        known = next((int(code) for code in codes if code or policy is NullPolicy.EQUAL), 0)
    differs: Flags = codes != known
    return differs if policy is NullPolicy.EQUAL else differs & (codes != 0)


def _first_code(table: LivingTable, end: int, column: int, policy: NullPolicy) -> int | None:
    """The code of the first live row before `end` in a column, of the first that has a value if nulls are ignored."""
    first = 0
    for segment in table.codes.segments:
        for start in range(0, min(segment.shape[1], end - first), _RUN):
            codes = segment[column, start : min(start + _RUN, end - first)]
            counts = table.is_live[first + start : first + start + len(codes)].copy()
            if policy is NullPolicy.IGNORE:
                counts &= codes != 0
            if counts.any():
                return int(codes[np.argmax(counts)])
        first += segment.shape[1]
    return None


def _with_all(
    table: LivingTable, row: Int32s, number: int, policy: NullPolicy
) -> Iterator[tuple[Words, Int32s, Int32s]]:
    """Compare a row with all other live rows.

    With those that came with it too, in either order: a pair that an index does not list may be one that only this row
    makes count.
    """
    ignore = policy is NullPolicy.IGNORE
    row = np.ascontiguousarray(row)
    first = 0
    for segment in table.codes.segments:
        end = segment.shape[1]
        cuts = sorted(
            {*range(0, end, _RUN), end, *(cut for cut in (number - first, number - first + 1) if 0 <= cut <= end)}
        )
        for start, stop in pairwise(cuts):
            if first + start == number:
                continue
            words = np.empty(((1 + ignore) * words_for(table.width), stop - start), np.uint64)
            others = np.empty(stop - start, np.int32)
            kept = compare_with_run(segment, first, table.is_live, start, stop, row, ignore, words, others)
            yield np.ascontiguousarray(words[:, :kept]), others[:kept], np.full(kept, number, np.int32)
        first += end


def _with_listed(
    table: LivingTable,
    clusters: RowClusters,
    new: range,
    rows: Int32s,
    plan: Plan,
    policy: NullPolicy,
) -> Iterator[tuple[Words, Int32s, Int32s]]:
    """Compare rows with those that the index lists, and with those that are too new to be in it."""
    left: list[Int32s] = []
    right: list[Int32s] = []
    waiting = 0
    for place, number in enumerate(new):
        if not plan.is_listed[place]:
            continue
        found = [
            clusters.cluster(column, int(rows[column, place])) for column in np.flatnonzero(plan.chosen[place]).tolist()
        ]
        if number > clusters.end:
            found.append(np.arange(clusters.end, number, dtype=np.int32))
        others = np.concatenate(found) if found else np.empty(0, np.int32)
        others = others[(others < number) & table.is_live[others]]
        left.append(others)
        right.append(np.full(len(others), number, np.int32))
        waiting += len(others)
        if waiting >= _CHUNK:
            yield from _in_chunks(table, np.concatenate(left), np.concatenate(right), policy)
            left, right, waiting = [], [], 0
    if waiting:
        yield from _in_chunks(table, np.concatenate(left), np.concatenate(right), policy)


def _in_chunks(
    table: LivingTable, left: Int32s, right: Int32s, policy: NullPolicy
) -> Iterator[tuple[Words, Int32s, Int32s]]:
    for start in range(0, len(left), _CHUNK):
        one, other = left[start : start + _CHUNK], right[start : start + _CHUNK]
        yield _compared(table, one, other, policy), one, other


def _compared(table: LivingTable, left: Int32s, right: Int32s, policy: NullPolicy) -> Words:
    ignore = policy is NullPolicy.IGNORE
    words = np.empty(((1 + ignore) * words_for(table.width), left.size), np.uint64)
    compare_listed(*table.codes.segments, left, right, ignore, words)
    return words
