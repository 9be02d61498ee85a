"""What people see of an explanation."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from lawful.cli.output import damage, heading, open_console, reader_may_leave, refutation, shown_file
from lawful.cli.page import Page
from lawful.cli.shown_text import counted
from lawful.results import Explanation
from lawful.results.explanation import GroupSummary, Variant, parts_of
from lawful.tables.origins import Place

_MOST_VARIANTS, _MOST_PLACES = 10, 5


def print_explanation(explained: Explanation, most_groups: int, page: Page) -> None:
    """Print the verdict and what explains it."""
    with reader_may_leave():
        console = open_console()
        console.print(Text(heading(explained.table, explained.report.engine)))
        verdict = ("holds   ", "green") if explained.holds else ("broken  ", "bold red")
        console.print(Text.assemble(verdict, page.law(explained.text)))
        most = page.most(most_groups)
        for line in _why_it_holds(explained, page) if explained.holds else _what_breaks_it(explained, most, page):
            console.print(Text(f"  {line}"))
        if not explained.complete:
            console.print(Text("incomplete: stopped before all smaller laws were looked at", style="bold"))


def _what_breaks_it(explained: Explanation, most: int | None, page: Page) -> Iterator[str]:
    yield damage(explained.outcome)
    groups = explained.group_count()
    for group in explained.summary(most, page.most(_MOST_VARIANTS), page.most(_MOST_PLACES)):
        yield from _group(group, explained.table.name, page)
    if most is not None and groups > most:
        yield f"… and {counted(groups - most, 'more group')}: see them all with --all, --json or --violations."


def _group(group: GroupSummary, table_name: str, page: Page) -> Iterator[str]:
    yield f"{page.cells(group.values) or 'all rows'}: {counted(group.rows, 'row')}"
    for variant in group.variants:
        values = f"{page.cells(variant.values)}: " if variant.values else ""
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


def _why_it_holds(explained: Explanation, page: Page) -> Iterator[str]:
    yield _reach(explained, page)
    following = [outcome for outcome in explained.stronger if outcome.holds]
    if explained.minimal:
        yield "minimal: no smaller law implies it" if explained.stronger else "minimal: it has no column to spare"
    elif following:
        implied_by = explained.minimal_laws or [outcome.text for outcome in following]
        yield f"not minimal: it follows from {'; '.join(map(page.law, implied_by))}"
    for outcome in explained.stronger:
        if outcome.holds:
            yield f"  {page.law(outcome.text)} holds"
        else:
            first, *rows = refutation(outcome, explained.table.name, page)
            yield f"  {page.law(outcome.text)} is broken: {first}"
            yield from (f"    {row}" for row in rows)
    if explained.law.kind == "fd" and explained.complete:
        others = page.names(explained.determines)
        yield f"its left side also determines {others}" if others else "its left side determines nothing else"


def _reach(explained: Explanation, page: Page) -> str:
    """How many rows the law says something about."""
    shared, _ = parts_of(explained.positional)
    names = page.names(explained.table.names[column] for column in shared)
    rows = counted(explained.table.rows, "row")
    if not names:
        words = {"key": "a key of no columns allows one row", "fd": "the column is constant"}
        return f"{words.get(explained.law.kind, 'over all rows')}; coverage {explained.coverage:.3g}"
    if explained.agreeing_rows == 0:
        return f"no two of {rows} agree on {names}; coverage {explained.coverage:.3g}"
    return f"{explained.agreeing_rows:,} of {rows} agree on {names} with another row; coverage {explained.coverage:.3g}"
