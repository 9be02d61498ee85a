"""A discovery from request to report: limits kept, laws written as they are found, results ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.discovery.checkpoint import remembered
from lawful.discovery.families import Family, FamilySearch, families
from lawful.discovery.findings import Block, Findings, Listing
from lawful.discovery.search import Search, Shared
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.law_listings import RankedLaws
from lawful.results.packed_laws import PackedLaws
from lawful.runs.partial_files import PartialFile, right_side
from lawful.runs.request import Request
from lawful.runs.run import Progress, Run
from lawful.runs.stopping import UserWatch, ctrl_c_ends
from lawful.search import words_for

_WORKING_MEMORY = 64 << 20
"""What working on the smallest table takes, beside the table."""


def discover_laws(
    run: Run, request: Request, progress: Progress, partial: PartialFile | None = None
) -> DiscoveryReport:
    """Discover on an opened run; laws are appended to the partial file as soon as they are certain.

    A limit, or Ctrl-C, ends the search with what is certain by then.
    """
    _refuse_too_little_memory(run, request.memory_limit)
    searches = request.searches()
    watch = UserWatch(request.time_limit, request.memory_limit)
    found = Findings(complete=True)
    written = partial or PartialFile(None)
    written.begin(run.table.names)
    settings = {**request.settings(), "null": run.null_policy.value}
    shared = Shared(run.table, run.null_policy, request.seed, swaps=any(search.needs_swaps for search in searches))
    with (
        run.timed("discover"),
        remembered(
            run.engine, run.table, request.checkpoint, settings, lambda: found.complete, resume=request.resume
        ) as checks,
        ctrl_c_ends(watch, run.cancel),
    ):
        for family_search in searches:
            # Canonical order dependencies come with all FDs, which a search for FDs has stated already.
            knows_fds = "fd" in request.find and family_search.states_fds
            search = Search(run.table, run.engine, watch, progress=progress, checks=checks, shared=shared)
            question = family_search.question(request, run.null_policy)
            _add(found, _searched(search, family_search, question, written, knows_fds=knows_fds))
            if not found.complete:
                break
        if shared.compared:
            found.counts["pairs"] = shared.compared
    progress("ranking what was found")
    with run.timed("rank"):
        packed, listed, left_out = _ranked(found, run, request)
    counts = _counts(found, request)
    if request.min_interest > 0 and not any(search.limits_interest for search in searches):
        counts["left_out"] = left_out
    settings["engine"] = run.engine.name
    return DiscoveryReport(
        run.table, settings, packed, found.complete, found.stopped_because, run.seconds, counts, listed
    )


def notes_before(run: Run, request: Request) -> list[str]:
    """What a user should know before the search begins, such as what will be compared."""
    noted = ((search, search.notes) for search in request.searches() if search.notes is not None)
    return [line for search, notes in noted for line in notes(run.table, search.question(request, run.null_policy))]


def _searched(
    search: Search, family_search: FamilySearch, question: Any, written: PartialFile, *, knows_fds: bool
) -> Findings:
    """Run the search of one family; where it breaks off, what it had stated by then is found.

    FDs that are known are not stated again.
    """

    def emit(found: Block | Listing) -> None:
        if not (knows_fds and isinstance(found, Block)):
            written.append(found)

    search.emit = emit
    try:
        family_search.discover(search, question)
    except MemoryError:
        search.findings.stopped_because = "there is not enough memory"
    except StoppedError as stop:
        search.findings.stopped_because = search.watch.reason() or stop.message
    except EngineError:
        reason = search.watch.reason()  # a job that was cut off is no failure
        if reason is None:
            raise
        search.findings.stopped_because = reason
    return replace(search.findings, blocks=[]) if knows_fds else search.findings


def _add(found: Findings, more: Findings) -> None:
    """Add what one family found."""
    found.blocks += more.blocks
    found.listings += more.listings
    found.complete = more.complete
    found.stopped_because = more.stopped_because
    for name, count in more.counts.items():
        found.counts[name] = found.counts.get(name, 0) + count


def _counts(found: Findings, request: Request) -> dict[str, int]:
    counts = {"keys": found.count(goal_is_key=True), "fds": found.count(goal_is_key=False)}
    for family in _listed_families(request):
        listings = (listing for listing in found.listings if listing.kind == family.name)
        counts[family.name.replace("-", "_") + "s"] = sum(map(len, listings))
    return {**counts, **found.counts}


def _ranked(found: Findings, run: Run, request: Request) -> tuple[PackedLaws, tuple[RankedLaws, ...], int]:
    """Everything in the order in which people want it, without what is of too little interest; and how many that is."""
    from lawful.discovery.coverage import Coverage

    coverage = Coverage(run.table, run.null_policy, range(run.table.width))
    interests = [coverage.of(block.sets) for block in found.blocks]
    packed = _packed(found.blocks, interests, run.table.width)
    kept = packed if request.min_interest <= 0 else packed.chosen(packed.interests >= request.min_interest)
    left_out = len(packed) - len(kept)
    listed = []
    for family in _listed_families(request):
        of_kind = _listings(found, family)
        interesting = [_of_interest(listing, request.min_interest) for listing in of_kind]
        left_out += sum(map(len, of_kind)) - sum(map(len, interesting))
        listed.append(RankedLaws.of(family.name, interesting))
    return kept.ranked(), tuple(listed), left_out


def _listed_families(request: Request) -> list[Family]:
    """The families that are asked for and come in listings: all but keys and FDs, which come in blocks."""
    return [family for family in families() if family.name in request.find and family.name not in ("key", "fd")]


def _listings(found: Findings, family: Family) -> list[Listing]:
    """The listings of a family; those that were handed out as time went by as one, where the family joins them."""
    of_kind = [listing for listing in found.listings if listing.kind == family.name]
    join = None if family.search is None else family.search.join
    return [join(of_kind)] if join is not None and of_kind else of_kind


def _of_interest(listing: Listing, least: float) -> Listing:
    return listing if least <= 0 else listing.chosen(np.flatnonzero(listing.interests >= least))


def _refuse_too_little_memory(run: Run, limit: int | None) -> None:
    if limit is not None and limit < run.table.nbytes + _WORKING_MEMORY:
        raise UsageError(
            f"the memory limit of {limit >> 20} MB is too small: the encoded table alone takes "
            f"{run.table.nbytes >> 20} MB, and working on it some more",
            f"Give at least that and {_WORKING_MEMORY >> 20} MB, or leave columns out with --columns.",
        )


def _packed(blocks: Sequence[Block], interests: Sequence[np.ndarray], width: int) -> PackedLaws:
    """All blocks as one."""
    if not blocks:
        nothing = np.zeros(0)
        return PackedLaws(np.zeros((0, words_for(width)), np.uint64), np.zeros(0, np.int64), nothing)
    errors = [block.errors for block in blocks if block.errors is not None]
    return PackedLaws(
        np.concatenate([block.sets for block in blocks]),
        np.concatenate([np.full(len(block.sets), right_side(block), np.int64) for block in blocks]),
        np.concatenate(interests),
        np.concatenate(errors) if errors else None,
    )
