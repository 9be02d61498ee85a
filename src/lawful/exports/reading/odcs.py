"""A contract of the Open Data Contract Standard: keys, and rules of quality that count duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.exports.reading.rules import NOT_A_LAW, Rules, mappings
from lawful.exports.targets_named import LAW_PROPERTY, NULL_PROPERTY

_OF_VALUES = ("nullValues", "missingValues", "invalidValues")


def read_contract(document: Mapping[str, Any], rules: Rules) -> None:
    """Read all schema objects."""
    for schema in mappings(document.get("schema")):
        name = schema.get("name")
        table = name if isinstance(name, str) else None
        properties = list(mappings(schema.get("properties")))
        _read_keys(properties, table, rules)
        for rule in mappings(schema.get("quality")):
            _read_rule(rule, None, table, rules)
        for property_ in properties:
            own = property_.get("name") if isinstance(property_.get("name"), str) else None
            for rule in mappings(property_.get("quality")):
                _read_rule(rule, own, table, rules)


def _read_keys(properties: list[Mapping[str, Any]], table: str | None, rules: Rules) -> None:
    primary = [each for each in properties if each.get("primaryKey") is True]
    primary.sort(key=lambda each: each["primaryKeyPosition"] if isinstance(each.get("primaryKeyPosition"), int) else 0)
    if primary:
        rules.key([each.get("name") for each in primary], table, "primaryKey")
    for each in properties:
        if each.get("unique") is True:
            rules.key(each.get("name"), table, "unique")


def _read_rule(rule: Mapping[str, Any], column: str | None, table: str | None, rules: Rules) -> None:
    told = {str(each.get("property")): each.get("value") for each in mappings(rule.get("customProperties"))}
    if rules.own(told, LAW_PROPERTY, NULL_PROPERTY, table):
        return
    metric = rule.get("metric", rule.get("rule"))
    what = str(metric or rule.get("name") or rule.get("type") or "a rule of quality")
    if metric == "duplicateValues" and rule.get("mustBe") == 0:
        arguments = rule.get("arguments")
        columns = arguments.get("properties") if isinstance(arguments, Mapping) else None
        rules.key(column if columns is None else columns, table, what)
    else:
        rules.leave(what, table, *([NOT_A_LAW] if metric in _OF_VALUES else []))
