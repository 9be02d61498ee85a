"""Random tables with everything that databases compare in their own ways, and laws of all families over them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Constant, Key, ListOD, NamedLaw, Operator, Predicate
from lawful.exports.known_columns import KnownColumn

NAMES = ["a", 'b"q', "c`d;--", "{{ e }}", "f\\'g", "h i\nj", "Größe", "violating_rows", "{batch}", "order"]
OPERATORS: list[Operator] = ["=", "!=", "<", "<=", ">", ">="]
VALUES: dict[ColumnType, list[Any]] = {
    ColumnType.INTEGER: [None, 0, 1, 2, 10],
    ColumnType.FLOAT: [None, float("nan"), -0.0, 0.0, 1.5, float("inf"), -2.0],
    ColumnType.STRING: [None, "", "a", "B", "é", "Z", "o'x\\", '"', "\U0001f600", "\uffff", "a "],
    ColumnType.BOOLEAN: [None, True, False],
    ColumnType.DATE: [None, date(1999, 12, 31), date(2024, 2, 29), date(2024, 3, 1)],
    ColumnType.DECIMAL: [None, Decimal("0.10"), Decimal("2.00"), Decimal("10.00")],
}
ARROW = {
    ColumnType.INTEGER: pa.int64(),
    ColumnType.FLOAT: pa.float64(),
    ColumnType.STRING: pa.string(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.DECIMAL: pa.decimal128(10, 2),
}
CONSTANTS: dict[ColumnType, list[Any]] = {
    ColumnType.INTEGER: [1, -1, Decimal("1.5")],
    ColumnType.FLOAT: [0, Decimal("1.5")],
    ColumnType.STRING: ["a", "o'x\\", ""],
    ColumnType.BOOLEAN: [True, False],
    ColumnType.DATE: ["2024-02-29"],
    ColumnType.DECIMAL: [2, Decimal("0.1")],
}


@dataclass(frozen=True)
class Sample:
    """A table with an `id` that numbers its rows, and laws over its other columns."""

    table: pa.Table
    types: dict[str, ColumnType]
    laws: list[NamedLaw]

    @property
    def columns(self) -> dict[str, KnownColumn]:
        return {name: KnownColumn(name, type_) for name, type_ in self.types.items()}


@st.composite
def samples(draw: st.DrawFn, names: list[str] = NAMES, most_rows: int = 8, lists: bool = True) -> Sample:
    width = draw(st.integers(2, 4))
    chosen = draw(st.permutations(names))[:width]
    same = draw(st.booleans())  # cells of two columns can be compared if both are of one type
    first = draw(st.sampled_from(list(VALUES)))
    types = {name: first if same else draw(st.sampled_from(list(VALUES))) for name in chosen}
    rows = draw(st.integers(0, most_rows))
    columns = {
        name: pa.array(
            draw(st.lists(st.sampled_from(_fewer(draw, VALUES[type_])), min_size=rows, max_size=rows)), ARROW[type_]
        )
        for name, type_ in types.items()
    }
    table = pa.table({**columns, "id": pa.array(range(rows), pa.int64())})
    listed = draw(st.lists(_laws(list(types.values()), lists), min_size=1, max_size=6))
    return Sample(table, types, [NamedLaw(law, tuple(chosen)) for law in listed])


def _fewer(draw: st.DrawFn, values: list[Any]) -> list[Any]:
    """Few values, so that rows tie."""
    return draw(st.lists(st.sampled_from(values), min_size=1, max_size=4))


@st.composite
def _laws(draw: st.DrawFn, types: list[ColumnType], lists: bool) -> Any:
    order = draw(st.permutations(range(len(types))))
    size = draw(st.integers(0, len(types) - 1))
    direction = st.sampled_from(["asc", "desc"])
    kind = draw(st.sampled_from(["key", "fd", "od", "pod", "dc", "dc", "dc"] + ["list"] * lists))
    if kind == "key":
        return Key(tuple(order[: size + 1]) if draw(st.booleans()) else tuple(order[:size]))
    if kind == "fd":
        return FD(tuple(order[:size]), order[-1])
    if kind == "od":
        return CanonicalOD(tuple(order[: max(0, size - 1)]), order[-1], order[-2], draw(direction))
    if kind == "list":
        right = draw(st.permutations(range(len(types))))[: draw(st.integers(0, 2))]
        return ListOD(
            tuple((column, draw(direction)) for column in order[:size]),
            tuple((column, draw(direction)) for column in right),
        )
    if kind == "pod":
        left = tuple((column, draw(st.sampled_from(["<", "<=", "=", ">=", ">"]))) for column in order[:size])
        return POD(left, (order[-1], draw(st.sampled_from(["<", "<=", "="]))))
    return DC(tuple(draw(st.lists(_predicates(types), max_size=4))))


@st.composite
def _predicates(draw: st.DrawFn, types: list[ColumnType]) -> Predicate:
    left = draw(st.integers(0, len(types) - 1))
    operator = draw(st.sampled_from(OPERATORS))
    kind = draw(st.sampled_from(["same", "same", "same", "across", "constant"]))
    row = draw(st.sampled_from(["t", "s"]))
    others = [column for column, type_ in enumerate(types) if type_ is types[left] and column != left]
    if kind == "constant":
        return Predicate(Cell(row, left), operator, Constant(draw(st.sampled_from(CONSTANTS[types[left]]))))
    if kind == "across" and others:
        return Predicate(
            Cell(row, left), operator, Cell(draw(st.sampled_from(["t", "s"])), draw(st.sampled_from(others)))
        )
    return Predicate(Cell("t", left), operator, Cell("s", left))
