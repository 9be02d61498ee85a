"""A discovery from request to report: limits kept, laws written as they are found, results ranked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lawful.common.compiling import working_seconds
from lawful.common.errors import EngineError, StoppedError, TooLargeError
from lawful.common.meanings import STOPPING
from lawful.common.memory import memory_kept_below
from lawful.discovery.checkpoint import remembered
from lawful.discovery.families import FamilySearch, families
from lawful.discovery.findings import Block, Findings
from lawful.discovery.search import Search, Shared
from lawful.results.discovery_report import DiscoveryReport, FoundFamily
from lawful.results.law_listings import Listing
from lawful.runs.partial_files import PartialFile
from lawful.runs.ranking import Ranker, listed_families
from lawful.runs.request import Request
from lawful.runs.run import Progress, Run
from lawful.runs.searched_tables import checks_of_table, jobs_ended_by, placement_of, searched_table
from lawful.runs.stopping import (
    LeftBehindError,
    RankingWatch,
    UserWatch,
    ctrl_c_ends,
    kept_to,
    refuse_too_little_memory,
)
from lawful.runs.strengths import count_trials
from lawful.tables.shuffled.table import is_shuffled

_SECONDS_FOR_LAST_WORDS = 0.2
"""Beyond this, and the grace that all work is given, laws are given as they were found."""


def discover_laws(
    run: Run,
    request: Request,
    progress: Progress,
    partial: PartialFile | None = None,
    watch: UserWatch | None = None,
) -> DiscoveryReport:
    """Discover on an opened run; laws are appended to the partial file as soon as they are certain.

    A limit, or Ctrl-C, ends the search with what is certain by then. Limits begin with the watch, if one is given.
    """
    refuse_too_little_memory(run, request.memory_limit)
    searches = request.searches()
    began, watch = working_seconds(), watch or UserWatch(request.time_limit, request.memory_limit)
    found = Findings(complete=True)
    written = partial or PartialFile(None)
    written.begin(run.table.names)
    settings = {**request.settings(), "null": run.null_policy.value}
    with run.timed("discover"):
        table = searched_table(run, request.seed, progress)
    shared = Shared(table, run.null_policy, request.seed, swaps=any(search.needs_swaps for search in searches))

    def stop() -> None:
        progress(STOPPING)
        run.cancel()

    with (
        run.timed("discover"),
        remembered(
            run.engine, run.table, request.checkpoint, settings, lambda: found.complete, resume=request.resume
        ) as checks,
        ctrl_c_ends(watch, stop),
        memory_kept_below(watch.most_memory),
        jobs_ended_by(run, watch),
    ):
        in_sample = checks_of_table(checks, table)
        for family_search in searches:
            # Canonical order dependencies come with all FDs, which a search for FDs has stated already.
            knows_fds = "fd" in request.find and family_search.states_fds
            search = Search(table, run.engine, watch, progress=progress, checks=in_sample, shared=shared)
            question = family_search.question(request, run.null_policy)
            decided = _decided_by(family_search, request)
            _add(found, _searched(run, watch, search, family_search, question, written, decided, knows_fds=knows_fds))
            if not found.complete:
                break
        if shared.compared:
            found.counts["pairs"] = shared.compared
        spent = working_seconds() - began
    written.release()
    counts, known = _counts(found, request), _families(found, request)
    ranking_watch = RankingWatch(watch, request.time_limit, spent)
    with run.timed("rank"), ctrl_c_ends(ranking_watch, stop):
        with jobs_ended_by(run, ranking_watch):
            trials = count_trials(run, found, ranking_watch, progress) if found.complete else None
        progress("ranking what was found")
        ranker = Ranker(table, run.null_policy, request, ranking_watch, trials)
        try:
            ranking = kept_to(ranking_watch, lambda: ranker.ranking(found))
        except StoppedError as overrun:  # it was left behind, or had no room
            ranking = ranker.unranked(found, overrun.message)
    if request.min_interest > 0 and not any(search.limits_interest for search in searches):
        counts["left_out"] = ranker.left_out
    if ranker.not_rated:
        counts["not_rated"] = ranker.not_rated
        known |= {name: replace(known[name], complete=False) for name in ("key", "fd") if name in known}
    stopped = found.stopped_because
    if ranker.not_rated or ranking_watch.is_told:
        stopped = stopped or ranking_watch.reason()
    settings["engine"] = run.engine.name
    settings |= placement_of(run.table)
    complete = found.complete and stopped is None
    return DiscoveryReport(run.table, settings, ranking, complete, stopped, run.seconds, counts, known)


def notes_before(run: Run, request: Request) -> list[str]:
    """What a user should know before the search begins, such as what will be compared.

    Of a shuffled table that takes jobs to know, so that the search tells it as it goes.
    """
    if is_shuffled(run.table):
        return []
    noted = ((search, search.notes) for search in request.searches() if search.notes is not None)
    return [line for search, notes in noted for line in notes(run.table, search.question(request, run.null_policy))]


def _searched(
    run: Run,
    watch: UserWatch,
    search: Search,
    family_search: FamilySearch,
    question: Any,
    written: PartialFile,
    decided: set[str],
    *,
    knows_fds: bool,
) -> Findings:
    """Run one search for the families that it decides; where it breaks off, what it had stated by then is found.

    FDs that are known are not stated again.
    """

    def emit(found: Block | Listing) -> None:
        if not (knows_fds and isinstance(found, Block)):
            written.append(found)

    search.emit = emit
    try:
        if run.engine.name == "local":
            kept_to(watch, lambda: family_search.discover(search, question))
        else:  # Spark's calls come back by themselves, and its settings are a thread's own
            family_search.discover(search, question)
        if search.findings.complete:
            search.findings.finished = decided
    except LeftBehindError as stop:
        _leave_behind(search, stop.message)
        run.cancel()
    except TooLargeError as error:
        _leave_behind(search, error.typed_message)
    except MemoryError:
        search.findings.stopped_because = "there is not enough memory"
    except StoppedError as stop:
        search.findings.stopped_because = search.watch.reason() or stop.typed_message
    except EngineError:
        reason = search.watch.reason()  # a job that was cut off is no failure
        if reason is None:
            raise
        search.findings.stopped_because = reason
    return replace(search.findings, blocks=[]) if knows_fds else search.findings


def _leave_behind(search: Search, reason: str) -> None:
    """Keep what a search had found that did not come to its end."""
    found = search.leave_behind()
    found.stopped_because = reason
    last_words = search.last_words
    if last_words is None or found.listings:
        return
    try:
        found.listings.append(kept_to(UserWatch(_SECONDS_FOR_LAST_WORDS, None), lambda: last_words(True)))
    except LeftBehindError:
        found.listings.append(last_words(False))
        found.stopped_because += "; there was no time to leave out what follows from other laws"


def _add(found: Findings, more: Findings) -> None:
    """Add what one family found."""
    found.blocks += more.blocks
    found.listings += more.listings
    found.complete = more.complete
    found.stopped_because = more.stopped_because
    found.finished |= more.finished
    for name, count in more.counts.items():
        found.counts[name] = found.counts.get(name, 0) + count


def _decided_by(search: FamilySearch, request: Request) -> set[str]:
    """The families of which a search finds all laws; FDs may come with those that are asked for."""
    asked = {family.name for family in families() if family.search == search and family.name in request.find}
    return asked | ({"fd"} if search.states_fds else set())


def _families(found: Findings, request: Request) -> dict[str, FoundFamily]:
    """What is known of each family that was asked for, or that comes with one that was."""
    decided = set().union(*(_decided_by(search, request) for search in request.searches()))
    names = [family.name for family in families() if family.name in decided]
    return {name: FoundFamily(_found_of(found, name), name in found.finished) for name in names}


def _found_of(found: Findings, family: str) -> int:
    if family in ("key", "fd"):
        return found.count(goal_is_key=family == "key")
    return sum(len(listing) for listing in found.listings if listing.kind == family)


def _counts(found: Findings, request: Request) -> dict[str, int]:
    counts = {"keys": found.count(goal_is_key=True), "fds": found.count(goal_is_key=False)}
    for family in listed_families(request):
        counts[family.name.replace("-", "_") + "s"] = _found_of(found, family.name)
    return {**counts, **found.counts}
