"""What a WHERE clause says of all rows that it lets through: columns that are constant, columns without nulls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from lawful.common.meanings import ColumnType
from lawful.rewriting.known_laws import KnownColumn
from lawful.rewriting.names import Outputs, UnsafeError, has_only, is_plain
from lawful.rewriting.reasoning import Given

_PLAIN_NUMBER = re.compile(r"\d+(\.\d+)?")
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)
_WRITTEN_AS_TEXT = (ColumnType.STRING, ColumnType.DATE, ColumnType.TIMESTAMP)
_FALSE_FOR_NULL = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike)


@dataclass
class FilterFacts:
    """What holds for every row that a filter lets through."""

    constants: dict[int, Given] = field(default_factory=dict)
    without_nulls: set[int] = field(default_factory=set)


def facts_of(where: exp.Where | None, outputs: Outputs, columns: Sequence[KnownColumn], dialect: str) -> FilterFacts:
    """Read the conditions that are joined by AND; what is not understood says nothing."""
    facts = FilterFacts()
    for condition in _conjuncts(where.this) if where else ():
        column = _column(condition, outputs)
        if column is None:
            continue
        type_ = columns[column].type if column < len(columns) else None
        if _fixes(condition, type_):
            facts.constants[column] = Given(f"where {condition.sql(dialect=dialect)}")
        if _excludes_null(condition):
            facts.without_nulls.add(column)
    return facts


def _conjuncts(condition: exp.Expression) -> Iterator[exp.Expression]:
    pending = [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, exp.And):
            pending += [part.expression, part.this]
        elif isinstance(part, exp.Paren):
            pending.append(part.this)
        else:
            yield part


def _column(condition: exp.Expression, outputs: Outputs) -> int | None:
    """Give the one column that a condition compares with something else."""
    if isinstance(condition, exp.Not) and isinstance(condition.this, exp.Is):  # IS NOT NULL
        condition = condition.this
    sides = [side for side in (condition.this, condition.args.get("expression")) if isinstance(side, exp.Expression)]
    named = [side for side in sides if is_plain(side)]
    if len(named) != 1:
        return None
    try:
        return outputs.anywhere(named[0])  # some databases look for names of filters in the select list too
    except UnsafeError:
        return None


def _fixes(condition: exp.Expression, type_: ColumnType | None) -> bool:
    """Whether a condition leaves one value."""
    if isinstance(condition, exp.In):
        values = condition.expressions
        return has_only(condition, "this", "expressions") and len(values) == 1 and _is_one_value(values[0], type_)
    if not has_only(condition, "this", "expression"):
        return False
    if isinstance(condition, exp.Is):
        is_truth = isinstance(condition.expression, exp.Boolean) and type_ is ColumnType.BOOLEAN
        return is_truth or isinstance(condition.expression, exp.Null)
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return False
    value = condition.expression if is_plain(condition.this) else condition.this
    return _is_one_value(value, type_)


def _is_one_value(value: exp.Expression, type_: ColumnType | None) -> bool:
    """Whether only one value of a column of this type can be equal to a written value.

    Databases convert what they compare. A text column compared with a number lets '5' and '05' through, and an
    integer one compared with text or with 1e16 may be compared as floats. Of a column of unknown type it is taken
    for granted that the value fits it.
    """
    if isinstance(value, exp.Neg):
        value = value.this
    if isinstance(value, exp.Placeholder | exp.Parameter):
        return True
    if isinstance(value, exp.Boolean):
        return type_ in (None, ColumnType.BOOLEAN)
    if isinstance(value, exp.Cast) and isinstance(value.this, exp.Literal):
        return type_ not in (ColumnType.STRING, ColumnType.BINARY)
    if not isinstance(value, exp.Literal):
        return False
    if value.is_string:
        return type_ is None or type_ in _WRITTEN_AS_TEXT
    return (type_ is None or type_ in _NUMBERS) and _PLAIN_NUMBER.fullmatch(value.name) is not None


def _excludes_null(condition: exp.Expression) -> bool:
    negated = isinstance(condition, exp.Not) or bool(condition.args.get("negate"))
    if isinstance(condition, exp.Not):
        condition = condition.this
    if isinstance(condition, exp.Is):
        if not has_only(condition, "this", "expression", "negate"):
            return False
        return isinstance(condition.expression, exp.Null) if negated else isinstance(condition.expression, exp.Boolean)
    if negated:
        return False
    if isinstance(condition, exp.Between):
        return is_plain(condition.this) and has_only(condition, "this", "low", "high")
    if isinstance(condition, exp.In):
        return is_plain(condition.this) and has_only(condition, "this", "expressions")
    return isinstance(condition, _FALSE_FOR_NULL) and has_only(condition, "this", "expression")
