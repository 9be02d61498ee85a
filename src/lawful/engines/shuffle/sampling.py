"""A sample of a shuffled table for searches: random rows, and whole classes of rows that share a value.

Two random rows of a large table hardly ever agree on a column of many values, so random rows alone say nothing about
left sides with such columns. Of each of them some values are chosen by their hash, with all rows that have one. That is
a filter, not a shuffle. A frequent value that is chosen by chance would bring in too many rows, so they are counted
first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from lawful.common.arrays import Int64s
from lawful.tables.shuffled.data import as_arrays
from lawful.tables.shuffled.table import ShuffledTable, sample_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HASHES = 1 << 32
_TOO_MANY = 2
"""A column whose chosen values have so many times the rows that were expected is left out."""
_MANY_VALUES = 10
"""A column is focused on if a value has fewer of the sampled rows than one in so many."""


def draw_sample(table: ShuffledTable, seed: int, gathered: Callable[[DataFrame], pa.Table]) -> tuple[Int64s, Int64s]:
    """The ids and ranks of a sample of rows; the same for the same seed."""
    data, most = table.dataset, sample_rows(table.rows, table.width)
    if most == table.rows:
        return as_arrays(gathered(data.ranks), data.width)
    focused = [column for column in range(table.width) if table.distinct(column) > most // _MANY_VALUES]
    share = most // 2 if focused else most
    chosen = [_is_chosen("row", share / table.rows, seed)]
    if focused:
        allowed = (most - share) // len(focused)
        conditions = [_is_chosen(f"c{column}", allowed / table.rows, seed + column) for column in focused]
        conditions = [f"{text} and c{column} <> 0" for column, text in zip(focused, conditions, strict=True)]
        counts = data.ranks.agg(*(data.expr(f"count_if({text})") for text in conditions))
        counted = [column[0].as_py() for column in gathered(counts).columns]
        chosen += [text for text, rows in zip(conditions, counted, strict=True) if rows <= _TOO_MANY * allowed]
    return as_arrays(gathered(data.ranks.where(" or ".join(f"({text})" for text in chosen))), data.width)


def _is_chosen(what: str, share: float, seed: int) -> str:
    return f"pmod(xxhash64({what}, {seed}L), {_HASHES}L) < {int(share * _HASHES)}L"
