"""An engine that compares the pairs of a batch leads to the laws, counts and changes that this process finds itself."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.arrays import Int32s
from lawful.common.meanings import NullPolicy
from lawful.dependencies import POD
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.evidence import AgreeSets
from lawful.maintenance import engine_pairs
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.pods import order_witnesses
from lawful.maintenance.settings import StateSettings
from maintenance.changing_tables import (
    Row,
    apply,
    changes,
    expected_laws,
    incoming,
    laws_in,
    make_state,
    rows_in,
    taken,
)
from maintenance.test_kept_laws import told_what_changed, witnesses_refute
from maintenance.test_kept_pods import expected as expected_pods
from maintenance.test_kept_pods import witnesses_refute as pod_witnesses_refute


class Elsewhere(LocalEngine):
    """An engine that is asked as one with workers is; it counts how often."""

    is_elsewhere = True
    asked = 0

    def agree_sets(self, *arguments: object, **named: object) -> AgreeSets:
        Elsewhere.asked += 1
        return super().agree_sets(*arguments, **named)  # type: ignore[arg-type]  # passed on as they come

    def refuting_pairs(self, *arguments: object, **named: object) -> Int32s:
        Elsewhere.asked += 1
        return super().refuting_pairs(*arguments, **named)  # type: ignore[arg-type]  # passed on as they come


def changed(state: LivingState, inserts: list[Row], deletes: list[Row], number: int) -> object:
    batch = Batch(str(number), *(incoming(state, rows) if rows else None for rows in (inserts, deletes)))
    return state.apply(batch, lambda: Elsewhere(threads=1), Watch())


@pytest.mark.parametrize("way", ["counted", "witnesses"])
@given(
    data=st.data(), width=st.integers(1, 4), policy=st.sampled_from(list(NullPolicy)), error=st.sampled_from([0, 0.2])
)
@one_in(1)
def test_an_engine_that_compares_batches_changes_no_law(
    way: str, data: st.DataObject, width: int, policy: NullPolicy, error: float
) -> None:
    first, batches = data.draw(changes(width))
    settings = StateSettings(null=policy, way=way, error=error)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_pairs, "WORTH_THE_ENGINE", 0)
        here = make_state(Path(folder) / "here", first, width, settings)
        there = make_state(Path(folder) / "there", first, width, settings)
        for number, (inserts, share) in enumerate(batches):
            gone = taken(rows_in(there), share)
            before = set(laws_in(there))
            apply(here, inserts, gone)
            applied = changed(there, inserts, gone, number)
            assert rows_in(here) == rows_in(there)
            assert set(laws_in(here)) == set(laws_in(there))
            assert there.laws.differences() == []
            told_what_changed(applied, before, set(laws_in(there)))
            witnesses_refute(there, applied, policy)
            if not error:
                assert set(laws_in(there)) == expected_laws(rows_in(there), width, policy)
        here.close()
        there.close()


@given(
    data=st.data(),
    width=st.integers(1, 3),
    policy=st.sampled_from(list(NullPolicy)),
    find=st.sampled_from([("pod",), ("key", "fd", "pod")]),
)
@one_in(2)
def test_an_engine_that_compares_batches_changes_no_pointwise_law(
    data: st.DataObject, width: int, policy: NullPolicy, find: tuple[str, ...]
) -> None:
    first, batches = data.draw(changes(width))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_pairs, "WORTH_THE_ENGINE", 0)
        patch.setattr(order_witnesses, "better_with_all", lambda counts, rows: np.ones(len(counts), np.bool_))
        patch.setattr(Elsewhere, "asked", 0)
        there = make_state(Path(folder) / "there", first, width, StateSettings(find, policy))
        for number, (inserts, share) in enumerate(batches):
            before, asked = set(laws_in(there)), Elsewhere.asked
            applied = changed(there, inserts, taken(rows_in(there), share), number)
            rows = rows_in(there)
            pods = {law for law in laws_in(there) if isinstance(law, POD)}
            assert pods == expected_pods(rows, width, policy, None)
            if "fd" in find:
                assert set(laws_in(there)) - pods == expected_laws(rows, width, policy)
            else:
                pod_witnesses_refute(there, applied, policy)
            told_what_changed(applied, before, set(laws_in(there)))
            assert Elsewhere.asked > asked or not inserts
        assert there.laws.differences() == []
        there.close()


def test_a_large_batch_of_a_state_with_pointwise_laws_is_sent_to_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: list[Row] = [(n, n // 3, n * n % 5) for n in range(60)]
    state = make_state(tmp_path / "state", first, 3, StateSettings(("pod",)))
    monkeypatch.setattr(Elsewhere, "asked", 0)
    changed(state, [(n, n // 3, n * n % 5) for n in range(60, 90)], [], 0)
    assert Elsewhere.asked == 0
    monkeypatch.setattr(engine_pairs, "WORTH_THE_ENGINE", 1)
    changed(state, [(n, n // 3, n * n % 5) for n in range(90, 99)], [], 1)
    assert Elsewhere.asked == 1
    state.close()


@pytest.mark.parametrize("way", ["counted", "witnesses"])
def test_only_large_batches_are_sent_to_an_engine(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two columns determine the third, and all have few values: an index would not spare much.
    first: list[Row] = [(n % 2, n % 3, (n % 2 + n % 3) % 3) for n in range(60)]
    state = make_state(tmp_path / "state", first, 3, StateSettings(way=way))
    monkeypatch.setattr(Elsewhere, "asked", 0)
    changed(state, first[:7], [], 0)
    assert Elsewhere.asked == 0
    monkeypatch.setattr(engine_pairs, "WORTH_THE_ENGINE", 3 * 7 * 60)
    changed(state, first[:3], [], 1)
    assert Elsewhere.asked == 0
    changed(state, first[:7], [], 2)
    assert Elsewhere.asked == 1
    changed(state, first[:7], first[:15], 3)
    assert Elsewhere.asked == (3 if way == "counted" else 2)
    state.close()
