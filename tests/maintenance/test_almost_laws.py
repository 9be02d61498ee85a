"""Laws within an error, after any sequence of batches: those of a discovery from scratch, with their errors."""

from __future__ import annotations

import tempfile
from pathlib import Path

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key
from lawful.engines.local import LocalEngine
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from maintenance.changing_tables import apply, as_ranks, changes, laws_in, make_state, rows_in, taken


def is_right(state: LivingState) -> None:
    settings, width = state.settings, state.table.width
    rows = as_ranks(rows_in(state), width)
    allowed = {"allowed": settings.error, "measure": settings.measure}
    expected: dict[Key | FD, float] = {
        **oracle.minimal_keys(rows, width, settings.null, **allowed),
        **oracle.minimal_fds(rows, width, settings.null, **allowed),
    }
    assert set(laws_in(state)) == set(expected)
    found = state.findings(lambda: LocalEngine(threads=1))
    for block in found.blocks:
        assert block.errors is not None
        for law, error in zip(block.laws(), block.errors, strict=True):
            assert error == pytest.approx(expected[law])


@pytest.mark.parametrize("way", ["counted", "witnesses"])
@pytest.mark.parametrize("measure", ["g1", "g3"])
@given(
    data=st.data(),
    width=st.integers(1, 3),
    policy=st.sampled_from(list(NullPolicy)),
    error=st.sampled_from([0.05, 0.2, 0.5]),
    reopens=st.booleans(),
)
def test_laws_within_an_error_are_those_of_the_rows(
    way: str, measure: str, data: st.DataObject, width: int, policy: NullPolicy, error: float, reopens: bool
) -> None:
    first, batches = data.draw(changes(width))
    settings = StateSettings(null=policy, error=error, measure=measure, way=way)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        state = make_state(path, first, width, settings)
        is_right(state)
        for inserts, share in batches:
            before = set(laws_in(state))
            applied = apply(state, inserts, taken(rows_in(state), share))
            is_right(state)
            after = set(laws_in(state))
            assert {law for block in applied.changes.removed for law in block.laws()} == before - after
            assert {law for block in applied.changes.added for law in block.laws()} == after - before
            if reopens:
                state.close()
                state = LivingState.open(path, writes=True)
                is_right(state)
        state.close()
