"""What a sample of the table says of two columns: how they go together, and how selective comparisons are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Flags, Floats, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies.laws import Operator
from lawful.evidence.living.orders.fetches import Fetch
from lawful.evidence.living.orders.order_keys import TableKeys

_ROWS = 1024
_PAIRS = 4096
_UNKNOWN = 2
"""The sign of a comparison with a null that is ignored: no operator has it."""
_SIGNS: dict[Operator, tuple[int, ...]] = {
    "<": (-1,),
    "<=": (-1, 0),
    ">": (1,),
    ">=": (1, 0),
    "=": (0,),
    "!=": (-1, 1),
}


def correlation(one: Floats, other: Floats) -> float:
    """Pearson's r, 0 where a column is constant or there are no rows (I9: the paper's formula lacks the factors n)."""
    if not len(one):
        return 0.0
    one, other = one - one.mean(), other - other.mean()
    spread = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / spread if spread > 0 else 0.0


class SampledPairs:
    """Random rows of a table, and random pairs of its rows; the same for the same table."""

    def __init__(self, keys: TableKeys, policy: NullPolicy, seed: int = 0) -> None:
        self._keys, self._policy = keys, policy
        generator = np.random.default_rng(seed)
        live = keys.table.live_rows()
        self._rows: Int64s = generator.permutation(live)[:_ROWS]
        self._left, self._right = (
            generator.choice(live, _PAIRS if len(live) > 1 else 0, shuffle=False) for _ in range(2)
        )
        apart = self._left != self._right
        self._left, self._right = self._left[apart], self._right[apart]
        self._signs: dict[int, npt.NDArray[np.int8]] = {}
        self._satisfied: dict[tuple[int, Operator], Flags] = {}

    def correlation(self, one: int, other: int) -> float:
        """The correlation of the *ranks* that two columns have in the sample, of rows with both values.

        The paper takes the values. How many chains an index needs depends on their order alone, an outlier decides
        about the correlation of values, and texts have none.
        """
        rows = self._rows
        if self._policy is NullPolicy.IGNORE:
            codes = [self._keys.table.codes.column_of_rows(column, rows) for column in (one, other)]
            rows = rows[(codes[0] != NULL_RANK) & (codes[1] != NULL_RANK)]
        ranks = [np.unique(self._keys.of_rows(column, rows), return_inverse=True)[1] for column in (one, other)]
        return correlation(ranks[0].ravel().astype(np.float64), ranks[1].ravel().astype(np.float64))

    def distinct_share(self, column: int) -> float:
        """How many distinct values a column has in the sample, as a share of its rows."""
        codes = self._keys.table.codes.column_of_rows(column, self._rows)
        return len(np.unique(codes)) / len(codes) if len(codes) else 1.0

    def finds(self, fetch: Fetch) -> Flags:
        """Which of the sampled pairs a fetch finds, in either order of their rows."""
        return self._satisfies(fetch) | self._satisfies(fetch.mirrored())

    def share(self, fetches: Iterable[Fetch]) -> float:
        """The share of the sampled pairs that some fetches find."""
        found = np.zeros(len(self._left), np.bool_)
        for fetch in fetches:
            found |= self.finds(fetch)
        return float(found.mean()) if len(found) else 0.0

    def _satisfies(self, fetch: Fetch) -> Flags:
        satisfied = self._satisfying(fetch.first, fetch.first_op)
        if fetch.within is not None:
            satisfied = satisfied & self._satisfying(fetch.within, "=")
        if fetch.second is None or fetch.second_op is None:
            return satisfied
        return satisfied & self._satisfying(fetch.second, fetch.second_op)

    def _satisfying(self, column: int, operator: Operator) -> Flags:
        if (column, operator) not in self._satisfied:
            self._satisfied[column, operator] = np.isin(self._sign(column), _SIGNS[operator])
        return self._satisfied[column, operator]

    def _sign(self, column: int) -> npt.NDArray[np.int8]:
        if column not in self._signs:
            one, other = (self._keys.of_rows(column, rows) for rows in (self._left, self._right))
            signs = (one > other).astype(np.int8) - (one < other).astype(np.int8)
            if self._policy is NullPolicy.IGNORE:
                for rows in (self._left, self._right):
                    signs[self._keys.table.codes.column_of_rows(column, rows) == NULL_RANK] = _UNKNOWN
            self._signs[column] = signs
        return self._signs[column]
