"""Denial constraints after any sequence of batches are those of the rows, over the space that the state has settled."""

from __future__ import annotations

import tempfile
from pathlib import Path

import denial_oracle
import numpy as np
import oracle
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Law, Operator, Predicate
from lawful.engines.local import LocalEngine
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch
from lawful.maintenance.denials import denial_laws
from lawful.maintenance.denials.denial_laws import DenialLaws
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from maintenance.changing_tables import (
    Row,
    apply,
    as_ranks,
    changes,
    incoming,
    laws_in,
    make_state,
    multiset,
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

SIZES = st.sampled_from([None, None, 0, 2])


def kept_denials(state: LivingState) -> DenialLaws:
    return next(family for family in state.laws.families if isinstance(family, DenialLaws))


def expected(state: LivingState, rows: list[Row], policy: NullPolicy, largest: int | None) -> set[Law]:
    """The minimal constraints by brute force, over the space of the state."""
    space = kept_denials(state).space
    return set(denial_oracle.constraints(rows, space.predicates, policy.value, "reduced", largest=largest))


def breaks(law: DC, t: Row, s: Row, policy: NullPolicy) -> bool:
    comparisons = denial_oracle.comparisons(law.predicates)
    return all(denial_oracle.satisfies(one, t, s, policy.value) for one in comparisons)


def witnesses_refute(state: LivingState, applied: Applied, policy: NullPolicy) -> None:
    """The two rows that are shown for a law that went refute it as they stand; one that holds is told to."""
    numbers = dict(zip(state.table.live_rows().tolist(), rows_in(state), strict=True))
    for law, (one, other) in applied.witnesses.items():
        assert isinstance(law, DC)
        assert breaks(law, numbers[one], numbers[other], policy)
    for block, implied in zip(applied.changes.removed, applied.changes.implied, strict=True):
        for law, holds in zip(block.laws(), implied.tolist(), strict=True):
            assert isinstance(law, DC)
            pairs = ((t, s) for i, t in numbers.items() for k, s in numbers.items() if i != k)
            assert holds != any(breaks(law, t, s, policy) for t, s in pairs)
            assert holds == (law not in applied.witnesses)


@given(data=st.data(), width=st.integers(1, 2), policy=POLICIES, largest=SIZES, reopens=st.booleans())
@one_in(1)
def test_constraints_after_batches_are_those_of_the_rows(
    data: st.DataObject, width: int, policy: NullPolicy, largest: int | None, reopens: bool
) -> None:
    first, batches = data.draw(changes(width))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(denial_laws, "_TOO_MANY_LOST", data.draw(st.sampled_from([0.2, 1.0])))
        follow_batches(
            Path(folder) / "state",
            first,
            batches,
            width,
            StateSettings(("dc",), policy, largest),
            lambda state, rows: expected(state, rows, policy, largest),
            lambda state, applied: witnesses_refute(state, applied, policy),
            reopens=reopens,
        )


@given(data=st.data(), policy=POLICIES)
@one_in(3)
def test_all_families_in_one_state_say_the_same(data: st.DataObject, policy: NullPolicy) -> None:
    """Laws between families, after every batch; and each family is as it is alone."""
    first, batches = data.draw(changes(3))
    lists = ("list-od",) if policy is NullPolicy.EQUAL else ()
    find = ("key", "fd", "canonical-od", *lists, "pod", "dc")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        state = make_state(path, first, 3, StateSettings(find, policy))
        rows = list(first)
        for inserts, share in batches:
            gone = taken(rows, share)
            apply(state, inserts, gone)
            rows = list((multiset(rows) - multiset(gone)).elements()) + inserts
            is_right(state)
            told_by_denials(state, as_ranks(rows_in(state), 3), policy)
            state.close()
            state = LivingState.open(path, writes=True)
        state.close()


def told_by_denials(state: LivingState, table: list[tuple[int, ...]], policy: NullPolicy) -> None:
    """FDs and canonical order dependencies are denial constraints, and follow from those that are kept."""
    kept = kept_denials(state)
    for law in laws_in(state):
        if isinstance(law, FD | CanonicalOD):
            said = as_denial(law)
            if all(predicate in kept.space.numbers for predicate in said.predicates):
                assert kept.implies(said), law
                assert oracle.holds(law, table, policy)


def as_denial(law: FD | CanonicalOD) -> DC:
    same = law.lhs if isinstance(law, FD) else law.context
    compared: list[tuple[int, Operator]] = [(column, "=") for column in same]
    if isinstance(law, FD):
        compared.append((law.rhs, "!="))
    else:
        compared += [(law.left, "<"), (law.right, ">" if law.direction == "asc" else "<")]
    return DC(tuple(Predicate(Cell("t", column), operator, Cell("s", column)) for column, operator in compared))


@pytest.mark.parametrize("policy", list(NullPolicy))
def test_tables_of_some_size(policy: NullPolicy, tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    state = make_state(tmp_path / "state", some_rows(chance, 0, 200), 4, StateSettings(("dc",), policy))
    is_right(state)
    for come, gone in ((some_rows(chance, 300, 20), 0.0), (some_rows(chance, 100, 5), 0.02), ([], 0.1), ([], 0.9)):
        apply(state, come, taken(rows_in(state), gone))
        is_right(state)
    state.close()
    is_right(LivingState.open(tmp_path / "state"))


def test_a_column_that_becomes_text_settles_the_space_anew(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 10, 20], "b": [1, 2, 3, 4]})
    for reopens in (False, True):
        path = tmp_path / str(reopens)
        state = lawful.make_state(path, table, find="dc")
        before = {found.text for found in state.laws}
        assert any("t.a <= s.a" in text for text in before)
        if reopens:
            state.close()
            state = lawful.open_state(path)
        report = state.apply(inserts=pa.table({"a": ["x"], "b": [5]}), misfits="widen")
        after = {found.text for found in state.laws}
        assert not any("t.a <= s.a" in text for text in after)
        assert {changed.text for changed in report.removed} == before - after
        assert {changed.text for changed in report.added} == after - before
        assert state.described(verify=True).is_right
        state.close()
        with lawful.open_state(path) as state:
            assert {found.text for found in state.laws} == after
            state.apply(inserts=pa.table({"a": ["y"], "b": [5]}))
            assert state.described(verify=True).is_right


def test_what_a_state_gives_is_what_a_discovery_gives(tmp_path: Path) -> None:
    rows = some_rows(np.random.default_rng(1), 0, 60)
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate("abcd")})
    with lawful.make_state(tmp_path / "state", table.slice(0, 58), find="dc") as state:
        state.apply(inserts=table.slice(58))
        anew = lawful.discover(table, "dc", engine="local")
        kept, found = ({law.text: law.interest for law in laws} for laws in (state.laws, anew))
        assert kept == found


@given(data=st.data(), patience=st.integers(0, 12))
@one_in(4)
def test_stopped_batches_change_nothing(data: st.DataObject, patience: int) -> None:
    first, batches = data.draw(changes(2))
    with tempfile.TemporaryDirectory() as folder:
        state = make_state(Path(folder) / "state", first, 2, StateSettings(("dc",)))
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


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(UsageError, match="within an error"):
        StateSettings(("dc",), error=0.1)
