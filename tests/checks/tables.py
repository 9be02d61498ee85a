"""Small random tables of ranks, and the laws to try on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law, LawForm, register_form
from lawful.dependencies.forms import forget_form

POLICIES = st.sampled_from(NullPolicy)


@dataclass(frozen=True)
class Unchecked:
    """A law of a family that has a form and no checks."""

    column: int


@contextmanager
def unchecked_kind() -> Iterator[Any]:
    """A law that can be written down and not be checked."""
    register_form(
        LawForm(
            "unchecked",
            ("unchecked law", "unchecked laws"),
            Unchecked,
            columns=lambda law: (law.column,),
            text=lambda law, names: f"unchecked({names[law.column]})",
            fields=lambda law, names: {},
            read=lambda reader, document: Unchecked(0),
        )
    )
    try:
        yield Unchecked(0)
    finally:
        forget_form("unchecked")


class ArrayTable:
    """A ranked table over plain arrays, read-only as memory maps are."""

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        self._columns = [np.ascontiguousarray(column, dtype=np.int32) for column in columns]
        for column in self._columns:
            column.flags.writeable = False
        self.rows = self._columns[0].size
        self.width = len(self._columns)

    def column(self, i: int) -> np.ndarray:
        return self._columns[i]

    def distinct(self, i: int) -> int:
        return int(self._columns[i].max(initial=0))

    def as_rows(self) -> list[tuple[int, ...]]:
        return [tuple(map(int, row)) for row in zip(*self._columns, strict=True)]


def ranked(values: Sequence[int]) -> np.ndarray:
    """Rank the values densely from 1 on, in their order; 0 stays 0."""
    present = sorted({value for value in values if value != 0})
    ranks = {value: rank for rank, value in enumerate(present, start=1)} | {0: 0}
    return np.array([ranks[value] for value in values], np.int32)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 9, max_width: int = 5, min_width: int = 1) -> ArrayTable:
    """Tables with ties, duplicates, nulls, constants and unique columns, down to no rows at all."""
    rows = draw(st.integers(0, max_rows))
    width = draw(st.integers(min_width, max_width))
    columns = []
    for _ in range(width):
        lowest = draw(st.sampled_from([0, 1]))
        highest = draw(st.sampled_from([1, 2, 3, max_rows]))
        columns.append(ranked(draw(st.lists(st.integers(lowest, highest), min_size=rows, max_size=rows))))
    return ArrayTable(columns)


def with_twins(table: ArrayTable, draw: st.DrawFn) -> ArrayTable:
    """The same table with some columns repeated under other names, and others turned around."""
    columns = [table.column(i) for i in range(table.width)]
    for i in draw(st.lists(st.integers(0, table.width - 1), max_size=3)):
        column = columns[i]
        turned = np.where(column == 0, 0, column.max(initial=0) + 1 - column)
        columns.append(draw(st.sampled_from([column, turned.astype(np.int32)])))
    return ArrayTable(columns)


def subsets(columns: Sequence[int], largest: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(largest + 1) for chosen in combinations(columns, size)]


def laws_over(width: int, largest: int = 3) -> list[Law]:
    """Every key, functional dependency and canonical order dependency up to a size of the left side."""
    columns = range(width)
    laws: list[Law] = [Key(chosen) for chosen in subsets(columns, largest)]
    for rhs in columns:
        others = [column for column in columns if column != rhs]
        laws.extend(FD(lhs, rhs) for lhs in subsets(others, largest))
    for left, right in combinations(columns, 2):
        others = [column for column in columns if column not in (left, right)]
        for context in subsets(others, largest - 1):
            laws.append(CanonicalOD(context, left, right, "asc"))
            laws.append(CanonicalOD(context, left, right, "desc"))
    return laws


def large_table(seed: int, rows: int) -> ArrayTable:
    """A table with classes of all sizes, near-sorted columns and few swaps, to reach every path."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 50, rows)
    rising = np.arange(rows) + rng.integers(0, 3, rows)
    columns = [
        rng.integers(1, 4, rows),
        base,
        base // 7 + (rng.random(rows) < 0.02),
        rising,
        np.maximum(rising - rng.integers(0, 2, rows), 0) * (rng.random(rows) > 0.1),
        rng.integers(0, rows // 2 + 1, rows),
        rising // 30,
        (rows - rising) // 30 + 1,
    ]
    return ArrayTable([ranked(column.tolist()) for column in columns])
