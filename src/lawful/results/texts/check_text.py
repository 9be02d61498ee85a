"""What people read of checked laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lawful.common.meanings import Allowance
from lawful.results.texts.lines import (
    Limits,
    Line,
    Part,
    cells,
    heading,
    indented,
    left_out,
    line,
    shown_law,
    shown_place,
)
from lawful.results.texts.shown_text import counted

if TYPE_CHECKING:
    from lawful.checks import Trial
    from lawful.results.check_report import CheckReport, Outcome

_NAMES = {"rfi_plus": "RFI+"}


def check_lines(report: CheckReport, limits: Limits) -> Iterator[Line]:
    """The verdicts, and for each broken law two rows that refute it and how many violate it."""
    yield heading(report.table, report.engine)
    shown = _worth_showing(report.outcomes, limits.laws)
    for outcome in shown:
        yield from _outcome(outcome, report.table.name, limits)
    if len(shown) < len(report.outcomes):
        yield line(left_out(len(report.outcomes) - len(shown), "", limits))
    yield line(check_summary(report), "bold")


def _worth_showing(outcomes: Sequence[Outcome], most: int | None) -> Sequence[Outcome]:
    """As many as one reads, broken laws before others, in their order."""
    if most is None or len(outcomes) <= most:
        return outcomes
    broken_first = sorted(range(len(outcomes)), key=lambda number: outcomes[number].holds)
    return [outcomes[number] for number in sorted(broken_first[:most])]


def check_summary(report: CheckReport) -> str:
    """How many laws hold."""
    checked = len(report.outcomes)
    if report.complete:
        within = sum(outcome.holds and outcome.has_violations for outcome in report.outcomes)
        some = f", {within:,} of them within the error that is allowed" if within else ""
        return f"{checked - len(report.broken):,} of {checked:,} laws hold{some}"
    return (
        f"incomplete: stopped after {checked:,} of {report.asked:,} laws; "
        f"{checked - len(report.broken):,} hold, {len(report.broken):,} broken"
    )


def _outcome(outcome: Outcome, table_name: str, limits: Limits) -> Iterator[Line]:
    verdict = Part("  holds   ", "green") if outcome.holds else Part("  broken  ", "bold red")
    yield (verdict, Part(shown_law(outcome.text, limits)))
    lines = [] if outcome.allowed is None else [_measured(outcome.error or 0.0, outcome.allowed)]
    if outcome.trial is not None:
        lines.append(_strength(outcome.trial, outcome.measures or {}))
    if outcome.has_violations:
        lines += refutation(outcome, table_name, limits)
    yield from indented(lines, " " * 10)


def _strength(trial: Trial, measures: Mapping[str, float | None]) -> str:
    others = (f"{_NAMES.get(name, name)} {value:.4g}" for name, value in measures.items() if value is not None)
    tested = f"tested by {counted(trial.tested, 'pair')}"
    return ", ".join([f"strength {trial.strength:.4g}", tested, *others])


def _measured(error: float, allowed: Allowance) -> str:
    comparison = "of at most" if error <= allowed.error else "more than"
    return f"error {error:.4g}, {comparison} {allowed.error:g} ({allowed.measure})"


def refutation(outcome: Outcome, table_name: str, limits: Limits) -> list[str]:
    """How badly a law is broken, and two rows that show it."""
    rows = (f"{shown_place(view.place, table_name)}: {cells(view.values, limits)}" for view in outcome.witness or ())
    return [f"{damage(outcome)}; for example:", *rows]


def damage(outcome: Outcome) -> str:
    """How badly a law is broken."""
    violating = f"{counted(outcome.rows, 'row')} in {counted(outcome.pairs, 'violating pair')}"
    if outcome.removals is None:
        return violating
    return f"{violating}; removing {counted(outcome.removals, 'row')} would mend it"
