"""Rows divided into chains, each sorted on two columns: building (IncPOD, section V-A) and inserting (section V-C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.evidence.living.kernels.partners import rows_by_code
from lawful.evidence.living.orders.fetches import Mark
from lawful.evidence.living.orders.kernels.chains import choose_chains, cover_by_chains, merge_chains
from lawful.evidence.living.orders.order_keys import TableKeys

_MANY_ROWS = 4096
"""From so many rows on, ranks are counted instead of labels sorted."""
_ROW_STEPS = 64
"""Building takes about as long per row as so many steps of halving."""
_MOST_SHARE = 8
"""More new rows than one in so many are not put in: building all anew gives fewer chains."""


class Chains(NamedTuple):
    """Chain c is the rows `starts[c]` to `starts[c + 1]`; both keys of its rows grow along it.

    If rows have classes, these grow along it before all else, and keys within each class; else `classes` is empty.
    """

    starts: Int64s
    classes: Int32s
    x: Int64s
    y: Int64s
    rows: Int32s

    @property
    def rank(self) -> int:
        """The number of chains."""
        return len(self.starts) - 1

    def cluster_sizes(self) -> Int64s:
        """How many rows there are of each pair of values: the paper's Equ, which are runs of a chain here."""
        if not len(self.rows):
            return np.empty(0, np.int64)
        begins = np.ones(len(self.rows), np.bool_)
        begins[1:] = (np.diff(self.x) != 0) | (np.diff(self.y) != 0)
        if len(self.classes):
            begins[1:] |= np.diff(self.classes) != 0
        begins[self.starts[:-1]] = True
        return np.diff(np.append(np.flatnonzero(begins), len(self.rows)))


@dataclass(frozen=True)
class ChainOrder:
    """How the rows of a chain follow each other.

    Attributes
    ----------
    first, second
        The columns, with the operators that hold between a row and every later one of its chain, or between a row and
        every earlier one, which is the same: Index(A<, B<) and Index(A>, B>) have the same chains. Rows with the same
        value in both columns may follow each other under all operators. Without a second column there is one chain.
    within
        A column whose equal values make a class, None if all rows are one class. Beyond the paper: chains are sorted
        within each class, and classes follow each other in every chain. So there are only as many chains as the worst
        class needs, and a third comparison, by =, costs no more than halving.
    """

    keys: TableKeys
    first: Mark
    second: Mark | None
    within: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that rows are sorted on."""
        return (self.first[0],) if self.second is None else (self.first[0], self.second[0])

    @property
    def falls(self) -> bool:
        """Whether the second value falls where the first one grows."""
        return self.second is not None and self.first[1][0] != self.second[1][0]

    @property
    def _is_strict(self) -> tuple[bool, bool]:
        if self.second is None:
            return False, False
        return self.first[1] in ("<", ">"), self.second[1] in ("<", ">")

    def keys_of(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """The two keys of rows, both growing along a chain; the second is 0 where there is one column."""
        x = self.keys.of_rows(self.first[0], rows)
        if self.second is None:
            return x, np.zeros_like(x)
        y = self.keys.of_rows(self.second[0], rows)
        return x, -y if self.falls else y

    def classes_of(self, rows: Int64s) -> Int32s:
        """The classes of rows; none where all rows are of one."""
        if self.within is None:
            return np.empty(0, np.int32)
        return self.keys.table.codes.column_of_rows(self.within, rows)

    def cover(self, rows: Int64s) -> Chains:
        """Divide rows into the fewest chains."""
        rows = self._sorted(rows)
        classes, (x, y) = self.classes_of(rows), self.keys_of(rows)
        return _by_chain(classes, x, y, rows, *cover_by_chains(classes, x, y, self._is_strict[1]))

    def is_cheaper_anew(self, chains: Chains, new: int) -> bool:
        """Whether to build anew rather than to put some rows in: each has to be looked for in all chains."""
        rows = len(chains.rows)
        if new * _MOST_SHARE > rows:
            return True
        steps = 4 * (rows // max(1, chains.rank)).bit_length()
        return new * chains.rank * steps > _ROW_STEPS * rows

    def insert(self, chains: Chains, rows: Int64s, is_live: Flags) -> Chains:
        """Put rows in, and leave out those that are gone; there may be more chains than needed then."""
        rows = self._sorted(rows)
        classes, (x, y) = self.classes_of(rows), self.keys_of(rows)
        chosen = choose_chains(*chains[:-1], classes, x, y, *self._is_strict)
        return Chains(*merge_chains(*chains, *_by_chain(classes, x, y, rows, *chosen), is_live))

    def _sorted(self, rows: Int64s) -> Int64s:
        """Rows by their class, in it by their first key, and by the second where that is the same.

        The second grows, or falls where rows with the same first key must not follow each other: they then all go to
        different chains (I6; the paper lets it grow always, which is wrong for strict operators).
        """
        turned = self._is_strict[0]
        if len(rows) < _MANY_ROWS or self.second is None:
            x, y = self.keys_of(rows)
            classes = () if self.within is None else (self.classes_of(rows),)
            return rows[np.lexsort((-y if turned else y, x, *classes))]
        one, most_one = self._ranks(self.first[0], rows)
        other, most_other = self._ranks(self.second[0], rows)
        by_other, _ = rows_by_code(most_other - other if turned != self.falls else other, most_other)
        by_one, _ = rows_by_code(one[by_other], most_one)
        rows = rows[by_other[by_one]]
        if self.within is not None:
            rows = rows[rows_by_code(self.classes_of(rows), len(self.keys.table.columns[self.within].dictionary))[0]]
        return np.asarray(rows)

    def _ranks(self, column: int, rows: Int64s) -> tuple[Int32s, int]:
        keys = self.keys.column(column)
        return keys.ranks()[self.keys.table.codes.column_of_rows(column, rows)], keys.known


def _by_chain(classes: Int32s, x: Int64s, y: Int64s, rows: Int64s, chain_of: Int32s, chains: int) -> Chains:
    order, starts = rows_by_code(chain_of, max(0, chains - 1))
    by_chain = classes[order] if len(classes) else classes
    return Chains(starts[: chains + 1], by_chain, x[order], y[order], rows[order].astype(np.int32))
