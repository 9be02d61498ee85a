"""The lines of an index: what is kept of rows for each law, and how those that came and those that left add up.

A line has a law (`t`, a number; laws of one left side may share lines), a class (`key`, the texts of its columns), what
is told of its rows (`rest`), how many rows these are (`n`, below 0 for rows that left), and ids of them (`rows`). Of
rows that came, a law that only counts knows two ids for each line; all others are known. A law without classes has a
line for each row, whose texts are all in `key`. Lines are never changed: those of one class and rest are added up when
they are read. Texts are compared, never hashes; these only say in which bucket a class is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from lawful.common.meanings import NullPolicy
from lawful.engines.shuffle.keys import exploded
from lawful.engines.spread.kept_laws import KeptLaw, counted
from lawful.tables.shuffled.data import functions_of
from lawful.tables.spread.segments import bucket_text, texts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LINES = "key array<string>, rest array<string>, n bigint, rows array<bigint>"
LINES_BY = ("t", "bucket")
_LAWS_AT_ONCE = 12
"""Laws that a row gives lines for in one job: each is some generated Java code, and Java compiles no long methods."""


def lines_of(
    rows: DataFrame, laws: Sequence[KeptLaw], null: NullPolicy, buckets: int, *, all_came: bool = False
) -> DataFrame:
    """The lines of rows that came (`n` is 1) and that left (-1)."""
    written = list({kept.written.number: kept for kept in laws}.values())
    by_counts = counted(written) if all_came else []
    others = [kept for kept in written if kept not in by_counts]
    frames = [_added(rows, own, null, by_ends) for own, by_ends in ((by_counts, True), (others, False)) if own]
    every = reduce(lambda one, other: one.unionAll(other), frames)
    return every.selectExpr("key", "rest", "n", "rows", "t", f"{bucket_text('key', buckets)} as bucket")


def _added(rows: DataFrame, laws: Sequence[KeptLaw], null: NullPolicy, by_ends: bool) -> DataFrame:
    """Lines that are alike made one; `by_ends` if all rows came and two ids of each are enough.

    Spark sorts what it makes lists of, and hashes the rest, which is faster.
    """
    some = [laws[first : first + _LAWS_AT_ONCE] for first in range(0, len(laws), _LAWS_AT_ONCE)]
    each = [rows.selectExpr("row", "n", exploded(_entries(part, null))).where("t is not null") for part in some]
    every = reduce(lambda one, other: one.unionAll(other), each)
    expr = functions_of(rows.sparkSession).expr
    ids = [expr("count(*) as count"), expr("min(row) as least"), expr("max(row) as greatest")]
    told = "array_distinct(array(least, greatest))"
    if not by_ends:
        knows_two = f"{is_counted(laws)} and n > 0"
        ids.append(expr(f"collect_list(if({knows_two}, null, row)) as all_rows"))
        told = f"if({knows_two}, {told}, all_rows)"
    added = every.groupBy("t", "key", "rest", "n").agg(*ids)
    return added.selectExpr("t", "key", "rest", "n * count as n", f"{told} as rows")


def _entries(laws: Sequence[KeptLaw], null: NullPolicy) -> list[tuple[str, dict[str, str]]]:
    entries = []
    for kept in laws:
        number, others = kept.written
        values = {"t": str(number), "key": texts_of(kept.group), "rest": texts_of(others)}
        judged = kept.judged if kept.shared is None else kept.group  # of the others each law judges its own
        known = " and ".join(f"c{column} is not null" for column in judged)
        entries.append((known if null is NullPolicy.IGNORE else "", values))
    return entries


def is_counted(laws: Sequence[KeptLaw]) -> str:
    """A condition for the lines of laws that are kept by counts."""
    numbers = sorted({kept.written.number for kept in counted(laws)})
    return f"t in ({', '.join(map(str, numbers))})" if numbers else "false"


def law_by_law(lines: DataFrame, laws: Sequence[KeptLaw], null: NullPolicy) -> DataFrame:
    """Lines as if each law had its own: one that is shared becomes one for each law that shares it."""
    shared: dict[int, list[KeptLaw]] = {}
    for kept in laws:
        if kept.shared is not None:
            shared.setdefault(kept.shared.number, []).append(kept)
    if not shared:
        return lines
    cases = []
    for number, own in shared.items():
        entries = []
        for kept in own:
            places = [kept.written.others.index(column) for column in kept.others]
            rest = f"array({', '.join(f'rest[{place}]' for place in places)})"
            known = " and ".join(f"rest[{place}] is not null" for place in places)
            entry = f"named_struct('t', {kept.number}, 'rest', {rest})"
            entries.append(f"if({known}, {entry}, null)" if null is NullPolicy.IGNORE else entry)
        cases.append(f"when {number} then array({', '.join(entries)})")
    each = f"inline(case t {' '.join(cases)} else array(named_struct('t', t, 'rest', rest)) end)"
    others = [name for name in lines.columns if name not in ("t", "rest")]
    return lines.selectExpr(*others, each).where("t is not null")


def added_up(lines: DataFrame, fresh: str = "") -> DataFrame:
    """What is there of each class and rest; `fresh` are the ids of rows that came with a segment of this name."""
    expr = functions_of(lines.sparkSession).expr
    came = f"n > 0 and segment = '{fresh}'" if fresh else "false"
    sums = (
        "sum(n) as n",
        "array_except(flatten(collect_list(if(n > 0, rows, null))), flatten(collect_list(if(n < 0, rows, null)))) "
        "as rows",
        f"flatten(collect_list(if({came}, rows, null))) as fresh",
    )
    return lines.groupBy("t", "bucket", "key", "rest").agg(*map(expr, sums)).where("n > 0")


def shortened(lines: DataFrame, laws: Sequence[KeptLaw]) -> DataFrame:
    """Lines that were added up, to be written again: of what is only counted two ids are enough."""
    rows = f"if({is_counted(laws)}, slice(sort_array(rows), 1, 2), rows) as rows"
    return lines.selectExpr("key", "rest", "n", rows, "t", "bucket")


def live_rows(lines: DataFrame) -> DataFrame:
    """The rows of lines that are all told (`t`, `bucket`, `row`, `cells`): those that have come and not left."""
    came = lines.where("n > 0").selectExpr("t", "bucket", "explode(rows) as row", "key as cells")
    left = lines.where("n < 0").selectExpr("t", "explode(rows) as row")
    return came.join(left, ["t", "row"], "left_anti").select("t", "bucket", "row", "cells")


def rows_left(lines: DataFrame) -> DataFrame:
    """The same as lines to be written again."""
    no_rest = "cast(array() as array<string>) as rest"
    return live_rows(lines).selectExpr("cells as key", no_rest, "1L as n", "array(row) as rows", "t", "bucket")
