"""Index(A^op1, B^op2) of IncPOD (sections IV and V) on a table that changes.

Rows are divided into as few chains as possible, each sorted on A and on B. The rows that compare with a new row in two
given ways are a range of every chain, whatever the two ways are: the index answers all operators on its two columns, in
both directions, with ties and without. Its own operators only say how many chains it needs. Those that allow ties need
the fewest, and B should be sorted as A is where both rise together.

Departures from the paper:

- Chains are flat arrays and no skip lists: a range is found by halving, and read from front to end.
- Rows that came last have chains of their own, which are made anew with each batch. They are put into those of the
  others, in one pass over all, once there are some four times the root of the table's rows.
- "Alternative" and "reversed" uses (section V-B, example 11) need no row to be looked at: bounds tell equal values.
- Chains may be sorted within the classes of a third column: then rows are asked for that have the same value there.
- Rows can leave. They stay in the chains, and are passed over, until they are one in four.
- The index is built anew where that is cheaper than putting rows in, or chains have become twice as many as needed.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies.laws import MIRRORED, Operator
from lawful.evidence.living.orders.chains import ChainOrder, Chains
from lawful.evidence.living.orders.fetches import Fetch, Mark
from lawful.evidence.living.orders.kernels import ranges as kernels
from lawful.evidence.living.orders.order_keys import TableKeys
from lawful.evidence.living.orders.ranges import Ranges

_FEWEST_RECENT = 256
_RECENT_PER_ROOT = 4
"""With n rows in the chains and m beside them, a new row looks through m and its part of a merging is n / m."""
_MOST_GONE = 4
_MOST_GROWTH = 2
_OPERATORS: dict[Operator | None, int] = {
    None: kernels.ANY,
    "<": kernels.LESS,
    "<=": kernels.LESS_OR_EQUAL,
    ">": kernels.GREATER,
    ">=": kernels.GREATER_OR_EQUAL,
    "=": kernels.EQUAL,
}


class IndexStatistics(NamedTuple):
    """How large an index is: its rank, the rows in it, their distinct pairs of values, the most rows of one pair."""

    chains: int
    rows: int
    clusters: int
    largest_cluster: int
    memory: int


class ChainIndex:
    """The live rows of a table, sorted on two columns at once; or on one, in a single chain.

    Parameters
    ----------
    keys
        The order keys of the table's columns.
    first, second
        The columns, with the operators that chains are sorted by: `<`, `<=`, `>` or `>=`.
    policy
        What null means: the smallest value, or one that satisfies no comparison.
    within
        A third column, if only rows with the same value there are ever asked for.
    """

    def __init__(
        self, keys: TableKeys, first: Mark, second: Mark | None, policy: NullPolicy, within: int | None = None
    ) -> None:
        self._keys, self._table, self._policy = keys, keys.table, policy
        self.order = ChainOrder(keys, first, second, within)
        self._ordered: list[int]
        self._labelled: list[int]
        self._chains: Chains
        self._recent: Chains
        self._end: int
        self._build()

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that rows are sorted on."""
        return self.order.columns

    @property
    def within(self) -> int | None:
        """The column whose value is the same in all rows that are asked for."""
        return self.order.within

    @property
    def rank(self) -> int:
        """The number of chains."""
        return sum(chains.rank for chains in self.chains)

    @property
    def chains(self) -> tuple[Chains, Chains]:
        """The chains of all rows but the last ones, and those of these."""
        return self._chains, self._recent

    @property
    def memory(self) -> int:
        """Bytes in use, those of the order keys not counted."""
        return sum(array.nbytes for chains in self.chains for array in chains)

    def statistics(self) -> IndexStatistics:
        """How large the index is; one pass over it."""
        sizes = np.concatenate([chains.cluster_sizes() for chains in self.chains])
        return IndexStatistics(self.rank, int(sizes.sum()), len(sizes), int(sizes.max(initial=0)), self.memory)

    def catch_up(self) -> None:
        """Take in the rows and values that have come, after the keys have done so."""
        ordered, labelled = self._versions()
        if ordered != self._ordered:
            self._build()
            return
        if labelled != self._labelled:
            x, y = self.order.keys_of(self._chains.rows.astype(np.int64))
            self._chains = self._chains._replace(x=x, y=y)
            self._labelled = labelled
        recent = np.concatenate([self._recent.rows.astype(np.int64), self._rows_from(self._end)])
        recent = recent[self._table.is_live[recent]]
        self._end = self._table.end
        gone = self._end - self._table.rows - self._gone
        sorted_rows = len(self._chains.rows)
        room = max(_FEWEST_RECENT, _RECENT_PER_ROOT * isqrt(sorted_rows))
        if len(recent) > room or gone * _MOST_GONE > sorted_rows:
            self._merge(recent)
        else:
            self._recent = self.order.cover(recent)

    def fetch(self, row: int, first_op: Operator, second_op: Operator | None = None) -> Int32s:
        """The live rows s other than t, the given one, with `t first_op s` and `t second_op s`: T of the paper.

        All have the value of t in the column that rows are sorted within.
        """
        second = self.columns[1] if second_op is not None else None
        asked = Fetch(self.columns[0], first_op, second, second_op, self.within)
        parts = self.ranges(np.array([row]), asked, both=False)
        found = [part.rows[start:stop] for part in parts for start, stop in zip(*part.first, *part.last, strict=True)]
        rows = np.sort(np.concatenate([np.empty(0, np.int32), *found]))
        return np.asarray(rows[self._table.is_live[rows] & (rows != row)])

    def fetch_mirrored(self, row: int, first_op: Operator, second_op: Operator | None = None) -> Int32s:
        """The live rows s other than t with `s first_op t` and `s second_op t`: T-bar of the paper."""
        return self.fetch(row, MIRRORED[first_op], second_op and MIRRORED[second_op])

    def ranges(self, rows: Int64s, fetch: Fetch, *, both: bool = True) -> list[Ranges]:
        """Where the rows are that some rows ask for; with `both`, also those that the mirror image asks for."""
        own, is_asked, operators = self.order.keys_of(rows), self._has_values(rows), self._operators(fetch)
        own_class = self.order.classes_of(rows)
        classes = (own_class,) if len(own_class) else ()
        by_x, by_y = (np.lexsort((keys, *classes)) for keys in own)
        found = []
        for chains in self.chains:
            shape = len(rows), chains.rank * (1 + both)
            # Chains are gone through one after the other, each for all rows: what is written next lies beside.
            first, last = np.empty(shape, np.int32, order="F"), np.empty(shape, np.int32, order="F")
            kernels.find_ranges(*chains[:-1], own_class, *own, by_x, by_y, is_asked, *operators, both, first, last)
            found.append(Ranges(chains.rows, first, last))
        return found

    def _operators(self, fetch: Fetch) -> tuple[int, int]:
        given = {fetch.first: fetch.first_op, fetch.second: fetch.second_op}
        if fetch.within != self.within or not {column for column in given if column is not None} <= set(self.columns):
            raise ValueError(f"an index on the columns {self.columns} within {self.within} cannot answer {fetch}")
        one = given.get(self.columns[0])
        other = given.get(self.columns[1]) if len(self.columns) == 2 else None
        if self.order.falls and other is not None:
            other = MIRRORED[other]
        return _OPERATORS[one], _OPERATORS[other]

    def _versions(self) -> tuple[list[int], list[int]]:
        keys = [self._keys.column(column) for column in self.columns]
        ordered = [each.ordered for each in keys]
        if self.within is not None:  # a column whose values change their order may get other codes too
            ordered.append(self._keys.column(self.within).ordered)
        return ordered, [each.labelled for each in keys]

    def _build(self) -> None:
        """Chains of all live rows, the fewest that there can be."""
        self._ordered, self._labelled = self._versions()
        self._end = self._table.end
        self._gone: int = self._end - self._table.rows
        self._chains = self.order.cover(self._rows_from(0))
        self._recent = self.order.cover(np.empty(0, np.int64))
        self._fewest = self._chains.rank

    def _merge(self, recent: Int64s) -> None:
        """Put the last rows into the chains of the others, and leave out rows that are gone."""
        has_too_many = self._chains.rank > _MOST_GROWTH * self._fewest
        if has_too_many or self.order.is_cheaper_anew(self._chains, len(recent)):
            self._build()
            return
        self._chains = self.order.insert(self._chains, recent, self._table.is_live)
        self._recent = self.order.cover(np.empty(0, np.int64))
        self._gone = self._end - self._table.rows

    def _rows_from(self, start: int) -> Int64s:
        """The live rows from a number on that have values to sort by."""
        rows = np.flatnonzero(self._table.is_live[start:]) + start
        return rows[self._has_values(rows)]

    def _has_values(self, rows: Int64s) -> Flags:
        has = np.ones(len(rows), np.bool_)
        if self._policy is NullPolicy.IGNORE:
            for column in (*self.columns, *([] if self.within is None else [self.within])):
                has &= self._table.codes.column_of_rows(column, rows) != NULL_RANK
        return has
