"""The document of a page, collected from laws, verdicts and a table; documents of others are trusted in nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from lawful.dependencies import FD, NamedLaw, columns_of
from lawful.reports.definitions import definitions
from lawful.reports.document import (
    BrokenLaw,
    Life,
    PageColumn,
    PageDocument,
    PageLaws,
    PageStatement,
    PageTable,
    Status,
)
from lawful.reports.limits import PageLimits, cut
from lawful.reports.relations import graph_of, matrix_of, single_laws
from lawful.reports.sources import PageSource
from lawful.reports.verdicts import Standing, count_of
from lawful.results import FoundLaw
from lawful.results.state_report import StateReport
from lawful.results.statements import ENTITY, Entity, Statement, entities_of, statements_of
from lawful.tables.encoded_table import EncodedTable

_BROKE = ("broke", "worse")
_NOW = {
    "broke": "broken, pinned",
    "worse": "broken, pinned",
    "mended": "holds, pinned",
    "gone": "gone",
    "new": "holds",
    "aside": "rows put aside",
}
"""How a law stands after an event of a state."""
_DIGITS = 6
_MOST_SETTINGS = 200
_LONGEST_SETTING = 300
_MOST_STATED = 5_000
"""Of more laws nobody reads a summary, and it would take seconds to make."""


def collect(
    source: PageSource,
    standing: Sequence[Standing],
    broken: Sequence[BrokenLaw],
    table: EncodedTable | None,
    checked: int | None,
    limits: PageLimits,
) -> PageDocument:
    """Put together what a page shows, all but what has to be read from the rows."""
    page_table = _table_of(source, table, limits)
    names = [column.name for column in page_table.columns]
    laws = [found.law.on(names) for found in source.laws]
    strengths = [found.strength for found in source.laws]
    cells = single_laws(laws, standing, strengths, len(names))
    entities, statements, more = _said_in_short(source, standing, names, page_table.rows, limits)
    stats = _mapping(source.document.get("stats"))
    return PageDocument(
        title=page_table.name,
        made="",
        version="",
        source=cut(source.name, limits.cell),
        complete=source.document.get("complete") is not False,
        notes=_notes(source, limits),
        table=page_table,
        laws=_laws(source, standing, names, limits),
        total_laws=source.total,
        checked=checked,
        broken=broken,
        entities=entities,
        statements=statements,
        more_statements=more,
        matrix=matrix_of(cells, len(names), limits),
        graph=graph_of(cells, laws, standing, len(names), limits),
        life=None if source.state is None else _life(source.state, source.events, limits),
        settings=list(_flat(_mapping(source.document.get("settings")))),
        seconds=list(_numbers(_mapping(stats.get("seconds")))),
        counts=list(_numbers(_mapping(stats.get("counts")))),
        definitions=definitions(),
        limits=limits,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object, most: int) -> str | None:
    return cut(value, most) if isinstance(value, str) else None


def _table_of(source: PageSource, table: EncodedTable | None, limits: PageLimits) -> PageTable:
    """The table at hand, else what the document says of it, else the columns that the laws speak of."""
    if table is not None:
        columns = [
            PageColumn(
                column.name,
                column.type.value,
                column.distinct,
                column.nulls,
                _text(column.minimum, limits.cell),
                _text(column.maximum, limits.cell),
            )
            for column in table.columns
        ]
        return PageTable(table.name, table.rows, columns, list(table.names.left_out))
    known = _mapping(source.document.get("table"))
    listed = known.get("columns")
    if not isinstance(listed, list):
        own = dict.fromkeys(name for found in source.laws for name in found.law.columns)
        return PageTable(source.name, None, [PageColumn(name) for name in own])
    columns = [_column(_mapping(column), limits) for column in listed]
    left_out = known.get("left_out")
    others = [_text(_mapping(each).get("name"), limits.cell) for each in left_out] if isinstance(left_out, list) else []
    name = _text(known.get("name"), limits.cell) or source.name
    return PageTable(name, count_of(known.get("rows")), columns, [other for other in others if other])


def _column(column: Mapping[str, Any], limits: PageLimits) -> PageColumn:
    return PageColumn(
        str(column.get("name")),
        _text(column.get("type"), limits.cell),
        count_of(column.get("distinct")),
        count_of(column.get("nulls")),
        _text(column.get("min"), limits.cell),
        _text(column.get("max"), limits.cell),
    )


def _laws(source: PageSource, standing: Sequence[Standing], names: Sequence[str], limits: PageLimits) -> PageLaws:
    laws = PageLaws(kinds=list(dict.fromkeys(found.law.kind for found in source.laws)))
    kind_of = {kind: number for number, kind in enumerate(laws.kinds)}
    for place, (found, how) in enumerate(zip(source.laws, standing, strict=True)):
        laws.text.append(cut(found.text, limits.law))
        laws.kind.append(kind_of[found.law.kind])
        laws.columns.append(list(columns_of(found.law.on(names))))
        laws.status.append(int(how.status))
        laws.strength.append(_rounded(found.strength))
        laws.interest.append(_rounded(found.interest))
        laws.error.append(_rounded(how.error))
        laws.tested.append(found.tested)
        laws.violating.append(how.rows)
        if found.folded:
            laws.folded.append(place)
        if found.reading is not None:
            laws.reading[place] = cut(found.reading, limits.law)
    return laws


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, _DIGITS)


def _said_in_short(
    source: PageSource, standing: Sequence[Standing], names: Sequence[str], rows: int | None, limits: PageLimits
) -> tuple[list[PageStatement], list[PageStatement], int]:
    """Entities, then keys and left sides with all that they determine; of many laws the entities alone."""
    stated = {id(found): place for place, found in enumerate(source.laws)}
    held = [
        found
        for found, how in zip(source.laws, standing, strict=True)
        if found.strength is not None and how.status is not Status.BROKEN
    ]
    entities = _entities(source, held, names)
    shown = [found for found in held if not found.folded]
    if len(shown) > _MOST_STATED:
        shown = [found for found in shown if _is_within(found, entities, names)]
    rebound = [_rebound(found, names) for found in shown]
    places = {id(law): stated[id(found)] for law, found in zip(rebound, shown, strict=True)}
    told = [_statement(each, places, rows, limits) for each in statements_of(rebound, entities, names)]
    of_entities = [each for each in told if each.kind == ENTITY]
    others = [each for each in told if each.kind != ENTITY]
    return of_entities[: limits.statements], others[: limits.statements], max(0, len(others) - limits.statements)


def _rebound(found: FoundLaw, names: Sequence[str]) -> FoundLaw:
    """The law over the columns of the page's table, which may stand in another order."""
    if found.law.names == tuple(names):
        return found
    return replace(found, law=NamedLaw(found.law.on(names), tuple(names)))


def _entities(source: PageSource, laws: Sequence[FoundLaw], names: Sequence[str]) -> list[Entity]:
    """Those that the document names, else those that its FDs show."""
    named = source.document.get("entities")
    position = {name: place for place, name in enumerate(names)}
    if isinstance(named, list):
        listed = [each for each in named if isinstance(each, list) and all(isinstance(n, str) for n in each)]
        return [
            tuple(sorted(position[name] for name in each)) for each in listed if all(name in position for name in each)
        ]
    fds = {
        law: 1.0 - (found.strength or 0.0) for found in laws for law in (found.law.on(names),) if isinstance(law, FD)
    }
    return entities_of(fds)


def _is_within(found: FoundLaw, entities: Sequence[Entity], names: Sequence[str]) -> bool:
    law = found.law.on(names)
    return isinstance(law, FD) and any({*law.lhs, law.rhs} <= set(entity) for entity in entities)


def _statement(each: Statement, places: Mapping[int, int], rows: int | None, limits: PageLimits) -> PageStatement:
    weakest = each.weakest
    wrong = None if rows is None or weakest.error is None else round(weakest.error * rows)
    return PageStatement(
        each.kind,
        cut(each.text, limits.law),
        _rounded(weakest.strength),
        weakest.tested,
        wrong,
        len(each.laws),
        places.get(id(weakest), -1),
    )


def _notes(source: PageSource, limits: PageLimits) -> list[str]:
    """What a reader has to know before the laws: that there may be more, and why."""
    notes = []
    stopped = _text(source.document.get("stopped"), limits.cell)
    if source.document.get("complete") is False:
        why = f": {stopped}" if stopped else ""
        notes.append(f"The search was stopped before its end{why}. There may be more laws.")
    if source.total > len(source.laws):
        notes.append(f"The first {len(source.laws):,} of {source.total:,} laws are on this page; the document has all.")
    if source.document.get("limited_to"):
        limited = ", ".join(f"{name} {value}" for name, value in _flat(_mapping(source.document["limited_to"])))
        notes.append(f"Only some laws were looked for: {limited}. Beyond that the list is incomplete.")
    return notes


def _life(state: StateReport, events: Sequence[Mapping[str, Any]], limits: PageLimits) -> Life:
    history = [dict(entry) for entry in state.history]
    batches = history[-limits.batches :]
    stories: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        if event["law"] is not None:
            stories.setdefault(event["law"], []).append(event)
    # Pinned laws that broke come first, then whatever happened last.
    told = sorted(stories.items(), key=lambda each: (each[1][-1]["event"] not in _BROKE, -each[1][-1]["version"]))
    lives = [
        {
            "law": cut(law, limits.law),
            "now": _NOW.get(of_law[-1]["event"], of_law[-1]["event"]),
            "since": of_law[-1]["version"],
            "story": cut(", ".join(f"{event['event']} in {event['version']}" for event in of_law), limits.cell),
        }
        for law, of_law in told[: limits.lives]
    ]
    name = Path(state.folder).name
    hidden = len(history) - len(batches), len(told) - len(lives)
    return Life(name, state.version, state.bytes, batches, hidden[0], lives, hidden[1])


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Settings as names and texts, nested ones with a dot between."""
    for name, value in islice(values.items(), _MOST_SETTINGS):
        key = cut(f"{before}{name}", _LONGEST_SETTING)
        if isinstance(value, Mapping) and not before.count("."):
            yield from _flat(value, f"{key}.")
        elif value not in (None, [], {}, ""):
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            yield key, cut(told, _LONGEST_SETTING)


def _numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in islice(values.items(), _MOST_SETTINGS):
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield cut(str(name), _LONGEST_SETTING), value
