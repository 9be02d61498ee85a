"""What is kept of the pairs of rows for canonical order dependencies: vectors of signs, with a few pairs each."""

from __future__ import annotations

from typing import NamedTuple

from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.signs import SignVectors, all_columns
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.kept_pairs import KeptSigns, live_pairs, pairs_of_ids
from lawful.tables.living.living_table import LivingTable


class Signs(NamedTuple):
    """How pairs of rows compare: the columns that rise, that fall, and that agree, `uint64[pairs, words]` each."""

    rises: Words
    falls: Words
    agrees: Words

    @staticmethod
    def of(signs: SignVectors, width: int) -> Signs:
        """A sign that is unknown neither rises nor falls, and agrees with nothing."""
        less, greater = signs.less, signs.greater
        return Signs(less & ~greater, greater & ~less, ~(less | greater) & all_columns(width))

    def __len__(self) -> int:
        return len(self.agrees)


class SignWitnesses(KeptSigns):
    """Vectors of signs of a living table, with witnesses."""

    def _begin(self, pairs: Int32s) -> None:
        super()._begin(pairs)
        self._known: Signs | None = None

    @staticmethod
    def from_arrays(table: LivingTable, policy: NullPolicy, arrays: Arrays) -> SignWitnesses:
        """Read what `arrays` gave."""
        return SignWitnesses(table, policy, pairs_of_ids(table, arrays["pairs"]))

    def signs(self) -> Signs:
        """All vectors that are kept, in the order of `first_pairs`."""
        if self._known is None:
            self._known = Signs.of(self._compared().signs(), self._table.width)
        return self._known

    def first_pairs(self) -> Int32s:
        """A pair of rows for each vector, `int32[vectors, 2]`, as its signs have it."""
        return self._compared().pairs[:, 0]

    def drop(self) -> Signs:
        """Let go of pairs that lost a row; return the vectors that have no witness any more."""
        self._waiting = live_pairs(self._table, self._waiting)
        self._known = None
        return Signs.of(self._compared().drop(self._table.is_live), self._table.width)

    def learn(self, pairs: Int32s) -> Signs:
        """Compare pairs of live rows, and keep them; return the vectors that are new."""
        self._learnt.append(pairs)
        self._known = None
        return Signs.of(self._compared().add(pairs), self._table.width)
