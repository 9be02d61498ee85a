"""The SQL dialects that queries are written in, and where they differ beyond their grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lawful.common.errors import UsageError


@dataclass(frozen=True)
class SqlDialect:
    """A dialect.

    Attributes
    ----------
    name
        The name that sqlglot has for it.
    nan_is_equal
        Whether NaN equals NaN; where not, a function has to tell it.
    binary_collation
        The collation that sorts text by code point, where the usual one may not.
    decimal
        A type that holds what decimal texts say; exact only where it is no binary number.
    has_time
        Whether there is a type for times of day.
    not_enforced
        Whether keys of a table can be declared without being enforced.
    """

    name: str
    nan_is_equal: bool = True
    binary_collation: str | None = None
    decimal: str = "DOUBLE"
    has_time: bool = True
    not_enforced: bool = False


_ALL = (
    SqlDialect("spark", has_time=False),
    SqlDialect("databricks", has_time=False, not_enforced=True),
    SqlDialect("postgres", binary_collation="C", decimal="DECIMAL"),
    SqlDialect("duckdb"),
    SqlDialect("snowflake", not_enforced=True),
    SqlDialect("bigquery", nan_is_equal=False, decimal="BIGNUMERIC", not_enforced=True),
    SqlDialect("trino", nan_is_equal=False),
)
DIALECTS: Final = {dialect.name: dialect for dialect in _ALL}
_OTHER_NAMES: Final = {"postgresql": "postgres"}


def dialect_named(name: str) -> SqlDialect:
    """Give the dialect of a name."""
    known = DIALECTS.get(_OTHER_NAMES.get(name, name))
    if known is None:
        raise UsageError(f"unknown SQL dialect {name!r}", f"Dialects: {', '.join(DIALECTS)}.")
    return known
