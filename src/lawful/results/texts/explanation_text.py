"""What people read of an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lawful.checks.summaries import parts_of
from lawful.results.texts.check_text import damage, refutation
from lawful.results.texts.lines import (
    Limits,
    Line,
    Part,
    cells,
    heading,
    indented,
    left_out,
    line,
    shown_file,
    shown_law,
    shown_names,
)
from lawful.results.texts.shown_text import counted
from lawful.tables.origins import Place

if TYPE_CHECKING:
    from lawful.results.explanation import Explanation, GroupSummary, Variant


def explanation_lines(explained: Explanation, limits: Limits) -> Iterator[Line]:
    """The verdict and what explains it."""
    yield heading(explained.table, explained.report.engine)
    verdict = Part("holds   ", "green") if explained.holds else Part("broken  ", "bold red")
    yield (verdict, Part(shown_law(explained.text, limits)))
    why = _why_it_holds(explained, limits) if explained.holds else _what_breaks_it(explained, limits)
    yield from indented(why, "  ")
    if not explained.complete:
        yield line("incomplete: stopped before all smaller laws were looked at", "bold")


def _what_breaks_it(explained: Explanation, limits: Limits) -> Iterator[str]:
    yield damage(explained.outcome)
    groups = explained.group_count()
    for group in explained.summary(limits.groups, limits.variants, limits.places):
        yield from _group(group, explained.table.name, limits)
    if limits.groups is not None and groups > limits.groups:
        more = groups - limits.groups
        yield left_out(more, "group" if more == 1 else "groups", limits)


def _group(group: GroupSummary, table_name: str, limits: Limits) -> Iterator[str]:
    yield f"{cells(group.values, limits) or 'all rows'}: {counted(group.rows, 'row')}"
    for variant in group.variants:
        values = f"{cells(variant.values, limits)}: " if variant.values else ""
        yield f"  {values}{_places(variant, table_name)}"
    if group.more_variants:
        yield f"  … and {counted(group.more_variants, 'more value')}"


def _places(variant: Variant, table_name: str) -> str:
    """Where the rows of a variant are; lines of one file are listed by their numbers."""
    more = f" and {variant.rows - len(variant.places):,} more" if variant.rows > len(variant.places) else ""
    files: dict[str, list[Place]] = {}
    for place in variant.places:
        files.setdefault(shown_file(place, table_name), []).append(place)
    listed = (
        f"{file}{places[0].unit}{'s' if len(places) > 1 else ''} {', '.join(str(place.number) for place in places)}"
        for file, places in files.items()
    )
    return "; ".join(listed) + more


def _why_it_holds(explained: Explanation, limits: Limits) -> Iterator[str]:
    yield _reach(explained, limits)
    following = [outcome for outcome in explained.stronger if outcome.holds]
    if explained.minimal:
        yield "minimal: no smaller law implies it" if explained.stronger else "minimal: it has no column to spare"
    elif following:
        implied_by = explained.minimal_laws or [outcome.text for outcome in following]
        yield f"not minimal: it follows from {'; '.join(shown_law(text, limits) for text in implied_by)}"
    for outcome in explained.stronger:
        if outcome.holds:
            yield f"  {shown_law(outcome.text, limits)} holds"
        else:
            first, *rows = refutation(outcome, explained.table.name, limits)
            yield f"  {shown_law(outcome.text, limits)} is broken: {first}"
            yield from (f"    {row}" for row in rows)
    if explained.determines is not None and explained.complete:
        others = shown_names(explained.determines, limits)
        yield f"its left side also determines {others}" if others else "its left side determines nothing else"


def _reach(explained: Explanation, limits: Limits) -> str:
    """How many rows the law says something about."""
    shared, _ = parts_of(explained.positional)
    names = shown_names((explained.table.names[column] for column in shared), limits)
    rows = counted(explained.table.rows, "row")
    if not names:
        words = {"key": "a key of no columns allows one row", "fd": "the column is constant"}
        return f"{words.get(explained.law.kind, 'over all rows')}; coverage {explained.coverage:.3g}"
    if explained.agreeing_rows == 0:
        return f"no two of {rows} agree on {names}; coverage {explained.coverage:.3g}"
    return f"{explained.agreeing_rows:,} of {rows} agree on {names} with another row; coverage {explained.coverage:.3g}"
