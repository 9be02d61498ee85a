"""What a page can be made of: documents and results of any kind, states, and laws as people write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import NamedLaw
from lawful.reports.limits import PageLimits
from lawful.results import CheckReport, DiscoveryReport, FoundLaw, SavedLaws, StrongestReport
from lawful.results.state_report import StateReport, pin_entry
from lawful.results.violating_rows import RowsHere, ViolatingRows
from lawful.runs.any_state import AnyOpenState
from lawful.runs.laws_input import LawsInput, given_laws, load_document
from lawful.runs.maintain import OpenState
from lawful.runs.run import Where
from lawful.runs.states import is_state, open_state
from lawful.tables.encoded_table import EncodedTable

Entry = Mapping[str, Any]
_NOTHING: Entry = {}


@dataclass(frozen=True)
class PageSource:
    """Laws, with what is known of them and of their table.

    Attributes
    ----------
    name
        What they are from, in words.
    document
        What their document says beside the laws.
    laws, entries
        The laws, and what the document says of each, in the same order.
    total
        How many laws there are; `laws` may be the first of them.
    table, rows
        The table, where it is at hand, and what gives its violating rows.
    state, events
        The state that the laws are kept in, and what happened to them.
    given
        Laws that wait for the columns of a table.
    """

    name: str
    document: Mapping[str, Any] = field(default_factory=dict)
    laws: Sequence[FoundLaw] = ()
    entries: Sequence[Entry] = ()
    total: int = 0
    table: EncodedTable | None = None
    rows: ViolatingRows | None = None
    null: NullPolicy | None = None
    state: StateReport | None = None
    events: Sequence[Mapping[str, Any]] = ()
    given: LawsInput | None = None

    def asked(self) -> LawsInput:
        """The laws as `check` takes them."""
        return self.given or given_laws(self.laws)

    def on(self, table: EncodedTable) -> PageSource:
        """The same over the columns of a table, which must have all columns of the laws."""
        if self.given is None:
            return self
        names = tuple(table.names)
        asked = self.given.asked(names)
        laws = [
            FoundLaw(named, named.text, None, allowed=each.allowed)
            for each in asked
            for named in (NamedLaw(each.law, names),)
        ]
        return replace(self, laws=laws, entries=[_NOTHING] * len(laws), total=len(laws), given=None)


def page_source(laws: Any, limits: PageLimits) -> PageSource:
    """Read what a page is to be made of."""
    match laws:
        case PageSource():
            return laws
        case AnyOpenState():
            return _of_state(laws, limits)
        case SavedLaws():
            return _of_saved(laws, "saved laws", limits)
        case DiscoveryReport():
            return _of_discovery(laws, limits)
        case StrongestReport():
            document = _without_laws(laws.to_dict())
            return _of(laws.table.name, document, laws.laws, (), len(laws), laws.table, laws.null_policy, limits=limits)
        case CheckReport():
            return _of_check(laws, limits)
        case str() | os.PathLike():
            return _of_path(laws, limits)
        case Mapping():
            return _of_saved(SavedLaws.of(laws), "a document", limits)
    return _of_given(laws)


_MARKS_OF_LAWS = "(>~[{"
"""Every law has one of these."""


def _of_path(laws: str | os.PathLike[str], limits: PageLimits) -> PageSource:
    path = Path(laws)
    try:
        if is_state(laws, Where()):
            with open_state(laws, Where(), writes=False) as state:
                return _of_state(state, limits)
        if path.is_dir():
            raise UsageError(f"{path}: is a folder, and no state", "Name a document of laws, or a state.")
        is_document = path.suffix == ".json"
    except (OSError, ValueError):  # a law may be longer than any file name, or hold a NUL
        is_document = False
    if is_document:
        return _of_saved(load_document(path), path.name, limits)
    if not any(mark in str(laws) for mark in _MARKS_OF_LAWS) and not path.exists():
        raise UsageError(f"{path}: there is no such file of laws", "Name a document of laws, a state, or laws.")
    return _of_given(laws)


def _of_given(laws: Any) -> PageSource:
    given = given_laws(laws)
    (first, *others) = given.sources or (None,)
    if first is not None and first.document is not None and not others:
        return _of_saved(SavedLaws.of(first.document), first.name, PageLimits())
    meant = given.null_policy()
    return PageSource("given laws", null=None if meant is None else meant[0], given=given)


def _of_saved(saved: SavedLaws, name: str, limits: PageLimits) -> PageSource:
    entries = [entry if isinstance(entry, Mapping) else _NOTHING for entry in saved.document["dependencies"]]
    document = _without_laws(saved.document)
    return _of(name, document, saved.laws, entries, len(saved), None, saved.null_policy, limits=limits)


def _of_discovery(report: DiscoveryReport, limits: PageLimits) -> PageSource:
    document, table = _without_laws(report.streamed()), report.table
    here = table if table.is_here else None
    return _of(table.name, document, report, (), len(report), here, report.null_policy, limits=limits)


def _of_check(report: CheckReport, limits: PageLimits) -> PageSource:
    document, outcomes = report.to_dict(), report.outcomes
    laws = [FoundLaw(each.law, each.text, None, each.error, None, each.allowed, each.null) for each in outcomes]
    source = _of(
        report.table.name,
        _without_laws(document),
        laws,
        document["dependencies"],
        len(laws),
        report.table,
        report.null_policy,
        limits=limits,
    )
    return replace(source, rows=report.rows_of_laws)


def _of_state(state: AnyOpenState[Any], limits: PageLimits) -> PageSource:
    described = state.described()
    source = replace(_laws_of_state(state, described, limits), state=described, events=list(state.events()))
    return replace(source, name=PurePath(described.folder).name)


def _laws_of_state(state: AnyOpenState[Any], described: StateReport, limits: PageLimits) -> PageSource:
    """The pinned laws, and behind them the others if the state keeps such."""
    if not described.laws:
        pinned = _of_saved(SavedLaws.of(described.pinned_laws()), "", limits)
        if not isinstance(state, OpenState):
            return pinned
        null = pinned.null or NullPolicy.EQUAL
        return replace(pinned, table=described.table, rows=RowsHere(described.table, null))
    kept = state.laws
    source = _of_discovery(kept, limits)
    names = tuple(kept.table.names)
    known = {found.law.on(names) for found in source.laws}
    pins, entries = [], []
    for pin in described.pins:
        if pin.law.on(names) in known:
            continue
        pins.append(FoundLaw(NamedLaw(pin.law.on(names), names), pin.text, None, null=kept.null_policy))
        entries.append(pin_entry(pin))
    return replace(
        source,
        laws=[*pins, *source.laws],
        entries=[*entries, *source.entries],
        total=source.total + len(pins),
    )


def _of(
    name: str,
    document: Mapping[str, Any],
    laws: Iterable[FoundLaw],
    entries: Sequence[Entry],
    total: int,
    table: EncodedTable | None,
    null: NullPolicy | None,
    *,
    limits: PageLimits,
) -> PageSource:
    shown = list(islice(laws, limits.laws))
    known = list(entries[: limits.laws]) or [_NOTHING] * len(shown)
    rows = None if table is None else RowsHere(table, null or NullPolicy.EQUAL)
    return PageSource(name, document, shown, known, total, table, rows, null)


def _without_laws(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "dependencies"}
