from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lawful.search import KEY, GrowingEdges, determinants_of_few_columns, minimal_hitting_sets, pack_sets
from tests.search.families import Family, all_subsets, as_sets, brute_minimal, families


@given(families(max_sets=25), st.lists(st.integers(0, 25)))
def test_edges_of_every_goal_as_sets_come(family: Family, cuts: list[int]) -> None:
    universe = frozenset(range(family.universe))
    growing = GrowingEdges(family.universe, range(KEY, family.universe))
    for start, end in pairwise([0, *sorted(cuts), len(family.sets)]):
        growing.add(family.packed[start:end])
    edges = growing.edges()
    assert list(edges) == list(range(KEY, family.universe))
    for right in {*family.columns, 0, family.universe - 1}:
        differences = [universe - agreed - {right} for agreed in family.sets if right not in agreed]
        assert as_sets(edges[right]) == brute_minimal(differences)
    assert as_sets(edges[KEY]) == brute_minimal(universe - agreed for agreed in family.sets)


@given(st.integers(1, 70), st.lists(st.integers(0, 10)), st.data())
def test_edges_where_some_signs_are_unknown(width: int, cuts: list[int], data: st.DataObject) -> None:
    used = sorted({0, width // 2, width - 1})
    signs = st.fixed_dictionaries({column: st.sampled_from("=!?") for column in used})
    pairs = data.draw(st.lists(signs, max_size=10))
    agree = [frozenset(c for c, sign in pair.items() if sign == "=") for pair in pairs]
    differ = [frozenset(c for c, sign in pair.items() if sign == "!") for pair in pairs]
    packed, known = pack_sets(agree, width), pack_sets(differ, width)
    growing = GrowingEdges(width, [KEY, *used])
    for start, end in pairwise([0, *sorted(cuts), len(pairs)]):
        growing.add(packed[start:end], known[start:end])
    universe, edges = frozenset(range(width)), growing.edges()
    for goal in [KEY, *used] if pairs else []:
        missing = [universe - a - {goal} for a, d in zip(agree, differ, strict=True) if goal == KEY or goal in d]
        assert as_sets(edges[goal]) == brute_minimal(missing)


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
    growing = GrowingEdges(width, range(KEY, width))
    growing.add(packed)
    edges_of = growing.edges()
    assert as_sets(minimal_hitting_sets(edges_of.pop(KEY))) == brute_minimal(keys)
    for right, edges in edges_of.items():
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
