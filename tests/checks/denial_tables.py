"""Small tables of whole numbers and denial constraints over them."""

from __future__ import annotations

import numpy as np
import oracle
import pyarrow as pa
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, Cell, Constant, Predicate, columns_of
from lawful.dependencies.laws import OPERATORS
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

Rows = list[tuple[int, ...]]


def encoded(rows: Rows, width: int) -> EncodedTable:
    """Encode rows of whole numbers, 0 for null."""
    columns = {f"c{i}": pa.array([row[i] or None for row in rows], pa.int64()) for i in range(width)}
    return encode_in_process(pa.table(columns), ReadOptions())


@st.composite
def rows_of(draw: st.DrawFn, width: int, max_rows: int = 9) -> Rows:
    """Rows with ties, duplicates and nulls, and values that columns share."""
    tops = [draw(st.sampled_from([1, 2, 3, 9])) for _ in range(width)]
    lowest = [draw(st.sampled_from([0, 1])) for _ in range(width)]
    row = st.tuples(*(st.integers(low, top) for low, top in zip(lowest, tops, strict=True)))
    return draw(st.lists(row, max_size=max_rows))


def predicates(width: int) -> st.SearchStrategy[Predicate]:
    """Comparisons of all kinds: of one column or two, within a row, with a constant."""
    columns, operators, rows = st.integers(0, width - 1), st.sampled_from(OPERATORS), st.sampled_from("ts")
    same = st.builds(lambda c, op: Predicate(Cell("t", c), op, Cell("s", c)), columns, operators)
    across = st.builds(lambda a, op, b: Predicate(Cell("t", a), op, Cell("s", b)), columns, operators, columns)
    constants = st.sampled_from([1, 2, 3, 4.5, 12]).map(Constant)
    constant = st.builds(lambda r, c, op, k: Predicate(Cell(r, c), op, k), rows, columns, operators, constants)
    kinds = [same, same, same, across, constant]
    if width > 1:
        pairs = st.sampled_from([(a, b) for a in range(width) for b in range(width) if a != b])
        within = st.builds(lambda r, ab, op: Predicate(Cell(r, ab[0]), op, Cell(r, ab[1])), rows, pairs, operators)
        kinds.append(within)
    return st.one_of(kinds)


def constraints(width: int, largest: int = 5) -> st.SearchStrategy[DC]:
    return st.lists(predicates(width), max_size=largest).map(lambda chosen: DC(tuple(chosen)))


def same_column_constraints(width: int, largest: int = 5) -> st.SearchStrategy[DC]:
    """Constraints that discovery meets most: at most one comparison a column, no other column, no constant."""
    each = st.one_of(st.none(), st.sampled_from(OPERATORS))
    marks = st.lists(each, min_size=width, max_size=width)

    def made(operators: list[str | None]) -> DC:
        chosen = [Predicate(Cell("t", c), op, Cell("s", c)) for c, op in enumerate(operators) if op is not None]
        return DC(tuple(chosen[:largest]))

    return marks.map(made)


def random_rows(seed: int, rows: int, width: int) -> Rows:
    """More rows than Hypothesis draws well: correlated columns with ties and nulls, so that laws nearly hold."""
    rng = np.random.default_rng(seed)
    base = rng.integers(1, 2 + rows, rows)
    columns = []
    for _ in range(width):
        coarse = base // rng.integers(1, 9) + rng.integers(0, rng.integers(1, 4), rows)
        loose = rng.integers(1, rng.integers(2, 3 + rows), rows)
        column = np.where(rng.random(rows) < rng.choice([0.0, 0.1, 1.0]), loose, coarse)
        column = rows + 9 - column if rng.random() < 0.4 else column
        column[rng.random(rows) < rng.choice([0.0, 0.1])] = 0
        columns.append(column)
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


def violation_matrix(law: DC, rows: Rows, policy: NullPolicy) -> np.ndarray:
    """Which ordered pairs break the law, all pairs at once: the definition for tables too long for the oracle."""
    table = np.array(rows, np.float64) if rows else np.zeros((0, 1 + max(columns_of(law), default=0)))
    broken = ~np.eye(len(rows), dtype=np.bool_)

    def value(side: Cell | Constant) -> np.ndarray | float:
        if isinstance(side, Constant):
            return float(side.value)
        column = table[:, side.column]
        return column[:, None] if side.row == "t" else column[None, :]

    for each in law.predicates:
        broken &= oracle.COMPARE[each.operator](value(each.left), value(each.right))
    if policy is NullPolicy.IGNORE:
        known = (table[:, list(columns_of(law))] != 0).all(axis=1)
        broken &= known[:, None] & known[None, :]
    return broken
