"""Tables that change, for tests: batches of tiny rows, and what a right answer is after each."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import oracle
import pyarrow as pa
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key, Law
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.tables.living.incoming import Incoming, match_columns
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

Row = tuple[int | None, ...]
_numbers = itertools.count()


def rows_of(width: int, most: int, values: int = 3) -> st.SearchStrategy[list[Row]]:
    """Rows of small numbers and nulls; later batches bring values in front of and between those that were there."""
    cell = st.one_of(st.none(), st.integers(-values, values))
    return st.lists(st.tuples(*[cell] * width), max_size=most)


@st.composite
def changes(draw: st.DrawFn, width: int, most: int = 5) -> tuple[list[Row], list[tuple[list[Row], float]]]:
    """First rows, and batches: rows to insert with the share of the rows that are deleted before."""
    first = draw(rows_of(width, 7))
    shares = st.sampled_from([0.0, 0.0, 0.3, 0.6, 1.0])
    return first, draw(st.lists(st.tuples(rows_of(width, most), shares), min_size=1, max_size=4))


def names_of(width: int) -> list[str]:
    """The names of the columns of a test."""
    return [f"c{column}" for column in range(width)]


def arrow_of(rows: Sequence[Row], width: int) -> pa.Table:
    """Rows as an Arrow table of integers."""
    columns = [pa.array([row[column] for row in rows], pa.int64()) for column in range(width)]
    return pa.Table.from_arrays(columns, names_of(width))


def incoming(state: LivingState, rows: Sequence[Row]) -> Incoming:
    """Rows as a batch brings them."""
    batch = encode_arrow(arrow_of(rows, state.table.width), ReadOptions(), "batch")
    return Incoming(batch, np.arange(batch.rows), match_columns(state.table, batch))


def make_state(
    folder: Path, rows: Sequence[Row], width: int, settings: StateSettings, pins: Sequence[Law] = ()
) -> LivingState:
    """A state of some rows in a new folder."""
    table = encode_arrow(arrow_of(rows, width), ReadOptions(), "changing")
    return LivingState.create(folder, table, settings, pins, LocalEngine, Watch())


def apply(state: LivingState, inserts: Sequence[Row], deletes: Sequence[Row], batch: str | None = None) -> Applied:
    """Apply a batch of rows, told apart by value."""
    changed = Batch(
        batch or f"batch {next(_numbers)}",
        incoming(state, inserts) if inserts else None,
        incoming(state, deletes) if deletes else None,
    )
    return state.apply(changed, lambda: LocalEngine(threads=1), Watch())


def rows_in(state: LivingState) -> list[Row]:
    """The live rows of a state, as values."""
    numbers = state.table.live_rows()
    columns = [state.table.texts(numbers, column).to_pylist() for column in range(state.table.width)]
    return [tuple(None if text is None else int(text) for text in row) for row in zip(*columns, strict=True)]


def as_ranks(rows: Sequence[Row], width: int) -> list[tuple[int, ...]]:
    """Rows as the oracle takes them."""
    ranks = []
    for column in range(width):
        values = sorted({row[column] for row in rows} - {None})
        ranks.append({None: 0} | {value: rank for rank, value in enumerate(values, 1)})
    return [tuple(ranks[column][row[column]] for column in range(width)) for row in rows]


def laws_in(state: LivingState) -> list[Law]:
    """The laws of a state."""
    return [law for block in state.laws.blocks() for law in block.laws()]


def expected_laws(rows: Sequence[Row], width: int, policy: NullPolicy, largest: int | None = None) -> set[Key | FD]:
    """The minimal keys and FDs by brute force."""
    table = as_ranks(rows, width)
    keys = oracle.minimal_keys(table, width, policy, largest=largest)
    return {*keys, *oracle.minimal_fds(table, width, policy, largest=largest)}


def multiset(rows: Sequence[Row]) -> Counter[Row]:
    """Rows without their order."""
    return Counter(rows)


def taken(rows: list[Row], share: float) -> list[Row]:
    """Some of the rows, all over the table."""
    if not share:
        return []
    step = max(1, round(1 / share))
    return rows[::step]
