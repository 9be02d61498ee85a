"""Laws as JSON objects, with column names in place of indices.

Reading trusts nothing: whatever is not as written in docs/notation.md is a `SourceError` that names the entry
and the field.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import Direction
from lawful.dependencies.forms import Document, form_named, form_of, kinds
from lawful.dependencies.laws import (
    DC,
    DIRECTIONS,
    FD,
    OPERATORS,
    POD,
    POD_LEFT_OPERATORS,
    POD_RIGHT_OPERATORS,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    Law,
    ListOD,
    Operator,
    Predicate,
    Row,
    number_from_text,
)
from lawful.dependencies.notation import unknown_column

_REMEMBERED_PREDICATES: Final = 1 << 14


def to_document(law: Law, names: Sequence[str]) -> Document:
    """Turn a law into a JSON object; `text`, its notation, is for people and is not read back."""
    form = form_of(law)
    text = form.text(law, names)  # first, because it refuses columns that have no name
    return {"kind": form.kind, **form.fields(law, names), "text": text}


def from_document(document: object, names: Sequence[str], entry: str = "dependency") -> Law:
    """Read a law from a JSON object; fields that say nothing of the law itself are passed over.

    Parameters
    ----------
    document
        What a JSON reader gave.
    names
        `names[i]` is the name of column i.
    entry
        What errors call this document, such as `dependencies[3]`.
    """
    return FieldReader(names, entry).law(document)


def from_documents(documents: object, names: Sequence[str], entry: str = "dependencies") -> list[Law]:
    """Read a list of laws, as results keep them under `dependencies`."""
    return FieldReader(names, entry).laws(documents)


def from_documents_alone(documents: object, entry: str = "dependencies") -> tuple[list[Law], list[str]]:
    """Read a list of laws of an unknown table: over the names that they speak of, in the order of their appearance."""
    reader = _Gatherer([], entry)
    return reader.laws(documents), list(reader.index)


def key_fields(law: Key, names: Sequence[str]) -> Document:
    """The fields of a key."""
    return {"columns": [names[column] for column in law.columns]}


def fd_fields(law: FD, names: Sequence[str]) -> Document:
    """The fields of an FD."""
    return {"lhs": [names[column] for column in law.lhs], "rhs": names[law.rhs]}


def canonical_od_fields(law: CanonicalOD, names: Sequence[str]) -> Document:
    """The fields of a canonical order dependency."""
    pair = {"left": names[law.left], "right": names[law.right], "direction": law.direction}
    return {"context": [names[column] for column in law.context], **pair}


def list_od_fields(law: ListOD, names: Sequence[str]) -> Document:
    """The fields of a list-based order dependency."""
    return {"lhs": _marked(law.lhs, names), "rhs": _marked(law.rhs, names)}


def pod_fields(law: POD, names: Sequence[str]) -> Document:
    """The fields of a pointwise order dependency."""
    return {"lhs": _marked(law.lhs, names), "rhs": _marked((law.rhs,), names)[0]}


def dc_fields(law: DC, names: Sequence[str]) -> Document:
    """The fields of a denial constraint."""
    named = tuple(names)
    return {"predicates": [list(_predicate(predicate, named)) for predicate in law.predicates]}


def _marked(columns: Iterable[tuple[int, str]], names: Sequence[str]) -> list[list[str]]:
    return [[names[column], mark] for column, mark in columns]


@lru_cache(maxsize=_REMEMBERED_PREDICATES)
def _predicate(predicate: Predicate, names: tuple[str, ...]) -> tuple[Any, ...]:
    left, right = predicate.left, predicate.right
    start = (left.row, names[left.column], predicate.operator)
    if isinstance(right, Constant):
        return (*start, "const", _json_value(right))
    return (*start, right.row, names[right.column])


def _json_value(constant: Constant) -> Any:
    value = constant.value
    if not isinstance(value, Decimal):
        return value
    number = float(value)
    # A JSON number is read as a float, so decimals with more digits than a float keeps need another form.
    return number if Constant(number) == constant else {"decimal": str(value)}


class FieldReader:
    """Reads the fields of one entry and says which one is wrong."""

    def __init__(self, names: Sequence[str], entry: str) -> None:
        self.names = names
        self.entry = entry
        self.index = {name: column for column, name in enumerate(names)}

    def laws(self, documents: object) -> list[Law]:
        """Read a list of laws."""
        entries, laws = self.entry, []
        for position, document in enumerate(self.array(documents, entries)):
            self.entry = f"{entries}[{position}]"
            laws.append(self.law(document))
        return laws

    def law(self, document: object) -> Law:
        """Read a law of any family."""
        if not isinstance(document, Mapping):
            raise _wrong(self.entry, "must be an object", document)
        kind = self._field(document, "kind")
        form = form_named(kind)
        if form is None:
            raise _wrong(f"{self.entry}.kind", f"must be one of {', '.join(kinds())}", kind)
        try:
            law: Law = form.read(self, document)
            return law
        except UsageError as refusal:
            raise SourceError(f"{self.entry}: {refusal.typed_message}", refusal.typed_hint) from None

    def key(self, document: Mapping[str, object]) -> Key:
        """Read a key."""
        return Key(self.columns(document, "columns"))

    def fd(self, document: Mapping[str, object]) -> FD:
        """Read an FD."""
        return FD(self.columns(document, "lhs"), self._column_field(document, "rhs"))

    def canonical_od(self, document: Mapping[str, object]) -> CanonicalOD:
        """Read a canonical order dependency."""
        direction = self._word(self._field(document, "direction"), f"{self.entry}.direction", DIRECTIONS)
        return CanonicalOD(
            self.columns(document, "context"),
            self._column_field(document, "left"),
            self._column_field(document, "right"),
            cast(Direction, direction),
        )

    def list_od(self, document: Mapping[str, object]) -> ListOD:
        """Read a list-based order dependency."""
        lhs, rhs = (self._marked_list(document, name, DIRECTIONS) for name in ("lhs", "rhs"))
        return ListOD(cast(_DirectedList, lhs), cast(_DirectedList, rhs))

    def pod(self, document: Mapping[str, object]) -> POD:
        """Read a pointwise order dependency."""
        lhs = self._marked_list(document, "lhs", POD_LEFT_OPERATORS)
        rhs = self._marked(self._field(document, "rhs"), f"{self.entry}.rhs", POD_RIGHT_OPERATORS)
        return POD(cast(_OperatorList, lhs), cast(tuple[int, Operator], rhs))

    def dc(self, document: Mapping[str, object]) -> DC:
        """Read a denial constraint."""
        place = f"{self.entry}.predicates"
        items = self.array(self._field(document, "predicates"), place)
        return DC(tuple(self._predicate(item, f"{place}[{at}]") for at, item in enumerate(items)))

    def array(self, value: object, place: str, length: int | None = None) -> Sequence[object]:
        """Read an array, of a certain length if it is given."""
        if not isinstance(value, list | tuple):
            raise _wrong(place, "must be an array", value)
        if length is not None and len(value) != length:
            raise SourceError(f"{place} must have {length} elements, but has {len(value)}.")
        return value

    def _predicate(self, value: object, place: str) -> Predicate:
        left_row, left, operator, right_row, right = self.array(value, place, 5)
        row = cast(Row, self._word(left_row, f"{place}[0]", ("t", "s")))
        cell = Cell(row, self._column(left, f"{place}[1]"))
        comparison = cast(Operator, self._word(operator, f"{place}[2]", OPERATORS))
        kind = self._word(right_row, f"{place}[3]", ("t", "s", "const"))
        other: Cell | Constant
        if kind == "const":
            other = self._constant(right, f"{place}[4]")
        else:
            other = Cell(cast(Row, kind), self._column(right, f"{place}[4]"))
        try:
            return Predicate(cell, comparison, other)
        except UsageError as refusal:
            raise SourceError(f"{place}: {refusal.typed_message}", refusal.typed_hint) from None

    def _constant(self, value: object, place: str) -> Constant:
        try:
            if isinstance(value, Mapping) and isinstance(value.get("decimal"), str) and len(value) == 1:
                return number_from_text(value["decimal"])
            if isinstance(value, str | int | float | bool):
                return Constant(value)
        except UsageError as refusal:
            raise SourceError(f"{place}: {refusal.typed_message}", refusal.typed_hint) from None
        raise _wrong(place, 'must be text, a number, a boolean or {"decimal": "digits"}', value)

    def columns(self, document: Mapping[str, object], name: str) -> tuple[int, ...]:
        """Read a field that lists column names."""
        place = f"{self.entry}.{name}"
        items = self.array(self._field(document, name), place)
        return tuple(self._column(item, f"{place}[{at}]") for at, item in enumerate(items))

    def _marked_list(
        self, document: Mapping[str, object], name: str, allowed: tuple[str, ...]
    ) -> tuple[tuple[int, str], ...]:
        place = f"{self.entry}.{name}"
        items = self.array(self._field(document, name), place)
        return tuple(self._marked(item, f"{place}[{at}]", allowed) for at, item in enumerate(items))

    def _marked(self, value: object, place: str, allowed: tuple[str, ...]) -> tuple[int, str]:
        column, mark = self.array(value, place, 2)
        return self._column(column, f"{place}[0]"), self._word(mark, f"{place}[1]", allowed)

    def _column_field(self, document: Mapping[str, object], name: str) -> int:
        return self._column(self._field(document, name), f"{self.entry}.{name}")

    def _column(self, value: object, place: str) -> int:
        if not isinstance(value, str):
            raise _wrong(place, "must be the name of a column", value)
        column = self.index.get(value)
        if column is None:
            message, hint = unknown_column(value, self.names)
            raise SourceError(f"{place}: {message}", hint)
        return column

    def _word(self, value: object, place: str, allowed: Sequence[str]) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise _wrong(place, f"must be one of {', '.join(allowed)}", value)
        return value

    def _field(self, document: Mapping[str, object], name: str) -> object:
        if name not in document:
            raise SourceError(f"{self.entry} has no field {name!r}.")
        return document[name]


class _Gatherer(FieldReader):
    """Takes every name for that of a column, and keeps it."""

    def _column(self, value: object, place: str) -> int:
        if isinstance(value, str):
            self.index.setdefault(value, len(self.index))
        return super()._column(value, place)


_DirectedList: TypeAlias = tuple[tuple[int, Direction], ...]
_OperatorList: TypeAlias = tuple[tuple[int, Operator], ...]


def _wrong(place: str, expected: str, value: object) -> SourceError:
    # reprlib, because a hostile value may be as long or as deeply nested as a file can hold.
    return SourceError(f"{place} {expected}, not {reprlib.repr(value)}.")
