"""Groups of violating rows in short where some are too large for a task: Spark counts their variants.

What `checks.summaries` tells of a group in one place: how many rows it has, which comes first, and of its variants, the
rows with the same values in conflict, how many there are and which come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lawful.checks import GroupRows, Most, VariantRows, checks_of
from lawful.dependencies import Law

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData


def summarized_by_spark(
    data: ShuffledData,
    law: Law,
    listed: DataFrame,
    most: Most,
    gathered: Callable[[DataFrame], Sequence[dict[str, Any]]],
) -> list[GroupRows]:
    """The first groups in short, in their order, given all violating rows with the first ones of their groups."""
    ranks = [f"c{column}" for column in checks_of(law).parts(law)[1]]
    rows = listed.select("lawful_group", "lawful_row")
    if ranks:
        rows = rows.join(data.ranks.selectExpr("row as lawful_row", *ranks), "lawful_row")
    keys = ["lawful_group", *ranks]
    together = f"partition by {', '.join(keys)}"
    rows = rows.selectExpr(
        "*", f"count(*) over ({together}) as n", f"row_number() over ({together} order by lawful_row) as place"
    )
    kept = rows if most.rows is None else rows.where(f"place <= {most.rows}")
    some = ("max(n) as n", "sort_array(collect_list(lawful_row)) as rows")
    variants = kept.groupBy(*keys).agg(*map(data.expr, some))
    in_order = ", ".join(ranks) if ranks and checks_of(law).lists_in_order else "n desc, rows[0]"
    variants = variants.selectExpr(
        "lawful_group",
        "n",
        "rows",
        "sum(n) over (partition by lawful_group) as size",
        "count(*) over (partition by lawful_group) as variants",
        f"row_number() over (partition by lawful_group order by {in_order}) as place",
    )
    told = variants if most.variants is None else variants.where(f"place <= {most.variants}")
    whole = ("max(size) as size", "max(variants) as variants", "collect_list(struct(place, n, rows)) as told")
    groups = told.groupBy("lawful_group").agg(*map(data.expr, whole)).orderBy("lawful_group")
    return [_group(line) for line in gathered(groups if most.groups is None else groups.limit(most.groups))]


def _group(line: dict[str, Any]) -> GroupRows:
    told = sorted(line["told"], key=lambda variant: int(variant["place"]))
    variants = tuple(VariantRows(variant["n"], tuple(variant["rows"])) for variant in told)
    return GroupRows(line["size"], line["lawful_group"], variants, line["variants"] - len(variants))
