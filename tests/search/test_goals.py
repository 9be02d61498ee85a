"""Searches that demand support, and hypergraphs of many goals at once, against brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lawful.discovery.coverage import count_few_supersets
from lawful.search import iterate_hitting_sets, pack_sets, unpack_sets
from lawful.search.canonical_ods.goals import keep_minimal_goals
from lawful.search.canonical_ods.kernels.goals import sets_of_goal
from lawful.search.hitting_sets import Support
from lawful.search.kernels.sets import transpose
from lawful.search.kernels.supersets import count_supersets
from lawful.search.sets import distinct_sets, full_set, order_by_size
from tests.search.families import Family, as_sets, brute_hitting_sets, brute_minimal, families


@given(families(), families(), st.integers(1, 5))
def test_support_leaves_out_only_what_lacks_it(family: Family, other: Family, least: int) -> None:
    members = pack_sets([[c for c in some if c < family.universe] for some in other.sets], family.universe)
    support = Support(transpose(members), least)
    expected = brute_hitting_sets(family.sets, family.columns)
    found = np.concatenate([family.packed[:0], *iterate_hitting_sets(family.packed, support=support)])
    supported = {some for some in expected if sum(some <= member for member in as_members(members)) >= least}
    assert supported <= as_sets(found) <= expected


@given(families(), families())
def test_supersets_are_counted(family: Family, other: Family) -> None:
    members = pack_sets([[c for c in some if c < family.universe] for some in other.sets], family.universe)
    counts = count_supersets(family.packed, transpose(members))
    assert count_few_supersets(family.packed, transpose(members)).tolist() == counts.tolist()
    for some, count in zip(family.sets, counts, strict=True):
        if some:  # all that a bitmap has room for contain the empty set
            assert count == sum(some <= member for member in as_members(members))


def as_members(packed: np.ndarray) -> list[frozenset[int]]:
    return [frozenset(columns) for columns in unpack_sets(packed)]


@given(families(), st.data())
def test_each_goal_keeps_its_minimal_sets(family: Family, data: st.DataObject) -> None:
    sets = distinct_sets(family.packed)
    sets = sets[order_by_size(sets)]
    words = st.integers(0, 2**64 - 1)
    goals = np.array([data.draw(st.tuples(words, words)) for _ in range(len(sets))], np.uint64).reshape(len(sets), 2)
    kept = goals.copy()
    keep_minimal_goals(sets, kept, lambda: None)
    everything = full_set(family.universe)
    for place in range(0, 128, 9):
        before, after = (
            as_sets(sets_of_goal(sets, np.ascontiguousarray(marks[:, place // 64]), place, everything))
            for marks in (goals, kept)
        )
        assert after == brute_minimal(before)
