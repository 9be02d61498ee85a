"""Order-compatible pairs in small contexts come first: what a stopped search has to say, against brute force."""

from __future__ import annotations

import pytest
from canonical_oracle import minimal_canonical_laws
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.discovery import compared_pairs
from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from limits.looks import EndsAtAnyLook, EndsWhenTold
from limits.test_small_first import encoded

ROWS = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.none() | st.integers(0, 3)] * width), min_size=2, max_size=8)
)
Rows = list[tuple[int | None, ...]]


def found(
    rows: Rows, question: CanonicalQuestion, watch: EndsAtAnyLook | EndsWhenTold, all_pairs: bool
) -> tuple[bool, list[Law]]:
    ranked, engine = encoded(rows), LocalEngine(threads=1)
    engine.open(ranked, question.null_policy)
    told = watch.tell if isinstance(watch, EndsWhenTold) else lambda _: None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compared_pairs, "WORTH_A_LOOK", 0)
        answer = discover_by_evidence(Search(ranked, engine, watch, progress=told), question, all_pairs=all_pairs)
    laws: list[Law] = [law for block in answer.blocks for law in block.laws()]
    laws += [law for listing in answer.listings for law in listing.laws()]
    assert len(laws) == len(set(laws)), "what is stated first is not stated again"
    return answer.complete, laws


def right(rows: Rows, policy: NullPolicy, largest: int | None = None) -> set[Law]:
    ranked = encoded(rows)
    ranks = [tuple(int(ranked.column(column)[row]) for column in range(ranked.width)) for row in range(ranked.rows)]
    return set(minimal_canonical_laws(ranks, ranked.width, policy, largest=largest))


@pytest.mark.parametrize("words", ["comparing all pairs", "comparing some pairs"])
@given(ROWS, st.sampled_from(NullPolicy), st.sampled_from([None, 0, 1]))
def test_small_contexts_are_there_before_the_search(
    words: str, rows: Rows, policy: NullPolicy, largest: int | None
) -> None:
    question = CanonicalQuestion(null_policy=policy, max_size=largest)
    _, laws = found(rows, question, EndsWhenTold(words), "all" in words)
    assert set(laws) == right(rows, policy, 1 if largest is None else largest)


@given(ROWS, st.sampled_from(NullPolicy), st.booleans(), st.integers(0, 60))
def test_what_there_is_at_any_look_holds_and_is_minimal(
    rows: Rows, policy: NullPolicy, all_pairs: bool, looks: int
) -> None:
    is_complete, laws = found(rows, CanonicalQuestion(null_policy=policy), EndsAtAnyLook(looks), all_pairs)
    expected = right(rows, policy)
    assert set(laws) == expected if is_complete else set(laws) <= expected


@given(ROWS, st.sampled_from(NullPolicy), st.booleans(), st.sampled_from([0.0, 0.2, 0.5]))
def test_interest_leaves_out_the_same_laws(rows: Rows, policy: NullPolicy, all_pairs: bool, least: float) -> None:
    question = CanonicalQuestion(null_policy=policy, min_interest=least)
    is_complete, laws = found(rows, question, EndsWhenTold("nothing of the kind"), all_pairs)
    ranked, engine = encoded(rows), LocalEngine(threads=1)
    engine.open(ranked, policy)
    answer = discover_by_evidence(Search(ranked, engine), question, all_pairs=all_pairs)
    without = {law for block in answer.blocks for law in block.laws()}
    without |= {law for listing in answer.listings for law in listing.laws()}
    assert is_complete
    assert set(laws) == without
