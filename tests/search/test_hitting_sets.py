from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.arrays import Words
from lawful.search import (
    HittingSetSearch,
    easy_hitting_sets,
    full_set,
    iterate_hitting_sets,
    minimal_hitting_sets,
    minimal_sets,
    pack_set,
    pack_sets,
    set_sizes,
    sorted_sets,
)
from lawful.search.hitting_sets import BITMAP_AT_ONCE, BITMAP_COLUMNS, Method
from tests.search.families import Family, as_sets, brute_hitting_sets, families, random_edges

METHODS: tuple[Method, ...] = ("auto", "bitmap", "search")


@given(families())
def test_every_way_finds_what_brute_force_finds(family: Family) -> None:
    expected = brute_hitting_sets(family.sets, family.columns)
    for method in METHODS:
        assert as_sets(minimal_hitting_sets(family.packed, method=method)) == expected
        promised = minimal_hitting_sets(family.packed, method=method, edges_are_minimal=True)
        assert as_sets(promised) == expected


@given(st.sampled_from([5, 64, 65, 130]), st.integers(0, 8), st.data())
def test_many_families_at_once(universe: int, max_size: int, data: st.DataObject) -> None:
    columns = [c for c in (0, 1, 2, 3, 62, 63, 64, 65, 129) if c < universe]
    sets = st.lists(st.lists(st.frozensets(st.sampled_from(columns)), max_size=8), max_size=6)
    drawn = data.draw(sets)
    packed = [minimal_sets(pack_sets(family, universe)) for family in drawn]
    expected = [{x for x in brute_hitting_sets(family, columns) if len(x) <= max_size} for family in drawn]
    assert [as_sets(found) for found in easy_hitting_sets(packed, max_size)] == expected


def test_little_work_is_enough_for_the_first_families_only() -> None:
    easy, hard = pack_sets([[0, 1]], 30), minimal_sets(random_edges(5, 30, 60, 4, 8))
    found = easy_hitting_sets([easy, hard, easy], None, work=50)
    assert [as_sets(sets) for sets in found] == [{frozenset([0]), frozenset([1])}]
    of_all = easy_hitting_sets([easy, hard, easy], None)
    assert len(of_all) == 3
    assert len(of_all[1]) > 1024  # more than there is room for at first
    assert np.array_equal(sorted_sets(of_all[1]), sorted_sets(minimal_hitting_sets(hard)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("universe", [1, 64, 65, 200])
def test_no_edges_and_an_empty_edge(method: Method, universe: int) -> None:
    none = pack_sets([], universe)
    assert as_sets(minimal_hitting_sets(none, method=method)) == {frozenset()}
    assert as_sets(minimal_hitting_sets(none, method=method, max_size=0)) == {frozenset()}
    empty = pack_sets([[], [universe - 1]], universe)
    found = minimal_hitting_sets(empty, method=method)
    assert found.shape == (0, none.shape[1])


@given(families(), st.integers(0, 8))
def test_max_size_is_a_filter(family: Family, max_size: int) -> None:
    expected = {x for x in brute_hitting_sets(family.sets, family.columns) if len(x) <= max_size}
    for method in METHODS:
        found = minimal_hitting_sets(family.packed, method=method, max_size=max_size)
        assert as_sets(found) == expected


@given(families(), st.data())
def test_candidates_limit_the_columns(family: Family, data: st.DataObject) -> None:
    allowed = data.draw(st.frozensets(st.sampled_from(family.columns)))
    candidates = pack_set(allowed, family.universe)
    expected = brute_hitting_sets(family.sets, allowed)
    for method in METHODS:
        found = minimal_hitting_sets(family.packed, method=method, candidates=candidates)
        assert as_sets(found) == expected


@given(families(), st.integers(1, 5), st.none() | st.integers(0, 4))
def test_chunks_hold_each_solution_once(family: Family, chunk: int, max_size: int | None) -> None:
    chunks = list(iterate_hitting_sets(family.packed, chunk=chunk, max_size=max_size))
    assert all(len(part) <= chunk for part in chunks)
    found = as_sets(np.concatenate([family.packed[:0], *chunks]))
    assert found == as_sets(minimal_hitting_sets(family.packed, max_size=max_size))


def test_a_chunk_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        next(iterate_hitting_sets(pack_sets([[0]], 1), chunk=0))


@pytest.mark.parametrize("max_nodes", [1, 7, 1000])
def test_a_search_resumes_after_any_number_of_nodes(max_nodes: int) -> None:
    edges = random_edges(2, 22, 40, 3, 8)
    search = HittingSetSearch(edges)
    found = []
    while not search.finished:
        before = search.nodes
        found.append(search.advance(max_sets=50, max_nodes=max_nodes))
        assert len(found[-1]) <= 50
        assert search.nodes - before <= max_nodes
    assert not len(search.advance(max_sets=50))
    assert np.array_equal(sorted_sets(np.concatenate(found)), sorted_sets(minimal_hitting_sets(edges, method="bitmap")))


@pytest.mark.parametrize(
    ("universe", "n_edges", "largest"),
    [
        (BITMAP_AT_ONCE, 300, 9),  # at once by bitmap
        (BITMAP_AT_ONCE + 2, 20, 9),  # the search stays within its budget
        (BITMAP_AT_ONCE + 2, 800, 9),  # the search hands over to the bitmap
        (40, 14, 5),  # by search only
    ],
)
def test_the_automatic_choice_finds_the_same(universe: int, n_edges: int, largest: int) -> None:
    edges = random_edges(3, universe, n_edges, 3, largest)
    automatic = sorted_sets(minimal_hitting_sets(edges))
    assert np.array_equal(automatic, sorted_sets(minimal_hitting_sets(edges, method="search")))
    assert_minimal_and_hitting(automatic, edges)
    if universe <= BITMAP_COLUMNS:
        assert np.array_equal(automatic, sorted_sets(minimal_hitting_sets(edges, method="bitmap")))


@pytest.mark.parametrize("universe", [66, 130])
def test_the_dual_of_the_dual_is_the_minimal_part(universe: int) -> None:
    edges = random_edges(4, universe, 6, 2, 4)
    solutions = minimal_hitting_sets(edges)
    assert_minimal_and_hitting(solutions, edges)
    assert as_sets(minimal_hitting_sets(solutions)) == as_sets(minimal_sets(edges))


def assert_minimal_and_hitting(solutions: Words, edges: Words) -> None:
    """Each solution hits all edges, and each of its columns hits an edge that no other column of it hits."""
    for solution in solutions[:: max(1, len(solutions) // 200)]:
        common = edges & solution
        assert common.any(axis=1).all()
        alone = common[set_sizes(common) == 1]
        assert np.array_equal(np.bitwise_or.reduce(alone, axis=0), solution)


def test_many_columns_at_once() -> None:
    """One edge of all columns, and pairs: sizes at the ends of the range."""
    universe = 200
    assert len(minimal_hitting_sets(full_set(universe)[np.newaxis])) == universe
    singles = pack_sets([[c] for c in range(universe)], universe)
    assert as_sets(minimal_hitting_sets(singles)) == {frozenset(range(universe))}
    pairs = pack_sets([[2 * c, 2 * c + 1] for c in range(10)], universe)
    assert len(minimal_hitting_sets(pairs)) == 1024


def test_a_bitmap_over_too_many_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        minimal_hitting_sets(full_set(40)[np.newaxis], method="bitmap")


def test_uncompiled_kernels_agree() -> None:
    script = Path(__file__).with_name("uncompiled.py")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        env=environment,
        cwd=script.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
