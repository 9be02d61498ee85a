"""Where a database compares values otherwise than lawful, so that laws may say nothing about its ORDER BY.

lawful compares text by code point, and takes NaN for null.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lawful.common.meanings import ColumnType
from lawful.dependencies import Law
from lawful.rewriting.known_laws import KnownColumn
from lawful.rewriting.reasoning import OrderRule, Rule, rules_of

SORTS_TEXT_BY_COLLATION: Final = frozenset({"postgres", "oracle"})
"""Dialects whose usual collation sorts text otherwise; texts are equal there if they are the same."""

COMPARES_TEXT_LOOSELY: Final = frozenset({"mysql", "tsql", "fabric", "singlestore", "doris", "teradata"})
"""Dialects whose usual collation also takes different texts for equal: `A` and `a`, or `a` and `a` with a blank."""


def usable_rules(
    laws: Iterable[Law], columns: tuple[KnownColumn, ...], dialect: str, exact_text: bool
) -> tuple[list[Rule], list[str]]:
    """Keep the rules that mean the same to lawful and to a database; say which were left out."""
    text = {place for place, column in enumerate(columns) if column.type is ColumnType.STRING}
    loose = text if dialect in COMPARES_TEXT_LOOSELY and not exact_text else set()
    unsorted = loose | (text if dialect in SORTS_TEXT_BY_COLLATION and not exact_text else set())
    merged = {place for place, column in enumerate(columns) if column.type is ColumnType.FLOAT and column.may_be_null}
    kept: list[Rule] = []
    by_text, by_nan = 0, 0
    for rule in (rule for law in laws for rule in rules_of(law)):
        if isinstance(rule, OrderRule):
            ordered = {rule.od.left, rule.od.right}
            needs_text, needs_nan = not loose.isdisjoint(rule.od.context) or unsorted & ordered, merged & ordered
        else:
            # Rows that are equal to the database must be so to the law, and what the law makes equal to the database.
            needs_text, needs_nan = loose & rule.lhs, merged & {rule.rhs}
        if needs_text:
            by_text += 1
        elif needs_nan:
            by_nan += 1
        else:
            kept.append(rule)
    return kept, [*_about_text(by_text, dialect), *_about_nan(by_nan)]


def _about_text(count: int, dialect: str) -> list[str]:
    compared = "take different texts for equal" if dialect in COMPARES_TEXT_LOOSELY else "sort text by a collation"
    what = f"what laws say of text columns is not used where it rests on text order: {dialect} may {compared}"
    return [f"{what}; exact text (--exact-text) says that it compares code points"] if count else []


def _about_nan(count: int) -> list[str]:
    what = "what laws say of columns of floats with nulls is not used: lawful takes NaN for null, databases do not"
    return [what] if count else []
