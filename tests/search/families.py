"""Random families of sets, and what is true of them by looking at all subsets."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from lawful.common.arrays import Words
from lawful.search import pack_sets, unpack_sets

UNIVERSES = (1, 2, 5, 8, 63, 64, 65, 130, 200)
Sets = list[frozenset[int]]


class Family(NamedTuple):
    universe: int
    columns: list[int]
    sets: Sets

    @property
    def packed(self) -> Words:
        return pack_sets(self.sets, self.universe)


@st.composite
def families(draw: st.DrawFn, max_sets: int = 12, max_columns: int = 8, min_size: int = 0) -> Family:
    """A family over few columns of a small or large universe, often with repeated and nested sets."""
    universe = draw(st.sampled_from(UNIVERSES))
    n_columns = min(universe, max_columns)
    # Columns next to the borders of words matter most.
    near_borders = [c for c in (0, 1, 62, 63, 64, 65, 127, 128, 129, 191, 192, 199) if c < universe]
    columns = draw(
        st.lists(
            st.one_of(st.sampled_from(near_borders), st.integers(0, universe - 1)),
            min_size=1,
            max_size=n_columns,
            unique=True,
        )
    )
    sets = draw(st.lists(st.frozensets(st.sampled_from(columns), min_size=min_size), max_size=max_sets))
    return Family(universe, sorted(columns), sets)


def as_sets(family: Words) -> set[frozenset[int]]:
    """The packed sets as Python sets; none may be there twice."""
    sets = [frozenset(columns) for columns in unpack_sets(family)]
    assert len(set(sets)) == len(sets)
    return set(sets)


def all_subsets(columns: Iterable[int]) -> Sets:
    pool = sorted(columns)
    return [frozenset(x) for x in chain.from_iterable(combinations(pool, k) for k in range(len(pool) + 1))]


def brute_minimal(sets: Iterable[frozenset[int]]) -> set[frozenset[int]]:
    distinct = set(sets)
    return {x for x in distinct if not any(y < x for y in distinct)}


def brute_hitting_sets(edges: Sets, columns: Iterable[int]) -> set[frozenset[int]]:
    return brute_minimal(x for x in all_subsets(columns) if all(x & edge for edge in edges))


def random_edges(seed: int, universe: int, n_edges: int, smallest: int, largest: int) -> Words:
    """Edges too large for looking at all subsets, for tests of one way against another."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(smallest, largest + 1, size=n_edges)
    return pack_sets([rng.choice(universe, size=size, replace=False) for size in sizes], universe)
