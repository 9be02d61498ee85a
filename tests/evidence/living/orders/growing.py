"""Living tables of small numbers and nulls that grow and shrink, and what comparisons mean on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies.laws import POD, Operator
from lawful.tables.living.canonical import canonical_values
from lawful.tables.living.living_table import LivingTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

Cell = int | None
Row = tuple[Cell, ...]

MEANINGS: dict[Operator, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
ORDERS: tuple[Operator, ...] = ("<", "<=", ">", ">=")


def cells(values: int, nulls: bool = True) -> st.SearchStrategy[Cell]:
    """Few values, so that there are ties and duplicates; -1 to -values too, which come in front of what was there."""
    numbers = st.integers(-values, values)
    return st.one_of(st.none(), numbers) if nulls else numbers


class Growing:
    """A living table of integers with the values of all of its rows."""

    def __init__(self, rows: Sequence[Row], width: int) -> None:
        columns = [pa.array([row[column] for row in rows], pa.int64()) for column in range(width)]
        arrow = pa.Table.from_arrays(columns, [f"c{column}" for column in range(width)])
        self.table = LivingTable.of(encode_arrow(arrow, ReadOptions(), "growing"))
        for living in self.table.columns:
            living.type = ColumnType.INTEGER  # also of columns that have no value yet
        self.rows = list(rows)

    def change(self, come: Sequence[Row], gone: Sequence[int] = ()) -> np.ndarray:
        """Let rows leave and others come; return the numbers of the new ones."""
        codes = np.empty((self.table.width, len(come)), np.int32)
        for column, living in enumerate(self.table.columns):
            values = pa.array([row[column] for row in come], pa.int64())
            codes[column] = living.dictionary.add(canonical_values(values, living.type).texts)
        new = self.table.change(np.array(gone, np.int64), codes)
        self.rows += come
        return np.arange(new.start, new.stop)

    @property
    def live(self) -> list[int]:
        """The numbers of the rows that are there."""
        return self.table.live_rows().tolist()

    def holds(self, one: int, op: Operator, other: int, column: int, policy: NullPolicy) -> bool:
        """Whether a comparison of two rows holds: null is the smallest value, or satisfies nothing."""
        left, right = self.rows[one][column], self.rows[other][column]
        if policy is NullPolicy.IGNORE and (left is None or right is None):
            return False
        return MEANINGS[op](*(-np.inf if value is None else value for value in (left, right)))

    def breaks(self, pod: POD, one: int, other: int, policy: NullPolicy) -> bool:
        """Whether an ordered pair of rows breaks a POD."""
        columns = [*(column for column, _ in pod.lhs), pod.rhs[0]]
        if policy is NullPolicy.IGNORE and any(self.rows[row][c] is None for row in (one, other) for c in columns):
            return False
        satisfies = all(self.holds(one, op, other, column, policy) for column, op in pod.lhs)
        return satisfies and not self.holds(one, pod.rhs[1], other, pod.rhs[0], policy)


@st.composite
def histories(draw: st.DrawFn, width: int = 2, most: int = 12) -> tuple[list[Row], list[tuple[list[Row], int]]]:
    """First rows, and batches of rows with a number: every so many-th live row leaves before, none if it is 0."""
    values = draw(st.sampled_from([1, 2, 4, 30]))
    rows = st.lists(st.tuples(*[cells(values, draw(st.booleans())) for _ in range(width)]), max_size=most)
    batches = st.lists(st.tuples(rows, st.sampled_from([0, 0, 1, 2, 5])), max_size=4)
    return draw(rows), draw(batches)
