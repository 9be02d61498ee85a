"""A discovery from request to report: limits kept, laws written as they are found, results ranked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.dependencies import LawKind
from lawful.discovery.findings import Block, Findings, Listing
from lawful.discovery.questions import Question
from lawful.results.discovery_report import DiscoveryReport, FoundFamily
from lawful.runs.partial_files import PartialFile
from lawful.runs.ranking import Ranker
from lawful.runs.request import FAMILIES, Request
from lawful.runs.run import Progress, Run
from lawful.runs.stopping import RankingWatch, UserWatch, ctrl_c_ends

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
    with run.timed("discover"), ctrl_c_ends(watch, run.engine):
        for question in questions:
            # Canonical order dependencies come with all FDs, which a search for FDs has stated already.
            knows_fds = "fd" in request.find and _is_canonical(question)
            _add(found, _searched(run, question, watch, written, progress, knows_fds=knows_fds))
            if not found.complete:
                break
    written.release()
    counts, families = _counts(found, request), _families(found, request)
    ranking_watch = RankingWatch(watch, request.time_limit, run.seconds["discover"])
    with run.timed("rank"), ctrl_c_ends(ranking_watch, run.engine):
        progress("ranking what was found")
        ranker = Ranker(run.table, run.null_policy, request, ranking_watch)
        ranking = ranker.ranking(found)
    if request.min_interest > 0 and not any(map(_is_canonical, questions)):  # which looks for nothing below it
        counts["left_out"] = ranker.left_out
    if ranker.not_rated:
        counts["not_rated"] = ranker.not_rated
        families |= {name: replace(families[name], complete=False) for name in ("key", "fd") if name in families}
    stopped = found.stopped_because
    if ranker.not_rated or ranking_watch.is_told:
        stopped = stopped or ranking_watch.reason()
    settings = {**request.settings(), "null": run.null_policy.value, "engine": run.engine.name}
    complete = found.complete and stopped is None
    return DiscoveryReport(run.table, settings, ranking, complete, stopped, run.seconds, counts, families)


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
        if found.complete:
            found.finished = _families_of(question)
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
    found.finished |= more.finished
    for name, count in more.counts.items():
        found.counts[name] = found.counts.get(name, 0) + count


def _families(found: Findings, request: Request) -> dict[str, FoundFamily]:
    """What is known of each family that was asked for; FDs come with canonical order dependencies."""
    asked = [family for family in FAMILIES if family in request.find]
    if "canonical-od" in asked and "fd" not in asked:
        asked.insert(asked.index("canonical-od"), "fd")
    return {family: FoundFamily(_found_of(found, family), family in found.finished) for family in asked}


def _found_of(found: Findings, family: str) -> int:
    if family in ("key", "fd"):
        return found.count(goal_is_key=family == "key")
    return sum(len(listing) for listing in found.listings if listing.kind == family)


def _families_of(question: Any) -> set[LawKind]:
    """The families that a search looks for."""
    if isinstance(question, Question):
        families: dict[LawKind, bool] = {"key": question.keys, "fd": question.fds}
        return {family for family, is_asked in families.items() if is_asked}
    match type(question).__name__:
        case "CanonicalQuestion":
            return {"canonical-od", "fd"}
        case "ListQuestion":
            return {"list-od"}
        case _:
            return {"dc"}


def _counts(found: Findings, request: Request) -> dict[str, int]:
    counts = {"keys": found.count(goal_is_key=True), "fds": found.count(goal_is_key=False)}
    for family in FAMILIES[2:]:
        if family in request.find:
            counts[family.replace("-", "_") + "s"] = _found_of(found, family)
    return {**counts, **found.counts}


def _refuse_too_little_memory(run: Run, limit: int | None) -> None:
    if limit is not None and limit < run.table.nbytes + _WORKING_MEMORY:
        raise UsageError(
            f"the memory limit of {limit >> 20} MB is too small: the encoded table alone takes "
            f"{run.table.nbytes >> 20} MB, and working on it some more",
            f"Give at least that and {_WORKING_MEMORY >> 20} MB, or leave columns out with --columns.",
        )


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_memory(text: str) -> int:
    """Read a size such as 512m or 4g."""
    matched = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", text.lower())
    if matched is None:
        raise UsageError(f"{text!r} is not a size of memory", "Write 512m or 4g.")
    return int(float(matched.group(1)) * _UNITS[matched.group(2)])
