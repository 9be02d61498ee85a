"""After any sequence of batches: rows, laws and what changed are those of a discovery from scratch."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import oracle
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key
from lawful.maintenance.applied import Applied
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from maintenance.changing_tables import (
    Row,
    apply,
    as_ranks,
    changes,
    expected_laws,
    laws_in,
    make_state,
    multiset,
    rows_in,
    taken,
)

POLICIES = st.sampled_from(list(NullPolicy))
SIZES = st.sampled_from([None, None, 0, 1, 2])


def is_right(state: LivingState, rows: list[Row], policy: NullPolicy, largest: int | None) -> None:
    width = state.table.width
    assert multiset(rows_in(state)) == multiset(rows)
    found = laws_in(state)
    assert len(found) == len(set(found))
    assert set(found) == expected_laws(rows, width, policy, largest)


def told_what_changed(applied: Applied, before: set[Key | FD], after: set[Key | FD]) -> None:
    removed = {law for block in applied.changes.removed for law in block.laws()}
    added = {law for block in applied.changes.added for law in block.laws()}
    assert removed == before - after
    assert added == after - before


def witnesses_refute(state: LivingState, applied: Applied, policy: NullPolicy) -> None:
    """The two rows that are shown for a law that went really refute it."""
    for law, (one, other) in applied.witnesses.items():
        assert state.table.is_live[[one, other]].all()
        assert one != other
        rows = [tuple(map(int, row)) for row in state.table.codes.of_rows(np.array([one, other])).T]
        assert not oracle.holds(law, rows, policy)


@pytest.mark.parametrize("way", ["counted", "witnesses"])
@given(data=st.data(), width=st.integers(1, 4), policy=POLICIES, largest=SIZES, reopens=st.booleans())
@one_in(1)
def test_laws_after_batches_are_those_of_the_rows(
    way: str, data: st.DataObject, width: int, policy: NullPolicy, largest: int | None, reopens: bool
) -> None:
    first, batches = data.draw(changes(width))
    settings = StateSettings(null=policy, max_size=largest, way=way)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        state = make_state(path, first, width, settings)
        rows = list(first)
        is_right(state, rows, policy, largest)
        for inserts, share in batches:
            before = set(laws_in(state))
            gone = taken(rows, share)
            applied = apply(state, inserts, gone)
            for row in gone:
                rows.remove(row)
            rows += inserts
            is_right(state, rows, policy, largest)
            told_what_changed(applied, before, set(laws_in(state)))
            witnesses_refute(state, applied, policy)
            if reopens:
                state.close()
                state = LivingState.open(path, writes=True)
                is_right(state, rows, policy, largest)
        state.close()


def test_as_ranks_are_as_the_oracle_wants_them() -> None:
    assert as_ranks([(None, 5), (3, -1)], 2) == [(0, 2), (1, 1)]
