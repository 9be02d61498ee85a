from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lawful.search import determinants_of_few_columns, fd_edges, key_edges, minimal_hitting_sets, pack_sets
from tests.search.families import Family, all_subsets, as_sets, brute_minimal, families


@given(families(max_sets=25))
def test_edges_of_every_right_side(family: Family) -> None:
    universe = frozenset(range(family.universe))
    edges = fd_edges(family.packed, family.universe)
    assert len(edges) == family.universe
    for right in {*family.columns, 0, family.universe - 1}:
        differences = [universe - agreed - {right} for agreed in family.sets if right not in agreed]
        assert as_sets(edges[right]) == brute_minimal(differences)
    assert as_sets(key_edges(family.packed, family.universe)) == brute_minimal(
        universe - agreed for agreed in family.sets
    )


rows_of_tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=7)
)


@given(rows_of_tables)
def test_hitting_sets_are_the_laws_of_a_table(rows: list[tuple[int, ...]]) -> None:
    width = len(rows[0])
    pairs = [(t, s) for i, t in enumerate(rows) for s in rows[:i]]
    agree_sets = [frozenset(c for c in range(width) if t[c] == s[c]) for t, s in pairs]
    packed = pack_sets(agree_sets, width)
    keys = [x for x in all_subsets(range(width)) if not any(x <= agreed for agreed in agree_sets)]
    assert as_sets(minimal_hitting_sets(key_edges(packed, width))) == brute_minimal(keys)
    for right, edges in enumerate(fd_edges(packed, width)):
        left_sides = [
            x
            for x in all_subsets(c for c in range(width) if c != right)
            if all(right in agreed for agreed in agree_sets if x <= agreed)
        ]
        assert as_sets(minimal_hitting_sets(edges)) == brute_minimal(left_sides)


@given(st.integers(1, 9), st.sampled_from([None, 0, 1, 3]), st.booleans(), st.data())
def test_determinants_of_few_columns(
    width: int, largest: int | None, may_be_unknown: bool, data: st.DataObject
) -> None:
    signs = st.sampled_from("=!?" if may_be_unknown else "=!")
    pairs = data.draw(st.lists(st.lists(signs, min_size=width, max_size=width), max_size=12))
    agree = [frozenset(c for c in range(width) if pair[c] == "=") for pair in pairs]
    differ = [frozenset(c for c in range(width) if pair[c] == "!") for pair in pairs]
    goals = range(-1, width)
    known = pack_sets(differ, width) if may_be_unknown else None
    found = determinants_of_few_columns(goals, pack_sets(agree, width), known, width, largest)
    for goal, sets in zip(goals, found, strict=True):
        refuting = [a for a, d in zip(agree, differ, strict=True) if goal < 0 or goal in d]
        left = [
            x for x in all_subsets(c for c in range(width) if c != goal) if not any(x <= agreed for agreed in refuting)
        ]
        expected = {x for x in brute_minimal(left) if largest is None or len(x) <= largest}
        assert as_sets(sets) == expected
