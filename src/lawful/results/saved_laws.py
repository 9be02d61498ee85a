"""Laws that were saved, read back: bound to their names, with the settings that they were found with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import Allowance, NullPolicy
from lawful.dependencies import (
    FD,
    Law,
    LawKind,
    NamedLaw,
    canonical_cover,
    format_law,
    from_documents,
    from_documents_alone,
)
from lawful.results.all_fds import refuse_some_fds
from lawful.results.discovery_report import FoundLaw
from lawful.results.documents import FORMAT, html_table
from lawful.results.exporting import Exportable
from lawful.results.json_files import write_document

_SHOWN_IN_A_NOTEBOOK = 100


@dataclass(frozen=True, eq=False)
class SavedLaws(Exportable):
    """The laws of a document that `lawful discover`, `lawful check` or `save` wrote, in its order."""

    document: Mapping[str, Any]
    laws: tuple[FoundLaw, ...]

    @staticmethod
    def of(document: object) -> SavedLaws:
        """Read a document, trusting nothing: what is not as it must be is a `SourceError` that names the place."""
        entries = document.get("dependencies") if isinstance(document, Mapping) else None
        if not isinstance(document, Mapping) or document.get("format") != FORMAT or not isinstance(entries, list):
            raise SourceError(f'is not a document of laws: it needs "format": "{FORMAT}" and a list of "dependencies"')
        laws, names = _read(document, entries)
        settings = _settings(document)
        found = (
            _found(NamedLaw(law, names), entry, f"dependencies[{place}]", settings)
            for place, (law, entry) in enumerate(zip(laws, entries, strict=True))
        )
        return SavedLaws(document, tuple(found))

    def __len__(self) -> int:
        return len(self.laws)

    def __iter__(self) -> Iterator[FoundLaw]:
        return iter(self.laws)

    def of_kind(self, kind: LawKind) -> list[FoundLaw]:
        """The laws of one kind alone."""
        return [found for found in self.laws if found.law.kind == kind]

    def keys(self) -> list[FoundLaw]:
        """The keys alone."""
        return self.of_kind("key")

    def fds(self) -> list[FoundLaw]:
        """The functional dependencies alone."""
        return self.of_kind("fd")

    @property
    def complete(self) -> bool:
        """Whether the work that the document tells of came to its end."""
        return self.document.get("complete") is True

    @property
    def stopped_because(self) -> str | None:
        """What ended it early, if the document says so."""
        stopped = self.document.get("stopped")
        return stopped if isinstance(stopped, str) else None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that the laws were found or judged with."""
        return _settings(self.document)

    @property
    def null_policy(self) -> NullPolicy | None:
        """What null meant to the laws, if the document says so."""
        return _null(self.settings)

    @property
    def error(self) -> float:
        """The error that laws were allowed to have."""
        return 0.0 if (allowed := _allowed(self.settings, "settings")) is None else allowed.error

    @property
    def measure(self) -> str | None:
        """How that error was measured; None where none was allowed."""
        return None if (allowed := _allowed(self.settings, "settings")) is None else allowed.measure

    def canonical_cover(self) -> list[str]:
        """Return FDs that say the same as all that were found, none of them needless, in their notation.

        Raises
        ------
        UsageError
            If the document does not have all FDs of a table that hold, with null taken for a value.
        """
        found = self.document.get("families")
        known = found.get("fd") if isinstance(found, Mapping) else None
        complete = known.get("complete") is True if isinstance(known, Mapping) else self.complete
        columns = self.document["table"]["columns"] if "table" in self.document else ()
        own = (name for law in self.fds() for name in law.law.columns)
        names = [column["name"] for column in columns] or list(dict.fromkeys(own))
        stopped = None if complete else self.stopped_because or "it was stopped"
        refuse_some_fds("a canonical cover", self.settings, len(names), stopped)
        fds = [law for law in (found.law.on(names) for found in self.fds()) if isinstance(law, FD)]
        return [format_law(fd, names) for fd in canonical_cover(fds)]

    def to_dict(self) -> dict[str, Any]:
        """Return the document."""
        return dict(self.document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a file, whole or not at all."""
        write_document(self.document, Path(path))

    def __repr__(self) -> str:
        return f"SavedLaws({len(self)} laws)"

    def _repr_html_(self) -> str:
        shown = self.laws[:_SHOWN_IN_A_NOTEBOOK]
        some = f", the first {len(shown)} here" if len(shown) < len(self) else ""
        records = [{"law": found.text, "kind": found.law.kind, "interest": found.interest} for found in shown]
        return html_table(f"{len(self):,} saved laws{some}", records)


def _read(document: Mapping[str, Any], entries: list[Any]) -> tuple[list[Law], tuple[str, ...]]:
    """The laws, and the names of their columns: those of the table if the document has it, else the laws' own."""
    table = document.get("table")
    if table is None:
        laws, own = from_documents_alone(entries)
        return laws, tuple(own)
    columns = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(columns, list):
        raise SourceError('"table" must have a list of "columns"')
    names: dict[str, None] = {}
    for place, column in enumerate(columns):
        name = column.get("name") if isinstance(column, Mapping) else None
        if not isinstance(name, str):
            raise SourceError(f"table.columns[{place}] has no name")
        if name in names:
            raise SourceError(f"table.columns[{place}] has the name of another column")
        names[name] = None
    return from_documents(entries, tuple(names)), tuple(names)


def _found(law: NamedLaw, entry: Mapping[str, Any], place: str, settings: Mapping[str, Any]) -> FoundLaw:
    error, reading = _number(entry, "error", place), entry.get("reading")
    allowed = None if error is None else _allowed(settings, "settings")
    if entry.get("allowed_error") is not None:  # as a check writes it
        allowed = _allowance(entry["allowed_error"], entry.get("measure"), place)
    words = reading if isinstance(reading, str) else None
    tested, violating = (_number(entry, name, place) for name in ("tested", "violating"))
    return FoundLaw(
        law,
        law.text,
        _number(entry, "interest", place),
        error,
        words,
        allowed,
        _null(settings),
        _number(entry, "strength", place),
        None if tested is None else int(tested),
        None if violating is None else int(violating),
        entry.get("folded") is True,
        entry.get("exceptions") is True,
    )


def _number(entry: Mapping[str, Any], field: str, place: str) -> float | None:
    value = entry.get(field)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise SourceError(f"{place}.{field} must be a number")
    return None if value is None else float(value)


def _settings(document: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = document.get("settings")
    return settings if isinstance(settings, Mapping) else {}


def _null(settings: Mapping[str, Any]) -> NullPolicy | None:
    null = settings.get("null")
    return NullPolicy(null) if isinstance(null, str) and null in list(NullPolicy) else None


def _allowed(settings: Mapping[str, Any], place: str) -> Allowance | None:
    error = settings.get("error")
    return _allowance(error, settings.get("measure"), place) if error else None


def _allowance(error: Any, measure: Any, place: str) -> Allowance:
    if isinstance(error, bool) or not isinstance(error, int | float):
        raise SourceError(f"{place}: the error must be a number")
    try:
        return Allowance(float(error), measure)
    except (UsageError, TypeError) as refusal:
        raise SourceError(f"{place}: {refusal}") from None
