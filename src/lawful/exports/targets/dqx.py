"""Databricks Labs DQX: a file of checks."""

from __future__ import annotations

import re
from typing import Any, Final

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key
from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, description
from lawful.exports.yaml_text import to_yaml
from lawful.results import FoundLaw

_TAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*")
_WORD: Final = "{{ input_view }}"


def export_dqx(order: Order) -> Export:
    """One file: keys by `is_unique`, all else by a query whose result is merged with the rows by the law's columns.

    Whether a row violates a law depends on its values in the columns of the law alone, so these are what to merge by,
    though they need not be unique; DQX merges null with null.
    """
    said = Said("dqx", order)
    slugs = order.slugs()
    checks: list[dict[str, Any]] = []
    for found in said.laws():
        slug = slugs.of(found.law)
        check = _unique(found, order) or _query(found, order, slug)
        if check is None:
            said.cannot(found.law)
            continue
        meta = {"law": found.text, "null": order.chosen.null.value}
        checks.append({"name": slug, "criticality": "error", "check": check, "user_metadata": meta})
        said.said += 1
    said.files["checks.yml"] = to_yaml(checks, *said.comments())
    return said.export()


def _unique(found: FoundLaw, order: Order) -> dict[str, Any] | None:
    columns = list(found.law.columns)
    if not isinstance(found.law.positional, Key) or not columns or not _are_tame(columns):
        return None
    if not order.writer.are_equal_as_they_are(columns):
        return None
    nulls_distinct = order.chosen.null is NullPolicy.IGNORE
    return {"function": "is_unique", "arguments": {"columns": columns, "nulls_distinct": nulls_distinct}}


def _query(found: FoundLaw, order: Order, slug: str) -> dict[str, Any] | None:
    names = list(found.law.columns)
    merged = bool(names) and _are_tame(names)
    listed = ", ".join(f"`{name}`" for name in names)
    shown = f"DISTINCT {listed}, TRUE" if merged else "COUNT(*) > 0"
    around = (f"SELECT {shown} AS condition FROM (\n", "\n) AS broken")  # noqa: S608  # names without quotes
    query = order.writer.on(_WORD, found.law, "rows", around=around)
    if query is None:
        return None
    # Without a name DQX makes one of the columns, which must not have blanks then.
    arguments: dict[str, Any] = {"query": query, "condition_column": "condition", "name": slug}
    arguments["msg"] = description(found)
    if merged:
        arguments["merge_columns"] = names
    return {"function": "sql_query", "arguments": arguments}


def _are_tame(names: list[str]) -> bool:
    """Whether names are columns to DQX as they are: it reads dots and backticks in them."""
    return all(_TAME.fullmatch(name) for name in names)
