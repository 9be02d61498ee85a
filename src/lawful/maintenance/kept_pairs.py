"""Pairs of rows that a state keeps as witnesses of how rows compare by their order.

Only pairs are saved. How they compare is told by the values, and only once somebody needs to know: who just looks at
the laws of a state sorts no values.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NullPolicy
from lawful.evidence.living.orders import TableKeys
from lawful.evidence.living.orders.witnessed_signs import WitnessedSigns
from lawful.maintenance.durable_files import Arrays
from lawful.tables.living.living_table import LivingTable


def live_pairs(table: LivingTable, pairs: Int32s) -> Int32s:
    """Those pairs that have lost no row."""
    return pairs[table.is_live[pairs].all(axis=1)]


def ids_of_pairs(table: LivingTable, pairs: Int32s) -> Int64s:
    """The ids of the rows of pairs."""
    return table.ids_of(pairs.astype(np.int64).ravel()).reshape(-1, 2)


def pairs_of_ids(table: LivingTable, ids: Int64s) -> Int32s:
    """The pairs of rows with some ids, which are live."""
    rows = table.rows_of(np.array(ids, np.int64).ravel()).reshape(-1, 2)
    assert (rows >= 0).all(), "a pair is saved of which a row is not there"
    return rows.astype(np.int32)


class KeptSigns:
    """Pairs of rows of a living table, by the signs of their values; some pairs for each vector of signs.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    pairs
        Pairs of live rows to begin with, `int32[pairs, 2]`.
    """

    def __init__(self, table: LivingTable, policy: NullPolicy, pairs: Int32s | None = None) -> None:
        self._table, self._policy = table, policy
        self._begin(np.empty((0, 2), np.int32) if pairs is None else pairs)

    def _begin(self, pairs: Int32s) -> None:
        self._waiting = pairs
        self._signs: WitnessedSigns | None = None
        self._learnt: list[Int32s] = []
        self.keys = TableKeys(self._table)
        self._note_orders()

    def __len__(self) -> int:
        """How many vectors are kept."""
        return len(self._compared())

    def _compared(self) -> WitnessedSigns:
        if self._signs is None:
            self._signs = self.aside()
            self._signs.add(self._waiting)
            self._waiting = self._waiting[:0]
        return self._signs

    def aside(self) -> WitnessedSigns:
        """Vectors by themselves, for pairs of which few will be kept."""
        return WitnessedSigns(self.keys, self._policy)

    def follow_orders(self) -> bool:
        """Take in the values that a batch brought; tell whether values that were there have changed their order.

        They do where a column becomes text. Then all is compared anew, and no law is known to hold.
        """
        self._learnt = []
        before = self.keys.ordered
        self.keys.catch_up()
        is_changed = self.keys.ordered != before
        if self._signs is None:
            # Nobody has sorted the values before the batch: what may have changed their order counts as a change.
            is_changed = any(
                known and column.type is not type_
                for column, (type_, known) in zip(self._table.columns, self._orders, strict=True)
            )
        if is_changed:
            self._begin(self._each_live_pair())
        self._note_orders()
        return is_changed

    def _note_orders(self) -> None:
        self._orders = [(column.type, len(column.dictionary)) for column in self._table.columns]

    def logged(self) -> Arrays:
        """The pairs that joined, as ids."""
        return {"pairs": ids_of_pairs(self._table, np.concatenate([self._waiting[:0], *self._learnt]))}

    def replay(self, logged: Arrays) -> None:
        """Drop and add witnesses as a batch did; only of a state that was just read."""
        assert self._signs is None
        joined = pairs_of_ids(self._table, logged["pairs"])
        self._waiting = np.concatenate([live_pairs(self._table, self._waiting), joined])
        self._note_orders()

    def arrays(self) -> Arrays:
        """All pairs, as ids."""
        return {"pairs": ids_of_pairs(self._table, self._each_live_pair())}

    def differences(self) -> list[str]:
        """Whether every pair that is kept has the signs that it is kept for."""
        kept, anew = self._compared(), WitnessedSigns(TableKeys(self._table), self._policy)
        anew.add(kept.each_pair())
        return [] if anew.same_as(kept) else ["a vector of signs is kept that its witnesses do not have"]

    def _each_live_pair(self) -> Int32s:
        return live_pairs(self._table, self._waiting if self._signs is None else self._signs.each_pair())
