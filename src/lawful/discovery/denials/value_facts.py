"""What decides which columns, and which constants, constraints compare: counted here, or asked of those who can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lawful.common.errors import UsageError
from lawful.discovery.denials.means import Mean
from lawful.tables.arrow_functions import as_arrow
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranking import typed_to_text
from lawful.tables.sample import Frequent, SampleTable, ValuesOfAll
from lawful.tables.shared_ranks import shared_codes

CountShared = Callable[[int, int], int]
"""How many values the columns at two places share; at one place twice, how many the column has."""


class ValueFacts(Protocol):
    """The values of a table."""

    def shared(self, columns: Sequence[int]) -> CountShared | None:
        """What counts the values that two of some columns share; None if some have no order between them."""

    def mean(self, column: int) -> Mean:
        """The mean of a column's numbers over all rows."""

    def frequent(self, column: int, most: int) -> list[Frequent]:
        """The values that most rows have, so many at most; of those that as many rows have, the least first."""


def facts_of(table: EncodedTable | SampleTable) -> ValueFacts:
    """The facts of a table, or of the one that a sample was drawn from."""
    return FactsOfTable(table) if isinstance(table, EncodedTable) else _FactsOfAll(table.whole.values)


@dataclass(frozen=True)
class FactsOfTable:
    """The facts of a table that is here."""

    table: EncodedTable

    def shared(self, columns: Sequence[int]) -> CountShared | None:
        """See `ValueFacts`."""
        try:
            codes = shared_codes(self.table, columns)
        except UsageError:  # times with a zone and without
            return None
        present = np.zeros((len(columns), max(int(code.max(initial=0)) for code in codes) + 1), np.bool_)
        for place, code in enumerate(codes):
            present[place, code[1:]] = True
        return lambda one, other: int(np.count_nonzero(present[one] & present[other]))

    def mean(self, column: int) -> Mean:
        """See `ValueFacts`."""
        return Mean.of(self.table, column)

    def frequent(self, column: int, most: int) -> list[Frequent]:
        """See `ValueFacts`."""
        rows = np.bincount(self.table.column(column), minlength=self.table.distinct(column) + 1)[1:]
        first = np.argsort(-rows, kind="stable")[:most]
        texts = typed_to_text(self.table.values(column).take(as_arrow(first))).to_pylist()
        return [Frequent(text, int(place) + 1, int(rows[place])) for text, place in zip(texts, first, strict=True)]


@dataclass(frozen=True)
class _FactsOfAll:
    """The facts of a table that no process holds."""

    values: ValuesOfAll

    def shared(self, columns: Sequence[int]) -> CountShared | None:
        counts = self.values.shared(columns)
        return None if counts is None else lambda one, other: int(counts[one, other])

    def mean(self, column: int) -> Mean:
        return Mean.known(self.values.mean(column))

    def frequent(self, column: int, most: int) -> list[Frequent]:
        return self.values.frequent(column, most)
