from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lawful.search import SetTrie, pack_set, pack_sets
from tests.search.families import Family, as_sets, families, random_edges


@given(families(max_sets=20), st.data())
def test_queries_against_a_scan(family: Family, data: st.DataObject) -> None:
    removed = data.draw(st.lists(st.sampled_from(family.sets))) if family.sets else []
    stored = set(family.sets) - set(removed)
    queries = data.draw(st.lists(st.frozensets(st.sampled_from(family.columns)), max_size=8)) + family.sets
    trie = SetTrie(family.universe)
    trie.add_each(family.packed)
    trie.remove_each(pack_sets(removed, family.universe))
    assert len(trie) == len(stored)
    assert as_sets(trie.all_sets()) == stored
    packed = pack_sets(queries, family.universe)
    assert trie.has_subset_of_each(packed).tolist() == [any(x <= q for x in stored) for q in queries]
    assert trie.has_superset_of_each(packed).tolist() == [any(x >= q for x in stored) for q in queries]
    for query, one in zip(queries, packed, strict=True):
        assert (one in trie) == (query in stored)
        assert trie.has_subset_of(one) == any(x <= query for x in stored)
        assert trie.has_superset_of(one) == any(x >= query for x in stored)
        assert as_sets(trie.subsets_of(one)) == {x for x in stored if x <= query}
        assert as_sets(trie.supersets_of(one)) == {x for x in stored if x >= query}


@given(families(max_sets=20), st.lists(st.tuples(st.booleans(), st.integers(0, 19)), max_size=60))
def test_any_sequence_of_additions_and_removals(family: Family, steps: list[tuple[bool, int]]) -> None:
    trie = SetTrie(family.universe)
    stored: set[frozenset[int]] = set()
    for is_addition, position in steps:
        if position >= len(family.sets):
            continue
        members, one = family.sets[position], family.packed[position]
        if is_addition:
            assert trie.add(one) == (members not in stored)
            stored.add(members)
        else:
            assert trie.remove(one) == (members in stored)
            stored.discard(members)
        assert len(trie) == len(stored)
    assert as_sets(trie.all_sets()) == stored


def test_removed_nodes_are_used_again() -> None:
    family = random_edges(9, 100, 500, 3, 9)
    trie = SetTrie(100)
    trie.add_each(family)
    size = trie._nodes.shape
    for _ in range(20):
        assert trie.remove_each(family[::2]).any()
        assert trie.add_each(family[::2]).any()
    # One addition of all is reserved for, whatever is shared.
    assert trie._nodes.shape[0] <= 3 * size[0]
    assert np.array_equal(trie.has_subset_of_each(family), np.ones(len(family), dtype=bool))


def test_the_empty_set_is_a_set() -> None:
    trie = SetTrie(3)
    nothing = pack_set([], 3)
    assert not trie.has_superset_of(nothing)
    assert trie.add(nothing)
    assert nothing in trie
    assert trie.has_subset_of(pack_set([2], 3))
    assert not trie.has_superset_of(pack_set([2], 3))
    assert trie.remove(nothing)
    assert len(trie) == 0
