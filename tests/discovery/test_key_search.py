"""The search for keys that compares pairs where it needs them: against brute force, and in slices of any size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import oracle
import pytest
from checks.tables import POLICIES, ArrayTable, ranked, tables, with_twins
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from discovery.key_tables import brute_keys, narrow_table
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key
from lawful.discovery.findings import Findings
from lawful.discovery.keys_and_fds import key_search
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.keys_and_fds.key_search import KeySearch
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.search import unpack_sets
from lawful.tables.ranked_table import MOST_SAMPLED_ROWS

SIZES = st.sampled_from([None, 0, 1, 2, 3])
SEEDS = st.integers(0, 1_000_000)


def found_by(table: ArrayTable, question: Question, watch: Watch | None = None) -> Findings:
    engine = LocalEngine(threads=1)
    engine.open(table, question.null_policy)
    return discover_keys_and_fds(Search(table, engine, watch), question)


def keys_of(table: ArrayTable, policy: NullPolicy, largest: int | None = None, **question: object) -> list[Key]:
    found = found_by(table, Question(True, False, policy, largest, **question))
    assert found.complete
    stated = [law for block in found.blocks for law in block.laws()]
    assert len(stated) == len(set(stated))
    return stated


@given(st.data(), POLICIES, SIZES, SEEDS)
def test_exactly_the_minimal_keys_are_found(
    data: st.DataObject, policy: NullPolicy, largest: int | None, seed: int
) -> None:
    table = with_twins(data.draw(tables(max_rows=8, max_width=5)), data.draw)
    expected = oracle.minimal_keys(table.as_rows(), table.width, policy, largest=largest)
    assert set(keys_of(table, policy, largest, seed=seed)) == set(expected)


@given(SEEDS, POLICIES, SIZES, st.integers(4, 12))
def test_keys_of_many_columns_with_few_values(seed: int, policy: NullPolicy, largest: int | None, width: int) -> None:
    table = narrow_table(seed, width)
    assert set(keys_of(table, policy, largest, seed=seed)) == brute_keys(table, policy, largest)


@given(SEEDS, POLICIES, st.integers(0, 300), st.integers(0, 300))
def test_small_keys_come_first_where_a_search_takes_long(seed: int, policy: NullPolicy, soon: int, most: int) -> None:
    table = narrow_table(seed, 9)
    with (
        patch.object(key_search, "_NODES_BEFORE_SMALL_ONES", soon),
        patch.object(key_search, "_MOST_NODES_FOR_SMALL_ONES", most),
        patch.object(key_search, "_WORK_A_CALL", 1),
        patch.object(KeySearch.advance, "__defaults__", (1, 1 << 10)),
    ):
        found = keys_of(table, policy, seed=seed)
    assert set(found) == brute_keys(table, policy, None)
    if not soon and most == 300:
        sizes = [len(key.columns) for key in found]
        assert sizes == sorted(sizes)


@one_in(3)  # searched twice, once by all pairs
@given(SEEDS, POLICIES, st.integers(16, 80))
def test_keys_are_those_of_all_pairs(seed: int, policy: NullPolicy, width: int) -> None:
    largest = None if width < 24 else 3
    table = narrow_table(seed, width, most_rows=60)
    assert set(keys_of(table, policy, largest, seed=seed)) == set(keys_of(table, policy, largest, strategy="full"))


@given(SEEDS, POLICIES, st.integers(1, 400))
def test_a_search_in_slices_with_little_room_finds_the_same(seed: int, policy: NullPolicy, work: int) -> None:
    table = narrow_table(seed, 9)
    columns = tuple(range(table.width))
    whole = KeySearch(table, columns, policy, table.width, seed)
    expected = [keys for _ in iter(lambda: whole.finished, True) for keys in unpack_sets(whole.advance())]
    sliced = KeySearch(table, columns, policy, table.width, seed)
    found: list[tuple[int, ...]] = []
    while not sliced.finished:
        keys = unpack_sets(sliced.advance(work, most_keys=1 + seed % 3))
        assert len(keys) <= 1 + seed % 3
        found += keys
    assert found == expected
    assert (sliced.nodes, sliced.pairs) == (whole.nodes, whole.pairs)


def test_rooms_grow_with_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # Columns of two values, and rows that differ in any half of them: thousands of minimal differences, deep branches.
    bits = np.random.default_rng(5).integers(1, 3, (16, 3_000))
    table = ArrayTable([ranked(column.tolist()) for column in np.unique(bits, axis=1)])
    search = KeySearch(table, tuple(range(16)), NullPolicy.EQUAL, 16)
    room_for_edges, room_for_rows = len(search._edges.sets), len(search._partitions.rows)
    search._make_room_for_edges()
    assert len(search._edges.sets) == 2 * room_for_edges
    found = {keys for _ in iter(lambda: search.finished, True) for keys in unpack_sets(search.advance(1 << 16))}
    assert len(search._partitions.rows) > room_for_rows
    expected = keys_of(table, NullPolicy.EQUAL, strategy="full")
    assert {Key(columns) for columns in found} == set(expected)
    assert len(expected) > 0


@pytest.mark.parametrize("policy", NullPolicy)
def test_equal_rows_that_hashes_do_not_show_leave_no_key(policy: NullPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_search, "equal_rows", lambda *_: None)
    chance = np.random.default_rng(2)
    rows = chance.integers(1, 4, (40, 7))
    rows[23] = rows[7]
    assert keys_of(ArrayTable([ranked(column.tolist()) for column in rows.T]), policy) == []


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("policy", NullPolicy)
def test_nothing_tells_one_row_apart(rows: int, policy: NullPolicy) -> None:
    table = ArrayTable([np.ones(rows, np.int32), np.zeros(rows, np.int32)])
    assert keys_of(table, policy) == [Key(())]


def test_a_column_of_null_is_a_key_only_where_nulls_are_ignored() -> None:
    table = ArrayTable([np.zeros(5, np.int32), np.arange(5, dtype=np.int32), np.array([1, 1, 2, 2, 3], np.int32)])
    assert keys_of(table, NullPolicy.IGNORE) == [Key((0,)), Key((1,))]
    assert keys_of(table, NullPolicy.EQUAL) == [Key((1,))]


def test_keys_of_one_column_are_there_when_the_search_is_stopped() -> None:
    chance = np.random.default_rng(1)
    columns = [ranked(chance.integers(1, 30, 3_000).tolist()) for _ in range(30)]
    columns[11] = np.arange(1, 3_001, dtype=np.int32)
    watch = Watch(seconds=1e-6)
    found = found_by(ArrayTable(columns), Question(True, True), watch)
    assert not found.complete
    assert "key" not in found.finished
    assert [law for block in found.blocks for law in block.laws()][:1] == [Key((11,))]


def test_a_search_looks_at_its_limits_while_it_goes_on() -> None:
    chance = np.random.default_rng(1)
    table = ArrayTable([ranked(chance.integers(1, 30, 3_000).tolist()) for _ in range(40)])

    class ThirdLook(Watch):
        looks = 0

        def reason(self) -> str | None:
            return "enough" if self.looks == 3 else None

        def look(self) -> None:
            self.looks += 1
            if reason := self.reason():
                raise StoppedError(reason)

    found = found_by(table, Question(True, False), ThirdLook())
    assert not found.complete
    assert found.stopped_because == "enough"
    stated = [law for block in found.blocks for law in block.laws()]
    assert stated
    assert all(
        len(np.unique(np.stack([table.column(c) for c in key.columns]), axis=1).T) == 3_000 for key in stated[:20]
    )


def test_other_processes_check_the_keys_of_tables_that_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    from lawful.discovery.keys_and_fds.discover import keys_are_searched_here

    monkeypatch.setattr(LocalEngine, "is_elsewhere", True)
    large = ArrayTable([np.ones(MOST_SAMPLED_ROWS + 1, np.int32)])
    small = ArrayTable([np.ones(3, np.int32)])
    question = Question(True, False)
    assert not keys_are_searched_here(Search(large, LocalEngine()), question)
    assert keys_are_searched_here(Search(small, LocalEngine()), question)


def test_uncompiled_kernels_find_the_same() -> None:
    script = Path(__file__).with_name("uncompiled_keys.py")
    subprocess.run([sys.executable, script], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
