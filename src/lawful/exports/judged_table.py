"""The rows that a law is judged on, as the source of a query, and comparisons of their cells.

Derived tables are used and no WITH: a query can then stand inside another tool's query, and no name that it gives
hides a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from sqlglot import exp

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Cell, Constant, Operator, Predicate
from lawful.exports.dialects import SqlDialect
from lawful.exports.known_columns import KnownColumn
from lawful.exports.values import ReadColumn, Sql, named

Source: TypeAlias = exp.Subquery | exp.Table

_COMPARISONS: Final[dict[Operator, type[exp.Binary]]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


class JudgedTable:
    """A table, what null means, and which columns a law speaks of.

    Parameters
    ----------
    source
        The table, as a FROM clause has it.
    columns
        What is known of the columns that laws speak of, by position.
    own
        The positions of those that this law speaks of.
    all_names
        The names of all columns of the table, where they are known.
    bare
        Whether the table can be given no name of its own.
    """

    def __init__(
        self,
        source: exp.Table,
        columns: Sequence[KnownColumn],
        own: Sequence[int],
        null: NullPolicy,
        dialect: SqlDialect,
        all_names: Sequence[str] = (),
        *,
        bare: bool = False,
    ) -> None:
        self._source = source
        self._own = own
        self._all_names = all_names
        self._bare = bare
        self.dialect = dialect
        self.nulls_are_values = null is NullPolicy.EQUAL
        self.read = [ReadColumn(column, dialect) for column in columns]
        self._taken = {column.name.lower() for column in columns} | {name.lower() for name in all_names}

    def fresh(self, name: str) -> str:
        """A name that no column has."""
        while name.lower() in self._taken:
            name += "_"
        return name

    def column(self, position: int, table: str | None = None) -> exp.Column:
        """A column of `rows` or of `whole_rows`, as it is compared."""
        return named(self.read[position].column.name, table)

    def rows(self, wanted: Iterable[int], filters: Sequence[Predicate] = ()) -> Source:
        """The rows with columns as they are compared; under `ignore` those without null in the law's columns."""
        chosen = list(dict.fromkeys(wanted)) or list(self._own[:1])
        if self._is_plain(chosen, filters):
            return self._called_judged()
        listed = [exp.alias_(self.read[each].value, self.read[each].column.name, quoted=True) for each in chosen]
        listed = [
            each.this if each.this == self.read[at].raw else each for each, at in zip(listed, chosen, strict=True)
        ]
        select = exp.select(*(listed or [exp.alias_(exp.Literal.number(1), "one")])).from_(self._source.copy())
        return self._judged(select, filters).subquery("judged", copy=False)

    def whole_rows(self, filters: Sequence[Predicate] = ()) -> tuple[Source, dict[int, str]]:
        """The rows as they are, and beside them what is compared otherwise; gives the names to compare by."""
        if self._is_plain(self._own, filters):
            return self._called_judged(), {position: self.read[position].column.name for position in self._own}
        names, beside = {}, []
        for position in self._own:
            read = self.read[position]
            names[position] = read.column.name
            if not read.is_plain:
                names[position] = self.fresh(f"compared_{read.column.name}")
                beside.append(exp.alias_(read.value, names[position], quoted=True))
        select = exp.select(exp.Star(), *beside).from_(self._source.copy())
        return self._judged(select, filters).subquery("judged", copy=False), names

    def _called_judged(self) -> exp.Table:
        table = self._source.copy()
        table.set("alias", exp.TableAlias(this=exp.to_identifier("judged")))
        return table

    def _is_plain(self, columns: Sequence[int], filters: Sequence[Predicate]) -> bool:
        """Whether the table can be read as it is."""
        is_whole = self.nulls_are_values or not self._own
        return is_whole and not self._bare and not filters and all(self.read[each].is_plain for each in columns)

    def shown(self, table: str | None = None) -> list[Sql]:
        """What to select of whole rows: all that is known of the table, else everything."""
        if self._all_names:
            return [named(name, table) for name in self._all_names]
        return [exp.Column(this=exp.Star(), table=exp.to_identifier(table, quoted=True)) if table else exp.Star()]

    def _judged(self, select: exp.Select, filters: Sequence[Predicate]) -> exp.Select:
        conditions = [self.one_row(each, {column: self.read[column].value for column in self._own}) for each in filters]
        if not self.nulls_are_values:
            conditions = [self._has_value(self.read[each].value) for each in self._own] + conditions
        return select.where(*conditions) if conditions else select

    @staticmethod
    def _has_value(value: Sql) -> Sql:
        return exp.Not(this=exp.Is(this=value, expression=exp.Null()))

    def one_row(self, predicate: Predicate, values: dict[int, Sql]) -> Sql:
        """A comparison within one row, or of one cell with a constant."""
        left = values[predicate.left.column]
        if isinstance(predicate.right, Cell):
            return self.compare(left, predicate.operator, values[predicate.right.column])
        constant = self.read[predicate.left.column].constant(predicate.right)
        compared = _compared(left, predicate.operator, constant)
        if self.nulls_are_values and predicate.operator in ("<", "<=", "!="):  # null is below every value
            return exp.paren(exp.or_(compared, is_null(left)), copy=False)
        return compared

    def between(self, predicate: Predicate, t: dict[int, Sql], s: dict[int, Sql]) -> Sql:
        """Any comparison of two rows."""
        rows = {"t": t, "s": s}
        right = predicate.right
        if isinstance(right, Constant) or right.row == predicate.left.row:
            return self.one_row(predicate, rows[predicate.left.row])
        return self.compare(
            rows[predicate.left.row][predicate.left.column], predicate.operator, rows[right.row][right.column]
        )

    def compare(self, left: Sql, operator: Operator, right: Sql) -> Sql:
        """Compare two cells; where null is a value, it is the least and equal to itself."""
        if not self.nulls_are_values:
            return _compared(left, operator, right)
        if operator == "=":
            return exp.NullSafeEQ(this=left.copy(), expression=right.copy())
        if operator == "!=":
            return exp.NullSafeNEQ(this=left.copy(), expression=right.copy())
        compared = _compared(left, operator, right)
        smaller, greater = (left, right) if operator in ("<", "<=") else (right, left)
        nulls = is_null(smaller)
        if operator in ("<", ">"):
            nulls = exp.and_(nulls, self._has_value(greater.copy()))
        return exp.paren(exp.or_(compared, nulls), copy=False)


def is_null(value: Sql) -> Sql:
    """Whether a cell is null."""
    return exp.Is(this=value.copy(), expression=exp.Null())


def _compared(left: Sql, operator: Operator, right: Sql) -> Sql:
    return _COMPARISONS[operator](this=left.copy(), expression=right.copy())
