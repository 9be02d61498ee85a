"""A page from laws to file: laws are checked where a table is given, rows and plots gathered within the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import STOPPING, NullPolicy
from lawful.reports.collecting import collect
from lawful.reports.document import BrokenLaw, OrderPlot
from lawful.reports.limits import PageLimits
from lawful.reports.order_plots import order_plots, swapped_rows
from lawful.reports.page import ReportPage
from lawful.reports.sources import PageSource
from lawful.reports.verdicts import Standing, broken_laws, fill_rows, standings, with_trials
from lawful.results import CheckReport
from lawful.results.violating_rows import ViolatingRows
from lawful.runs.open_table import OpenTable, null_of_laws
from lawful.runs.run import Progress
from lawful.runs.stopping import UserWatch, ctrl_c_ends, kept_to
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shuffled.table import is_shuffled


def page_on_table(
    source: PageSource,
    opened: OpenTable,
    null: str | None,
    time_limit: float | None,
    progress: Progress,
    limits: PageLimits,
) -> ReportPage:
    """Make a page of laws that are checked on an open table."""
    watch = _watch(time_limit)
    given = source.asked()
    policy = null_of_laws(null, given) if null is not None or source.null is None else source.null
    with ctrl_c_ends(watch, lambda: progress(STOPPING)):
        report = opened.check_as(given, policy, strength=source.given is not None, watch=watch)
        there = replace(source.on(report.table), table=report.table, rows=report.rows_of_laws, null=policy)
        there = replace(there, laws=with_trials(there.laws, report))
        return _page(there, report, watch, progress, limits, is_here=report.engine == "local")


def page_of_source(source: PageSource, time_limit: float | None, progress: Progress, limits: PageLimits) -> ReportPage:
    """Make a page of what a result or a document knows."""
    if source.given is not None:
        raise UsageError(
            "these laws say nothing of a table", "Give the table that they are to be checked on with --table."
        )
    watch = _watch(time_limit)
    with ctrl_c_ends(watch, lambda: progress(STOPPING)):
        return _page(source, None, watch, progress, limits, is_here=True)


def _watch(time_limit: float | None) -> UserWatch:
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"the time limit must be positive, and is {time_limit:g}", "Leave it out for none.")
    return UserWatch(time_limit, None)


def _page(
    source: PageSource,
    report: CheckReport | None,
    watch: UserWatch,
    progress: Progress,
    limits: PageLimits,
    *,
    is_here: bool,
) -> ReportPage:
    standing = standings(source, report)
    broken, places = broken_laws(source, standing, limits)
    plots: list[OrderPlot] = []
    stopped = None
    if source.table is not None and source.rows is not None:
        gather = _gathering(source, source.table, source.rows, standing, broken, plots, watch, progress, limits)
        try:
            if is_here:
                kept_to(watch, gather)
            else:  # Spark's calls come back by themselves, and its settings are a thread's own
                gather()
        except (KeyboardInterrupt, StoppedError) as stop:
            stopped = watch.reason() or getattr(stop, "message", "the user stopped it")
    progress("writing the page")
    document = collect(
        source, standing, list(broken), source.table, None if report is None else len(report.outcomes), limits
    )
    notes = list(document.notes)
    if report is not None and not report.complete:
        stopped = watch.reason() or stopped
        notes.insert(0, f"{len(report.outcomes):,} of {report.asked:,} laws were checked before the check was stopped.")
    elif stopped is not None:
        notes.insert(0, f"Not all rows and plots are here: {stopped}.")
    if is_shuffled(source.table):
        notes.append("Orders are not drawn, since no process holds the rows of this table.")
    if len(places) > len(broken):
        notes.append(
            f"Of {len(places):,} broken and almost-laws the first {len(broken):,} are at the top, all in the list."
        )
    document = replace(document, made=_now(), version=_version(), notes=notes, plots=list(plots))
    if report is not None:
        document = replace(document, seconds=[*document.seconds, *_seconds(report)])
    return ReportPage(document, is_whole=stopped is None)


def _gathering(
    source: PageSource,
    table: EncodedTable,
    rows: ViolatingRows,
    standing: list[Standing],
    broken: list[BrokenLaw],
    plots: list[OrderPlot],
    watch: UserWatch,
    progress: Progress,
    limits: PageLimits,
) -> Callable[[], None]:
    def gather() -> None:
        with rows.engine() as engine:
            null = source.null or NullPolicy.EQUAL
            progress("gathering rows that break laws")
            if is_shuffled(table):  # nobody has the rows of a class to draw, or to tell which are out of order
                fill_rows(broken, source, table, engine, limits, watch.look)
                return
            swapped = partial(swapped_rows, table=table, engine=engine, null=null, limits=limits)
            fill_rows(broken, source, table, engine, limits, watch.look, swapped)
            progress("drawing order laws")
            order_plots(source, standing, table, engine, null, limits, watch.look, plots)

    return gather


def _seconds(report: CheckReport) -> list[tuple[str, float]]:
    return [(f"this page: {step}", seconds) for step, seconds in report.seconds.items()]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _version() -> str:
    try:
        return version("lawful")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return ""
