"""Queries that compare pairs of rows, where neither grouping nor a window will do.

Rows that agree on all columns of the law are one, with their number: that leaves fewer pairs, and tells whether a row
that would break the law with itself has another like it. Rows need no ids so.
"""

from __future__ import annotations

from sqlglot import exp

from lawful.dependencies import Cell, Predicate
from lawful.exports.judged_table import JudgedTable
from lawful.exports.shapes import Pairs, Singles
from lawful.exports.values import Sql, named


def single_query(shape: Singles, table: JudgedTable) -> exp.Select:
    """Rows that satisfy comparisons of single rows, if there are two rows at all: laws are about pairs."""
    judged, names = table.whole_rows()
    values: dict[int, Sql] = {column: named(name) for column, name in names.items()}
    others = exp.select(exp.Count(this=exp.Star())).from_(table.rows(()))
    conditions = [table.one_row(each, values) for each in shape.predicates]
    several = exp.GT(this=others.subquery(), expression=exp.Literal.number(1))
    return exp.select(*table.shown()).from_(judged).where(*conditions, several)


def pair_query(shape: Pairs, table: JudgedTable) -> exp.Select:
    """Two rows side by side, by their values in the columns of the law."""
    columns = _columns(shape.predicates)
    shown = [
        exp.alias_(table.column(each, row), table.fresh(f"{row}_{table.read[each].column.name}"), quoted=True)
        for row in ("t", "s")
        for each in columns
    ]
    return _joined(exp.select(*shown), shape, table, columns)


def pair_rows(shape: Pairs, table: JudgedTable) -> exp.Select:
    """All rows that one of the two can be."""
    columns = _columns(shape.predicates)
    either: list[exp.Select] = []
    for row in ("t", "s"):
        shown = [exp.alias_(table.column(each, row), f"c{place}", quoted=True) for place, each in enumerate(columns)]
        either.append(_joined(exp.select(*shown), shape, table, columns))
    judged, names = table.whole_rows()
    broken = exp.union(either[0], either[1], distinct=True).subquery("broken")
    same = [
        table.compare(named(names[each], "judged"), "=", named(f"c{place}", "broken"))
        for place, each in enumerate(columns)
    ]
    return exp.select(*table.shown("judged")).from_(judged).join(broken, on=exp.and_(*same))


def _joined(select: exp.Select, shape: Pairs, table: JudgedTable, columns: list[int]) -> exp.Select:
    number = table.fresh("alike")
    t, s = ({column: table.column(column, row) for column in columns} for row in ("t", "s"))
    conditions = [table.between(each, dict(t), dict(s)) for each in shape.predicates]
    if not any(_parts_row_from_itself(each) for each in shape.predicates):
        same = exp.and_(*(table.compare(t[column], "=", s[column]) for column in columns))
        several = exp.GT(this=named(number, "t"), expression=exp.Literal.number(1))
        conditions.append(exp.paren(exp.or_(several, exp.Not(this=exp.paren(same, copy=False))), copy=False))
    return select.from_(_counted(table, columns, number, "t")).join(
        _counted(table, columns, number, "s"), on=exp.and_(*conditions), copy=False
    )


def _counted(table: JudgedTable, columns: list[int], number: str, alias: str) -> exp.Subquery:
    own = [table.column(each) for each in columns]
    count = exp.alias_(exp.Count(this=exp.Star()), number, quoted=True)
    grouped = exp.select(*own, count).from_(table.rows(columns)).group_by(*(each.copy() for each in own))
    return grouped.subquery(alias)


def _parts_row_from_itself(predicate: Predicate) -> bool:
    """Whether no row satisfies the comparison with itself."""
    right = predicate.right
    if not isinstance(right, Cell) or right.row == predicate.left.row or right.column != predicate.left.column:
        return False
    return predicate.operator in ("<", ">", "!=")


def _columns(predicates: tuple[Predicate, ...]) -> list[int]:
    sides = [side for each in predicates for side in (each.left, each.right) if isinstance(side, Cell)]
    return sorted({side.column for side in sides})
