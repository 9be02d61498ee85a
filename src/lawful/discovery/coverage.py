"""How interesting a law is: how many pairs of rows its columns cover, so that general laws come before accidental ones.

The coverage of a set of columns X is the sum of the squared sizes of the classes of rows that agree on X, divided by
the square of the number of rows (DISTOD, section 9.1): the chance that two rows drawn at random agree on X. A law with
a left side that hardly any two rows share says little; one that many rows share says much. It never grows when a
column is added.

It is taken from all pairs of a small table and from one fixed sample of a large one, because a table can obey a million
laws. So every family, strategy and seed draws the line of an interest threshold at the same place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.search import unpack_sets
from lawful.search.hitting_sets import Support
from lawful.search.kernels.supersets import count_supersets
from lawful.tables.sample import SampleTable, rows_of_all

_PAIRS = 1 << 16
_SEED = 0
_FEW_SETS = 256
"""So few sets are counted before the kernel that does it for many would be loaded."""


class Coverage:
    """The coverage of sets of columns of one table.

    Parameters
    ----------
    table, policy
        The table, and what null means; where nulls are ignored they agree with nothing.
    columns
        Bit c of every set stands for `columns[c]`.
    """

    def __init__(self, table: RankedTable, policy: NullPolicy, columns: Sequence[int]) -> None:
        self._rows = rows_of_all(table)
        self._alone = 1.0 / max(1, self._rows)  # a row always agrees with itself
        table, left, right = _pairs_of(table)
        self._pairs = left.size
        self._holders: Words = np.zeros((len(columns), -(-left.size // 64)), np.uint64)
        for holders, column in zip(self._holders, columns, strict=True):
            ranks = np.asarray(table.column(column))[left]
            agrees = ranks == np.asarray(table.column(column))[right]
            if policy is NullPolicy.IGNORE:
                agrees &= ranks != NULL_RANK
            bits = np.zeros(8 * holders.size, np.uint8)
            bits[: -(-left.size // 8)] = np.packbits(agrees, bitorder="little")
            holders[:] = bits.view("<u8")

    def support(self, least: float) -> Support:
        """What it takes to have a coverage of at least `least`: how many of the pairs must agree."""
        needed = (least - self._alone) / max(1e-300, 1.0 - self._alone) * self._pairs
        # Rounding must not draw the line elsewhere than `of` does.
        near = range(max(0, math.floor(needed) - 1), math.floor(needed) + 3)
        count = next((count for count in near if self._share(count) >= least), near.stop)
        return Support(self._holders, count)

    def of(self, sets: Words) -> npt.NDArray[np.float64]:
        """The coverage of each set, from 0 to 1."""
        if self._pairs == 0:
            return np.ones(len(sets))
        count = count_few_supersets if len(sets) <= _FEW_SETS else count_supersets
        agreeing = np.minimum(count(sets, self._holders), self._pairs)  # the empty set counts padding too
        covered: npt.NDArray[np.float64] = self._share(agreeing)
        return covered

    def sees(self, interests: npt.NDArray[np.float64]) -> Flags:
        """Whether two rows of the sample agree on the set that has such a coverage."""
        seen: Flags = interests > (self._alone + self._share(1)) / 2.0
        return seen

    @property
    def is_exact(self) -> bool:
        """Whether all pairs of rows were compared."""
        return self._rows * (self._rows - 1) // 2 == self._pairs

    def _share(self, agreeing: Any) -> Any:
        return self._alone + (1.0 - self._alone) * agreeing / max(1, self._pairs)


def count_few_supersets(sets: Words, holders: Words) -> Int64s:
    """The same as `count_supersets`, for few sets."""
    counts = np.empty(len(sets), np.int64)
    for place, columns in enumerate(unpack_sets(sets)):
        held = np.bitwise_and.reduce(holders[list(columns)], axis=0, dtype=np.uint64)
        counts[place] = np.count_nonzero(np.unpackbits(held.view(np.uint8)))
    return counts


def _pairs_of(table: RankedTable) -> tuple[RankedTable, Int32s, Int32s]:
    """The pairs that coverage is taken from, and a table that has them; of a sample, pairs of the whole table."""
    if not isinstance(table, SampleTable):
        return table, *covering_pairs(table.rows)
    ids, places = np.unique(np.concatenate(covering_ids(table.whole.rows)), return_inverse=True)
    left, right = np.split(places.astype(np.int32), 2)
    return table.of_rows(ids), left, right


def covering_pairs(rows: int) -> tuple[Int32s, Int32s]:
    """The pairs of rows that coverage is taken from, the same for every family."""
    left, right = covering_ids(rows)
    return left.astype(np.int32), right.astype(np.int32)


def covering_ids(rows: int) -> tuple[Int64s, Int64s]:
    """The same pairs, of a table of any size."""
    count = rows * (rows - 1) // 2
    if count <= _PAIRS:
        first, second = np.triu_indices(rows, 1)
        return first.astype(np.int64), second.astype(np.int64)
    random = np.random.default_rng(_SEED)
    chosen = random.integers(0, rows, _PAIRS)
    others = (chosen + random.integers(1, rows, _PAIRS)) % rows
    return chosen, others
