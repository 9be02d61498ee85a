from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.arrays import Words
from lawful.search import (
    HittingSets,
    maintained_hitting_sets,
    minimal_hitting_sets,
    minimal_sets,
    pack_set,
    pack_sets,
    sorted_sets,
)
from tests.search.families import Family, as_sets, brute_hitting_sets, families, random_edges


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


@given(families(), st.data())
def test_candidates_limit_the_columns(family: Family, data: st.DataObject) -> None:
    allowed = data.draw(st.frozensets(st.sampled_from(family.columns)))
    maintained = HittingSets(family.universe, candidates=pack_set(allowed, family.universe))
    for edge in family.packed:
        maintained.add_edges(edge[np.newaxis])
    assert as_sets(maintained.solutions) == brute_hitting_sets(family.sets, allowed)


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
def test_an_interrupted_update_changes_nothing(free_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = random_edges(10, 30, 40, 4, 9)
    maintained = HittingSets(30)
    maintained.FREE_STEPS = free_steps
    maintained.add_edges(edges[:20])
    before = as_sets(maintained.solutions)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(maintained_hitting_sets, "extend_solutions", interrupt)
        patch.setattr(maintained_hitting_sets, "enumerate_with_cost", interrupt)
        with pytest.raises(KeyboardInterrupt):
            maintained.add_edges(edges[20:])
    assert as_sets(maintained.solutions) == before
    assert as_sets(minimal_hitting_sets(maintained.edges)) == before
    maintained.add_edges(edges[20:])
    assert np.array_equal(sorted_sets(maintained.solutions), sorted_sets(minimal_hitting_sets(edges)))


def test_edges_that_others_make_redundant_are_dropped_in_time() -> None:
    maintained = HittingSets(200)
    maintained.FREE_STEPS = 1 << 30
    for size in range(200, 0, -1):
        maintained.add_edges(pack_sets([range(200 - size, 200)], 200))
        assert len(maintained.edges) <= 70
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
