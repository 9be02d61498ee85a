"""Everything that a state keeps, computed anew from its rows and compared."""

from __future__ import annotations

import numpy as np

from lawful.discovery.findings import Findings
from lawful.discovery.keys_and_fds.approximate import discover_almost
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.maintenance.evidence import Counted
from lawful.maintenance.living_state import LivingState, MakeEngine
from lawful.search import sorted_sets
from lawful.tables.living.live_view import LiveView


def differences_of(state: LivingState, engine: MakeEngine, watch: Watch) -> list[str]:
    """Compute laws and evidence anew, and say in words what is not as it was kept.

    Files were verified by their checksums when the state was opened.
    """
    return _wrong_evidence(state) + _wrong_laws(state.laws.findings(), _anew(state, engine, watch), state)


def _anew(state: LivingState, engine: MakeEngine, watch: Watch) -> Findings:
    view = LiveView.of(state.table, ordered=False)
    opened = engine()
    opened.open(view, state.settings.null)
    question = state.settings.question()
    try:
        search = discover_almost if question.error else discover_keys_and_fds
        found = search(Search(view, opened, watch), question)
    finally:
        opened.close()
    watch.look()
    return found


def _wrong_laws(kept: Findings, anew: Findings, state: LivingState) -> list[str]:
    """The goals whose laws differ."""
    differences = []
    goals = dict.fromkeys(block.goal for block in (*kept.blocks, *anew.blocks))
    for goal in goals:
        sets = [
            sorted_sets(
                np.concatenate([block.sets for block in found.blocks if block.goal == goal] or [_nothing(state)])
            )
            for found in (kept, anew)
        ]
        if not np.array_equal(*sets):
            what = "keys" if goal < 0 else f"left sides of {state.table.names[goal]!r}"
            differences.append(f"{len(sets[0]):,} {what} are kept, and there are {len(sets[1]):,}, not the same")
    return differences


def _nothing(state: LivingState) -> np.ndarray:
    return np.empty((0, -(-state.table.width // 64) or 1), np.uint64)


def _wrong_evidence(state: LivingState) -> list[str]:
    evidence = state.laws.evidence
    if isinstance(evidence, Counted):
        anew = Counted.of(state.table, state.settings.null).multiset.arrays()
        kept = evidence.multiset.arrays()
        orders = [np.lexsort(arrays["keys"].T) for arrays in (kept, anew)]
        same = all(np.array_equal(kept[name][orders[0]], anew[name][orders[1]]) for name in ("keys", "counts"))
        return [] if same else ["the counts of agree sets are not those of the rows"]
    return [] if evidence.witnesses_are_right() else ["an agree set is kept that its witnesses do not have"]
