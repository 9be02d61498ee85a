"""Which column of the table a name in a query means, and which names are too doubtful to touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy

_COLUMNS_OF_ANY_CASE = frozenset({"mysql", "doris", "starrocks", "singlestore", "fabric"})
"""Dialects whose case-sensitivity is about tables; their columns go by any case."""

_NAMELESS = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.Literal, exp.Neg, exp.Null, exp.Boolean,
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not, exp.Is, exp.Case,
)  # fmt: skip
"""Expressions to which no database gives the name of a column in them."""


class UnsafeError(Exception):
    """A reason to leave a clause as it is."""


class ColumnNames:
    """The columns of the table, found by identifier as a dialect compares identifiers.

    A column that no law speaks of gets a number of its own when it is first met.
    """

    def __init__(self, names: Sequence[str], dialect: Dialect, dialect_name: str) -> None:
        self.names = list(names)
        self._known = len(self.names)
        self._dialect = dialect
        strategy = dialect.normalization_strategy
        any_case = strategy.name.startswith("CASE_INSENSITIVE") or dialect_name in _COLUMNS_OF_ANY_CASE
        self._quotes_matter = not any_case
        self._exact = strategy is NormalizationStrategy.CASE_SENSITIVE and not any_case
        self._spellings: dict[int, exp.Identifier] = {}

    def knows(self, identifier: exp.Identifier) -> bool:
        """Whether some law speaks of the column."""
        return any(number < self._known for number in self._matching(identifier))

    def _matching(self, identifier: exp.Identifier) -> list[int]:
        name = identifier.name
        if self._exact or (identifier.quoted and self._quotes_matter):
            return [number for number, known in enumerate(self.names) if known == name]
        return [number for number, known in enumerate(self.names) if known.lower() == name.lower()]

    def find(self, identifier: exp.Identifier) -> int:
        """Give the number of the column that an identifier means."""
        name = identifier.name
        found = self._matching(identifier)
        if len(found) > 1:
            raise UnsafeError(f"{name} may be one of several columns whose names differ only in their case")
        if not found:
            self.names.append(name)
            found = [len(self.names) - 1]
        if self.normal(self._spellings.setdefault(found[0], identifier)) != self.normal(identifier):
            raise UnsafeError(f"{name} is written in two ways, which may mean two columns")
        return found[0]

    def identifier(self, column: int) -> exp.Identifier:
        """Write the name of a column: as the query does, else in quotes only where it must be."""
        if column in self._spellings:
            return self._spellings[column].copy()
        name = self.names[column]
        bare = exp.to_identifier(name)
        quoted = exp.to_identifier(name, quoted=True)
        is_word = name.upper() in self._dialect.tokenizer_class.KEYWORDS
        return quoted if is_word and self.normal(bare) == self.normal(quoted) else bare

    def normal(self, identifier: exp.Identifier) -> str:
        """Write an identifier so that equal ones are the same text."""
        if self._exact:
            return identifier.name
        if not self._quotes_matter:
            return identifier.name.lower()
        return str(self._dialect.normalize_identifier(identifier.copy()).name)


class Outputs:
    """The select list, in which ORDER BY looks for names first."""

    def __init__(self, select: exp.Select, names: ColumnNames, table: exp.Table) -> None:
        self.items = list(select.expressions)
        self._names = names
        self._table = table
        for item in self.items:
            if _is_star(item) and (_star(item).args.get("replace") or _star(item).args.get("rename")):
                raise UnsafeError("its select list gives columns other values or names")
            if any("columns" in (function.key, function.name.lower()) for function in item.find_all(exp.Func)):
                raise UnsafeError("its select list names columns by a pattern")
        self.stars = [item for item in self.items if _is_star(item)]

    def ordered(self, expression: exp.Expression) -> int:
        """Give the column that a term of ORDER BY means."""
        if isinstance(expression, exp.Literal) and not expression.is_string and expression.name.isdecimal():
            return self._at(int(expression.name))
        if not is_plain(expression):
            raise UnsafeError(f"{expression.sql()} is not a column")
        if expression.args.get("table"):
            return self.of_table(expression)
        return self._named(expression)

    def grouped(self, expression: exp.Expression) -> int | None:
        """Give the column that a term of GROUP BY means; none if it is an expression or could be one."""
        try:
            return self.anywhere(expression) if is_plain(expression) else self.ordered(expression)
        except UnsafeError:
            return None

    def anywhere(self, column: exp.Expression) -> int:
        """Give the column that a name means, whether it is looked for in the table or in the select list first."""
        meant = self.of_table(column)
        if self.ordered(column) != meant:
            raise UnsafeError(f"{column.sql()} is also the name of something else in the select list")
        return meant

    def of_table(self, column: exp.Expression) -> int:
        """Give the column of the table that a column name means where the select list is not looked at."""
        qualifiers = [column.args.get(part) for part in ("table", "db", "catalog")]
        alias = self._table.args.get("alias")
        own = [alias.this] if alias else [self._table.args.get(part) for part in ("this", "db", "catalog")]
        for given, expected in zip(qualifiers, [*own, None, None], strict=False):
            if given is None:
                break
            if expected is None or given.name.lower() != expected.name.lower():
                raise UnsafeError(f"{column.sql()} is not a column of the table")
        identifier = column.this
        if not isinstance(identifier, exp.Identifier):
            raise UnsafeError(f"{column.sql()} is not a column")
        return self._names.find(identifier)

    def table_name(self) -> exp.Identifier:
        """Give the name by which the query calls its table."""
        alias = self._table.args.get("alias")
        return cast(exp.Identifier, (alias or self._table).this.copy())

    def plain_columns(self) -> set[int] | None:
        """Give the columns that the select list shows as they are; None for all."""
        if any(not any(_star(star).args.values()) for star in self.stars):
            return None
        shown = (item.this if isinstance(item, exp.Alias) else item for item in self.items)
        return {self.of_table(item) for item in shown if is_plain(item)}

    def _at(self, position: int) -> int:
        before = self.items[:position]
        if not 1 <= position <= len(self.items) or any(map(_is_star, before)):
            raise UnsafeError(f"position {position} cannot be told without the columns of the table")
        item = before[-1].this if isinstance(before[-1], exp.Alias) else before[-1]
        if not is_plain(item):
            raise UnsafeError(f"position {position} is not a column")
        return self.of_table(item)

    def _named(self, column: exp.Expression) -> int:
        wanted = self._names.normal(column.this)
        meant = {
            self.of_table(shown) if is_plain(shown) else None
            for name, shown in self._shown_names()
            if self._names.normal(name) == wanted
        }
        if self.stars or not meant or self._names.knows(column.this):
            meant.add(self.of_table(column))
        if len(meant) > 1 or None in meant:
            raise UnsafeError(f"{column.sql()} is also the name of something else in the select list")
        if wanted.lower() in {name.lower() for item in self.items for name in _implied_names(item)}:
            raise UnsafeError(f"{column.sql()} may also mean an expression of the select list")
        (only,) = meant
        assert only is not None
        return only

    def _shown_names(self) -> Iterator[tuple[exp.Identifier, exp.Expression]]:
        for item in self.items:
            if isinstance(item, exp.Alias) and isinstance(item.args.get("alias"), exp.Identifier):
                yield item.args["alias"], item.this
            elif is_plain(item):
                yield item.this, item


def is_plain(expression: exp.Expression) -> bool:
    """Whether an expression is a mere column."""
    named = isinstance(expression, exp.Column) and isinstance(expression.this, exp.Identifier)
    return named and has_only(expression, "this", "table", "db", "catalog")


def has_only(node: exp.Expression, *parts: str) -> bool:
    """Whether a node has no other parts than these: what another version of sqlglot adds may turn its sense around."""
    return all(name.rstrip("_") in parts for name, value in node.args.items() if value)


def _is_star(item: exp.Expression) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def _star(item: exp.Expression) -> exp.Expression:
    return item if isinstance(item, exp.Star) else cast(exp.Expression, item.this)


def _implied_names(item: exp.Expression) -> set[str]:
    """The names that databases may give to an expression without one: of its function, or of a column in it."""
    if isinstance(item, exp.Window):
        return _implied_names(item.this)
    if isinstance(item, (exp.Alias, exp.Star, *_NAMELESS)) or is_plain(item):
        return set()
    if isinstance(item, exp.Anonymous):
        return {str(item.this)}
    if isinstance(item, exp.Func) and not isinstance(item, exp.Cast):
        return {*item.sql_names(), item.key}
    return {column.name for column in item.find_all(exp.Column)} | {item.key}
