"""Pointwise order dependencies after any sequence of batches are those of the rows, alone and beside keys and FDs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pod_oracle
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import POD, Law
from lawful.engines.local import LocalEngine
from lawful.evidence.living import orders
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.pods import order_witnesses, pod_laws
from lawful.maintenance.settings import StateSettings
from maintenance.changing_tables import Row, apply, changes, incoming, laws_in, make_state, multiset, rows_in, taken
from maintenance.kept_states import POLICIES, Impatient, files_of, follow_batches, is_right

SIZES = st.sampled_from([None, None, None, 0, 1])


def expected(rows: list[Row], width: int, policy: NullPolicy, largest: int | None) -> set[Law]:
    """The minimal laws by brute force."""
    laws = pod_oracle.minimal_laws(rows, width, policy.value, largest=largest)
    return {POD(left, right) for left, right in laws}  # type: ignore[arg-type]  # operators are drawn as texts


def witnesses_refute(state: LivingState, applied: Applied, policy: NullPolicy) -> None:
    """The two rows that are shown for a law that went refute it as they stand; one that holds is told to."""
    numbers = dict(zip(state.table.live_rows().tolist(), rows_in(state), strict=True))
    for law, (one, other) in applied.witnesses.items():
        assert isinstance(law, POD)
        assert pod_oracle.violates((law.lhs, law.rhs), numbers[one], numbers[other], policy.value)
    for block, implied in zip(applied.changes.removed, applied.changes.implied, strict=True):
        for law, holds in zip(block.laws(), implied.tolist(), strict=True):
            assert isinstance(law, POD)
            assert holds == (pod_oracle.error((law.lhs, law.rhs), list(numbers.values()), policy.value) == 0)
            assert holds == (law not in applied.witnesses)


def every_second(counts: np.ndarray, rows: int) -> np.ndarray:
    return np.arange(len(counts)) % 2 == 0


WITH_ALL = [orders.better_with_all, lambda counts, rows: np.ones(len(counts), np.bool_), every_second]
"""Which new rows are compared with all others: as it pays, all, some."""


def ask_indexes(patched: pytest.MonkeyPatch) -> None:
    """Ask indexes in the smallest table, however much they are thought to list."""
    patched.setattr(order_witnesses, "_PAIRS_A_VISIT", 0)
    patched.setattr(order_witnesses, "is_better_with_all", lambda *_: False)


@given(data=st.data(), width=st.integers(1, 3), policy=POLICIES, largest=SIZES, reopens=st.booleans())
@one_in(1)
def test_laws_after_batches_are_those_of_the_rows(
    data: st.DataObject, width: int, policy: NullPolicy, largest: int | None, reopens: bool
) -> None:
    first, batches = data.draw(changes(width))
    settings = StateSettings(("pod",), policy, largest)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(pod_laws, "_TOO_MANY_LOST", data.draw(st.sampled_from([0.2, 1.0])))
        patched.setattr(order_witnesses, "better_with_all", data.draw(st.sampled_from(WITH_ALL)))
        if data.draw(st.sampled_from([True, True, False])):
            ask_indexes(patched)
        follow_batches(
            Path(folder) / "state",
            first,
            batches,
            width,
            settings,
            lambda _, rows: expected(rows, width, policy, largest),
            lambda state, applied: witnesses_refute(state, applied, policy),
            reopens=reopens,
        )


@given(data=st.data(), policy=POLICIES, way=st.sampled_from(["counted", "witnesses"]))
@one_in(2)
def test_together_with_keys_and_fds_they_are_as_alone(data: st.DataObject, policy: NullPolicy, way: str) -> None:
    first, batches = data.draw(changes(3))
    kinds = (("key", "fd"), ("pod",), ("key", "fd", "pod"))
    with tempfile.TemporaryDirectory() as folder:
        states = [
            make_state(Path(folder) / "-".join(find), first, 3, StateSettings(find, policy, way=way_))
            for find, way_ in zip(kinds, (way, "auto", way), strict=True)
        ]
        rows = list(first)
        for number in range(len(batches) + 1):
            alone = set(laws_in(states[0])) | set(laws_in(states[1]))
            assert set(laws_in(states[2])) == alone
            if number < len(batches):
                inserts, gone = batches[number][0], taken(rows, batches[number][1])
                rows = list((multiset(rows) - multiset(gone)).elements()) + inserts
                told = [apply(state, inserts, gone) for state in states]
                entries = [(sum(len(b.sets) for b in t.changes.added), len(t.changes.implied)) for t in told]
                assert entries[2] == tuple(np.add(entries[0], entries[1]))
        for state in states:
            is_right(state)
            state.close()
        assert set(laws_in(LivingState.open(Path(folder) / "key-fd-pod"))) == alone


@pytest.mark.parametrize("policy", list(NullPolicy))
@pytest.mark.parametrize("most_laws", [20_000, 0])
def test_tables_of_some_size(
    policy: NullPolicy, most_laws: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexes list pairs, rows are compared with all others, and evidence is searched for again."""
    chance = np.random.default_rng(4)
    listed: list[int] = []

    def counted(*arguments: object) -> object:
        for chunk in orders.violating_candidates(*arguments):  # type: ignore[arg-type]  # passed on as they come
            listed.append(len(chunk.left))
            yield chunk

    monkeypatch.setattr(order_witnesses, "violating_candidates", counted)
    monkeypatch.setattr(order_witnesses, "_MOST_LAWS", most_laws)
    ask_indexes(monkeypatch)

    def rows(first: int, count: int) -> list[Row]:
        """The second column rises with the first, but for one row in fifty; the others are of few values."""
        numbers = range(first, first + count)
        return [
            (k, 2 * k - (5 if chance.random() < 0.02 else 0), None if chance.random() < 0.1 else k // 40, k * k % 7)
            for k in numbers
        ]

    state = make_state(tmp_path / "state", rows(0, 300), 4, StateSettings(("pod",), policy))
    is_right(state)
    for come, gone in ((rows(300, 30), 0.0), (rows(100, 5), 0.02), ([], 0.1), (rows(500, 3), 0.0), ([], 0.9)):
        apply(state, come, taken(rows_in(state), gone))
        is_right(state)
    assert bool(sum(listed)) == bool(most_laws)
    state.close()
    is_right(LivingState.open(tmp_path / "state"))


TAX_COLUMNS = "FName LName Date SSN NUM AC PH ST ZIP SAL RATE TXA".split()
TAX = """
Ali Sadam 20140410 719975883 1448 719 6059466 CO 80612 32000 1.24 3000
Eser Duparc 20140224 303975883 1401 303 5872027 CO 80612 50000 1.42 1500
Hennie Hannen 20140413 701178073 1486 701 1638673 ND 58671 30000 1.21 3400
Rene Beke 20130403 801350874 1386 801 6192334 UT 84308 55000 2.04 1300
Ali Sadam 20140329 719975883 1427 719 6059466 CO 80612 7500 1.21 0
Hennie Hannen 20130404 701178073 1386 701 1638673 ND 58671 6500 0.24 900
PerOlof Motwani 20150324 970122634 1547 970 8484643 CO 80209 95000 2.85 1100
"""
MORE_TAX = """
Yuichiro Uckun 20130322 435849162 1368 435 5872027 UT 84308 40000 1.42 3300
Hennie Hannen 20140218 701178073 1478 701 1638673 ND 58671 33000 2.04 1400
Rene Beke 20150213 801350874 1533 801 6192334 UT 84308 32000 1.23 3200
"""


def tax(text: str) -> pa.Table:
    """The tax data of the paper."""
    cells = list(zip(*(line.split() for line in text.strip().splitlines()), strict=True))
    numbers = {"Date", "NUM", "SAL", "TXA"}
    return pa.table(
        {
            name: [float(cell) if name == "RATE" else int(cell) if name in numbers else cell for cell in column]
            for name, column in zip(TAX_COLUMNS, cells, strict=True)
        }
    )


def test_the_example_of_the_paper(tmp_path: Path) -> None:
    """Tables I and II, examples 2 and 14: two of the laws of example 1 break, and others take the place of one."""
    columns = ["NUM", "PH", "ST", "SAL", "RATE", "TXA"]
    first, more = tax(TAX).select(columns), tax(MORE_TAX).select(columns)
    broken = "{TXA>, SAL<} -> {RATE<}"
    successors = ["{ST=, TXA>, SAL<} -> {RATE<}", "{TXA>, SAL<} -> {RATE<=}"]
    with lawful.make_state(tmp_path / "state", first, find="pod", pins=[broken, *successors]) as state:
        before = {found.text for found in state.laws}
        assert all(pin.holds for pin in state.as_it_is().pins)
        report = state.apply(inserts=more)
        after = {found.text for found in state.laws}
        assert [pin.holds for pin in report.pins] == [False, True, True]
        assert {changed.text for changed in report.removed} == before - after
        assert {changed.text for changed in report.added} == after - before
        assert state.described(verify=True).is_right
    scratch = lawful.discover(pa.concat_tables([first, more]), "pod")
    assert {found.text for found in scratch} == after


def test_a_column_that_becomes_text_orders_its_values_anew(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 10, 20], "b": [1, 2, 3, 4]})
    for reopens in (False, True):
        path = tmp_path / str(reopens)
        state = lawful.make_state(path, table, find=["key", "pod"])
        assert "{a<=} -> {b<}" in {found.text for found in state.laws}
        if reopens:
            state.close()
            state = lawful.open_state(path)
        state.apply(inserts=pa.table({"a": ["x"], "b": [5]}), misfits="widen")
        assert "{a<=} -> {b<}" not in {found.text for found in state.laws}
        assert state.described(verify=True).is_right
        state.close()
        with lawful.open_state(path, writes=False) as state:
            assert state.described(verify=True).is_right


def test_times_of_day_among_lengths_of_time_order_values_anew(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([9, 10, 11], pa.duration("s")), "b": [1, 2, 3]})
    for reopens in (False, True):
        path = tmp_path / str(reopens)
        with lawful.make_state(path, table, find="pod") as state:
            assert "{a<=} -> {b<}" in {found.text for found in state.laws}
            if not reopens:
                state.apply(inserts=pa.table({"a": ["12:30:00"], "b": [4]}), misfits="widen")
        with lawful.open_state(path) as state:
            if reopens:
                state.apply(inserts=pa.table({"a": ["12:30:00"], "b": [4]}), misfits="widen")
            assert "{a<=} -> {b<}" not in {found.text for found in state.laws}
            assert state.described(verify=True).is_right


@given(data=st.data(), patience=st.integers(0, 12))
@one_in(2)
def test_stopped_batches_change_nothing(data: st.DataObject, patience: int) -> None:
    first, batches = data.draw(changes(3))
    with tempfile.TemporaryDirectory() as folder:
        state = make_state(Path(folder) / "state", first, 3, StateSettings(("fd", "pod")))
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
        StateSettings(("fd", "pod"), error=0.1)
    with pytest.raises(UsageError, match="by witnesses"):
        StateSettings(("pod",), way="counted")
