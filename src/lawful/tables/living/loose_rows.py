"""Rows of a living table and rows that may join them, as an encoded table.

What is asked here is asked of few rows, so ranks are made by sorting the values of these alone: those of a column that
has millions of values stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK
from lawful.tables.encoded_table import Column
from lawful.tables.living.canonical import canonical_order
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.ranking import RankedColumn


class _Described(Sequence[Column]):
    """Columns that are described when somebody asks for one."""

    def __init__(self, rows: LooseRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.width

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self[each] for each in range(*position.indices(len(self)))]
        return self._rows.described(position)


@dataclass(frozen=True)
class LooseRows(LiveView):
    """Some rows of a living table, in any order, and behind them rows that are only codes yet.

    Attributes
    ----------
    joining
        The codes of the rows behind, `int32[columns, rows]`.
    """

    joining: Int32s = field(default_factory=lambda: np.zeros((0, 0), np.int32))

    @staticmethod
    def among(living: LivingTable, numbers: Int64s, joining: Int32s | None = None) -> LooseRows:
        """Rows by their numbers, and others by their codes, which the dictionaries have given out."""
        if joining is None:
            joining = np.empty((living.width, 0), np.int32)
        rows = len(numbers) + joining.shape[1]
        return LooseRows(living.name, rows, living.names, living=living, numbers=numbers, joining=joining)

    def _codes(self, position: int) -> Int32s:
        return np.concatenate([super()._codes(position), self.joining[position]])

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What is known of each column; ranks are made for those alone that somebody asks for."""
        return _Described(self)  # type: ignore[return-value]  # it is read like the tuple that it stands for

    def _rank(self, position: int) -> RankedColumn:
        if position not in self._ranked:
            assert self.living is not None
            column = self.living.columns[position]
            used, places = np.unique(self._codes(position), return_inverse=True)
            has_null = int(bool(len(used)) and used[0] == NULL_RANK)
            texts = column.dictionary.texts(used[has_null:])
            in_order = canonical_order(texts, column.type) if len(texts) else np.empty(0, np.int64)
            rank_of = np.full(len(used), NULL_RANK, np.int32)
            rank_of[in_order + has_null] = np.arange(1, len(in_order) + 1, dtype=np.int32)
            ranks = rank_of[places.ravel()]
            ranks.setflags(write=False)
            nulls = int(np.count_nonzero(ranks == NULL_RANK))
            self._ranked[position] = RankedColumn(column.type, ranks, len(in_order), nulls, texts.take(in_order))
        return self._ranked[position]
