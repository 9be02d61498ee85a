"""An Open Data Contract Standard 3.1 contract: a key by the library's metric, all else by queries."""

from __future__ import annotations

from typing import Any, Final

from lawful.common.meanings import ColumnType
from lawful.dependencies import Key
from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.slugs import plain_word
from lawful.exports.targets.said import Said, description
from lawful.exports.targets_named import LAW_PROPERTY, NULL_PROPERTY
from lawful.exports.yaml_text import to_yaml
from lawful.results import FoundLaw

_LOGICAL: Final = {
    ColumnType.BOOLEAN: "boolean",
    ColumnType.INTEGER: "integer",
    ColumnType.DECIMAL: "number",
    ColumnType.FLOAT: "number",
    ColumnType.DATE: "date",
    ColumnType.TIMESTAMP: "timestamp",
    ColumnType.TIME: "time",
    ColumnType.STRING: "string",
}


def export_odcs(order: Order) -> Export:
    """One contract with one schema object; each rule carries its law among its custom properties.

    Only one key is told by the library's metric: datacontract-cli 1.2 gives all such rules of an object one verdict.
    """
    said = Said("odcs", order)
    slugs, chosen = order.slugs(), order.chosen
    quality: list[dict[str, Any]] = []
    for found in said.laws():
        has_metric = any("metric" in each for each in quality)
        rule = (None if has_metric else _duplicates(found, order)) or _sql(found, order)
        if rule is None:
            said.cannot(found.law)
            continue
        properties = {LAW_PROPERTY: found.text, NULL_PROPERTY: chosen.null.value}
        quality.append(
            {
                "name": slugs.of(found.law),
                "description": description(found),
                **rule,
                "customProperties": [{"property": name, "value": value} for name, value in properties.items()],
            }
        )
        said.said += 1
    names = chosen.all_names or tuple(dict.fromkeys(name for each in said.laws() for name in each.law.columns))
    table = order.table_word
    object_ = {
        "name": table,
        "physicalType": "table",
        "properties": [_property(name, order) for name in names],
        "quality": quality,
    }
    contract = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": f"lawful-{plain_word(table)}",
        "name": table,
        "version": "1.0.0",
        "status": "draft",
        "schema": [object_],
    }
    said.files["datacontract.yml"] = to_yaml(contract, *said.comments())
    return said.export()


def _duplicates(found: FoundLaw, order: Order) -> dict[str, Any] | None:
    """A key by the library's metric, whose nulls no standard settles: only where there were none."""
    columns = list(found.law.columns)
    if not isinstance(found.law.positional, Key) or not columns or order.chosen.may_be_null(columns):
        return None
    if not order.writer.are_equal_as_they_are(columns):
        return None
    return {"type": "library", "metric": "duplicateValues", "arguments": {"properties": columns}, "mustBe": 0}


def _sql(found: FoundLaw, order: Order) -> dict[str, Any] | None:
    around = ("SELECT COUNT(*) FROM (\n", "\n) AS broken")
    query = order.writer.on("${table}", found.law, "rows", around=around)
    return None if query is None else {"type": "sql", "query": query, "mustBe": 0}


def _property(name: str, order: Order) -> dict[str, Any]:
    column = order.chosen.columns.get(name)
    type_ = None if column is None or column.type is None else _LOGICAL.get(column.type)
    physical = {"physicalType": "double"} if column is not None and column.type is ColumnType.FLOAT else {}
    return {"name": name} | ({"logicalType": type_} if type_ else {}) | physical
