"""Small laws come first: those of one column without any pair, denial constraints of few predicates by checks."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import minimal_fds, minimal_keys

from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, Key
from lawful.discovery import compared_pairs
from lawful.discovery.denials import discover as denials
from lawful.discovery.denials.preliminary import Preliminary
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.denials.small import SmallConstraints
from lawful.discovery.findings import law_of
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.keys_and_fds.single_columns import laws_of_single_columns
from lawful.discovery.loop import run_loop
from lawful.discovery.peeling import peel
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.search import unpack_sets
from lawful.search.denials import small as small_constraints
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions
from limits.looks import EndsAtAnyLook, EndsWhenTold
from limits.test_every_look import table

POLICIES = list(NullPolicy)
ROWS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[st.none() | st.integers(0, 3)] * width), min_size=2, max_size=7)
)


def encoded(rows: list[tuple[int | None, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return encode_arrow(
        pa.table({f"c{place}": pa.array(list(values), pa.int64()) for place, values in enumerate(columns)}),
        ReadOptions(),
    )


@pytest.mark.parametrize("policy", POLICIES)
@given(ROWS)
def test_laws_of_one_column_are_those_of_brute_force(policy: NullPolicy, rows: list[tuple[int | None, ...]]) -> None:
    ranked = encoded(rows)
    width = ranked.width
    ranks = [tuple(int(ranked.column(column)[row]) for column in range(width)) for row in range(ranked.rows)]
    expected = {*minimal_keys(ranks, width, policy, largest=1), *minimal_fds(ranks, width, policy, largest=1)}
    engine = LocalEngine(threads=1)
    engine.open(ranked, policy)
    for largest in (1, None):
        question = Question(keys=True, fds=True, null_policy=policy, max_size=largest)
        found = discover_keys_and_fds(Search(ranked, engine), question)
        laws = [law for block in found.blocks for law in block.laws()]
        assert found.complete
        assert len(laws) == len(set(laws)), "what is stated first is not stated again"
        assert {law for law in laws if _size(law) <= 1} == expected
    peeled = peel(ranked, policy)
    goals = laws_of_single_columns(ranked, Question(keys=True, fds=True, null_policy=policy), peeled, Watch())
    for goal, sets in goals:
        assert {law_of((goal, lhs), peeled.columns) for lhs in unpack_sets(sets)} <= expected


def _size(law: object) -> int:
    if isinstance(law, Key):
        return len(law.columns)
    assert isinstance(law, FD)
    return len(law.lhs)


@pytest.mark.parametrize("cross_columns", [False, True])
def test_small_constraints_are_those_of_the_whole_answer(cross_columns: bool) -> None:
    ranked = encode_arrow(table(), ReadOptions())
    engine = LocalEngine(threads=2)
    engine.open(ranked, NullPolicy.EQUAL)
    question = DenialQuestion(cross_columns=cross_columns, max_size=3, columns=(2, 3, 4))
    space = predicate_space(ranked, question)
    search = Search(ranked, engine)
    small = SmallConstraints(search, Preliminary(search, question, ranked, space), 3)
    run_loop(search, small)
    whole = denials.discover_denial_constraints(Search(ranked, engine), question)
    expected = {law for listing in whole.listings for law in listing.laws()}
    assert {space.dc(numbers) for numbers in small.confirmed} == expected
    assert search.counts["checks"] >= len(expected) > 1


def test_a_search_that_is_stopped_while_all_pairs_are_compared_has_the_small_constraints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compared_pairs, "WORTH_A_LOOK", 0)
    ranked = encode_arrow(table(), ReadOptions())

    watch = EndsWhenTold("all pairs")
    question = DenialQuestion(cross_columns=False, strategy="full", columns=(2, 3, 4))
    engine = LocalEngine(threads=2)
    engine.open(ranked, NullPolicy.EQUAL)
    found = denials.discover_denial_constraints(Search(ranked, engine, watch, progress=watch.tell), question)
    assert found.stopped_because == "all pairs"
    whole = denials.discover_denial_constraints(Search(ranked, engine), question)
    expected = {law for listing in whole.listings for law in listing.laws() if len(law.predicates) <= 3}
    assert {law for listing in found.listings for law in listing.laws()} == expected


def test_small_constraints_of_single_columns_come_before_columns_are_held_against_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compared_pairs, "WORTH_A_LOOK", 0)
    ranked = encode_arrow(table(), ReadOptions())
    engine = LocalEngine(threads=2)
    engine.open(ranked, NullPolicy.EQUAL)
    watch = EndsWhenTold("different columns")
    found = denials.discover_denial_constraints(
        Search(ranked, engine, watch, progress=watch.tell), DenialQuestion(columns=(2, 3, 4))
    )
    assert found.stopped_because == "different columns"
    alone = DenialQuestion(columns=(2, 3, 4), cross_columns=False, max_size=3)
    whole = denials.discover_denial_constraints(Search(ranked, engine), alone)
    expected = {law for listing in whole.listings for law in listing.laws()}
    assert {law for listing in found.listings for law in listing.laws()} == expected != set()


def test_what_a_search_for_constraints_has_at_any_look_holds_and_is_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_pairs, "WORTH_A_LOOK", 0)
    monkeypatch.setattr(small_constraints, "_WORDS_A_SLICE", 1 << 8)
    ranked = encode_arrow(table(), ReadOptions())
    engine = LocalEngine(threads=2)
    engine.open(ranked, NullPolicy.EQUAL)

    def found(watch: Watch, largest: int | None = None) -> tuple[bool, set[DC]]:
        question = DenialQuestion(strategy="full", columns=(2, 3, 4), max_size=largest)
        answer = denials.discover_denial_constraints(Search(ranked, engine, watch), question)
        return answer.complete, {law for listing in answer.listings for law in listing.laws()}

    # Across columns a small constraint may follow from a larger one, which a search may not know when it ends.
    right = {largest: found(Watch(), largest)[1] for largest in (1, 2, 3, None)}
    looks, stopped = 0, []
    while True:
        is_complete, laws = found(EndsAtAnyLook(looks))
        assert laws <= set().union(*right.values())
        if is_complete:
            break
        stopped.append(laws)
        looks += 1 + looks // 4
    assert any(laws >= right[2] and not laws - right[2] - right[1] for laws in stopped), "small ones alone"
