"""Cells as a database has to read them, so that it compares them as lawful did.

NaN is null, booleans are 0 and 1 (not every database knows the least of several booleans), and text sorts by code
point. Columns that lawful read from text are cast to the type that it found there; where the database has that type
already, the cast does nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from sqlglot import exp

from lawful.common.meanings import ColumnType
from lawful.dependencies import Constant
from lawful.exports.dialects import SqlDialect
from lawful.exports.known_columns import KnownColumn

if TYPE_CHECKING:
    Sql: TypeAlias = exp.Expr  # what newer versions of sqlglot call the base of all parts of a query
else:
    Sql = exp.Expression

_NUMBERS: Final = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)
_SLASHED: Final = re.compile(r"\s*([0-9]{2})/([0-9]{2})/[0-9]{4}\s*")
_DOTTED: Final = re.compile(r"\s*[0-9]{2}\.[0-9]{2}\.[0-9]{4}\s*")
_ZONED: Final = re.compile(r".*[0-9](Z|[+-][0-9]{2}(:?[0-9]{2})?)\s*")
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_YEAR_FIRST, _MONTH_FIRST, _DAY_FIRST = (1, 6, 9), (7, 1, 4), (7, 4, 1)
"""Where year, month and day begin in a text of ten characters."""


@dataclass(frozen=True)
class ReadColumn:
    """A column, in a dialect."""

    column: KnownColumn
    dialect: SqlDialect

    @property
    def raw(self) -> Sql:
        """The column as it is."""
        return named(self.column.name)

    @property
    def is_plain(self) -> bool:
        """Whether the column is compared as it is."""
        return bool(self.value == self.raw)

    @property
    def is_equal_raw(self) -> bool:
        """Whether values are equal as they are if and only if they are equal as they are compared."""
        type_, column = self.column.type, self.column
        is_inexact = type_ is ColumnType.FLOAT or (type_ is ColumnType.DECIMAL and column.is_text)
        return not is_inexact and not column.null_tokens

    @property
    def value(self) -> Sql:
        """The column as it is compared."""
        read = self._cast() if self.column.is_text or self.column.null_tokens else self.raw
        return self._compared(read)

    def constant(self, constant: Constant) -> Sql:
        """A constant that the column is compared with."""
        value, type_ = constant.value, self.column.type
        if isinstance(value, bool):
            return exp.Literal.number(int(value)) if type_ is ColumnType.BOOLEAN else exp.Boolean(this=value)
        if isinstance(value, str):
            return self._constant_text(value)
        literal = exp.Literal.number(format(Decimal(value).copy_abs(), "f"))
        return exp.Neg(this=literal) if value < 0 else literal

    def _constant_text(self, value: str) -> Sql:
        type_ = self.column.type
        literal: Sql = exp.Literal.string(value)
        if type_ is ColumnType.DATE:
            return _cast(_iso_date(literal, self._date_layout(value)), "DATE")
        if type_ is ColumnType.TIMESTAMP:
            return _cast(literal, self._timestamp_type(value))
        if type_ is ColumnType.TIME:
            return self._time(literal)
        return literal

    def _compared(self, read: Sql) -> Sql:
        type_, dialect = self.column.type, self.dialect
        if type_ is ColumnType.BOOLEAN:
            return _cast(read, "INT")
        if type_ is ColumnType.FLOAT or (type_ is ColumnType.DECIMAL and self.column.is_text):
            return self._without_nan(read)
        if type_ is ColumnType.BINARY and dialect.name == "postgres":  # which knows no least of several
            read = exp.func("ENCODE", read, exp.Literal.string("hex"))
        is_text = type_ in (ColumnType.STRING, ColumnType.BINARY)
        if is_text and dialect.binary_collation:
            collation = exp.to_identifier(dialect.binary_collation, quoted=True)
            return exp.Collate(this=_cast(read, "TEXT"), expression=collation)
        return read

    def _without_nan(self, read: Sql) -> Sql:
        if self.dialect.nan_is_equal:
            nan = _cast(exp.Literal.string("NaN"), self._number_type())
            return exp.Nullif(this=read, expression=nan)
        is_nan = exp.func("IS_NAN", read)
        return exp.Case(ifs=[exp.If(this=is_nan, true=exp.Null())], default=read)

    def _number_type(self) -> str:
        return self.dialect.decimal if self.column.type is ColumnType.DECIMAL else "DOUBLE"

    def _cast(self) -> Sql:
        """The column, read from text; what stands for null there is null."""
        column, type_ = self.column, self.column.type
        read = self.raw
        if column.null_tokens:
            tokens = [exp.Literal.string(token) for token in column.null_tokens]
            is_null = exp.In(this=_cast(self.raw, "TEXT"), expressions=tokens)
            read = exp.Case(ifs=[exp.If(this=is_null, true=exp.Null())], default=self.raw)
        if not column.is_text:
            return read
        if type_ is ColumnType.INTEGER:
            is_small = all(_WHOLE.fullmatch(text) for text in column.extremes)
            return _cast(read, "BIGINT" if column.extremes and is_small else "DECIMAL(38, 0)")
        if type_ in _NUMBERS:
            return _cast(read, self._number_type())
        if type_ is ColumnType.BOOLEAN:
            return _cast(read, "BOOLEAN")
        if type_ is ColumnType.TIMESTAMP:
            return _cast(read, self._timestamp_type(*column.extremes))
        if type_ is ColumnType.TIME:
            return self._time(read)
        if type_ is ColumnType.DATE:
            return self._date(read)
        return read

    def _date(self, read: Sql) -> Sql:
        layout = self._date_layout(*self.column.extremes)
        if layout == _YEAR_FIRST:
            return _cast(read, "DATE")
        # A database that has dates already shows them year first, so the text tells.
        text = exp.func("TRIM", _cast(read, "TEXT"))
        year_first = exp.Like(this=text, expression=exp.Literal.string("____-%"))
        rearranged = _iso_date(text.copy(), layout)
        return _cast(exp.Case(ifs=[exp.If(this=year_first, true=text.copy())], default=rearranged), "DATE")

    def _date_layout(self, *texts: str) -> tuple[int, int, int]:
        if any(_DOTTED.fullmatch(text) for text in texts):
            return _DAY_FIRST
        slashed = [found for text in texts if (found := _SLASHED.fullmatch(text))]
        if not slashed:
            return _YEAR_FIRST
        known = [*slashed, *(found for text in self.column.extremes if (found := _SLASHED.fullmatch(text)))]
        return _DAY_FIRST if any(int(found[1]) > 12 for found in known) else _MONTH_FIRST

    def _timestamp_type(self, *texts: str) -> str:
        return "TIMESTAMPTZ" if any(_ZONED.fullmatch(text) for text in texts) else "TIMESTAMP"

    def _time(self, read: Sql) -> Sql:
        if self.dialect.has_time:
            return _cast(read, "TIME")
        day = exp.Literal.string("1970-01-01 ")
        return _cast(exp.func("CONCAT", day, exp.func("TRIM", _cast(read, "TEXT"))), "TIMESTAMP")


def is_ambiguous_date(column: KnownColumn) -> bool:
    """Whether nothing tells if the month of a date or its day comes first."""
    if column.type is not ColumnType.DATE or not column.is_text:
        return False
    found = [match for text in column.extremes if (match := _SLASHED.fullmatch(text))]
    return bool(found) and all(int(part) <= 12 for match in found for part in match.groups())


def named(name: str, table: str | None = None) -> exp.Column:
    """A column by its name, quoted; names may hold anything."""
    return exp.Column(
        this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True) if table else None
    )


def _cast(read: Sql, type_: str) -> Sql:
    return exp.Cast(this=read, to=exp.DataType.build(type_))


def _iso_date(text: Sql, layout: tuple[int, int, int]) -> Sql:
    """A date of ten characters as ISO 8601 writes it."""
    if layout == _YEAR_FIRST:
        return text
    parts = [
        exp.func("SUBSTRING", text.copy(), exp.Literal.number(start), exp.Literal.number(length))
        for start, length in zip(layout, (4, 2, 2), strict=True)
    ]
    dash = exp.Literal.string("-")
    return exp.func("CONCAT", parts[0], dash, parts[1], dash.copy(), parts[2])
