"""Laws as texts of SQL: one query for each, in a dialect, on a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import ListOD, NamedLaw, columns_of
from lawful.exports.dialects import SqlDialect
from lawful.exports.judged_table import JudgedTable
from lawful.exports.known_columns import KnownColumn
from lawful.exports.queries import Form, query_of
from lawful.exports.shapes import Pairs, shape_of
from lawful.exports.values import ReadColumn, Sql

_LONGEST_TABLE = 1_000


@dataclass(frozen=True)
class QueryWriter:
    """Writes queries.

    Attributes
    ----------
    table
        The table, as `table_named` or `table_of_name` gives it.
    columns
        What is known of columns, by name.
    null
        What null means.
    all_names
        The names of all columns of the table, where they are known.
    bare
        Whether the table is a word of another tool, which may put a query in its place that has a name already.
    """

    table: exp.Table
    columns: Mapping[str, KnownColumn]
    null: NullPolicy
    dialect: SqlDialect
    all_names: Sequence[str] = ()
    bare: bool = False

    def query(self, law: NamedLaw, form: Form = "groups") -> str | None:
        """The query that gives rows exactly if the law is broken; None if SQL cannot say it."""
        if isinstance(law.positional, ListOD) and self.null is NullPolicy.IGNORE:
            return None  # list-based order dependencies know nulls only as values
        shape = shape_of(law.positional)
        if shape is None:
            return None
        columns = [self.columns.get(name) or KnownColumn(name) for name in law.names]
        own = columns_of(law.positional)
        # Joined, a word of another tool is a query without a name, and else one with a name.
        table = self.table.copy()
        if self.bare and isinstance(shape, Pairs):
            table.set("alias", exp.TableAlias(this=exp.to_identifier("source")))
        judged = JudgedTable(table, columns, own, self.null, self.dialect, self.all_names, bare=self.bare)
        return self.text(query_of(shape, judged, form))

    def on(
        self,
        word: str,
        law: NamedLaw,
        form: Form = "groups",
        escape: Callable[[str], str] = str,
        around: tuple[str, str] = ("", ""),
        bare: bool = False,
    ) -> str | None:
        """The query with another tool's word in place of the table, and all else escaped as that tool wants it."""
        token = "lawful_table"
        while any(token in name for name in (*law.names, *self.all_names)) or token in law.text:
            token += "_"
        table = exp.Table(this=exp.Identifier(this=token, quoted=False))
        query = replace(self, table=table, bare=bare).query(law, form)
        return None if query is None else escape(f"{around[0]}{query}{around[1]}").replace(token, word)

    def are_equal_as_they_are(self, names: Sequence[str]) -> bool:
        """Whether values of these columns are equal to the database if and only if they are to the laws.

        Numbers, dates and times of a CSV file are taken to be such in the database, or written alike.
        """
        return all(ReadColumn(self.columns.get(name) or KnownColumn(name), self.dialect).is_equal_raw for name in names)

    def text(self, query: Sql) -> str:
        """The text of a query, on several lines unless a name has several, which would be indented with the rest."""
        words = (str(each.this) for each in query.find_all(exp.Identifier, exp.Literal))
        is_pretty = not any("\n" in word or "\r" in word for word in words)
        return query.sql(dialect=self.dialect.name, pretty=is_pretty, comments=False)


def table_named(name: str, dialect: SqlDialect) -> exp.Table:
    """A table by its name, such as `catalog.schema.table`; parts with other characters are quoted as in the dialect."""
    try:
        table = exp.to_table(name, dialect=dialect.name) if len(name) <= _LONGEST_TABLE else None
    except (SqlglotError, ValueError, RecursionError):
        table = None
    others = set() if table is None else {key for key, value in table.args.items() if value} - {"this", "db", "catalog"}
    parts = [] if table is None else table.parts
    if table is None or others or not all(isinstance(part, exp.Identifier) and part.name for part in parts):
        raise UsageError(
            f"{name!r} is not the name of a table", "Write --table sales.orders, and quote parts with other characters."
        )
    for part in parts:
        part.set("quoted", True)
    return table


def table_of_name(name: str) -> exp.Table:
    """A table by a name that is one part, whatever is in it."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))
