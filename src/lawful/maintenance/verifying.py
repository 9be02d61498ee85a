"""Everything that a state keeps, computed anew from its rows and compared."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Words
from lawful.discovery.findings import Block, Findings
from lawful.discovery.keys_and_fds.approximate import discover_almost
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.maintenance.living_state import LivingState, MakeEngine
from lawful.search import sorted_sets, words_for
from lawful.tables.living.live_view import LiveView


def differences_of(state: LivingState, engine: MakeEngine, watch: Watch) -> list[str]:
    """Compute laws and evidence anew, and say in words what is not as it was kept.

    Files were verified by their checksums when the state was opened.
    """
    return state.laws.differences() + _wrong_laws(list(state.laws.blocks()), _anew(state, engine, watch).blocks, state)


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


def _wrong_laws(kept: list[Block], anew: list[Block], state: LivingState) -> list[str]:
    """The goals whose laws differ."""
    differences = []
    for goal in dict.fromkeys(block.goal for block in (*kept, *anew)):
        ours, found = (_laws_of(goal, blocks, state.table.width) for blocks in (kept, anew))
        if not np.array_equal(ours, found):
            what = "keys" if goal < 0 else f"left sides of {state.table.names[goal]!r}"
            differences.append(f"{len(ours):,} {what} are kept, and there are {len(found):,}, not the same")
    return differences


def _laws_of(goal: int, blocks: list[Block], width: int) -> Words:
    nothing = np.empty((0, words_for(width)), np.uint64)
    return sorted_sets(np.concatenate([nothing, *(block.sets for block in blocks if block.goal == goal)]))
