"""Canonical and list-based order dependencies after any sequence of batches are those of the rows, in any company."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import canonical_oracle
import numpy as np
import oracle
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st
from list_oracle import ListOracle

import lawful
from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import CanonicalOD, Key, Law
from lawful.discovery.list_ods.classes import classes_of
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.evidence.living import suspects
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch
from lawful.maintenance.canonical_ods import canonical_laws
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions
from maintenance.changing_tables import (
    Row,
    apply,
    arrow_of,
    as_ranks,
    changes,
    incoming,
    laws_in,
    make_state,
    rows_in,
    taken,
)
from maintenance.kept_states import (
    POLICIES,
    Impatient,
    files_of,
    follow_batches,
    is_right,
    some_rows,
)

SIZES = st.sampled_from([None, None, None, 0, 1])


def expected(rows: list[Row], width: int, policy: NullPolicy, largest: int | None, find: tuple[str, ...]) -> set[Law]:
    """The minimal laws by brute force."""
    table = as_ranks(rows, width)
    found: set[Law] = set()
    if "key" in find:
        found |= set(oracle.minimal_keys(table, width, policy, largest=largest))
    if "fd" in find or "canonical-od" in find:
        found |= set(oracle.minimal_fds(table, width, policy, largest=largest))
    if "canonical-od" in find:
        found |= canonical_oracle.minimal_pairs(table, width, policy, largest=largest)
    if "list-od" in find and largest != 0:
        laws = ListOracle(table, width, largest=largest).minimal()
        classes = classes_of(encode_arrow(arrow_of(rows, width), ReadOptions(), "rows"), bidirectional=True)
        found |= {*classes.stated_first(), *classes.folded(laws)}
    return found


def witnesses_refute(state: LivingState, applied: Applied, policy: NullPolicy) -> None:
    """The two rows that are shown for a law that went refute it; one that holds is told to."""
    rows = rows_in(state)
    table = dict(zip(state.table.live_rows().tolist(), as_ranks(rows, state.table.width), strict=True))
    for law, (one, other) in applied.witnesses.items():
        assert not oracle.holds(law, [table[one], table[other]], policy), law
        if isinstance(law, CanonicalOD):
            assert table[one][law.left] < table[other][law.left]
    for block, implied in zip(applied.changes.removed, applied.changes.implied, strict=True):
        for law, holds in zip(block.laws(), implied.tolist(), strict=True):
            assert holds == oracle.holds(law, list(table.values()), policy)
            assert holds == (law not in applied.witnesses)


CANONICAL = [("canonical-od",), ("key", "fd", "canonical-od"), ("key", "canonical-od")]
LISTS = [("list-od",), ("key", "list-od"), ("fd", "canonical-od", "list-od")]


@given(data=st.data(), policy=POLICIES, largest=SIZES, reopens=st.booleans())
@one_in(1)
def test_laws_after_batches_are_those_of_the_rows(
    data: st.DataObject, policy: NullPolicy, largest: int | None, reopens: bool
) -> None:
    find = data.draw(st.sampled_from(CANONICAL + (LISTS if policy is NullPolicy.EQUAL else [])))
    width = data.draw(st.integers(1, 3 if "list-od" in find else 4))
    first, batches = data.draw(changes(width))
    settings = StateSettings(find, policy, largest, way=data.draw(st.sampled_from(["auto", "witnesses"])))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(canonical_laws, "_TOO_MANY_LOST", data.draw(st.sampled_from([0.2, 1.0])))
        patched.setattr(suspects, "_MOST_BROAD", data.draw(st.sampled_from([64, 1])))
        patched.setattr(suspects, "_MOST_COLUMNS", data.draw(st.sampled_from([16, 2])))
        patched.setattr(suspects, "_AT_ONCE", data.draw(st.sampled_from([1 << 20, 3])))
        follow_batches(
            Path(folder) / "state",
            first,
            batches,
            width,
            settings,
            lambda _, rows: expected(rows, width, policy, largest, find),
            lambda state, applied: witnesses_refute(state, applied, policy),
            reopens=reopens,
        )


@given(data=st.data(), policy=POLICIES)
@one_in(4)
def test_any_cut_into_batches_ends_the_same(data: st.DataObject, policy: NullPolicy) -> None:
    first, batches = data.draw(changes(3))
    come = [row for inserts, _ in batches for row in inserts]
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(come)), max_size=3))), len(come)]
    with tempfile.TemporaryDirectory() as folder:
        lists = ("list-od",) if policy is NullPolicy.EQUAL else ()
        settings = StateSettings(("canonical-od", *lists), policy)
        states = [make_state(Path(folder) / name, first, 3, settings) for name in ("whole", "cut")]
        apply(states[0], come, [])
        for start, end in pairwise(cuts):
            apply(states[1], come[start:end], [])
        assert set(laws_in(states[0])) == set(laws_in(states[1]))
        gone = taken(rows_in(states[0]), 0.6)
        for state in states:
            apply(state, [], gone)
        assert set(laws_in(states[0])) == set(laws_in(states[1]))
        for state in states:
            state.close()


@pytest.mark.parametrize("policy", list(NullPolicy))
def test_tables_of_some_size(policy: NullPolicy, tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    lists = ("list-od",) if policy is NullPolicy.EQUAL else ()
    settings = StateSettings(("fd", "canonical-od", *lists), policy)
    state = make_state(tmp_path / "state", some_rows(chance, 0, 300), 4, settings)
    is_right(state)
    for come, gone in (
        (some_rows(chance, 300, 30), 0.0),
        (some_rows(chance, 100, 5), 0.02),
        ([], 0.1),
        (some_rows(chance, 500, 3), 0.0),
        ([], 0.9),
    ):
        apply(state, come, taken(rows_in(state), gone))
        is_right(state)
    state.close()
    is_right(LivingState.open(tmp_path / "state"))


def test_a_column_that_becomes_text_orders_its_values_anew(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 10, 20], "b": [1, 2, 3, 4]})
    for reopens in (False, True):
        path = tmp_path / str(reopens)
        state = lawful.make_state(path, table, find=["canonical-od"])
        assert "{}: a asc ~ b asc" in {found.text for found in state.laws}
        if reopens:
            state.close()
            state = lawful.open_state(path)
        state.apply(inserts=pa.table({"a": ["x"], "b": [5]}), misfits="widen")
        assert "{}: a asc ~ b asc" not in {found.text for found in state.laws}
        assert state.described(verify=True).is_right
        state.close()
        with lawful.open_state(path, writes=False) as state:
            assert state.described(verify=True).is_right


@pytest.mark.parametrize("find", ["canonical-od", "list-od"])
def test_what_a_state_gives_is_what_a_discovery_gives(find: str, tmp_path: Path) -> None:
    rows = some_rows(np.random.default_rng(1), 0, 60)
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate("abcd")})
    with lawful.make_state(tmp_path / "state", table.slice(0, 40), find=find) as state:
        report = state.apply(inserts=table.slice(40))
        assert report.laws.keys() == ({"canonical-od", "fd"} if find == "canonical-od" else {"list-od"})
        anew = lawful.discover(table, find, engine="local")
        kept, found = ({law.text: law.interest for law in laws} for laws in (state.laws, anew))
        assert kept == found


@given(data=st.data(), patience=st.integers(0, 12))
@one_in(4)
def test_stopped_batches_change_nothing(data: st.DataObject, patience: int) -> None:
    first, batches = data.draw(changes(3))
    with tempfile.TemporaryDirectory() as folder:
        state = make_state(Path(folder) / "state", first, 3, StateSettings(("canonical-od",)))
        for number, (inserts, share) in enumerate(batches):
            before, gone = (files_of(Path(folder)), rows_in(state), laws_in(state)), taken(rows_in(state), share)
            come, go = (incoming(state, rows) if rows else None for rows in (inserts, gone))
            try:
                state.apply(Batch(f"b{number}", come, go), lambda: LocalEngine(threads=1), Impatient(patience))
            except StoppedError:
                assert (files_of(Path(folder)), rows_in(state)) == before[:2]
                assert set(laws_in(state)) == set(before[2])
                apply(state, inserts, gone, f"b{number}")
            is_right(state)
        state.close()


def test_pins_that_follow_from_what_is_kept_need_no_check(tmp_path: Path) -> None:
    rows: list[Row] = [(1, 1, 0), (2, 2, 0), (3, 3, 1)]
    pins = [CanonicalOD((2,), 0, 1, "asc"), CanonicalOD((), 0, 1, "desc"), Key((0,))]
    state = make_state(tmp_path / "state", rows, 3, StateSettings(("canonical-od",)), pins)
    assert [state.laws.implies(pin) for pin in pins] == [True, False, False]
    assert [pin.holds for pin in state.judged(LocalEngine, Watch())] == [True, False, True]
    state.close()


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(UsageError, match="within an error"):
        StateSettings(("fd", "canonical-od"), error=0.1)
    with pytest.raises(UsageError, match="nulls only as values"):
        StateSettings(("list-od",), NullPolicy.IGNORE)
