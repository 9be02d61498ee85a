from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.arrays import Words
from lawful.search import (
    HittingSets,
    HittingSetSearch,
    minimal_hitting_sets,
    minimal_sets,
    pack_set,
    pack_sets,
    sorted_sets,
)
from lawful.search.sets import sets_without
from tests.search.families import Family, Sets, as_sets, brute_hitting_sets, families, random_edges


def add_and_compare(maintained: HittingSets, batch: Words) -> None:
    """Add a batch, and see that the change that is reported is the change that happens."""
    before = as_sets(maintained.solutions)
    change = maintained.add_edges(batch)
    removed, added = as_sets(change.removed), as_sets(change.added)
    assert removed <= before
    assert not added & before
    assert as_sets(maintained.solutions) == (before - removed) | added


@given(families(), st.integers(1, 12), st.none() | st.integers(0, 5), st.booleans())
def test_any_split_into_batches_gives_the_same(
    family: Family, batch: int, max_size: int | None, never_start_again: bool
) -> None:
    maintained = HittingSets(family.universe, max_size=max_size)
    maintained.FREE_STEPS = 1 << 30 if never_start_again else 0
    for start in range(0, len(family.sets), batch):
        add_and_compare(maintained, family.packed[start : start + batch])
        seen = brute_hitting_sets(family.sets[: start + batch], family.columns)
        assert as_sets(maintained.solutions) == {x for x in seen if max_size is None or len(x) <= max_size}
        assert len(maintained) == len(maintained.solutions)


def changing_edges(family: Family, kept: list[list[bool]]) -> list[Sets]:
    """Some of the sets of a family, others every time."""
    return [[members for members, chosen in zip(family.sets, flags, strict=True) if chosen] for flags in kept]


choices = families().flatmap(
    lambda family: st.tuples(
        st.just(family),
        st.lists(st.lists(st.booleans(), min_size=len(family.sets), max_size=len(family.sets)), max_size=6),
    )
)


@given(choices, st.none() | st.integers(0, 5), st.sampled_from([0, HittingSets.FREE_STEPS, 1 << 30]), st.booleans())
def test_edges_that_come_and_go(
    chosen: tuple[Family, list[list[bool]]], max_size: int | None, free_steps: int, say_all: bool
) -> None:
    family, kept = chosen
    maintained = HittingSets(family.universe, max_size=max_size)
    maintained.FREE_STEPS = free_steps
    for sets in changing_edges(family, kept):
        edges = minimal_sets(pack_sets(sets, family.universe))
        before = as_sets(maintained.solutions)
        if say_all:
            change = maintained.update(family.packed, edges)
        else:
            change = maintained.update(sets_without(maintained.edges, edges), sets_without(edges, maintained.edges))
        expected = {x for x in brute_hitting_sets(sets, family.columns) if max_size is None or len(x) <= max_size}
        assert as_sets(maintained.solutions) == expected
        assert as_sets(maintained.edges) == as_sets(edges)
        assert as_sets(change.removed) == before - expected
        assert as_sets(change.added) == expected - before


@given(families(), families(), st.none() | st.integers(0, 4))
def test_a_search_for_what_misses_a_set(family: Family, other: Family, max_size: int | None) -> None:
    missing = [frozenset(c for c in members if c < family.universe) for members in other.sets]
    search = HittingSetSearch(family.packed, max_size=max_size, missing=pack_sets(missing, family.universe))
    found = family.packed[:0]
    while not search.finished:
        found = np.concatenate([found, search.advance(2, 1)])
    assert as_sets(found) == {
        x
        for x in brute_hitting_sets(family.sets, family.columns)
        if not all(x & members for members in missing) and (max_size is None or len(x) <= max_size)
    }


@pytest.mark.parametrize("free_steps", [0, HittingSets.FREE_STEPS, 1 << 30])
@pytest.mark.parametrize("universe", [24, 90])
def test_many_exchanges_of_many_edges(universe: int, free_steps: int) -> None:
    edges = random_edges(6, universe, 150, 9, 14) if universe < 64 else random_edges(7, universe, 12, 2, 4)
    width = len(edges) * 2 // 3
    maintained = HittingSets(universe)
    maintained.FREE_STEPS = free_steps
    for start in range(0, len(edges) - width, 3):
        now = minimal_sets(edges[start : start + width])
        maintained.update(sets_without(maintained.edges, now), sets_without(now, maintained.edges))
        assert np.array_equal(sorted_sets(maintained.solutions), sorted_sets(minimal_hitting_sets(now)))
    known = HittingSets.known(universe, now, maintained.solutions, maintained.nodes_per_solution)
    known.update(now[:5], now[:0])
    assert np.array_equal(sorted_sets(known.solutions), sorted_sets(minimal_hitting_sets(now[5:])))


def test_it_begins_with_the_empty_set_and_ends_with_an_empty_edge() -> None:
    maintained = HittingSets(70)
    assert as_sets(maintained.solutions) == {frozenset()}
    assert not len(maintained.add_edges(pack_sets([], 70)).added)
    change = maintained.add_edges(pack_sets([[1, 69]], 70))
    assert as_sets(change.removed) == {frozenset()}
    assert as_sets(change.added) == {frozenset([1]), frozenset([69])}
    assert len(maintained.add_edges(pack_sets([[]], 70)).removed) == 2
    assert not len(maintained.add_edges(pack_sets([[3]], 70)).added)
    assert not len(maintained)


@pytest.mark.parametrize("free_steps", [0, HittingSets.FREE_STEPS, 1 << 30])
@pytest.mark.parametrize(("universe", "batch"), [(24, 1), (24, 37), (90, 5)])
def test_many_updates_of_many_solutions(universe: int, batch: int, free_steps: int) -> None:
    edges = random_edges(6, universe, 110, 9, 14) if universe < 64 else random_edges(7, universe, 9, 2, 4)
    maintained = HittingSets(universe)
    maintained.FREE_STEPS = free_steps
    for start in range(0, len(edges), batch):
        maintained.add_edges(edges[start : start + batch])
    expected = sorted_sets(minimal_hitting_sets(edges))
    assert np.array_equal(sorted_sets(maintained.solutions), expected)


@pytest.mark.parametrize("free_steps", [0, 1 << 30])
@pytest.mark.parametrize("looks", [0, 1])
def test_an_interrupted_update_changes_nothing(free_steps: int, looks: int) -> None:
    edges = minimal_sets(random_edges(10, 30, 40, 4, 9))
    maintained = HittingSets(30)
    maintained.FREE_STEPS = free_steps
    maintained.add_edges(edges[:-10])
    before = as_sets(maintained.solutions)
    left = looks

    def look() -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1

    with pytest.raises(KeyboardInterrupt):
        maintained.update(edges[:10], edges[-10:], look)
    assert as_sets(maintained.solutions) == before
    assert as_sets(minimal_hitting_sets(maintained.edges)) == before
    maintained.update(edges[5:15], edges[-5:])
    now = np.concatenate([edges[:5], edges[15:-10], edges[-5:]])
    assert as_sets(maintained.edges) == as_sets(now)
    assert np.array_equal(sorted_sets(maintained.solutions), sorted_sets(minimal_hitting_sets(now)))


def test_edges_that_others_make_redundant_are_dropped() -> None:
    maintained = HittingSets(200)
    maintained.FREE_STEPS = 1 << 30
    for size in range(200, 0, -1):
        maintained.add_edges(pack_sets([range(200 - size, 200)], 200))
        assert len(maintained.edges) == 1
    assert as_sets(maintained.solutions) == {frozenset([199])}


def test_edges_that_tell_nothing_new_are_not_kept() -> None:
    edges = random_edges(8, 30, 200, 4, 12)
    maintained = HittingSets(30)
    maintained.add_edges(edges)
    kept = len(maintained.edges)
    assert as_sets(maintained.edges) == as_sets(minimal_sets(edges))
    change = maintained.add_edges(edges | pack_set([0, 7], 30))
    assert not len(change.removed)
    assert not len(change.added)
    assert len(maintained.edges) == kept
