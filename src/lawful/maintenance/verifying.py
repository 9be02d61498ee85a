"""Everything that a state keeps, computed anew from its rows and compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from lawful.common.arrays import Words
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.maintenance.kept_laws import LawBlock
from lawful.maintenance.living_state import LivingState, MakeEngine
from lawful.search import sorted_sets
from lawful.tables.living.live_view import LiveView


def differences_of(state: LivingState, engine: MakeEngine, watch: Watch) -> list[str]:
    """Compute laws and evidence anew, and say in words what is not as it was kept.

    Files were verified by their checksums when the state was opened.
    """
    names = state.table.names

    def what(block: LawBlock) -> str:
        return state.laws.what(block, names)

    kept, anew = (_told(blocks, what) for blocks in (state.laws.blocks(), _anew(state, engine, watch)))
    return [*state.laws.differences(), *state.pin_differences(engine, watch)] + [
        f"{len(kept.get(what, ())):,} {what} are kept, and there are {len(anew.get(what, ())):,}, not the same"
        for what in dict.fromkeys([*kept, *anew])
        if not np.array_equal(kept.get(what, ()), anew.get(what, ()))
    ]


def _anew(state: LivingState, engine: MakeEngine, watch: Watch) -> Iterator[LawBlock]:
    """Find all laws of the rows as they are."""
    view = LiveView.of(state.table, ordered=state.settings.has_orders)
    opened = engine()
    opened.open(view, state.settings.null)
    try:
        for family in state.laws.families:
            yield from family.anew(Search(view, opened, watch))
            watch.look()
    finally:
        opened.close()


def _told(blocks: Iterable[LawBlock], what: Callable[[LawBlock], str]) -> dict[str, Words]:
    """The laws in order, by what people call those of their block."""
    told: defaultdict[str, list[Words]] = defaultdict(list)
    for block in blocks:
        if len(block.sets):
            told[what(block)].append(block.sets)
    return {called: sorted_sets(np.concatenate(sets)) for called, sets in told.items()}
