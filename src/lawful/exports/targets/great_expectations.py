"""Great Expectations 1.x: a suite of expectations."""

from __future__ import annotations

import json
from typing import Any

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key
from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, description
from lawful.results import FoundLaw


def export_great_expectations(order: Order) -> Export:
    """One suite: keys as the expectations that there are for them, all else as queries for unexpected rows."""
    said = Said("gx", order)
    slugs = order.slugs()
    expectations: list[dict[str, Any]] = []
    for found in said.laws():
        told = _unique(found, order)
        if told is None:
            query = order.writer.on("{batch}", found.law, "rows", _doubled, bare=True)
            if query is None:
                said.cannot(found.law)
                continue
            told = {"type": "unexpected_rows_expectation", "kwargs": {"unexpected_rows_query": query}}
        told["description"] = description(found)
        told["meta"] = {"law": found.text, "null": order.chosen.null.value, "name": slugs.of(found.law)}
        expectations.append(told)
        said.said += 1
    meta: dict[str, Any] = {"made_by": "lawful", "dialect": order.dialect.name}
    if said.unsaid:
        meta["not_here"] = [{"law": each.law, "reason": each.reason} for each in said.unsaid]
    suite = {"name": f"lawful_{order.table_word}", "expectations": expectations, "meta": meta}
    said.files["suite.json"] = json.dumps(suite, indent=2, ensure_ascii=False) + "\n"
    return said.export()


def _unique(found: FoundLaw, order: Order) -> dict[str, Any] | None:
    """A key as an expectation, where it means the same: rows with null are left out, or there were none."""
    law, columns = found.law, list(found.law.columns)
    ignores = order.chosen.null is NullPolicy.IGNORE
    if not isinstance(law.positional, Key) or not columns or not order.writer.are_equal_as_they_are(columns):
        return None
    if not ignores and order.chosen.may_be_null(columns):
        return None
    if len(columns) == 1:
        return {"type": "expect_column_values_to_be_unique", "kwargs": {"column": columns[0]}}
    kwargs = {"column_list": columns, "ignore_row_if": "any_value_is_missing"}
    return {"type": "expect_compound_columns_to_be_unique", "kwargs": kwargs}


def _doubled(query: str) -> str:
    return query.replace("{", "{{").replace("}", "}}")
