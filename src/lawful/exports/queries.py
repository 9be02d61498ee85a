"""The query that finds what breaks a law, in one of two forms.

*Groups* are the short form: what several rows have in common that break the law together, or one of the two rows of
each swap. *Rows* are all rows of which two together break the law, as `lawful check` counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Literal, TypeAlias

from sqlglot import exp

from lawful.exports.judged_table import JudgedTable, Source, is_null
from lawful.exports.pairs import pair_query, pair_rows, single_query
from lawful.exports.shapes import Nothing, Pairs, Repeats, Shape, Singles, Swaps, Varies
from lawful.exports.values import Sql, named

Form: TypeAlias = Literal["groups", "rows"]

_BEFORE: Mapping[str, Sql | str] = {
    "start": "UNBOUNDED",
    "start_side": "PRECEDING",
    "end": exp.Literal.number(1),
    "end_side": "PRECEDING",
}
_AFTER: Mapping[str, Sql | str] = {
    "start": exp.Literal.number(1),
    "start_side": "FOLLOWING",
    "end": "UNBOUNDED",
    "end_side": "FOLLOWING",
}


def query_of(shape: Shape, table: JudgedTable, form: Form) -> exp.Select:
    """Write the query: it gives rows exactly if the law is broken."""
    match shape:
        case Repeats():
            return _repeated_rows(shape, table) if form == "rows" else _repeated(shape, table)
        case Varies():
            return _varying_rows(shape, table) if form == "rows" else _varying(shape, table)
        case Swaps():
            return _swapped_rows(shape, table) if form == "rows" else _swapped(shape, table)
        case Pairs():
            return pair_rows(shape, table) if form == "rows" else pair_query(shape, table)
        case Singles():
            return single_query(shape, table)
        case Nothing():
            shown = table.shown() if form == "rows" else [exp.alias_(exp.Literal.number(1), "broken")]
            return exp.select(*shown).from_(table.whole_rows()[0]).where("1 = 0")


def _repeated(shape: Repeats, table: JudgedTable) -> exp.Select:
    within = [table.column(each) for each in shape.within]
    count = exp.alias_(_count(), table.fresh("violating_rows"), quoted=True)
    query = exp.select(*within, count).from_(table.rows(shape.within, shape.filters))
    return _grouped(query, within).having(exp.GT(this=_count(), expression=exp.Literal.number(1)))


def _repeated_rows(shape: Repeats, table: JudgedTable) -> exp.Select:
    judged, names = table.whole_rows(shape.filters)
    partition: list[Sql] = [named(names[each]) for each in shape.within]
    counted = table.fresh("violating_rows")
    inner = exp.select(exp.Star(), _as(exp.Window(this=_count(), partition_by=partition), counted)).from_(judged)
    outer = exp.select(*table.shown()).from_(inner.subquery("counted"))
    return outer.where(exp.GT(this=named(counted), expression=exp.Literal.number(1)))


def _varying(shape: Varies, table: JudgedTable) -> exp.Select:
    within = [table.column(each) for each in shape.within]
    shown: list[Sql] = [*within, _as(_count(), table.fresh("violating_rows"))]
    for column in shape.columns:
        value, name = table.column(column), table.read[column].column.name
        shown.append(_as(exp.Min(this=value), table.fresh(f"least_{name}")))
        shown.append(_as(exp.Max(this=value.copy()), table.fresh(f"greatest_{name}")))
    query = exp.select(*shown).from_(table.rows((*shape.within, *shape.columns), shape.filters))
    several = [_several(table, table.column(column)) for column in shape.columns]
    return _grouped(query, within).having(*several)


def _several(table: JudgedTable, value: Sql) -> Sql:
    """Whether a group has several values; null is one of them, or was left out before."""
    differ = exp.NEQ(this=exp.Min(this=value.copy()), expression=exp.Max(this=value.copy()))
    if not table.nulls_are_values:
        return differ
    known = exp.Count(this=value.copy())
    some_null = exp.LT(this=known, expression=_count())
    some_not = exp.GT(this=known.copy(), expression=exp.Literal.number(0))
    return exp.paren(exp.or_(differ, exp.and_(some_null, some_not)), copy=False)


def _varying_rows(shape: Varies, table: JudgedTable) -> exp.Select:
    """Rows that differ from another one of their group on all columns: those that agree on some are counted out."""
    judged, names = table.whole_rows(shape.filters)
    counts: list[str] = []
    beside = []
    for chosen in _subsets(shape.columns):
        partition: list[Sql] = [named(names[each]) for each in (*shape.within, *chosen)]
        counts.append(table.fresh(f"rows_{len(counts)}"))
        beside.append(_as(exp.Window(this=_count(), partition_by=partition), counts[-1]))
    inner = exp.select(exp.Star(), *beside).from_(judged)
    every, *some = (named(count) for count in counts)
    if len(shape.columns) == 1:
        differ: Sql = exp.GT(this=every, expression=some[0])
    else:  # inclusion and exclusion
        differ = exp.GT(
            this=exp.Add(this=every, expression=some[2]), expression=exp.Add(this=some[0], expression=some[1])
        )
    return exp.select(*table.shown()).from_(inner.subquery("counted")).where(differ)


def _subsets(columns: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [chosen for size in range(len(columns) + 1) for chosen in combinations(columns, size)]


def _swapped(shape: Swaps, table: JudgedTable) -> exp.Select:
    """Rows that come after one of greater value: the running maximum of what came before tells."""
    columns = _columns_of(shape)
    judged = table.rows(columns, shape.filters)
    names = {column: table.read[column].column.name for column in columns}
    ranked, value = _with_place(shape, table, judged, names)
    largest, number = table.fresh("greatest_before"), table.fresh("row_in_order")
    beside = [_as(_running(exp.Max(this=value.copy()), shape, names, value, _BEFORE), largest)]
    if _needs_numbers(shape, table):
        beside.append(_as(_running(exp.RowNumber(), shape, names, value, None), number))
    shown: list[Sql] = [named(names[each]) for each in dict.fromkeys(columns)]
    inner = exp.select(*shown, *([] if value in shown else [value]), *beside).from_(ranked)
    outer = exp.select(*(each.copy() for each in shown), named(largest)).from_(inner.subquery("in_order"))
    return outer.where(_is_exceeded(shape, table, value, named(largest), named(number)))


def _swapped_rows(shape: Swaps, table: JudgedTable) -> exp.Select:
    """Rows that come after one of greater value, or before one of smaller value."""
    judged, names = table.whole_rows(shape.filters)
    ranked, value = _with_place(shape, table, judged, names)
    largest, number, least, nulls = map(table.fresh, ("greatest_before", "row_in_order", "least_after", "nulls_after"))
    beside = [
        _as(_running(exp.Max(this=value.copy()), shape, names, value, _BEFORE), largest),
        _as(_running(exp.Min(this=value.copy()), shape, names, value, _AFTER), least),
    ]
    exceeds = exp.GTE if shape.equal else exp.GT
    later: Sql = exceeds(this=value.copy(), expression=named(least))
    if _needs_numbers(shape, table):
        beside.append(_as(_running(exp.RowNumber(), shape, names, value, None), number))
    if _may_be_null(shape, table):
        is_one = exp.Case(ifs=[exp.If(this=is_null(value), true=exp.Literal.number(1))], default=exp.Literal.number(0))
        beside.append(_as(_running(exp.Sum(this=is_one), shape, names, value, _AFTER), nulls))
        below: Sql = exp.GT(this=named(nulls), expression=exp.Literal.number(0))
        if not shape.equal:
            below = exp.and_(below, exp.Not(this=is_null(value)))
        later = exp.or_(later, below)
    inner = exp.select(exp.Star(), *beside).from_(ranked)
    earlier = _is_exceeded(shape, table, value, named(largest), named(number))
    return exp.select(*table.shown()).from_(inner.subquery("in_order")).where(exp.or_(earlier, later))


def _with_place(shape: Swaps, table: JudgedTable, judged: Source, names: dict[int, str]) -> tuple[Source, exp.Column]:
    """The rows with the value that is to grow, which is a column or a place in an order by several."""
    if isinstance(shape.value, int):
        return judged, named(names[shape.value])
    place = table.fresh("place")
    order = exp.Order(expressions=[_ordered(named(names[term.column]), term.descending) for term in shape.value])
    ranked = exp.select(exp.Star(), _as(exp.Window(this=exp.func("DENSE_RANK"), order=order), place)).from_(judged)
    return ranked.subquery("placed"), named(place)


def _columns_of(shape: Swaps) -> list[int]:
    of_value = [shape.value] if isinstance(shape.value, int) else [term.column for term in shape.value]
    return list(dict.fromkeys([*shape.within, *(term.column for term in shape.order), *of_value]))


def _running(
    function: Sql, shape: Swaps, names: dict[int, str], value: Sql, frame: Mapping[str, Sql | str] | None
) -> exp.Window:
    """A function of the rows before or after, in the order of the law; of those that tie, only rows that count.

    Where ties count, greater values come first among them, and last where they do not: a running maximum over single
    rows is then never that of a row that does not count.
    """
    ordered = [_ordered(named(names[term.column]), term.descending) for term in shape.order]
    ordered.append(_ordered(value.copy(), shape.ties))
    return exp.Window(
        this=function,
        partition_by=[named(names[each]) for each in shape.within],
        order=exp.Order(expressions=ordered),
        spec=None if frame is None else exp.WindowSpec(kind="ROWS", **frame),
    )


def _is_exceeded(shape: Swaps, table: JudgedTable, value: Sql, largest: Sql, number: Sql) -> Sql:
    exceeds = exp.GTE if shape.equal else exp.GT
    found: Sql = exceeds(this=largest, expression=value.copy())
    if not _may_be_null(shape, table):
        return found
    any_before = exp.GT(this=number, expression=exp.Literal.number(1))
    above_null = any_before if shape.equal else exp.Not(this=is_null(largest))
    return exp.or_(found, exp.and_(is_null(value), above_null))


def _may_be_null(shape: Swaps, table: JudgedTable) -> bool:
    return table.nulls_are_values and isinstance(shape.value, int)  # a place is never null


def _needs_numbers(shape: Swaps, table: JudgedTable) -> bool:
    """Whether it has to be told apart that nothing came before, and that only nulls did."""
    return shape.equal and _may_be_null(shape, table)


def _ordered(value: Sql, descending: bool) -> exp.Ordered:
    return exp.Ordered(this=value, desc=descending, nulls_first=not descending)


def _grouped(query: exp.Select, within: list[exp.Column]) -> exp.Select:
    return query.group_by(*(each.copy() for each in within)) if within else query


def _count() -> exp.Count:
    return exp.Count(this=exp.Star())


def _as(value: Sql, name: str) -> Sql:
    return exp.alias_(value, name, quoted=True)
