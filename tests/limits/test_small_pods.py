"""Pointwise laws of few columns come first: what a search has to say when it is stopped, against brute force."""

from __future__ import annotations

import pod_oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import POD
from lawful.discovery import compared_pairs
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.pods.questions import PointwiseQuestion
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from limits.looks import EndsAtAnyLook, EndsWhenTold
from limits.test_small_first import encoded

ROWS = st.lists(st.tuples(*[st.none() | st.integers(0, 3)] * 4), min_size=2, max_size=7)
Rows = list[tuple[int | None, ...]]


def found(rows: Rows, policy: NullPolicy, strategy: str, search: Search) -> tuple[bool, list[POD]]:
    question = PointwiseQuestion(null_policy=policy, strategy=strategy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compared_pairs, "WORTH_A_LOOK", 0)
        answer = discover_pointwise(search, question)
    return answer.complete, [law for listing in answer.listings for law in listing.laws()]


def searching(rows: Rows, policy: NullPolicy, watch: EndsAtAnyLook | EndsWhenTold) -> Search:
    ranked, engine = encoded(rows), LocalEngine(threads=1)
    engine.open(ranked, policy)
    told = watch.tell if isinstance(watch, EndsWhenTold) else lambda _: None
    return Search(ranked, engine, watch, progress=told)


def right(rows: Rows, policy: NullPolicy, largest: int | None = None) -> set[POD]:
    return {POD(left, goal) for left, goal in pod_oracle.minimal_laws(rows, 4, policy, largest=largest)}


@given(ROWS, st.sampled_from(NullPolicy))
def test_laws_of_up_to_two_columns_are_there_before_all_pairs_are_compared(rows: Rows, policy: NullPolicy) -> None:
    is_complete, laws = found(rows, policy, "full", searching(rows, policy, EndsWhenTold("all pairs")))
    assert not is_complete
    assert len(laws) == len(set(laws))
    assert set(laws) == right(rows, policy, 2)


@given(ROWS, st.sampled_from(NullPolicy), st.sampled_from(["full", "hybrid"]), st.integers(0, 60))
def test_what_there_is_at_any_look_holds_and_is_minimal(rows: Rows, policy: NullPolicy, way: str, looks: int) -> None:
    is_complete, laws = found(rows, policy, way, searching(rows, policy, EndsAtAnyLook(looks)))
    expected = right(rows, policy)
    assert len(laws) == len(set(laws)), "what is stated first is not stated again"
    assert set(laws) == expected if is_complete else set(laws) <= expected
