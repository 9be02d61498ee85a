"""A discovery from request to report: limits kept, laws written as they are found, results ranked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.discovery.findings import Block, Findings, Listing
from lawful.discovery.questions import Question
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.law_listings import RankedLaws
from lawful.results.packed_laws import PackedLaws
from lawful.runs.partial_files import PartialFile, right_side
from lawful.runs.request import FAMILIES, Request
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
    questions = request.questions(run.null_policy)
    watch = UserWatch(request.time_limit, request.memory_limit)
    found = Findings(complete=True)
    written = partial or PartialFile(None)
    written.begin(run.table.names)
    with run.timed("discover"), ctrl_c_ends(watch, run.cancel):
        for question in questions:
            # Canonical order dependencies come with all FDs, which a search for FDs has stated already.
            knows_fds = "fd" in request.find and _is_canonical(question)
            _add(found, _searched(run, question, watch, written, progress, knows_fds=knows_fds))
            if not found.complete:
                break
    progress("ranking what was found")
    with run.timed("rank"):
        packed, listed, left_out = _ranked(found, run, request)
    counts = _counts(found, request)
    if request.min_interest > 0 and not any(map(_is_canonical, questions)):  # which looks for nothing below it
        counts["left_out"] = left_out
    settings = {**request.settings(), "null": run.null_policy.value, "engine": run.engine.name}
    return DiscoveryReport(
        run.table, settings, packed, found.complete, found.stopped_because, run.seconds, counts, listed
    )


def _searched(
    run: Run, question: Any, watch: UserWatch, written: PartialFile, progress: Progress, *, knows_fds: bool
) -> Findings:
    """Run the search of one family; where it breaks off, what it had emitted by then is found.

    FDs that are known are not stated again.
    """
    blocks, listings = len(written.blocks), len(written.listings)

    def emit(found: Block | Listing) -> None:
        if not (knows_fds and isinstance(found, Block)):
            written.append(found)

    try:
        found: Findings = _search_of(question)(run.table, run.engine, question, watch, emit, progress)
        return replace(found, blocks=[]) if knows_fds else found
    except MemoryError:
        reason: str | None = "there is not enough memory"
    except StoppedError as stop:
        reason = watch.reason() or stop.message
    except EngineError:
        reason = watch.reason()  # a job that was cut off is no failure
        if reason is None:
            raise
    return Findings(written.blocks[blocks:], written.listings[listings:], stopped_because=reason)


def _search_of(question: Any) -> Any:
    """The search that answers a question; only what is asked for is loaded."""
    if isinstance(question, Question):
        from lawful.discovery.keys_and_fds.approximate import discover_almost
        from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds

        return discover_almost if question.error else discover_keys_and_fds
    if _is_canonical(question):
        from lawful.discovery.canonical_ods.discover import discover_canonical_ods

        return discover_canonical_ods
    match type(question).__name__:
        case "ListQuestion":
            from lawful.discovery.list_ods.discover import discover_list_ods

            return discover_list_ods
        case _:
            from lawful.discovery.denials.discover import discover_denial_constraints

            return discover_denial_constraints


def _is_canonical(question: Any) -> bool:
    """Whether canonical order dependencies are asked for; told by name, as they may not have been loaded."""
    return type(question).__name__ == "CanonicalQuestion"


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
    for family in FAMILIES[2:]:
        if family in request.find:
            listings = (listing for listing in found.listings if listing.kind == family)
            counts[family.replace("-", "_") + "s"] = sum(map(len, listings))
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
    for family in FAMILIES[2:]:
        if family not in request.find:
            continue
        of_kind = _listings(found, family)
        interesting = [_of_interest(listing, request.min_interest) for listing in of_kind]
        left_out += sum(map(len, of_kind)) - sum(map(len, interesting))
        listed.append(RankedLaws.of(family, interesting))  # type: ignore[arg-type]  # a family is a kind of law
    return kept.ranked(), tuple(listed), left_out


def _listings(found: Findings, family: str) -> list[Listing]:
    """The listings of a family; those of pairs, which were handed out as time went by, as one."""
    of_kind = [listing for listing in found.listings if listing.kind == family]
    if family != "canonical-od" or not of_kind:
        return of_kind
    from lawful.discovery.canonical_ods.pairs import PackedPairs

    return [PackedPairs.joined(of_kind)]  # type: ignore[arg-type]  # a listing of pairs is packed


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


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_memory(text: str) -> int:
    """Read a size such as 512m or 4g."""
    matched = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", text.lower())
    if matched is None:
        raise UsageError(f"{text!r} is not a size of memory", "Write 512m or 4g.")
    return int(float(matched.group(1)) * _UNITS[matched.group(2)])
