"""One query of one table: whether its rows are rows of that table, and what its names and filters mean.

Only a plain query of one table is touched: laws speak of the rows of that table, and so of every selection of them.
What they say survives WHERE, DISTINCT and GROUP BY, because every row of the result shows columns of some row of the
table; it does not survive joins, and nothing is known of what other queries make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from lawful.common.errors import UsageError
from lawful.common.meanings import Direction
from lawful.dependencies import format_law
from lawful.rewriting.filters import FilterFacts, facts_of
from lawful.rewriting.known_laws import KnownColumn, KnownLaws
from lawful.rewriting.names import ColumnNames, Outputs, UnsafeError, has_only, is_plain
from lawful.rewriting.orders import Term, Terms
from lawful.rewriting.reasoning import Given, Proof
from lawful.rewriting.result import IndexUse, Step

_HARMLESS = frozenset(
    "with expressions hint distinct from operation_modifiers prewhere where group having qualify windows order limit "
    "offset locks settings format options".split()
)
"""The parts of a query that leave its rows rows of the table, or are looked at one by one."""

_HARMLESS_OF_TABLE = frozenset("this db catalog alias only hints partition sample indexed".split())


@dataclass(frozen=True)
class Index:
    """An index or a sort order that there is, and how it writes its columns."""

    text: str
    terms: Terms
    written: tuple[exp.Column, ...]


class Query:
    """One query on its way: its text and tree as they are by now, and what was done."""

    def __init__(self, sql: str, tree: exp.Expression, dialect: Dialect, dialect_name: str, known: KnownLaws) -> None:
        self.sql = sql
        self.select = select = plain_select(tree)
        self.dialect = dialect
        self.names = ColumnNames(known.names, dialect, dialect_name)
        self.outputs = Outputs(select, self.names, one_table(select))
        self.facts: FilterFacts = facts_of(select.args.get("where"), self.outputs, known.columns, dialect_name)
        self.columns: tuple[KnownColumn, ...] = known.columns
        self.steps: list[Step] = []
        self.uses: list[IndexUse] = []
        self.notes: list[str] = []

    def term(self, ordered: exp.Expression, column: int) -> Term:
        """Read one term of an ORDER BY or of an index."""
        direction: Direction = "desc" if ordered.args.get("desc") else "asc"
        nulls_first = bool(ordered.args.get("nulls_first"))
        nulls_high = nulls_first == (direction == "desc")
        return Term(column, direction, nulls_high and self.may_be_null(column))

    def may_be_null(self, column: int) -> bool:
        """Whether rows of the result may have null in a column."""
        known_free = column < len(self.columns) and not self.columns[column].may_be_null
        return not known_free and column not in self.facts.without_nulls

    def index(self, text: str) -> Index:
        """Read an index as the terms of an ORDER BY."""
        try:
            trees = self.dialect.parse(f"SELECT 1 FROM t ORDER BY {text}")  # noqa: S608  # parsed, never run
            select = plain_select(cast(exp.Expression, trees[0]))
            written = select.args["order"].expressions
            plain = has_only(select, "expressions", "from", "order") and all(is_plain(term.this) for term in written)
            if len(trees) != 1 or not plain:
                raise UnsafeError
            terms = tuple(self.term(term, self.names.find(term.this.this)) for term in written)
        except (SqlglotError, UnsafeError, RecursionError):
            raise UsageError(f"{text!r} does not list the columns of an index", 'Write --index "a, b desc".') from None
        return Index(text, terms, tuple(term.this for term in written))

    def written(self, proof: Proof) -> tuple[str, ...]:
        """Write the laws and filters of a proof."""
        return tuple(
            ground.text if isinstance(ground, Given) else format_law(ground, self.names.names) for ground in proof
        )


def plain_select(tree: exp.Expression) -> exp.Select:
    """Give the query if it does no more than select, group, sort and cut off rows."""
    if not isinstance(tree, exp.Select):
        raise UnsafeError("it is not one SELECT")
    for name, value in tree.args.items():
        if value and name.rstrip("_") not in _HARMLESS:
            raise UnsafeError(f"it has a part that makes other rows or does more than select: {name.rstrip('_')}")
    distinct, limit = tree.args.get("distinct"), tree.args.get("limit")
    if distinct and not has_only(distinct):
        raise UnsafeError("its DISTINCT ON depends on the ORDER BY as it is written")
    if limit and not has_only(
        limit, "expression", "offset", "limit_options", "count", "direction", "percent", "with_ties"
    ):
        raise UnsafeError("its LIMIT does more than count rows")
    return tree


def one_table(select: exp.Select) -> exp.Table:
    """Give the one table that a query reads, if it reads its rows as they are."""
    source = _part(select, "from")
    table = source.this if source else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise UnsafeError("it does not read a table")
    for name, value in table.args.items():
        if value and name not in _HARMLESS_OF_TABLE:
            raise UnsafeError(f"it does not read the table as it is: {name}")
    alias = table.args.get("alias")
    if alias and alias.args.get("columns"):
        raise UnsafeError("it gives other names to the columns")
    with_ = _part(select, "with")
    if (
        with_
        and not table.args.get("db")
        and table.name.lower() in {query.alias.lower() for query in with_.expressions}
    ):
        raise UnsafeError(f"{table.name} is a query of its own")
    return table


def _part(select: exp.Select, name: str) -> Any:
    """Give a clause whose name is a word of Python; newer versions of sqlglot write it with an underscore."""
    return select.args.get(name) or select.args.get(f"{name}_")
