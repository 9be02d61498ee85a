"""What the tests of all kinds of laws do with a state: follow batches, compare with brute force, open it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.applied import Applied
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.verifying import differences_of
from maintenance.changing_tables import Row, apply, laws_in, make_state, multiset, rows_in, taken

POLICIES = st.sampled_from(list(NullPolicy))


class Impatient(Watch):
    """Stops the work when it has been asked so many times whether it should."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self._patience = patience

    def reason(self) -> str | None:
        """Say why to stop."""
        self._patience -= 1
        return "stopped by the test" if self._patience < 0 else None


def files_of(folder: Path) -> dict[str, bytes]:
    """What is in all files below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def some_rows(chance: np.random.Generator, first: int, count: int) -> list[Row]:
    """The second column rises with the first, but for one row in fifty; the others are of few values."""
    return [
        (k, 2 * k - (5 if chance.random() < 0.02 else 0), None if chance.random() < 0.1 else k // 40, k * k % 7)
        for k in range(first, first + count)
    ]


def is_right(state: LivingState) -> None:
    """Everything that is kept is what the rows say."""
    assert differences_of(state, lambda: LocalEngine(threads=1), Watch()) == []


def told_what_changed(applied: Applied, before: set[Law], after: set[Law]) -> None:
    """A batch tells each law that came or went, once."""
    removed = [law for block in applied.changes.removed for law in block.laws()]
    added = [law for block in applied.changes.added for law in block.laws()]
    assert len(removed) == len(set(removed))
    assert len(added) == len(set(added))
    assert set(removed) == before - after
    assert set(added) == after - before


def follow_batches(
    path: Path,
    first: Sequence[Row],
    batches: Sequence[tuple[list[Row], float]],
    width: int,
    settings: StateSettings,
    expected: Callable[[LivingState, list[Row]], set[Law]],
    witnesses_refute: Callable[[LivingState, Applied], None],
    *,
    reopens: bool,
) -> None:
    """Make a state and apply batches to it: after each, its laws and what is told of them are as expected."""
    state, rows = make_state(path, first, width, settings), list(first)
    assert set(laws_in(state)) == expected(state, rows)
    for inserts, share in batches:
        before, gone = set(laws_in(state)), taken(rows, share)
        applied = apply(state, inserts, gone)
        rows = list((multiset(rows) - multiset(gone)).elements()) + inserts
        assert multiset(rows_in(state)) == multiset(rows)
        after = laws_in(state)
        assert len(after) == len(set(after))
        assert set(after) == expected(state, rows)
        told_what_changed(applied, before, set(after))
        witnesses_refute(state, applied)
        if not gone:
            assert applied.changes.checks == 0, "insertions alone leave nothing to check"
        if reopens:
            state.close()
            state = LivingState.open(path, writes=True)
            assert set(laws_in(state)) == set(after)
    is_right(state)
    state.compact()
    state.close()
    again = LivingState.open(path)
    assert set(laws_in(again)) == set(laws_in(state))
    is_right(again)
