"""What people read of the strongest laws: one screen, unless all are wanted."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lawful.results.texts.lines import (
    Limits,
    Line,
    Part,
    cells,
    heading,
    left_out,
    line,
    shown_law,
    shown_names,
    shown_place,
)
from lawful.results.texts.shown_text import counted, shown_strength, visible
from lawful.results.texts.table_text import short_count, types_and_nulls

if TYPE_CHECKING:
    from lawful.results.check_report import Outcome
    from lawful.results.statements import Statement
    from lawful.results.strongest_report import StrongestReport

_LINES_OF_A_SCREEN = 38
"""So many lines a screen has, beside the commands that one may type next."""
_FEWEST = 3
"""So many laws of each kind are shown, if there are so many."""
_LINES_OF_A_TEXT = 2
_EXAMPLES = 2
"""So many broken laws are shown with two rows, on a screen."""
_EXCEPTIONS = "fd-with-exceptions"
_WITH_EXCEPTIONS = "with exceptions"
_TITLES = {
    "key": "keys",
    "entity": "columns that determine each other",
    "fd": "functional dependencies",
    "canonical-od": "orders",
    _EXCEPTIONS: f"functional dependencies {_WITH_EXCEPTIONS}",
}


def strongest_lines(report: StrongestReport, limits: Limits) -> Iterator[Line]:
    """The table, what the laws say kind by kind, the strongest first, and two rows that break the first broken ones."""
    table = report.table
    of_kind = {kind: [each for each in report.statements if _title_of(each) == kind] for kind in _TITLES}
    laws = {kind: [_law_lines(each, table.rows, limits) for each in some] for kind, some in of_kind.items() if some}
    head, tail = list(_about_the_table(report, limits)), list(_about_the_laws(report, limits))
    yield from head
    room = _LINES_OF_A_SCREEN - len(head) - len(tail) - 2 * len(laws)
    for kind, most in _most_shown(laws, room, limits).items():
        if not most:
            yield line(f"  {left_out(len(laws[kind]), _WITH_EXCEPTIONS, limits)}")
            continue
        yield line(f"  strength  tested  wrong rows  {_TITLES[kind]}", "bold")
        for each in laws[kind][:most]:
            yield from map(line, each)
        if most < len(laws[kind]):
            yield line(f"  {left_out(len(laws[kind]) - most, '', limits)}")
    yield from tail


def _title_of(each: Statement) -> str:
    return _EXCEPTIONS if each.has_exceptions else each.kind


def _about_the_table(report: StrongestReport, limits: Limits) -> Iterator[Line]:
    table = report.table
    yield heading(table, report.settings["engine"])
    yield from map(line, _wrapped(types_and_nulls(table.columns, table.rows, limits.name), limits))
    if report.constants:
        names = [table.names[column] for column in report.constants]
        yield from map(line, _wrapped(f"always the same: {shown_names(names, limits)}", limits))


def _about_the_laws(report: StrongestReport, limits: Limits) -> Iterator[Line]:
    yield from _examples(report.examples[: _EXAMPLES if limits.width else None], report.table.name, limits)
    for text in _wrapped(strongest_summary(report), limits):
        yield line(text, "bold")
    if report.left_out_sizes:
        yield from map(line, _wrapped(report.left_out_sizes, limits))


def _law_lines(each: Statement, rows: int, limits: Limits) -> list[str]:
    """Numbers stand before the law, so that a law of any length leaves them in their columns."""
    wrong = f"{round(each.error * rows):,}" if each.error else "none"
    before = f"  {shown_strength(each.strength):>8}  {short_count(each.tested):>6}  {wrong:>10}  "
    return _wrapped(shown_law(each.text, limits), limits, before)


def _most_shown(laws: Mapping[str, Sequence[Sequence[str]]], room: int, limits: Limits) -> dict[str, int]:
    """How many laws of each kind fit into so many lines: a few of each, then FDs first, those with exceptions last."""
    if limits.width is None:
        return {kind: len(some) for kind, some in laws.items()}
    shown = dict.fromkeys(laws, 0)
    spare = max(room, _FEWEST * len(laws))

    def take(kind: str, most: float) -> None:
        nonlocal spare
        while shown[kind] < min(most, len(laws[kind])) and len(laws[kind][shown[kind]]) <= spare:
            spare -= len(laws[kind][shown[kind]])
            shown[kind] += 1

    for kind in laws:
        take(kind, _FEWEST if kind != _EXCEPTIONS else 0)
    for kind in sorted(laws, key=lambda kind: (kind == _EXCEPTIONS, kind != "fd")):
        take(kind, math.inf)
    return shown


def _examples(examples: Sequence[Outcome], table_name: str, limits: Limits) -> Iterator[Line]:
    """Two rows for each law, as checks show them; how many are wrong stands with the law above."""
    for outcome in examples:
        first, *more = _wrapped(shown_law(outcome.text, limits), limits, "broken    ")
        yield (Part("broken", "bold red"), Part(first.removeprefix("broken")))
        yield from map(line, more)
        for view in outcome.witness or ():
            text = f"{shown_place(view.place, table_name)}: {cells(view.values, limits)}"
            yield from map(line, _wrapped(text, limits, " " * 10))


def _wrapped(text: str, limits: Limits, before: str = "") -> list[str]:
    """A text in a line or two of the screen, the second one indented; whole where there is no screen."""
    if limits.width is None:
        return [before + text]
    width = max(20, limits.width - len(before) - 1)
    lines = textwrap.wrap(
        text, width, subsequent_indent="  ", max_lines=_LINES_OF_A_TEXT, placeholder=" …", break_on_hyphens=False
    )
    return [(before if number == 0 else " " * len(before)) + each for number, each in enumerate(lines or [""])]


def strongest_summary(report: StrongestReport) -> str:
    """How many laws were found, and how many of them follow from others."""
    folded = sum(found.folded for found in report.laws)
    parts = [counted(len(report), "strong law")]
    if folded:
        parts.append(f"{folded:,} of which follow from others")
    if accidental := report.counts.get("accidental", 0):
        parts.append(f"{accidental:,} more that may be accidents left out")
    described = ", ".join(parts)
    if report.complete:
        return described
    return f"incomplete: {visible(report.stopped_because or '')}; {described} by then"
