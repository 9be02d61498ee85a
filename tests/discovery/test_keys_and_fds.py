"""Keys and FDs, exact and approximate, against brute force: every strategy, policy, size and error."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from checks.tables import POLICIES, ArrayTable, ranked, tables, with_twins
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key
from lawful.discovery.findings import Findings
from lawful.discovery.keys_and_fds.approximate import discover_almost
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.search import FEW_COLUMNS
from lawful.search.sets import WORD_BITS
from lawful.tables.ranked_table import MOST_SAMPLED_ROWS, stacked

STRATEGIES = st.sampled_from(["full", "hybrid"])
SIZES = st.sampled_from([None, 0, 1, 2])


def run(table: ArrayTable, question: Question) -> Findings:
    engine = LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    search = discover_almost if question.error else discover_keys_and_fds
    emitted = []
    found = search(Search(table, engine, emit=emitted.append), question)
    assert found.blocks == emitted
    assert found.complete
    return found


def laws(found: Findings) -> list[Key | FD]:
    return [law for block in found.blocks for law in block.laws()]


def finds_exactly_the_minimal_laws(
    data: st.DataObject, policy: NullPolicy, strategy: str, largest: int | None, seed: int
) -> None:
    table = with_twins(data.draw(tables(max_rows=8, max_width=4)), data.draw)
    if data.draw(st.booleans()):  # as a table is that was read from a plain file
        table.matrix = stacked([table.column(column) for column in range(table.width)], table.rows)
    question = Question(True, True, policy, largest, seed=seed, strategy=strategy)
    found = laws(run(table, question))
    rows = table.as_rows()
    expected = {
        **oracle.minimal_keys(rows, table.width, policy, largest=largest),
        **oracle.minimal_fds(rows, table.width, policy, largest=largest),
    }
    assert len(found) == len(set(found))
    assert set(found) == set(expected)


@given(
    st.data(),
    POLICIES,
    SIZES,
    st.sampled_from([0.02, 0.1, 0.25, 0.5, 0.9]),
    st.sampled_from(["g1", "g3"]),
)
def test_laws_within_an_error_are_found_with_it(
    data: st.DataObject, policy: NullPolicy, largest: int | None, allowed: float, measure: str
) -> None:
    table = with_twins(data.draw(tables(max_rows=6, max_width=3)), data.draw)
    found = run(table, Question(True, True, policy, largest, allowed, measure))
    errors = {}
    for block in found.blocks:
        assert block.errors is not None
        errors |= dict(zip(block.laws(), block.errors.tolist(), strict=True))
    rows = table.as_rows()
    how = {"largest": largest, "allowed": allowed, "measure": measure}
    expected = {
        **oracle.minimal_keys(rows, table.width, policy, **how),
        **oracle.minimal_fds(rows, table.width, policy, **how),
    }
    assert errors == pytest.approx(expected)


@given(st.data(), POLICIES, STRATEGIES, SIZES, st.integers(0, 3))
def test_exactly_the_minimal_laws_are_found(
    data: st.DataObject, policy: NullPolicy, strategy: str, largest: int | None, seed: int
) -> None:
    finds_exactly_the_minimal_laws(data, policy, strategy, largest, seed)


@one_in(2)  # brute force over tables of 17 and of 66 columns
@given(st.integers(0, 10_000), POLICIES, STRATEGIES)
def test_more_columns_than_a_bitmap_takes(seed: int, policy: NullPolicy, strategy: str) -> None:
    chance = np.random.default_rng(seed)
    width, largest = (FEW_COLUMNS + 2, 2) if seed % 2 else (WORD_BITS + 2, 1)
    rows, nulls = int(chance.integers(2, 9)), int(chance.integers(2))
    columns = [ranked(chance.integers(1 - nulls, chance.integers(2, 6), rows).tolist()) for _ in range(width)]
    table = ArrayTable(columns)
    found = laws(run(table, Question(True, True, policy, largest, strategy=strategy)))
    judged = table.as_rows()
    expected = {
        **oracle.minimal_keys(judged, width, policy, largest=largest),
        **oracle.minimal_fds(judged, width, policy, largest=largest),
    }
    assert len(found) == len(set(found))
    assert set(found) == set(expected)


@one_in(3)  # tables of 16 columns and more, searched twice
@given(st.integers(0, 10_000), POLICIES, st.integers(FEW_COLUMNS + 1, FEW_COLUMNS + 6))
def test_keys_alone_of_more_columns_than_a_bitmap_takes(seed: int, policy: NullPolicy, width: int) -> None:
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(2, 25))
    columns = [ranked(chance.integers(seed % 2, chance.integers(2, 9), rows).tolist()) for _ in range(width)]
    table = ArrayTable(columns)
    found = {
        strategy: set(laws(run(table, Question(True, False, policy, strategy=strategy))))
        for strategy in ("full", "hybrid")
    }
    assert found["full"] == found["hybrid"]
    small = set(oracle.minimal_keys(table.as_rows(), width, policy, largest=2))
    assert {law for law in found["full"] if len(law.columns) <= 2} == small


@given(st.integers(0, 10_000), st.integers(66, 200), st.sampled_from(["full", "hybrid"]))
def test_wide_tables_agree_between_strategies(seed: int, width: int, strategy: str) -> None:
    chance = np.random.default_rng(seed)
    few = [ranked(chance.integers(1, 4, 12).tolist()) for _ in range(6)]
    constant = np.ones(12, np.int32)
    columns = [few[i // 30] if i % 30 == 0 and i // 30 < 6 else constant for i in range(width)]
    table = ArrayTable(columns)
    found = laws(run(table, Question(True, True, strategy=strategy)))
    other = "hybrid" if strategy == "full" else "full"
    assert set(found) == set(laws(run(table, Question(True, True, strategy=other))))
    narrow = [i for i in range(width) if i % 30 == 0 and i // 30 < 6]
    rows = ArrayTable([columns[i] for i in narrow]).as_rows()
    expected = {
        Key(tuple(narrow[c] for c in key.columns)) for key in oracle.minimal_keys(rows, len(narrow), NullPolicy.EQUAL)
    }
    assert {law for law in found if isinstance(law, Key)} == expected


@pytest.mark.parametrize("policy", NullPolicy)
def test_what_few_rows_break_is_found_where_only_some_rows_are_sampled(policy: NullPolicy) -> None:
    rows = MOST_SAMPLED_ROWS + MOST_SAMPLED_ROWS // 10
    a = np.random.default_rng(4).integers(1, 1_001, rows).astype(np.int32)
    b, c = a % 7 + 1, a % 11 + 1
    b[17] = b[17] % 7 + 1
    c[rows - 5] = 0  # null is a value of its own, or takes its row out of the law
    found = laws(run(ArrayTable([a, b, c]), Question(True, True, policy)))
    assert found == ([FD((0,), 2)] if policy is NullPolicy.IGNORE else [])


def test_a_limit_keeps_what_is_certain() -> None:
    chance = np.random.default_rng(1)
    table = ArrayTable([ranked(chance.integers(1, 30, 3_000).tolist()) for _ in range(12)])
    engine = LocalEngine(threads=1)
    engine.open(table, NullPolicy.EQUAL)
    watch = Watch(seconds=1e-6)
    found = discover_keys_and_fds(Search(table, engine, watch), Question(True, True))
    assert not found.complete
    assert found.stopped_because is not None
    assert "time limit" in found.stopped_because
