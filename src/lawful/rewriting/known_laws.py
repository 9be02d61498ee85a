"""Laws that may justify a rewriting: those that hold on every row, with null as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Law, format_law, from_document
from lawful.dependencies.notation import unknown_column
from lawful.results.documents import FORMAT

_NAMED = 3


@dataclass(frozen=True)
class KnownColumn:
    """What is known of a column: its type, if it is, and whether it may hold nulls."""

    name: str
    type: ColumnType | None = None
    may_be_null: bool = True


@dataclass(frozen=True)
class KnownLaws:
    """The laws of one table, and sentences about those that were refused."""

    columns: tuple[KnownColumn, ...]
    laws: tuple[Law, ...]
    refused: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @staticmethod
    def of(laws: Iterable[Law], names: Sequence[str]) -> KnownLaws:
        """Take laws for true; nothing is known of their columns but the names."""
        return KnownLaws(tuple(KnownColumn(name) for name in names), tuple(laws))

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> KnownLaws:
        """Read what `lawful discover` or `lawful check` wrote, and refuse what does not hold on every row."""
        columns = _columns(document)
        names = [column.name for column in columns]
        entries = document.get("dependencies")
        if document.get("format") != FORMAT or not isinstance(entries, list | tuple):
            raise SourceError(f'is not a document of laws: it needs "format": "{FORMAT}" and a list of "dependencies"')
        settings = document.get("settings")
        settings = settings if isinstance(settings, Mapping) else {}
        reasons = {place: _refusal(entry, settings, document) for place, entry in enumerate(entries)}
        laws = [from_document(entry, names, f"dependencies[{place}]") for place, entry in enumerate(entries)]
        return KnownLaws(
            columns,
            tuple(law for place, law in enumerate(laws) if reasons[place] is None),
            tuple(
                _sentence([law for place, law in enumerate(laws) if reasons[place] == reason], reason, names)
                for reason in dict.fromkeys(filter(None, reasons.values()))
            ),
        )

    def with_more(self, other: KnownLaws) -> KnownLaws:
        """Add the laws of another document on the same columns; what only one of them knows of nulls is not known."""
        if self.names != other.names:
            raise UsageError(
                "the documents of laws are about different columns", "Give the laws of the one table that is queried."
            )
        columns = tuple(
            replace(mine, may_be_null=mine.may_be_null or theirs.may_be_null)
            for mine, theirs in zip(self.columns, other.columns, strict=True)
        )
        return KnownLaws(columns, (*self.laws, *other.laws), (*self.refused, *other.refused))

    def without_nulls(self, names: Iterable[str]) -> KnownLaws:
        """Take these columns for free of nulls."""
        free = set(names)
        for name in free.difference(self.names):
            raise UsageError(*unknown_column(name, self.names))
        columns = tuple(
            replace(column, may_be_null=column.may_be_null and column.name not in free) for column in self.columns
        )
        return replace(self, columns=columns)


def _columns(document: Mapping[str, Any]) -> tuple[KnownColumn, ...]:
    table = document.get("table")
    listed = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(listed, list | tuple):
        raise SourceError('does not name the columns of its table: it needs "table" with a list of "columns"')
    columns: list[KnownColumn] = []
    for place, entry in enumerate(listed):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str):
            raise SourceError(f"table.columns[{place}] has no name")
        type_ = ColumnType(entry["type"]) if entry.get("type") in list(ColumnType) else None
        nulls = entry.get("nulls")
        columns.append(KnownColumn(name, type_, not (isinstance(nulls, int) and nulls == 0)))
    return tuple(columns)


def _refusal(entry: Any, settings: Mapping[str, Any], document: Mapping[str, Any]) -> str | None:
    """Say why a law of a document justifies nothing, if so."""
    limit, rows = settings.get("limit"), document["table"].get("rows")
    if settings.get("null") == NullPolicy.IGNORE:
        return "judged with --null ignore, while ORDER BY and GROUP BY take null for a value"
    if limit is not None and not (isinstance(rows, int) and isinstance(limit, int) and rows < limit):
        return "judged on the first rows only"
    if isinstance(entry, Mapping):
        if entry.get("holds") not in (None, True):
            return "broken"
        if entry.get("error", settings.get("error") or 0) not in (0, None):
            return "true only within an error"
    return None


def _sentence(laws: Sequence[Law], reason: str, names: Sequence[str]) -> str:
    shown = "; ".join(format_law(law, names) for law in laws[:_NAMED]) + ("; …" if len(laws) > _NAMED else "")
    count = f"{len(laws):,} laws are" if len(laws) > 1 else "1 law is"
    return f"{count} not used, because {'they are' if len(laws) > 1 else 'it is'} {reason}: {shown}"
