"""How badly keys and FDs are broken, by aggregation: many laws in one job, classes of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lawful.checks import CheckTask
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key
from lawful.engines.shuffle.keys import PackedKey, exploded, key_names, without_nulls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_NUMBER = "decimal(38, 0)"
"""Pairs of rows are more than 64 bits count."""


def counting_jobs(tasks: Sequence[CheckTask], lines: int) -> Iterator[list[CheckTask]]:
    """Put keys into jobs of their own: their classes need not be split by a right side."""
    for kind in (Key, FD):
        some = [task for task in tasks if isinstance(task.law, kind)]
        for first in range(0, len(some), lines):
            yield some[first : first + lines]


def counted(data: ShuffledData, tasks: Sequence[CheckTask], policy: NullPolicy) -> DataFrame:
    """For each law that is broken (`t`) its violating rows, groups and pairs, removals that mend it, and first row."""
    laws = [task.law for task in tasks]
    left_sides = [law.lhs if isinstance(law, FD) else law.columns for law in laws if isinstance(law, Key | FD)]
    packed = [PackedKey.of(lhs, data.codings) for lhs in left_sides]
    words = max(1, *(len(key.words) for key in packed))
    names, expr = key_names(words), data.expr
    entries = []
    for number, (law, lhs, key) in enumerate(zip(laws, left_sides, packed, strict=True)):
        values = {"t": str(number)} | dict(zip(names, key.texts(words), strict=True))
        values |= {"a": f"cast(c{law.rhs} as bigint)" if isinstance(law, FD) else "0L", "row": "row"}
        judged = (*lhs, law.rhs) if isinstance(law, FD) else lhs
        entries.append((without_nulls(judged) if policy is NullPolicy.IGNORE else "", values))
    lines = data.ranks.selectExpr(exploded(entries)).where("t is not null")
    if isinstance(laws[0], Key):
        groups = lines.groupBy("t", *names).agg(expr("count(*) as n"), expr("min(row) as first")).where("n > 1")
        groups = groups.selectExpr("t", "n", f"cast(n as {_NUMBER}) as same", "1L as most", "first")
    else:
        parts = lines.groupBy("t", *names, "a").agg(expr("count(*) as m"), expr("min(row) as first"))
        same = f"sum(cast(m as {_NUMBER}) * m) as same"
        sums = ("sum(m) as n", same, "max(m) as most", "count(*) as sides", "min(first) as first")
        groups = parts.groupBy("t", *names).agg(*map(expr, sums)).where("sides > 1")
    pairs = f"sum(cast((cast(n as {_NUMBER}) * n - same) / 2 as {_NUMBER})) as pairs"
    return groups.groupBy("t").agg(
        *map(expr, ("sum(n) as rows", "count(*) as groups", pairs, "sum(n - most) as removals", "min(first) as first"))
    )
