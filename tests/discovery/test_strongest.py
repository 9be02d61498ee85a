"""The strongest laws: the search gives what ranking every candidate by the definition gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from math import comb
from unittest.mock import patch

import numpy as np
import pytest
from checks.tables import POLICIES, ArrayTable, large_table, ranked, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.checks import CheckTask, Partition, Trial, Workspace, check
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.discovery.strongest import discover as strongest
from lawful.discovery.strongest.discover import Strongest, StrongestQuestion, find_strongest
from lawful.discovery.strongest.kernels.signs import count_orders, mark_signs
from lawful.discovery.strongest.orders import orders_of_few_columns, pairs_within
from lawful.discovery.strongest.worth import Tried, place_of
from lawful.engines.local import LocalEngine


def smaller_laws(law: Law) -> Iterator[Law]:
    """The laws of the same form with some columns less, but at least one on the left of keys and FDs."""
    if isinstance(law, CanonicalOD):
        for size in range(len(law.context)):
            for context in combinations(law.context, size):
                yield CanonicalOD(context, law.left, law.right, law.direction)
        return
    columns = law.columns if isinstance(law, Key) else law.lhs
    for size in range(1, len(columns)):
        for some in combinations(columns, size):
            yield Key(some) if isinstance(law, Key) else FD(some, law.rhs)


def candidates(columns: list[int], largest: int) -> Iterator[tuple[Law, int]]:
    """Every candidate, and how many its family has of its size."""
    width = len(columns)
    for size in range(1, largest + 1):
        for some in combinations(columns, size):
            yield Key(some), comb(width, size)
            for right in columns:
                if right not in some:
                    yield FD(some, right), comb(width, size) * (width - size)
    for left, right in combinations(columns, 2):
        for size in range(max(1, largest - 1)):
            for context in combinations([c for c in columns if c not in (left, right)], size):
                for direction in ("asc", "desc"):
                    tried = 2 * comb(width, 2) * comb(width - 2, size)
                    yield CanonicalOD(context, left, right, direction), tried


def ranked_by_definition(table: ArrayTable, policy: NullPolicy, largest: int, top: int) -> dict[str, list[Law]]:
    workspace = Workspace(table, policy)
    columns = [column for column in range(table.width) if not workspace.is_constant(column)]
    trials: dict[Law, Trial] = {}

    def trial_of(law: Law) -> Trial:
        if law not in trials:
            trials[law] = check(CheckTask(0, law, trial=True), table, workspace).trial
        return trials[law]

    found: dict[str, list[tuple[object, Law]]] = {"key": [], "fd": [], "canonical-od": []}
    for law, tried in candidates(columns, largest):
        trial = trial_of(law)
        surely_lost = trial.surely_lost(tried)
        is_sure = surely_lost <= (0.1 if isinstance(law, CanonicalOD) else 0.5) and all(
            surely_lost <= (1.0 - trial_of(smaller).strength) / 2 for smaller in smaller_laws(law)
        )
        if isinstance(law, Key) and trial.removals > 0.1 * table.rows:
            continue
        if is_sure and not trial.is_accidental(tried):
            kind = {Key: "key", FD: "fd", CanonicalOD: "canonical-od"}[type(law)]
            found[kind].append(((-trial.strength, *place_of(law)), law))
    return {kind: first_of_each_size(sorted(laws, key=lambda each: each[0]), top) for kind, laws in found.items()}


def first_of_each_size(ranked_laws: list[tuple[object, Law]], top: int) -> list[Law]:
    seen: Counter[int] = Counter()
    listed = []
    for _, law in ranked_laws:
        seen[place_of(law)[0]] += 1
        if seen[place_of(law)[0]] <= top:
            listed.append(law)
    return listed


def searched(table: ArrayTable, policy: NullPolicy, largest: int, top: int, watch: Watch | None = None) -> Strongest:
    engine = LocalEngine(threads=1)
    engine.open(table, policy)
    try:
        question = StrongestQuestion(top=top, max_size=largest, null_policy=policy)
        return find_strongest(Search(table, engine, watch), question)
    finally:
        engine.close()


def laws_of(found: Strongest) -> dict[str, list[Law]]:
    return {kind: [each.law for each in laws] for kind, laws in found.laws.items()}


@st.composite
def dirty_tables(draw: st.DrawFn) -> ArrayTable:
    """Enough rows for laws to be sure of: columns that follow from others but for some cells, and random ones."""
    seed, rows = draw(st.integers(0, 10_000)), draw(st.integers(20, 90))
    rng = np.random.default_rng(seed)
    columns = [rng.integers(1, draw(st.sampled_from([3, 8, 30, 200])), rows) for _ in range(2)]
    for _ in range(draw(st.integers(1, 3))):
        first, second = (columns[i] for i in rng.integers(0, len(columns), 2))
        made = draw(st.sampled_from([first // 2 + 1, first * 7 + second, 300 - first, first % 3 + 1, np.arange(rows)]))
        wrong = rng.random(rows) < draw(st.sampled_from([0.0, 0.02, 0.1]))
        column = np.where(wrong, rng.integers(0, made.max() + 2, rows), made)
        columns.append(np.where(rng.random(rows) < draw(st.sampled_from([0.0, 0.0, 0.1])), 0, column))
    return ArrayTable([ranked(column.tolist()) for column in columns])


@given(dirty_tables(), POLICIES, st.sampled_from([1, 3, 100]), st.integers(1, 3))
@settings(max_examples=60)
def test_top_laws_are_those_of_the_definition(table: ArrayTable, policy: NullPolicy, top: int, largest: int) -> None:
    assert laws_of(searched(table, policy, largest, top)) == ranked_by_definition(table, policy, largest, top)


@given(tables(max_rows=9, max_width=4), POLICIES)
def test_tables_of_few_rows_have_no_strong_laws_or_few(table: ArrayTable, policy: NullPolicy) -> None:
    assert laws_of(searched(table, policy, 3, 10)) == ranked_by_definition(table, policy, 3, 10)


@pytest.mark.parametrize("top", [5, 1000])
def test_a_larger_table(top: int) -> None:
    table = large_table(seed=1, rows=600)
    found = laws_of(searched(table, NullPolicy.EQUAL, 3, top))
    assert found == ranked_by_definition(table, NullPolicy.EQUAL, 3, top)
    assert found["fd"]
    assert found["canonical-od"]


def test_random_columns_have_no_strong_laws() -> None:
    """Of ten tables of random columns, none has a law but single keys, if it has a unique column."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = [rng.integers(1, 2 + values, 400) for values in (2, 3, 5, 9, 20, 60, 150, 400)]
        table = ArrayTable([ranked(column.tolist()) for column in columns])
        assert not any(laws_of(searched(table, NullPolicy.EQUAL, 3, 100)).values())


def test_of_a_large_table_some_rows_are_thought_about_and_what_is_listed_is_counted_on_all() -> None:
    table = large_table(seed=5, rows=4_000)
    with patch.object(strongest, "THOUGHT_ROWS", 1_000):
        found = searched(table, NullPolicy.EQUAL, 2, 10)
    assert found.rows < 1_200
    workspace = Workspace(table, NullPolicy.EQUAL)
    assert found.laws["fd"]
    for laws in found.laws.values():
        assert max(Counter(place_of(each.law)[0] for each in laws).values(), default=0) <= 10
        for each in laws:
            assert each.trial == check(CheckTask(0, each.law, trial=True), table, workspace).trial
        assert laws == sorted(laws, key=lambda each: each.rank)


def test_a_limit_keeps_what_was_found() -> None:
    class Soon(Watch):
        looked = 0

        def reason(self) -> str | None:
            self.looked += 1
            return "soon" if self.looked > 2 else None

    table = large_table(seed=1, rows=600)
    engine = LocalEngine(threads=1)
    engine.open(table, NullPolicy.EQUAL)
    search = Search(table, engine, Soon())
    found = find_strongest(search, StrongestQuestion(find=("key", "fd")))
    assert not search.findings.complete
    assert search.findings.stopped_because == "soon"
    assert all(isinstance(each, Tried) for laws in found.laws.values() for each in laws)
    assert found.laws["fd"]


def test_a_wide_table_is_searched_by_its_smallest_laws() -> None:
    table = large_table(seed=1, rows=600)
    with patch.object(strongest, "_MOST_WORK", 8 * 24_000):
        found = searched(table, NullPolicy.EQUAL, 3, 100)
    assert found.sizes == 1
    assert laws_of(found)["fd"] == ranked_by_definition(table, NullPolicy.EQUAL, 1, 100)["fd"]


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=12), st.sampled_from([0, 1]), st.data())
def test_signs_of_few_columns_multiply_to_what_bits_count(
    rows: list[tuple[int, ...]], lowest: int, data: st.DataObject
) -> None:
    ranks = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    row = st.integers(0, len(rows) - 1)
    drawn = np.array(data.draw(st.lists(st.tuples(row, row), max_size=100)), np.int32).reshape(-1, 2)
    left, right = np.ascontiguousarray(drawn[:, 0]), np.ascontiguousarray(drawn[:, 1])
    less = np.zeros((4, -(-len(drawn) // 64)), np.uint64)
    greater, (rising, falling) = np.zeros_like(less), np.zeros((2, 4, 4), np.int64)
    for place, column in enumerate(ranks):
        mark_signs(column, left, right, lowest, less[place], greater[place])
    count_orders(less, greater, rising, falling)
    alike, against = orders_of_few_columns(ranks, left, right, lowest)
    assert alike.tolist() == rising.tolist()
    assert against.tolist() == falling.tolist()


@given(st.lists(st.integers(2, 6), max_size=5), st.integers(0, 60))
def test_pairs_within_classes_are_all_of_them_or_as_many_as_are_wanted(sizes: list[int], most: int) -> None:
    offsets = np.cumsum([0, *sizes]).astype(np.int32)
    rows = np.arange(100, 100 + offsets[-1], dtype=np.int32)[::-1].copy()
    partition = Partition(rows, offsets, 200)
    left, right, are_all = pairs_within(partition, most, lambda: np.random.default_rng(0))
    classes = [rows[start:end].tolist() for start, end in pairwise(offsets.tolist())]
    every = [tuple(sorted(pair)) for each in classes for pair in combinations(each, 2)]
    found = [tuple(sorted(pair)) for pair in zip(left.tolist(), right.tolist(), strict=True)]
    assert are_all == (len(every) <= most)
    if are_all:
        assert sorted(found) == sorted(every)
    else:
        assert len(found) == most
        assert set(found) <= set(every)
