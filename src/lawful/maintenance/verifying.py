"""Everything that a state keeps, computed anew from its rows and compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.discovery.findings import KEY, Findings
from lawful.discovery.keys_and_fds.approximate import discover_almost
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.maintenance.kept_laws import LawBlock
from lawful.maintenance.living_state import LivingState, MakeEngine
from lawful.maintenance.pods.pod_blocks import PodBlock
from lawful.maintenance.pods.pod_laws import left_sides_in
from lawful.search import sorted_sets
from lawful.tables.living.live_view import LiveView


def differences_of(state: LivingState, engine: MakeEngine, watch: Watch) -> list[str]:
    """Compute laws and evidence anew, and say in words what is not as it was kept.

    Files were verified by their checksums when the state was opened.
    """
    names = state.table.names
    kept, anew = (_told(blocks, names) for blocks in (state.laws.blocks(), _anew(state, engine, watch)))
    return state.laws.differences() + [
        f"{len(kept.get(what, ())):,} {what} are kept, and there are {len(anew.get(what, ())):,}, not the same"
        for what in dict.fromkeys([*kept, *anew])
        if not np.array_equal(kept.get(what, ()), anew.get(what, ()))
    ]


def _anew(state: LivingState, engine: MakeEngine, watch: Watch) -> Iterator[LawBlock]:
    """Find all laws of the rows as they are."""
    settings = state.settings
    view = LiveView.of(state.table, ordered=settings.has_pods)
    opened = engine()
    opened.open(view, settings.null)
    try:
        if settings.has_packed:
            search = discover_almost if settings.error else discover_keys_and_fds
            yield from _whole(search(Search(view, opened, watch), settings.question()), watch).blocks
        if settings.has_pods:
            found = _whole(discover_pointwise(Search(view, opened, watch), settings.pod_question()), watch)
            yield from left_sides_in(found.listings)
    finally:
        opened.close()


def _whole(found: Findings, watch: Watch) -> Findings:
    watch.look()
    return found


def _told(blocks: Iterable[LawBlock], names: Sequence[str]) -> dict[str, Words]:
    """The left sides in order, by what people call those with the same right side."""
    told: defaultdict[str, list[Words]] = defaultdict(list)
    for block in blocks:
        if len(block.sets):
            told[_what(block, names)].append(block.sets)
    return {what: sorted_sets(np.concatenate(sets)) for what, sets in told.items()}


def _what(block: LawBlock, names: Sequence[str]) -> str:
    if isinstance(block, PodBlock):
        return f"left sides of {{{names[block.goal.column]}{block.goal.operator}}}"
    return "keys" if block.goal == KEY else f"left sides of {names[block.goal]!r}"
