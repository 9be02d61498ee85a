"""Small tables, and what their pairs of rows say, by looking at every pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.evidence import AgreeSets, RowMatrix
from lawful.evidence.signs import compared_words

POLICIES = st.sampled_from(NullPolicy)
WIDTHS = (1, 16, 17, 31, 32, 33, 63, 64, 65, 130)
"""Around every border: of a byte, of a direct table, of a piece of a row and of a word."""

Signs = tuple[str, ...]
Known = tuple[int, int]
"""The bits of the columns that agree and of those that are known to differ."""


class ArrayTable:
    """A ranked table over plain arrays, read-only as memory maps are."""

    def __init__(self, columns: Sequence[np.ndarray], rows: int | None = None) -> None:
        self._columns = [np.ascontiguousarray(column, dtype=np.int32) for column in columns]
        for column in self._columns:
            column.flags.writeable = False
        self.rows = self._columns[0].size if rows is None else rows
        self.width = len(self._columns)

    def column(self, i: int, /) -> np.ndarray:
        return self._columns[i]

    def distinct(self, i: int, /) -> int:
        return int(np.unique(self._columns[i][self._columns[i] > 0]).size)


def ranked(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Rank the values densely from 1 on, in their order; 0 stays 0."""
    values = np.asarray(values)
    present = np.unique(values[values != 0])
    return np.where(values == 0, 0, np.searchsorted(present, values) + 1).astype(np.int32)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 9, max_width: int = 6) -> ArrayTable:
    """Tables with ties, duplicates, nulls, constants, empty and unique columns, down to no rows at all."""
    rows = draw(st.integers(0, max_rows))
    columns = []
    for _ in range(draw(st.integers(1, max_width))):
        lowest = draw(st.sampled_from([0, 1]))
        highest = draw(st.sampled_from([lowest, 1, 2, 3, max_rows]))
        columns.append(ranked(draw(st.lists(st.integers(lowest, highest), min_size=rows, max_size=rows))))
        if draw(st.integers(0, 9)) == 0:
            columns[-1] = np.arange(1, rows + 1)
    return ArrayTable(columns)


def random_table(seed: int, rows: int, width: int) -> ArrayTable:
    """A table with columns of every kind."""
    generator = np.random.default_rng(seed)
    columns = []
    for _ in range(width):
        highest = int(generator.choice([1, 2, 3, 5, rows]))
        columns.append(ranked(generator.integers(generator.integers(0, 2), highest + 1, rows)))
    return ArrayTable(columns)


def signs_of(table: ArrayTable, t: int, s: int, policy: NullPolicy, columns: Sequence[int] | None = None) -> Signs:
    signs = []
    for c in range(table.width) if columns is None else columns:
        one, other = int(table.column(c)[t]), int(table.column(c)[s])
        if policy is NullPolicy.IGNORE and 0 in (one, other):
            signs.append("?")
        else:
            signs.append("<" if one < other else ">" if one > other else "=")
    return tuple(signs)


def known(signs: Signs) -> Known:
    agree = sum(1 << c for c, sign in enumerate(signs) if sign == "=")
    differ = sum(1 << c for c, sign in enumerate(signs) if sign in "<>")
    return agree, differ


def all_pairs(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of rows, both ways round."""
    pairs = np.array(list(permutations(range(rows), 2)), np.int32).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def every_pair(table: ArrayTable, policy: NullPolicy, columns: Sequence[int] | None = None) -> Iterator[Signs]:
    for t, s in combinations(range(table.rows), 2):
        yield signs_of(table, t, s, policy, columns)


def brute_agree(table: ArrayTable, policy: NullPolicy, columns: Sequence[int] | None = None) -> Counter[Known]:
    return Counter(known(signs) for signs in every_pair(table, policy, columns))


def as_numbers(words: np.ndarray) -> list[int]:
    assert words.dtype == np.uint64
    assert words.flags.c_contiguous
    return [sum(int(word) << (64 * w) for w, word in enumerate(row)) for row in words]


def as_known(agree: np.ndarray, differ: np.ndarray) -> list[Known]:
    return list(zip(as_numbers(agree), as_numbers(differ), strict=True))


def compared_signs(table: ArrayTable, left: np.ndarray, right: np.ndarray, policy: NullPolicy) -> list[Signs]:
    """The signs of pairs as the kernels of a pool with swaps tell them."""
    matrix = RowMatrix.of(table)
    words = compared_words(matrix, left, right, policy, signs=True)
    less, greater = (as_numbers(np.ascontiguousarray(plane.T)) for plane in np.split(words, 2))
    letters = {(0, 0): "=", (1, 0): "<", (0, 1): ">", (1, 1): "?"}
    return [
        tuple(letters[one >> c & 1, other >> c & 1] for c in range(table.width))
        for one, other in zip(less, greater, strict=True)
    ]


def same_agree(one: AgreeSets, other: AgreeSets) -> bool:
    return (
        np.array_equal(one.agree, other.agree)
        and np.array_equal(one.differ, other.differ)
        and np.array_equal(one.witnesses, other.witnesses)
        and ((one.counts is None and other.counts is None) or np.array_equal(one.counts, other.counts))
    )
