"""How each law fares: by a check on the table of the page, else by what its document says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lawful.checks import Most
from lawful.dependencies import Law
from lawful.engines import Engine
from lawful.reports.document import BrokenLaw, PageGroup, PageVariant, Status
from lawful.reports.limits import PageLimits, cut
from lawful.reports.sources import Entry, PageSource
from lawful.results import CheckReport, FoundLaw, Outcome
from lawful.results.explanation import GroupSummary, Variant, summary_of
from lawful.results.texts.lines import shown_file
from lawful.tables.encoded_table import EncodedTable


@dataclass(frozen=True)
class Standing:
    """How a law fares, and how many rows and pairs break it, where that is known."""

    status: Status
    rows: int | None = None
    pairs: int | None = None
    removals: int | None = None
    groups: int | None = None
    error: float | None = None

    @property
    def is_broken(self) -> bool:
        """Whether rows break it, however few."""
        return self.status in (Status.BROKEN, Status.ALMOST)


def standings(source: PageSource, report: CheckReport | None) -> list[Standing]:
    """How each law of a page fares; `report` is the check of them all, if there was one."""
    if report is None:
        table = source.document.get("table")
        rows = count_of(table.get("rows")) if isinstance(table, Mapping) else None
        return [by_document(found, entry, rows) for found, entry in zip(source.laws, source.entries, strict=True)]
    names = tuple(report.table.names)
    outcomes = {outcome.law.on(names): outcome for outcome in report.outcomes}
    return [by_check(found, outcomes.get(found.law.on(names))) for found in source.laws]


def with_trials(laws: Sequence[FoundLaw], report: CheckReport) -> list[FoundLaw]:
    """The same laws with the strength that a check has measured, where it has."""
    names = tuple(report.table.names)
    trials = {outcome.law.on(names): outcome.trial for outcome in report.outcomes if outcome.trial is not None}
    if not trials:
        return list(laws)
    tried = ((found, trials.get(found.law.on(names))) for found in laws)
    return [
        found if trial is None else replace(found, strength=trial.strength, tested=trial.tested)
        for found, trial in tried
    ]


def by_document(found: FoundLaw, entry: Entry, of_rows: int | None) -> Standing:
    """What a document says of a law on so many rows; numbers that are none are passed over."""
    counted = entry.get("violations")
    violations: Mapping[str, Any] = counted if isinstance(counted, Mapping) else {}
    rows, pairs, removals = (count_of(violations.get(name)) for name in ("rows", "pairs", "removals"))
    rows = found.violating if rows is None else rows
    is_share_of_rows = found.allowed is not None and found.allowed.measure == "g3"
    if removals is None and is_share_of_rows and of_rows is not None and found.error is not None:
        removals = round(found.error * of_rows)
    if entry.get("holds") is False:
        return Standing(Status.BROKEN, rows, pairs, removals, None, found.error)
    is_almost = bool(found.error) or bool(rows) or bool(pairs)
    return Standing(Status.ALMOST if is_almost else Status.HOLDS, rows, pairs, removals, None, found.error)


def by_check(found: FoundLaw, outcome: Outcome | None) -> Standing:
    """What a check says."""
    if outcome is None:
        return Standing(Status.UNCHECKED)
    if not outcome.has_violations:
        return Standing(Status.HOLDS, 0, 0, 0, 0, None if found.error is None else 0.0)
    status = Status.ALMOST if outcome.holds else Status.BROKEN
    error = found.error if outcome.error is None else outcome.error
    return Standing(status, outcome.rows, outcome.pairs, outcome.removals, outcome.groups, error)


def broken_laws(
    source: PageSource, standing: Sequence[Standing], limits: PageLimits
) -> tuple[list[BrokenLaw], list[int]]:
    """The laws that rows break: broken ones first, the strongest of each; with the two rows that documents keep.

    What follows from others comes last: the law that it follows from shows the same rows.
    """
    places = [place for place, each in enumerate(standing) if each.is_broken]
    places.sort(key=lambda place: _rank(standing[place], source.laws[place]))
    shown = [_from_document(place, standing[place], source.entries[place], limits) for place in places[: limits.broken]]
    return shown, places


def _rank(standing: Standing, found: FoundLaw) -> tuple[bool, bool, float, float]:
    strength = -1.0 if found.strength is None else found.strength
    return (standing.status is Status.ALMOST, found.folded, -strength, standing.rows or math.inf)


def _from_document(place: int, standing: Standing, entry: Entry, limits: PageLimits) -> BrokenLaw:
    broken = BrokenLaw(place, standing.rows, standing.pairs, standing.removals, standing.groups)
    witness = entry.get("witness")
    if not isinstance(witness, list) or len(witness) != 2:
        return broken
    variants = [_variant_of_view(view, limits) for view in witness if isinstance(view, Mapping)]
    if len(variants) != 2:
        return broken
    return replace(broken, groups=[PageGroup((), 2, variants)], is_witness=True)


def _variant_of_view(view: Mapping[str, Any], limits: PageLimits) -> PageVariant:
    values, file, unit, number = (view.get(name) for name in ("values", "file", "unit", "number"))
    named = values.items() if isinstance(values, Mapping) else ()
    told = f"{unit if isinstance(unit, str) else 'row'} {number}" if isinstance(number, int) else ""
    place = f"{file}, {told}" if isinstance(file, str) and told else told
    cells = [(str(name), None if value is None else cut(str(value), limits.cell)) for name, value in named]
    return PageVariant(cells, 1, cut(place, limits.cell))


def fill_rows(
    broken: list[BrokenLaw],
    source: PageSource,
    table: EncodedTable,
    engine: Engine,
    limits: PageLimits,
    look: Callable[[], None],
    swapped: Callable[[Law], list[PageGroup]] = lambda law: [],
) -> None:
    """Add the first groups of violating rows to each law; `look` raises an error when it is time to stop.

    `swapped` gives the rows of an order law that are out of order, each with one that it is swapped with: nearly all
    rows may be in a violation that one row has caused.
    """
    for number, each in enumerate(broken):
        look()
        law = source.laws[each.law].law.on(table.names)
        if pairs := swapped(law):
            broken[number] = replace(each, groups=pairs, group_count=None, is_witness=False)
            continue
        groups = engine.violating_groups(law, Most(limits.groups, limits.variants, limits.places))
        if groups:
            shown = [_page_group(summary_of(group, law, table), table, limits) for group in groups]
            broken[number] = replace(each, groups=shown, is_witness=False)  # one by one: a limit loses nothing


def _page_group(group: GroupSummary, table: EncodedTable, limits: PageLimits) -> PageGroup:
    variants = [
        PageVariant(
            _cells(variant.values, limits),
            variant.rows,
            cut(_where(variant, table.name), limits.cell),
        )
        for variant in group.variants
    ]
    return PageGroup(_cells(group.values, limits), group.rows, variants, group.more_variants)


def _where(variant: Variant, table_name: str) -> str:
    """Where rows are, with the file and the word for lines once: `lines 3, 4, 9, …`."""
    by_file: dict[tuple[str, str], list[int]] = {}
    for place in variant.places:
        by_file.setdefault((shown_file(place, table_name), place.unit), []).append(place.number)
    parts = [
        f"{file}{unit}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
        for (file, unit), numbers in by_file.items()
    ]
    return "; ".join(parts) + (", …" if variant.rows > len(variant.places) else "")


def _cells(values: Mapping[str, str | None], limits: PageLimits) -> list[tuple[str, str | None]]:
    return [(name, None if value is None else cut(value, limits.cell)) for name, value in values.items()]


def count_of(value: object) -> int | None:
    """A count of a document, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
