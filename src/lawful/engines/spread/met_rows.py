"""The rows that those of a batch meet: what stays of the classes that they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lawful.common.errors import UsageError
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.lines import is_counted
from lawful.tables.shuffled.data import functions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_MET = 1_000_000
"""So many rows are brought to the driver."""
UNKNOWN = -1
"""The id of a row that the index has forgotten."""

Cells = tuple[str | None, ...]


class MetRow(NamedTuple):
    """A row that stays: its texts beside those of its class (`KeptLaw.others`), and its id."""

    rest: Cells
    id: int


MetRows = dict[int, dict[Cells, list[MetRow]]]
"""Rows by the number of the law and the texts of their class."""


def met_rows(lines: DataFrame, laws: Sequence[KeptLaw]) -> MetRows:
    """The rows of lines that were added up; of classes that are only counted two, which differ if any do.

    Raises
    ------
    UsageError
        If there are too many for the driver.
    """
    expr, counted = functions_of(lines.sparkSession).expr, is_counted(laws)
    low_and_high = (expr("min(struct(rest, rows)) as low"), expr("max(struct(rest, rows)) as high"))
    ends = lines.where(counted).groupBy("t", "key").agg(*low_and_high)
    both = ends.selectExpr("t", "key", "explode(array_distinct(array(low, high))) as one")
    of_counted = both.selectExpr("t", "key", "one.rest as rest", f"coalesce(get(one.rows, 0), {UNKNOWN}L) as row")
    of_checked = lines.where(f"not {counted}").selectExpr("t", "key", "rest", "explode(rows) as row")
    table = of_counted.unionAll(of_checked).limit(_MOST_MET + 1).toArrow()
    if table.num_rows > _MOST_MET:
        raise UsageError(
            f"rows of the batch meet more than {_MOST_MET:,} others that they might break pinned laws with",
            "Nothing was changed. Give the batch in smaller pieces, pin laws that compare more columns by =, or leave "
            "out --quarantine: the report and --events tell which rows break laws.",
        )
    found: MetRows = {kept.number: {} for kept in laws}
    columns = [table.column(name).to_pylist() for name in ("t", "key", "rest", "row")]
    for number, key, rest, row in zip(*columns, strict=True):
        found[number].setdefault(tuple(key), []).append(MetRow(tuple(rest), row))
    return found
