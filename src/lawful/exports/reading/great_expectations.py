"""A suite of Great Expectations: what it expects of rows and of pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.dependencies import DC, Cell, NamedLaw, Predicate
from lawful.exports.reading.rules import NOT_A_LAW, NOT_AS_SUCH, Rule, Rules, mappings


def read_suite(document: Mapping[str, Any], rules: Rules) -> None:
    """Read all expectations; a suite names no table."""
    for expectation in mappings(document["expectations"]):
        kind = expectation.get("type", expectation.get("expectation_type"))
        kwargs, meta = expectation.get("kwargs"), expectation.get("meta")
        kwargs = kwargs if isinstance(kwargs, Mapping) else {}
        if isinstance(meta, Mapping) and rules.own(meta, "law", "null", None):
            continue
        _read(str(kind), kwargs, rules)


def _read(kind: str, kwargs: Mapping[str, Any], rules: Rules) -> None:
    what = f"{kind}({kwargs['column']})" if isinstance(kwargs.get("column"), str) else kind
    if isinstance(kwargs.get("mostly"), int | float) and kwargs["mostly"] < 1:
        rules.leave(what, None, "it need not hold for all rows")
    elif kwargs.get("row_condition"):
        rules.leave(what, None, "it speaks of some rows alone")
    elif kind == "expect_column_values_to_be_unique":
        rules.key(kwargs.get("column"), None, what)
    elif kind == "expect_compound_columns_to_be_unique":
        rules.key(kwargs.get("column_list"), None, what)
    elif kind == "expect_column_pair_values_a_to_be_greater_than_b":
        _read_pair(kwargs, what, rules)
    elif kind.startswith(("expect_column_values_to_", "expect_column_value_lengths_")):
        rules.leave(what, None, NOT_A_LAW)
    else:
        rules.leave(what, None)


def _read_pair(kwargs: Mapping[str, Any], what: str, rules: Rules) -> None:
    """A is greater than B in each row: no row t has one that is not."""
    a, b = kwargs.get("column_A"), kwargs.get("column_B")
    if not isinstance(a, str) or not isinstance(b, str) or a == b:
        rules.leave(what, None, NOT_AS_SUCH)
        return
    predicate = Predicate(Cell("t", 0), "<" if kwargs.get("or_equal") else "<=", Cell("t", 1))
    rules.rules.append(Rule(NamedLaw(DC((predicate,)), (a, b)).text))
