from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lawful.search import (
    distinct_sets,
    full_set,
    minimal_sets,
    pack_set,
    pack_sets,
    set_sizes,
    sorted_sets,
    unpack_set,
    unpack_sets,
    words_for,
)
from lawful.search.sets import as_family, sets_without
from tests.search.families import Family, as_sets, brute_minimal, families, random_edges


@pytest.mark.parametrize(("universe", "words"), [(0, 1), (1, 1), (64, 1), (65, 2), (128, 2), (200, 4)])
def test_words_for(universe: int, words: int) -> None:
    assert words_for(universe) == words


@given(families())
def test_unpacking_is_the_inverse_of_packing(family: Family) -> None:
    packed = family.packed
    assert packed.shape == (len(family.sets), words_for(family.universe))
    assert unpack_sets(packed) == [tuple(sorted(x)) for x in family.sets]
    assert set_sizes(packed).tolist() == [len(x) for x in family.sets]


def test_bits_lie_where_the_layout_says() -> None:
    packed = pack_set([0, 63, 64, 129], 130)
    assert packed.tolist() == [1 | 1 << 63, 1, 2]
    assert unpack_set(full_set(130)) == tuple(range(130))


def test_a_column_outside_of_the_universe_is_refused() -> None:
    with pytest.raises(IndexError, match="0 to 9"):
        pack_sets([[3], [10]], 10)


def test_a_family_has_two_dimensions() -> None:
    with pytest.raises(ValueError, match="shape"):
        as_family(pack_set([1], 10))


@given(families(max_sets=30))
def test_minimal_and_distinct(family: Family) -> None:
    assert as_sets(minimal_sets(family.packed)) == brute_minimal(family.sets)
    assert as_sets(distinct_sets(family.packed)) == set(family.sets)
    assert sorted(unpack_sets(sorted_sets(family.packed))) == sorted(tuple(sorted(x)) for x in family.sets)


@given(families(max_sets=20), families(max_sets=20))
def test_sets_without_is_a_difference(family: Family, other: Family) -> None:
    universe = max(family.universe, other.universe)
    left, right = set(family.sets), set(other.sets)
    difference = sets_without(pack_sets(left, universe), pack_sets(right, universe))
    assert as_sets(difference) == left - right


@pytest.mark.parametrize("universe", [14, 70])
def test_minimal_sets_of_more_than_one_index_block(universe: int) -> None:
    family = random_edges(1, universe, 4000, 3, 7)
    minimal = minimal_sets(family)
    assert as_sets(minimal) == _minimal_by_scan(family)
    assert (np.diff(set_sizes(minimal)) >= 0).all()


def _minimal_by_scan(family: np.ndarray) -> set[frozenset[int]]:
    distinct = np.unique(family, axis=0)
    minimal = [x for x in distinct if not ((~x & distinct == 0).all(axis=1) & (x != distinct).any(axis=1)).any()]
    return as_sets(np.array(minimal))
