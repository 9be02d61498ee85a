"""What is asked of an export, beside the laws.

What writes SQL is loaded when a target asks for it: listings do without sqlglot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lawful.common.meanings import ColumnType
from lawful.exports.chosen import ChosenLaws
from lawful.exports.dialects import SqlDialect
from lawful.exports.slugs import Slugs

if TYPE_CHECKING:
    from lawful.exports.queries import Form
    from lawful.exports.writer import QueryWriter


@dataclass(frozen=True)
class Order:
    """The laws, and how they are wanted.

    Attributes
    ----------
    table
        The name of the table; the one that the laws were found in, if it is left out.
    form
        Whether queries give groups of rows that break a law, or all rows.
    rely
        Whether a database may rely on keys that it does not enforce.
    """

    chosen: ChosenLaws
    dialect: SqlDialect
    table: str | None = None
    form: Form = "groups"
    rely: bool = False

    @cached_property
    def writer(self) -> QueryWriter:
        """Writes queries on the table."""
        from lawful.exports.writer import QueryWriter, table_named, table_of_name

        chosen = self.chosen
        table = table_of_name(chosen.table) if self.table is None else table_named(self.table, self.dialect)
        return QueryWriter(table, chosen.columns, chosen.null, self.dialect, chosen.all_names)

    @property
    def table_word(self) -> str:
        """The name of the table alone, without those of its schema and catalogue."""
        return str(self.writer.table.name)

    @property
    def table_sql(self) -> str:
        """The table as SQL names it."""
        return self.writer.text(self.writer.table)

    def slugs(self) -> Slugs:
        """Names for the laws, made of letters that every tool takes."""
        return Slugs(self.table_word)

    def notes(self) -> tuple[str, ...]:
        """What is good to know of the queries."""
        from lawful.exports.values import is_ambiguous_date

        chosen = self.chosen
        own = {name for found in chosen.laws for name in found.law.columns}
        columns = [chosen.columns[name] for name in own if name in chosen.columns]
        notes = [*chosen.notes]
        unknown = len(own) - sum(column.type is not None for column in columns)
        if unknown and self.dialect.binary_collation:
            notes.append(
                f"the types of {unknown:,} columns are not known: {self.dialect.name} sorts text among them by its "
                "collation, and takes NaN for a number; --types tells them"
            )
        elif unknown:
            notes.append(
                f"the types of {unknown:,} columns are not known: NaN is taken for a number; --types tells them"
            )
        if dates := sorted(column.name for column in columns if is_ambiguous_date(column)):
            notes.append(f"the month is taken to come first in the dates of {', '.join(dates)}")
        inexact = self.dialect.decimal == "DOUBLE"
        if inexact and any(column.is_text and column.type is ColumnType.DECIMAL for column in columns):
            notes.append(
                "decimal numbers are compared as binary ones of about 15 digits; --no-cast leaves them as they are"
            )
        return tuple(notes)
