"""Order laws as points: two columns against each other, with the fewest points marked whose removal leaves an order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.checks import Most
from lawful.common.arrays import Int64s
from lawful.common.meanings import NULL_RANK, ColumnType, NullPolicy
from lawful.dependencies import POD, CanonicalOD, Law, ListOD
from lawful.engines import Engine
from lawful.reports.document import OrderPlot, PageGroup, PageVariant, PlotAxis, Status
from lawful.reports.limits import PageLimits, cut
from lawful.reports.sources import PageSource
from lawful.reports.verdicts import Standing
from lawful.results.texts.lines import shown_place
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.typed_values import typed_values, value_type

_MOST_ROWS = 200_000
"""Of larger classes so many rows are looked at, evenly spread."""
_ROWS_TO_FIND_A_CLASS = 100_000
_GROUPS_LOOKED_AT = 20
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)
_TIMES = (ColumnType.DATE, ColumnType.TIMESTAMP)
_RISING, _FALLING = ("<", "<="), (">", ">=")


class DrawnOrder(NamedTuple):
    """What can be drawn of an order law: two columns, whether the second falls, and the columns to agree on."""

    x: int
    y: int
    falls: bool
    context: tuple[int, ...]


def drawn_order(law: Law) -> DrawnOrder | None:
    """The two columns of an order law, if it orders one column by one."""
    match law:
        case CanonicalOD(context=context, left=left, right=right, direction=direction):
            return DrawnOrder(left, right, direction == "desc", context)
        case ListOD(lhs=((left, one),), rhs=((right, other),)) if left != right:
            return DrawnOrder(left, right, one != other, ())
        case POD(lhs=lhs, rhs=(right, other)):
            context = tuple(column for column, mark in lhs if mark == "=")
            ordered = [(column, mark) for column, mark in lhs if mark in (*_RISING, *_FALLING)]
            if len(ordered) == 1 and len(context) == len(lhs) - 1 and other in (*_RISING, *_FALLING):
                return DrawnOrder(ordered[0][0], right, (ordered[0][1] in _RISING) != (other in _RISING), context)
    return None


def order_plots(
    source: PageSource,
    standing: Sequence[Standing],
    table: EncodedTable,
    engine: Engine,
    null: NullPolicy,
    limits: PageLimits,
    look: Callable[[], None],
    plots: list[OrderPlot],
) -> None:
    """Add a plot for each of the first order laws: broken ones, then almost-laws, then others, the strongest first."""
    places = [
        place
        for place, found in enumerate(source.laws)
        if standing[place].status is not Status.UNCHECKED and drawn_order(found.law.positional) is not None
    ]
    places.sort(key=lambda place: (standing[place].status, source.laws[place].folded, -_strength(source, place)))
    for place in places[: limits.plots]:
        look()
        law = source.laws[place].law.on(table.names)
        drawn = drawn_order(law)
        assert drawn is not None
        rows, is_sampled = _rows_of_a_class(law, drawn, standing[place], table, engine, null)
        if rows.size:
            plots.append(_plot(place, drawn, rows, is_sampled, table, limits))


def _strength(source: PageSource, place: int) -> float:
    strength = source.laws[place].strength
    return 0.0 if strength is None else strength


def _rows_of_a_class(
    law: Law, drawn: DrawnOrder, standing: Standing, table: EncodedTable, engine: Engine, null: NullPolicy
) -> tuple[Int64s, bool]:
    """The rows to draw: those of the class with most violating rows, else of the largest; and if these are a sample."""
    among = np.ones(table.rows, np.bool_)
    if drawn.context:
        row = _row_of_the_class(law, drawn, standing, table, engine)
        for column in drawn.context:
            ranks = np.asarray(table.column(column))
            among &= ranks == ranks[row]
    for column in (drawn.x, drawn.y) if null is NullPolicy.EQUAL else (*drawn.context, drawn.x, drawn.y):
        among &= np.asarray(table.column(column)) != NULL_RANK  # there is no place for null on an axis
    rows = np.flatnonzero(among).astype(np.int64)
    step = -(-rows.size // _MOST_ROWS)
    return (rows, False) if step <= 1 else (rows[::step], True)


def _row_of_the_class(law: Law, drawn: DrawnOrder, standing: Standing, table: EncodedTable, engine: Engine) -> int:
    if standing.is_broken:
        groups = engine.violating_groups(law, Most(_GROUPS_LOOKED_AT, 1, 1))
        if groups:
            return max(groups, key=lambda group: group.size).first
    step = max(1, table.rows // _ROWS_TO_FIND_A_CLASS)
    ranks = np.stack([np.asarray(table.column(column))[::step] for column in drawn.context], axis=1)
    _, first, sizes = np.unique(ranks, axis=0, return_index=True, return_counts=True)
    return int(first[np.argmax(sizes)]) * step


def _plot(
    place: int, drawn: DrawnOrder, rows: Int64s, is_sampled: bool, table: EncodedTable, limits: PageLimits
) -> OrderPlot:
    x = np.asarray(table.column(drawn.x))[rows].astype(np.int64)
    y = np.asarray(table.column(drawn.y))[rows].astype(np.int64)
    wrong = out_of_order(x, -y if drawn.falls else y)
    marked = wrong[np.linspace(0, wrong.size - 1, min(wrong.size, limits.swaps)).astype(np.int64)]
    partners = _partners(marked, wrong, x, -y if drawn.falls else y)
    others = np.setdiff1d(np.arange(rows.size), wrong)
    room = max(0, limits.points - 2 * marked.size)
    spread = others[np.linspace(0, others.size - 1, min(others.size, room)).astype(np.int64)]
    chosen = np.unique(np.concatenate([marked, partners, spread]))
    at = {int(row): number for number, row in enumerate(chosen.tolist())}
    swaps = [(at[one], at[other]) for one, other in zip(marked.tolist(), partners.tolist(), strict=True)]
    within = _cells(int(rows[0]), drawn.context, table, limits)
    axes, points = _points(rows[chosen], drawn, table, limits)
    return OrderPlot(place, *axes, points, swaps, within, int(rows.size), int(wrong.size), is_sampled)


def swapped_rows(
    law: Law, table: EncodedTable, engine: Engine, null: NullPolicy, limits: PageLimits
) -> list[PageGroup]:
    """The first rows that are out of order, each with one that it is swapped with; none of laws that are no orders."""
    drawn = drawn_order(law)
    if drawn is None:
        return []
    rows, _ = _rows_of_a_class(law, drawn, Standing(Status.BROKEN), table, engine, null)
    x = np.asarray(table.column(drawn.x))[rows].astype(np.int64)
    y = np.asarray(table.column(drawn.y))[rows].astype(np.int64) * (-1 if drawn.falls else 1)
    wrong = out_of_order(x, y)
    marked = wrong[: limits.groups]
    pairs = zip(rows[marked].tolist(), rows[_partners(marked, wrong, x, y)].tolist(), strict=True)
    return [
        PageGroup(
            _cells(one, drawn.context, table, limits),
            2,
            [_row(one, drawn, table, limits, is_wrong=True), _row(other, drawn, table, limits, is_wrong=False)],
        )
        for one, other in pairs
    ]


def _row(row: int, drawn: DrawnOrder, table: EncodedTable, limits: PageLimits, *, is_wrong: bool) -> PageVariant:
    where = cut(shown_place(table.place(row), table.name), limits.cell)
    return PageVariant(_cells(row, (drawn.x, drawn.y), table, limits), 1, where, is_wrong)


def _cells(row: int, columns: Sequence[int], table: EncodedTable, limits: PageLimits) -> list[tuple[str, str | None]]:
    values = ((table.names[column], table.value(row, column)) for column in columns)
    return [(name, None if value is None else cut(value, limits.cell)) for name, value in values]


def out_of_order(x: Int64s, y: Int64s) -> Int64s:
    """The fewest rows whose removal leaves no two rows with x rising and y falling, by a longest rising sequence."""
    order = np.lexsort((y, x))
    ends: list[int] = []  # of sequences of each length, the least last value
    places: list[int] = []
    before = np.full(order.size, -1, np.int64)
    for at, value in enumerate(y[order].tolist()):
        length = bisect_right(ends, value)
        before[at] = places[length - 1] if length else -1
        if length == len(ends):
            ends.append(value)
            places.append(at)
        else:
            ends[length], places[length] = value, at
    is_kept = np.zeros(order.size, np.bool_)
    at = places[-1] if places else -1
    while at >= 0:
        is_kept[at] = True
        at = int(before[at])
    return np.sort(order[~is_kept])


def _partners(marked: Int64s, wrong: Int64s, x: Int64s, y: Int64s) -> Int64s:
    """For each marked row one that is in order, and that it is swapped with."""
    kept = np.ones(x.size, np.bool_)
    kept[wrong] = False
    found = np.empty(marked.size, np.int64)
    for number, row in enumerate(marked.tolist()):
        swapped = kept & (((x < x[row]) & (y > y[row])) | ((x > x[row]) & (y < y[row])))
        candidates = np.flatnonzero(swapped)
        # The nearest: a short line shows best what is out of order. There is one, else the row would have been kept.
        found[number] = candidates[np.argmin(np.abs(x[candidates] - x[row]))]
    return found


def _points(
    rows: Int64s, drawn: DrawnOrder, table: EncodedTable, limits: PageLimits
) -> tuple[tuple[PlotAxis, PlotAxis], list[tuple[float, float, str, str, str]]]:
    scales, numbers, texts = [], [], []
    for column in (drawn.x, drawn.y):
        scale, values = _scaled(rows, column, table)
        scales.append(PlotAxis(column, scale))
        numbers.append(values)
        texts.append([cut(str(text), limits.cell) for text in table.texts(rows, column).to_pylist()])
    places = [cut(shown_place(table.place(row), table.name), limits.cell) for row in rows.tolist()]
    points = list(zip(*numbers, *texts, places, strict=True))
    return (scales[0], scales[1]), points


def _scaled(rows: Int64s, column: int, table: EncodedTable) -> tuple[str, list[float]]:
    """Values as numbers if they are numbers or times, else their places in the order of all values."""
    type_ = table.type(column)
    if type_ in (*_NUMBERS, *_TIMES):
        values = typed_values(table, rows, column, value_type(table, column))
        scaled = _as_floats(values)
        if scaled is not None:
            return ("time" if type_ in _TIMES else "number"), scaled
    return "rank", np.asarray(table.column(column))[rows].astype(np.float64).tolist()


def _as_floats(values: pa.Array) -> list[float] | None:
    """Numbers as they are, times as milliseconds since 1970; None where there is no such number."""
    if pa.types.is_string(values.type):
        return None
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.timestamp("ms", getattr(values.type, "tz", None)), safe=False).cast(pa.int64())
    floats = pc.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats.tolist() if bool(np.isfinite(floats).all()) else None
