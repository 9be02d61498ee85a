"""Keys as constraints of a table."""

from __future__ import annotations

from sqlglot import exp

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key, NamedLaw
from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, one_line

_NO_WORDS = "a constraint of a table says keys alone"
_NO_DIALECT = "tables of {} have no keys"
_NULLS = "{} has no unique constraint that takes null for a value, and the columns may have nulls"
_ONE_PRIMARY = "{} knows only one key of a table, and another one is its primary key"
_LETS_NULLS_REPEAT = "the columns may have nulls, which {} does not let a primary key have"


def export_ddl(order: Order) -> Export:
    """One file of ALTER TABLE statements: the first key without nulls is the primary one."""
    said = Said("ddl", order)
    slugs = order.slugs()
    lines: list[str] = []
    primary = False
    for found in said.laws():
        statement, reason = _statement(found.law, order, slugs.of(found.law), primary)
        if statement is None:
            said.cannot(found.law, reason)
            continue
        primary |= "PRIMARY KEY" in statement
        lines.append(f"{statement};")
        said.said += 1
    head = [f"-- {one_line(line)}" for line in said.comments()]
    said.files["constraints.sql"] = "\n".join([*head, *lines]) + "\n"
    told = (
        ["the database may rely on keys that it does not enforce"] if order.rely and order.dialect.not_enforced else []
    )
    return said.export(*told)


def _statement(law: NamedLaw, order: Order, name: str, has_primary: bool) -> tuple[str | None, str]:
    dialect, columns = order.dialect, law.columns
    if not isinstance(law.positional, Key) or not columns:
        return None, _NO_WORDS
    if dialect.name == "trino":
        return None, _NO_DIALECT.format("Trino")
    if not order.writer.are_equal_as_they_are(columns):
        return None, "the database compares its numbers otherwise: NaN, or decimals as texts"
    may_be_null = order.chosen.may_be_null(columns)
    if not may_be_null and not has_primary:
        return _alter(order, name, f"PRIMARY KEY ({_listed(order, columns)})"), ""
    if dialect.name in ("databricks", "bigquery"):
        return None, (_LETS_NULLS_REPEAT if may_be_null else _ONE_PRIMARY).format(dialect.name)
    if may_be_null and order.chosen.null is NullPolicy.EQUAL:
        if dialect.name != "postgres":
            return None, _NULLS.format(dialect.name)
        return _alter(order, name, f"UNIQUE NULLS NOT DISTINCT ({_listed(order, columns)})"), ""
    if dialect.name == "duckdb":  # adds no unique constraint to a table that is there
        return f"CREATE UNIQUE INDEX {_quoted(order, name)} ON {order.table_sql} ({_listed(order, columns)})", ""
    return _alter(order, name, f"UNIQUE ({_listed(order, columns)})"), ""


def _alter(order: Order, name: str, constraint: str) -> str:
    dialect = order.dialect
    if dialect.name == "duckdb":
        return f"ALTER TABLE {order.table_sql} ADD {constraint}"
    ending = ""
    if dialect.not_enforced or dialect.name == "spark":
        ending = " NOT ENFORCED"
        ending += " RELY" if order.rely and dialect.name != "bigquery" else ""
    if dialect.name == "bigquery":
        return f"ALTER TABLE {order.table_sql} ADD {constraint}{ending}"
    return f"ALTER TABLE {order.table_sql} ADD CONSTRAINT {_quoted(order, name)} {constraint}{ending}"


def _listed(order: Order, columns: tuple[str, ...]) -> str:
    return ", ".join(_quoted(order, name) for name in columns)


def _quoted(order: Order, name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect=order.dialect.name)
