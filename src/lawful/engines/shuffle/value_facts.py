"""Cells of a shuffled table: how often values occur, their texts, and who has them, of what somebody asks about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int64s, Ints
from lawful.common.meanings import NULL_RANK
from lawful.tables.ranking import typed_to_text
from lawful.tables.shuffled.data import as_arrays
from lawful.tables.shuffled.table import ShuffledTable
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Wanted = Mapping[int, Int64s]
"""Ranks of columns."""


class ValueFacts:
    """What is known of the values of one table, asked for by jobs.

    Parameters
    ----------
    table
        The table.
    gathered
        Runs a job and gives its lines.
    """

    def __init__(self, table: ShuffledTable, gathered: Callable[[DataFrame], pa.Table]) -> None:
        self._table, self._data, self._gathered = table, table.dataset, gathered
        self.rows = table.rows
        self._counts: dict[tuple[int, int], int] = {}
        self._texts: dict[tuple[int, int], str] = {}

    def know(self, cells: Iterable[tuple[int, int]]) -> None:
        """Find out all about some values, given by columns and ranks, in a few jobs."""
        wanted: dict[int, set[int]] = defaultdict(set)
        for column, rank in cells:
            wanted[column].add(rank)
        sorted_ranks = {column: np.array(sorted(ranks), np.int64) for column, ranks in wanted.items()}
        self.counts(sorted_ranks)
        for column, ranks in sorted_ranks.items():
            missing = [rank for rank in ranks.tolist() if rank != NULL_RANK and (column, rank) not in self._texts]
            texts = self._fetched_texts(column, missing)
            self._texts.update(((column, rank), text) for rank, text in texts.items())

    def count(self, column: int, rank: int) -> int:
        """How many rows have a value."""
        if (column, rank) not in self._counts:
            self.counts({column: np.array([rank], np.int64)})
        return self._counts[column, rank]

    def text(self, column: int, rank: int) -> str | None:
        """The text of a rank of a column, None for null."""
        if rank == NULL_RANK:
            return None
        if (column, rank) not in self._texts:
            self._texts[column, rank] = self._fetched_texts(column, [rank])[rank]
        return self._texts[column, rank]

    def counts(self, wanted: Wanted) -> dict[int, Int64s]:
        """How many rows have each of some values."""
        missing = {
            column: [rank for rank in np.unique(ranks).tolist() if (column, rank) not in self._counts]
            for column, ranks in wanted.items()
        }
        asked = [(column, rank) for column, ranks in missing.items() for rank in ranks]
        if asked:
            self._counts.update(dict.fromkeys(asked, 0))
            columns, ranks = (pa.array(side, pa.int64()) for side in zip(*asked, strict=True))
            frame = frame_of(self._data.spark, pa.table({"c": columns, "r": ranks})).hint("broadcast")
            cells = self.cells(sorted(missing)).join(frame, ["c", "r"])
            found = self._gathered(cells.groupBy("c", "r").agg(self._data.expr("count(*) as n")))
            for column, rank, n in zip(*(found.column(name).to_pylist() for name in ("c", "r", "n")), strict=True):
                self._counts[column, rank] = n
        return {
            column: np.array([self._counts[column, rank] for rank in ranks.tolist()], np.int64)
            for column, ranks in wanted.items()
        }

    def ranks(self, rows: Ints) -> Int64s:
        """The ranks of some rows that rise, a line per column."""
        wanted = frame_of(self._data.spark, pa.table({"row": pa.array(rows, pa.int64())})).hint("broadcast")
        found = self._gathered(self._data.ranks.join(wanted, "row", "left_semi")).sort_by("row")
        return np.ascontiguousarray(as_arrays(found, self._data.width)[1].T)

    def rows_with(self, column: int, ranks: Sequence[int], most: int) -> dict[int, list[int]] | None:
        """For each of some values the rows that have it, in their order; None if these are more than so many."""
        wanted = frame_of(self._data.spark, pa.table({"r": pa.array(ranks, pa.int64())})).hint("broadcast")
        named = self._data.ranks.selectExpr("row", f"cast(c{column} as bigint) as r")
        found = self._gathered(named.join(wanted, "r").limit(most + 1))
        if found.num_rows > most:
            return None
        rows: dict[int, list[int]] = {rank: [] for rank in ranks}
        for rank, row in zip(*(found.sort_by("row").column(name).to_pylist() for name in ("r", "row")), strict=True):
            rows[rank].append(row)
        return rows

    def cells(self, columns: Iterable[int], rows: DataFrame | None = None) -> DataFrame:
        """The cells of some columns, as their columns (`c`) and ranks (`r`); of rows that have more, beside that."""
        named = list(columns)
        pairs = ", ".join(f"named_struct('c', {column}L, 'r', cast(c{column} as bigint))" for column in named)
        frame = self._data.ranks if rows is None else rows
        kept = [] if rows is None else [name for name in rows.columns if not name.startswith("c")]
        return frame.selectExpr(*kept, f"inline(array({pairs}))")

    @cached_property
    def _histograms(self) -> dict[int, tuple[Int64s, Int64s]]:
        """For each column the sizes of its values, ascending, null among them, and how many values are of each size.

        Of a billion rows there are at most 45 thousand different sizes.
        """
        if not self._table.width or not self.rows:
            return {}
        expr, cells = self._data.expr, self.cells(range(self._table.width))
        sizes = cells.groupBy("c", "r").agg(expr("count(*) as n")).groupBy("c", "n").agg(expr("count(*) as v"))
        found = self._gathered(sizes).sort_by([("c", "ascending"), ("n", "ascending")])
        columns, n, v = (found.column(name).to_numpy() for name in ("c", "n", "v"))
        return {column: (n[columns == column], v[columns == column]) for column in range(self._table.width)}

    def same_by_chance(self, column: int) -> float:
        """The sum of the squares of the shares that values have; null counts as a value of a row at least."""
        sizes, values = self._histograms[column]
        shares = float((values * (sizes / self.rows) ** 2).sum())
        return shares if self._table.nulls(column) else shares + (1.0 / self.rows) ** 2

    def rows_as_rare(self, column: int, count: int) -> int:
        """How many rows have values that no more than so many rows have."""
        sizes, values = self._histograms[column]
        return int((sizes * values)[sizes <= count].sum())

    def frequencies(self, column: int, least: float, most_values: int) -> dict[int, int]:
        """How many rows have each value of a column, in their order; nothing unless one has a share of all rows."""
        if not self.rows or self._table.distinct(column) >= most_values:
            return {}
        if self._histograms[column][0][-1] < least * self.rows:
            return {}
        counted = self._data.ranks.groupBy(f"c{column}").agg(self._data.expr("count(*) as n"))
        found = self._gathered(counted)
        return dict(sorted(zip(*(found.column(name).to_pylist() for name in (f"c{column}", "n")), strict=True)))

    def _fetched_texts(self, column: int, ranks: list[int]) -> dict[int, str]:
        if not ranks:
            return {}
        if self._data.codings[column].low is not None:
            return self._data.texts_of(column, ranks)
        wanted = frame_of(self._data.spark, pa.table({"rank": pa.array(ranks, pa.int64())}))
        found = self._gathered(self._data.dictionary(column).join(wanted.hint("broadcast"), "rank"))
        texts = typed_to_text(found.column("value").combine_chunks()).to_pylist()
        return dict(zip(found.column("rank").to_pylist(), texts, strict=True))
