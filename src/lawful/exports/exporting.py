"""The front door: laws in any form, to any target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from lawful.common.arguments import number, text, whole_number, yes_or_no
from lawful.common.errors import UsageError
from lawful.exports.result import Export
from lawful.exports.targets_named import TARGETS

if TYPE_CHECKING:
    from lawful.exports.queries import Form
    from lawful.exports.settings import Order

_RUN_BY_SPARK: Final = ("pyspark", "dqx", "deequ")
_LISTINGS: Final = ("markdown", "csv")


def export(
    laws: Any,
    to: str = "sql",
    *,
    dialect: str | None = None,
    table: str | None = None,
    rows: bool = False,
    null: str | None = None,
    types: Mapping[str, str] | None = None,
    cast: bool | None = None,
    top: int | None = None,
    min_strength: float | None = None,
    select: Any = None,
    rely: bool = False,
) -> Export:
    """Put laws into the words of another tool.

    Parameters
    ----------
    laws
        Laws in any form that `check` takes, what `strongest` gave back, a state or the path of one.
    to
        `sql`, `pyspark`, `dbt`, `gx`, `dqx`, `deequ`, `soda`, `odcs`, `ddl`, `markdown` or `csv`.
    dialect
        The SQL of the queries: `spark`, `databricks`, `postgres`, `duckdb`, `snowflake`, `bigquery` or `trino`; if left
        out, that of the tool, else `spark`.
    table
        The table that is queried, such as `sales.orders`; if left out, named as the one that the laws are from.
    rows
        Whether queries give all violating rows, and not what rows have in common that break a law together.
    null
        What null means; if left out, what it meant when the laws were found, else `equal`.
    types
        Types of columns, where nothing tells them or another is meant: `{"zip": "string"}`.
    cast
        Whether columns may be texts in the database, to be read as lawful read them; if left out, they may if the laws
        are from a CSV file.
    top, min_strength
        Keep so many laws, the strongest; keep those that are at least so strong.
    select
        Keep the laws of these texts: a list of them, or the path of a file with one on each line.
    rely
        Whether a database may rely on keys that it does not enforce (`ddl`).

    Returns
    -------
    Export
        The files, with `write` to put them into a folder, and the laws that the tool cannot be told.
    """
    if text("to", to) not in TARGETS:
        raise UsageError(f"lawful exports to no {to!r}", f"Targets: {', '.join(TARGETS)}.")
    if to not in _LISTINGS:
        _require_sqlglot()
    from lawful.exports.chosen import chosen_laws
    from lawful.exports.dialects import dialect_named
    from lawful.exports.settings import Order

    module, function, usual = TARGETS[to]
    spoken = dialect_named(usual if dialect is None else text("dialect", dialect))
    if to in _RUN_BY_SPARK and spoken.name not in ("spark", "databricks"):
        raise UsageError(f"{to} runs on Spark, and cannot be told queries of {spoken.name}")
    chosen = chosen_laws(
        laws,
        null=null,
        types=types,
        cast=None if cast is None else yes_or_no("cast", cast),
        top=None if top is None else whole_number("top", top),
        min_strength=None if min_strength is None else number("min_strength", min_strength),
        select=select,
    )
    form: Form = "rows" if yes_or_no("rows", rows) else "groups"
    order = Order(chosen, spoken, None if table is None else text("table", table), form, yes_or_no("rely", rely))
    write: Callable[[Order], Export] = getattr(import_module(f"lawful.exports.targets.{module}"), function)
    return write(order)


def _require_sqlglot() -> None:
    try:
        import sqlglot  # noqa: F401  # only whether it is there
    except ModuleNotFoundError:
        raise UsageError(
            "this export has SQL in it, which needs sqlglot", "Run: pip install 'lawful[exports]'"
        ) from None
