"""Laws after batches on tables of some size: every way to look at new rows is taken, and all lead to the same laws."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import SourceError, StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.evidence.living import AgreeMultiset, BatchStrategy, new_pairs
from lawful.maintenance import exact_laws, stored_state
from lawful.maintenance.batches import Batch
from lawful.maintenance.kept_laws import Checker
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.verifying import differences_of
from maintenance.changing_tables import (
    Row,
    apply,
    changes,
    expected_laws,
    incoming,
    laws_in,
    make_state,
    multiset,
    rows_in,
    rows_of,
    taken,
)
from maintenance.kept_states import Impatient, files_of

WAYS = ("counted", "witnesses")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each way to look at rows was taken."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            counts[name] += 1
            return function(*arguments)

        return call

    def counted_pairs(*arguments: Any) -> Iterator[Any]:
        for pairs in listed(*arguments):
            counts["index"] += 1
            yield pairs

    listed = new_pairs._with_listed
    monkeypatch.setattr(new_pairs, "_with_all", counted("scan", new_pairs._with_all))
    monkeypatch.setattr(new_pairs, "_with_listed", counted_pairs)
    monkeypatch.setattr(exact_laws, "_searched", counted("search", exact_laws._searched))
    return counts


def is_right(state: LivingState) -> None:
    assert differences_of(state, lambda: LocalEngine(threads=1), Watch()) == []


def rows_at_random(chance: random.Random, count: int, width: int, *, first: int = 0, determined: bool) -> list[Row]:
    """Rows with a number of their own, and few values elsewhere; maybe the last column follows from two others."""
    rows = []
    for number in range(first, first + count):
        few = [chance.choice([None, *range(4 + column)]) for column in range(width - 2)]
        rows.append((number, *few, _both(few[0], few[1]) if determined else chance.randrange(3)))
    return rows


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else 10 * one + other


@pytest.mark.parametrize("policy", list(NullPolicy))
@pytest.mark.parametrize("determined", [True, False])
def test_all_ways_lead_to_the_laws_of_the_rows(
    policy: NullPolicy, determined: bool, tmp_path: Path, calls: Counter[str]
) -> None:
    chance = random.Random(3)
    first = rows_at_random(chance, 400, 5, determined=determined)
    states = [make_state(tmp_path / way, first, 5, StateSettings(null=policy, way=way)) for way in WAYS]
    assert calls == {"search": 1}
    calls.clear()
    rows = list(first)

    def follow(come: list[Row], gone: list[Row]) -> None:
        for row in gone:
            rows.remove(row)
        rows.extend(come)
        for state in states:
            apply(state, come, gone)
            is_right(state)
            assert multiset(rows_in(state)) == multiset(rows)
        assert set(laws_in(states[0])) == set(laws_in(states[1]))

    follow(rows_at_random(chance, 40, 5, first=400, determined=determined), [])
    # A left side of few values is shared by so many rows that comparing with all is cheaper than an index.
    assert calls.keys() == ({"scan"} if determined else {"index"})
    follow(rows_at_random(chance, 3, 5, first=500, determined=not determined), rows[::9])
    calls.clear()
    follow([(7, 1, 1, 1, 1), (7, None, 1, 1, 2)], chance.sample(rows, 300))
    assert calls["search"] == 1, "most of the evidence went with its rows"
    follow([], chance.sample(rows, len(rows) - 5))
    follow(rows_at_random(chance, 200, 5, first=1000, determined=True), [])
    for way, state in zip(WAYS, states, strict=True):
        laws = set(laws_in(state))
        state.close()
        assert set(laws_in(LivingState.open(tmp_path / way))) == laws


@pytest.mark.parametrize(("width", "largest"), [(20, None), (70, 1)])
@pytest.mark.parametrize("policy", list(NullPolicy))
def test_wide_tables(width: int, largest: int | None, policy: NullPolicy, tmp_path: Path) -> None:
    chance = random.Random(5)

    def rows(count: int) -> list[Row]:
        return [tuple(chance.choice([None, 0, 0, 1, 2, 3, 4, 5]) for _ in range(width)) for _ in range(count)]

    first = rows(6)
    laws = []
    for way in WAYS:
        chance.seed(6)
        state = make_state(tmp_path / way, first, width, StateSettings(null=policy, max_size=largest, way=way))
        for come, gone in ((rows(2), []), (rows(1), first[:3]), ([], first[3:])):
            apply(state, come, gone)
            is_right(state)
            state.close()
            state = LivingState.open(tmp_path / way, writes=True)
        is_right(state)
        if largest == 1:
            assert set(laws_in(state)) == expected_laws(rows_in(state), width, policy, largest)
        laws.append(set(laws_in(state)))
        state.close()
    assert laws[0] == laws[1]


@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), policy=st.sampled_from(list(NullPolicy)), most=st.integers(1, 3))
@one_in(2)
def test_new_bases_change_nothing(way: str, data: st.DataObject, policy: NullPolicy, most: int) -> None:
    first, batches = data.draw(changes(3))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(stored_state, "_MOST_LOGGED", most)
        state = make_state(Path(folder) / "state", first, 3, StateSettings(null=policy, way=way))
        rows = list(first)
        for inserts, share in batches:
            gone = taken(rows, share)
            apply(state, inserts, gone)
            assert state.batches_in_log < most
            rows = list((multiset(rows) - multiset(gone)).elements()) + inserts
            assert multiset(rows_in(state)) == multiset(rows)
            assert set(laws_in(state)) == expected_laws(rows, 3, policy)
            reader = LivingState.open(Path(folder) / "state")
            assert rows_in(reader) == rows_in(state)
            assert set(laws_in(reader)) == set(laws_in(state))
        state.close()


@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), first=rows_of(3, 6), come=rows_of(3, 8))
@one_in(2)
def test_any_cut_of_the_same_changes_ends_in_the_same_state(
    way: str, data: st.DataObject, first: list[Row], come: list[Row]
) -> None:
    gone = taken(first, 0.5)
    with tempfile.TemporaryDirectory() as folder:
        ends = []
        for number in range(2):
            cuts = sorted(data.draw(st.lists(st.integers(0, 8), max_size=4)))
            state = make_state(Path(folder) / str(number), first, 3, StateSettings(way=way))
            for start, stop in zip([0, *cuts], [*cuts, 8], strict=True):
                apply(state, come[start:stop], gone[start:stop])
            is_right(state)
            ends.append((rows_in(state), state.table.ids_of(state.table.live_rows()).tolist(), set(laws_in(state))))
            state.close()
        assert ends[0] == ends[1]


@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), patience=st.integers(0, 6), error=st.sampled_from([0.0, 0.0, 0.2]))
@one_in(2)
def test_stopped_and_refused_batches_change_nothing(way: str, data: st.DataObject, patience: int, error: float) -> None:
    first, batches = data.draw(changes(3))
    with tempfile.TemporaryDirectory() as folder:
        state = make_state(Path(folder) / "state", first, 3, StateSettings(way=way, error=error))
        for number, (inserts, share) in enumerate(batches):
            before = (files_of(Path(folder)), rows_in(state), set(laws_in(state)))
            gone = taken(rows_in(state), share)
            batch = Batch(
                f"b{number}", incoming(state, inserts) if inserts else None, incoming(state, gone) if gone else None
            )
            with pytest.raises(SourceError):
                apply(state, [*inserts, (9, 9, 9)], [*gone, (8, 8, 8)], f"b{number}")
            assert (files_of(Path(folder)), rows_in(state), set(laws_in(state))) == before
            try:
                state.apply(batch, lambda: LocalEngine(threads=1), Impatient(patience))
            except StoppedError:
                assert (files_of(Path(folder)), rows_in(state), set(laws_in(state))) == before
                apply(state, inserts, gone, f"b{number}")
            is_right(state)
            assert state.table.version == number + 1
        state.close()


@pytest.mark.parametrize("strategy", get_args(BatchStrategy))
def test_counting_the_pairs_of_a_batch_can_be_stopped(strategy: BatchStrategy) -> None:
    codes = np.arange(2_400, dtype=np.int32).reshape(2, -1) % 50 + 1
    ids = np.arange(1_200)
    kept = AgreeMultiset.of(codes[:, :600], ids[:600], NullPolicy.EQUAL, strategy=strategy)
    with pytest.raises(StoppedError):
        kept.insert(codes[:, 600:], ids[600:], should_stop=Impatient(0).is_over)
    with pytest.raises(StoppedError):
        AgreeMultiset.of(codes, ids, NullPolicy.EQUAL, should_stop=Impatient(0).is_over)


def test_checks_of_a_batch_look_at_the_limit(tmp_path: Path) -> None:
    chance = random.Random(5)
    state = make_state(tmp_path / "state", rows_at_random(chance, 60, 4, determined=True), 4, StateSettings())
    checker = Checker(state.table, NullPolicy.EQUAL, LocalEngine, Impatient(0))
    with pytest.raises(StoppedError, match="stopped by the test"):
        checker.refuted([Key((0,)), Key((1,))])
    checker.close()
    state.close()
