from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lawful.search import SetTrie, pack_set, pack_sets
from tests.search.families import Family, families, random_edges


@given(families(max_sets=20), st.data())
def test_queries_against_a_scan(family: Family, data: st.DataObject) -> None:
    queries = data.draw(st.lists(st.frozensets(st.sampled_from(family.columns)), max_size=8)) + family.sets
    trie = SetTrie()
    stored: list[frozenset[int]] = []
    packed = pack_sets(queries, family.universe)
    for members, one in zip(family.sets, family.packed, strict=True):
        trie.add(one)
        stored.append(members)
        assert [trie.has_subset_of(query) for query in packed] == [any(x <= q for x in stored) for q in queries]


def test_a_trie_grows() -> None:
    family = random_edges(9, 100, 500, 3, 9)
    trie = SetTrie()
    for _ in range(2):  # what is there already takes no more room
        for members in family:
            trie.add(members)
        size = trie._used
    assert trie._used == size
    assert all(trie.has_subset_of(members) for members in family)
    assert not trie.has_subset_of(pack_set([0, 1], 100))


def test_the_empty_set_is_a_set() -> None:
    trie = SetTrie()
    nothing = pack_set([], 3)
    assert not trie.has_subset_of(nothing)
    trie.add(nothing)
    assert trie.has_subset_of(nothing)
    assert trie.has_subset_of(pack_set([2], 3))
