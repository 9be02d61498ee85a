"""Properties of dbt models: tests and constraints that say that rows are unique, and those of lawful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lawful.exports.reading.rules import NOT_A_LAW, Rules, mappings

_OF_VALUES: Final = ("not_null", "accepted_values", "check")
_UNIQUE_TOGETHER: Final = ("dbt_utils.unique_combination_of_columns", "unique_combination_of_columns")
_TOGETHER_EXPECTED: Final = ("dbt_expectations.expect_compound_columns_to_be_unique",)


def read_properties(document: Mapping[str, Any], rules: Rules) -> None:
    """Read the tests and constraints of all models, seeds, snapshots and tables of sources."""
    for kind in ("models", "seeds", "snapshots"):
        for model in mappings(document.get(kind)):
            _read_model(model, rules)
    for source in mappings(document.get("sources")):
        for table in mappings(source.get("tables")):
            _read_model(table, rules)


def _read_model(model: Mapping[str, Any], rules: Rules) -> None:
    name = model.get("name")
    table = name if isinstance(name, str) else None
    for test, arguments, meta in _tests(model):
        _read_test(test, arguments, meta, None, table, rules)
    _read_constraints(model.get("constraints"), None, table, rules)
    for column in mappings(model.get("columns")):
        own = column.get("name") if isinstance(column.get("name"), str) else None
        for test, arguments, meta in _tests(column):
            _read_test(test, arguments, meta, own, table, rules)
        _read_constraints(column.get("constraints"), own, table, rules)


def _tests(owner: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Each test with its arguments, which stood beside its other settings before dbt 1.10, and what it is told of."""
    for name in ("data_tests", "tests"):
        listed = owner.get(name)
        for test in listed if isinstance(listed, list) else ():
            if isinstance(test, str):
                yield test, {}, {}
            elif isinstance(test, Mapping):
                for kind, given in test.items():
                    settings = given if isinstance(given, Mapping) else {}
                    inner = settings.get("arguments")
                    config = settings.get("config")
                    meta = config.get("meta") if isinstance(config, Mapping) else None
                    arguments = {**settings, **(inner if isinstance(inner, Mapping) else {})}
                    yield str(kind), arguments, meta if isinstance(meta, Mapping) else {}


def _read_test(
    test: str,
    arguments: Mapping[str, Any],
    meta: Mapping[str, Any],
    column: str | None,
    table: str | None,
    rules: Rules,
) -> None:
    what = test if column is None else f"{test}({column})"
    null = "ignore" if arguments.get("nulls") == "ignore" else "equal"
    if test.startswith("lawful_") and rules.own(meta, "law", "null", table):
        return
    if test == "unique":
        rules.key(arguments.get("column_name", column), table, what)
    elif test == "lawful_key":
        rules.key(arguments.get("columns"), table, what, null)
    elif test == "lawful_fd":
        rules.fd(arguments.get("determinants"), arguments.get("dependent"), table, what, null)
    elif test in _UNIQUE_TOGETHER:
        # It groups rows, and so takes null for a value.
        rules.key(arguments.get("combination_of_columns"), table, what, "equal")
    elif test in _TOGETHER_EXPECTED:
        rules.key(arguments.get("column_list"), table, what)
    else:
        rules.leave(what, table, *([NOT_A_LAW] if test in _OF_VALUES else []))


def _read_constraints(constraints: Any, column: str | None, table: str | None, rules: Rules) -> None:
    for constraint in mappings(constraints):
        kind = constraint.get("type")
        what = f"constraint {kind}" if column is None else f"constraint {kind}({column})"
        if kind in ("primary_key", "unique"):
            rules.key(constraint.get("columns", column), table, what)
        else:
            rules.leave(what, table, *([NOT_A_LAW] if kind in _OF_VALUES else []))
