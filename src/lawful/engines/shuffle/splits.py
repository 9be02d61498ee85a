"""What the trials of keys and FDs are made of, by aggregation: sizes of classes, and how right sides split them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lawful.checks.strength.class_sizes import ClassSizes
from lawful.checks.strength.kernels.splits import FEWEST_OF_A_GROUP, GROUP
from lawful.checks.strength.keys_and_fds import Splits
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD
from lawful.engines.shuffle.keys import PackedKey, exploded, key_names, lines_a_row, without_nulls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_NUMBER = "decimal(38, 0)"
"""Pairs of rows are more than 64 bits count."""

_Asked = TypeVar("_Asked")
Gathered = Callable[["DataFrame"], list[dict[str, Any]]]


@dataclass(frozen=True)
class Grouping:
    """Rows by some columns; where nulls are ignored, only those that have a value in others."""

    columns: tuple[int, ...]
    judged: tuple[int, ...]

    @staticmethod
    def of(columns: Sequence[int], judged: Sequence[int], policy: NullPolicy) -> Grouping:
        """The rows that a law over the judged columns is judged on, by some of these."""
        kept = tuple(sorted(set(judged))) if policy is NullPolicy.IGNORE else ()
        return Grouping(tuple(sorted(set(columns))), kept)


def class_sizes(data: ShuffledData, groupings: Sequence[Grouping], gathered: Gathered) -> dict[Grouping, ClassSizes]:
    """How large the classes of each grouping are.

    What comes back is a line for each size that occurs: at most the root of twice the rows.
    """
    found: dict[Grouping, ClassSizes] = {}
    for some in _jobs(list(dict.fromkeys(groupings)), lines_a_row(data)):
        lines, names = _lines(data, [(each.columns, each.judged, None) for each in some])
        classes = lines.groupBy("t", *names).agg(data.expr("count(*) as n"))
        sizes: dict[int, list[tuple[int, int]]] = {}
        for line in gathered(classes.groupBy("t", "n").agg(data.expr("count(*) as classes"))):
            sizes.setdefault(line["t"], []).append((line["n"], line["classes"]))
        for number, each in enumerate(some):
            counted = np.array(sorted(sizes.get(number, [])), np.int64).reshape(-1, 2)
            found[each] = ClassSizes(counted[:, 0].copy(), counted[:, 1].copy())
    return found


def count_splits(data: ShuffledData, laws: Sequence[FD], policy: NullPolicy, gathered: Gathered) -> dict[FD, Splits]:
    """How the classes of each left side are split by the right side; see the kernel of the same name."""
    found: dict[FD, Splits] = dict.fromkeys(laws, Splits(0, 0.0, 0, 0, 0, 0, 0))
    for some in _jobs(list(found), lines_a_row(data)):
        ignores = policy is NullPolicy.IGNORE
        entries = [(law.lhs, (*law.lhs, law.rhs) if ignores else (), law.rhs) for law in some]
        for line in gathered(_splits(data, *_lines(data, entries))):
            found[some[line["t"]]] = Splits(
                *(line["lost"] if name == "lost" else int(line[name]) for name in Splits._fields)
            )
    return found


def _splits(data: ShuffledData, lines: DataFrame, names: list[str]) -> DataFrame:
    keys = ", ".join(["t", *names])
    parts = lines.groupBy("t", *names, "a").agg(data.expr("count(*) as m"))
    parts = parts.selectExpr("*", f"sum(m) over (partition by {keys}) as whole")
    is_group = f"m >= {FEWEST_OF_A_GROUP} and m >= {GROUP}D * whole"
    sums = (
        "max(whole) as n",
        f"sum(cast(m as {_NUMBER}) * m) as same",
        "max(m) as most",
        "count(*) as sides",
        f"sum(if({is_group}, m, 0L)) as grouped",
    )
    classes = parts.groupBy("t", *names).agg(*map(data.expr, sums))
    squared = f"cast(n as {_NUMBER}) * n"
    totals = (
        "sum(n - 1) as chances",
        "sum(if(sides > 1, n - cast(same as double) / n, 0D)) as lost",
        f"sum(cast(({squared} - n) / 2 as {_NUMBER})) as tested",
        f"sum(cast(({squared} - same) / 2 as {_NUMBER})) as pairs",
        "sum(if(sides > 1, n, 0L)) as rows",
        "sum(n - most) as removals",
        "sum(if(sides > 1 and grouped > 0, grouped - most, 0L)) as repeated",
    )
    return classes.groupBy("t").agg(*map(data.expr, totals))


def _lines(
    data: ShuffledData, entries: Sequence[tuple[tuple[int, ...], tuple[int, ...], int | None]]
) -> tuple[DataFrame, list[str]]:
    """A line of each row for each entry: columns to group by, those that must not be null, and a right side (`a`)."""
    packed = [PackedKey.of(columns, data.codings) for columns, _, _ in entries]
    names = key_names(max(1, *(len(key.words) for key in packed)))
    exploding = []
    for number, ((_, judged, side), key) in enumerate(zip(entries, packed, strict=True)):
        values = {"t": str(number)} | dict(zip(names, key.texts(len(names)), strict=True))
        values["a"] = "0L" if side is None else f"cast(c{side} as bigint)"
        exploding.append((without_nulls(judged), values))
    return data.ranks.selectExpr(exploded(exploding)).where("t is not null"), names


def _jobs(asked: Sequence[_Asked], lines: int) -> Iterator[Sequence[_Asked]]:
    for first in range(0, len(asked), lines):
        yield asked[first : first + lines]
