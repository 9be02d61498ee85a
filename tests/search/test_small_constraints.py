"""Denial constraints of one to three predicates, found by going through all of them, against brute force."""

from __future__ import annotations

import denial_oracle
import numpy as np
import pytest
from denial_tables import ValueTable, spaces, value_tables
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.denials.evidence import all_evidence
from lawful.search import unpack_sets, words_for
from lawful.search.denials import small
from lawful.search.denials.reduction import reduced_places
from lawful.search.sets import pack_lists


@st.composite
def cases(draw: st.DrawFn) -> tuple[ValueTable, PredicateSpace]:
    table = draw(value_tables())
    return table, draw(spaces(table.kinds, 10))


@given(cases(), st.sampled_from(NullPolicy), st.integers(1, small.LARGEST), st.sampled_from([1, 1 << 20]))
def test_small_constraints_are_those_of_brute_force(
    case: tuple[ValueTable, PredicateSpace], policy: NullPolicy, largest: int, words_a_slice: int
) -> None:
    table, space = case
    signs = all_evidence(table.encoded(), space, policy, 1).signs
    found = [np.zeros((0, words_for(len(space))), np.uint64)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "_WORDS_A_SLICE", words_a_slice)
        for size in range(1, largest + 1):
            for lists in small.small_constraints(signs.less, signs.greater, space, size, lambda: None):
                found.append(pack_lists(lists, len(space)))
    kept, _ = reduced_places(np.concatenate(found), space)
    numbers = [frozenset(each) for each in unpack_sets(kept)]
    plain = denial_oracle.comparisons(space.predicates)
    minimal = denial_oracle.minimal_sets(table.rows, plain, policy, largest=largest)
    right = denial_oracle.reduced(plain, denial_oracle.one_per_pair(plain, minimal))
    assert len(numbers) == len(set(numbers))
    assert set(numbers) == {places for places in right if places}  # without pairs of rows, nothing is denied at all


def test_a_limit_ends_the_search_between_two_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ValueTable(("number", "number"), ((1, 2, 2, 3), (3, 1, 2, 1)))
    space = PredicateSpace.of(
        predicate
        for column in range(2)
        for predicate in denial_oracle.constraint(
            tuple((("t", column, None), how, ("s", column, None)) for how in ("=", "<", "!=")), range(3)
        ).predicates
    )
    signs = all_evidence(table.encoded(), space, NullPolicy.EQUAL, 1).signs
    monkeypatch.setattr(small, "_WORDS_A_SLICE", 1)
    looks = []
    sets = list(small.small_constraints(signs.less, signs.greater, space, 2, lambda: looks.append(1)))
    assert len(looks) > len(sets) > 0
