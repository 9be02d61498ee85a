"""Small tables with laws that really hold on them, and what their ORDER BY means: by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from checks.tables import laws_over, tables, with_twins
from hypothesis import strategies as st
from oracle import holds

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, ListOD
from lawful.rewriting.orders import Term, Terms

Rows = list[tuple[int, ...]]
"""Rows of ranks, 0 for null."""


@st.composite
def rows_and_width(draw: st.DrawFn, max_rows: int = 7, max_width: int = 4) -> tuple[Rows, int]:
    """Tables in which order dependencies are not rare: some columns are others turned around or made coarser."""
    table = with_twins(draw(tables(max_rows=max_rows, max_width=max_width - 1)), draw)
    rows = [row[:max_width] for row in table.as_rows()]
    width = min(table.width, max_width)
    coarse = draw(st.lists(st.integers(0, width - 1), max_size=2))
    for column in coarse:
        other = draw(st.integers(0, width - 1))
        rows = [(*row[:other], (row[column] + 1) // 2, *row[other + 1 :]) for row in rows]
    return rows, width


def true_set_laws(rows: Rows, width: int) -> list[Law]:
    """Every key, FD and canonical order dependency that holds."""
    return [law for law in laws_over(width, largest=width) if holds(law, rows, NullPolicy.EQUAL)]


def true_list_laws(rows: Rows, width: int, largest: int = 2) -> list[Law]:
    """Every list-based order dependency between short lists without a common column that holds."""
    found: list[Law] = []
    for size in range(2, min(2 * largest, width) + 1):
        for columns in permutations(range(width), size):
            for directions in product(("asc", "desc"), repeat=size):
                marked = tuple(zip(columns, directions, strict=True))
                for cut in range(max(1, size - largest), min(largest, size - 1) + 1):
                    law = ListOD(marked[:cut], marked[cut:])
                    if holds(law, rows, NullPolicy.EQUAL):
                        found.append(law)
    return found


def terms_over(width: int, largest: int = 3) -> st.SearchStrategy[Terms]:
    """Lists of terms, nulls as the largest value among them."""
    term = st.builds(Term, st.integers(0, width - 1), st.sampled_from(["asc", "desc"]), st.booleans())
    return st.lists(term, min_size=1, max_size=largest).map(tuple)


def sort_key(row: Sequence[int], terms: Terms) -> tuple[int, ...]:
    """A key by which sorted() does what ORDER BY does."""
    key = []
    for term in terms:
        value = row[term.column]
        value = 1_000 if value == 0 and term.nulls_high else value
        key.append(value if term.direction == "asc" else -value)
    return tuple(key)


def really_orders(rows: Rows, first: Terms, second: Terms) -> bool:
    """Whether rows sorted by the first list are sorted by the second, however ties are broken."""
    return all(
        sort_key(t, second) <= sort_key(s, second)
        for t, s in permutations(rows, 2)
        if sort_key(t, first) <= sort_key(s, first)
    )


def really_alike(rows: Rows, first: Terms, second: Terms) -> bool:
    return really_orders(rows, first, second) and really_orders(rows, second, first)
