"""Evidence and its inversion against brute force: all conventions, policies and sorts of predicates."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import denial_oracle
import numpy as np
import pytest
from denial_tables import ValueTable, spaces, turned, value_tables
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Cell, Operator, Predicate
from lawful.dependencies.laws import OPERATORS
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence import tiles
from lawful.evidence.denials.evidence import all_evidence, evidence_of_tile, merge_evidence
from lawful.evidence.denials.pool import DenialPool
from lawful.evidence.signs import SignVectors
from lawful.search import hitting_sets, minimal_sets, unpack_sets, words_for
from lawful.search.denials import reduction as denial_reduction
from lawful.search.denials.inversion import almost_constraints, minimal_constraints
from lawful.search.denials.literals import CONVENTIONS, Literals, finds_no_implied
from lawful.search.denials.reduction import closures, reading_order, reduced_places, turned_sets
from lawful.search.sets import full_set, pack_sets

POLICIES = st.sampled_from(NullPolicy)
SIZES = st.sampled_from([None, None, 0, 1, 2, 3])
Case = tuple[ValueTable, PredicateSpace]


@st.composite
def cases(draw: st.DrawFn, most: int = 10) -> Case:
    table = draw(value_tables())
    return table, draw(spaces(table.kinds, most))


def satisfied(signs: SignVectors, space: PredicateSpace) -> list[frozenset[int]]:
    """The predicates that each vector satisfies."""
    missed = Literals.of(space, "set-minimal").all_edges(signs.less, signs.greater)
    return [frozenset(numbers) for numbers in unpack_sets(~missed & full_set(len(space)))]


def both_ways(signs: SignVectors, space: PredicateSpace) -> SignVectors:
    other = turned(signs, space)
    return SignVectors(np.concatenate([signs.less, other.less]), np.concatenate([signs.greater, other.greater]))


def numbers_of(families: Any, space: PredicateSpace) -> list[frozenset[int]]:
    sets = np.concatenate([np.zeros((0, words_for(len(space))), np.uint64), *families])
    return [frozenset(numbers) for numbers in unpack_sets(sets)]


@given(cases(), POLICIES, SIZES, st.booleans())
def test_inversion_gives_the_minimal_constraints(
    case: Case, policy: NullPolicy, largest: int | None, by_size: bool
) -> None:
    table, space = case
    evidence = all_evidence(table.encoded(), space, policy, 1)
    signs, other = evidence.signs, turned(evidence.signs, space)
    plain = denial_oracle.comparisons(space.predicates)
    minimal = denial_oracle.minimal_sets(table.rows, plain, policy, largest=largest)
    alone = denial_oracle.one_per_pair(plain, minimal)
    right = {"set-minimal": minimal, "one-per-pair": alone, "reduced": denial_oracle.reduced(plain, alone)}
    for convention in CONVENTIONS:
        literals = Literals.of(space, convention)
        edges = literals.all_edges(signs.less, signs.greater)
        assert literals.turned(edges).tolist() == literals.all_edges(other.less, other.greater).tolist()
        edges = literals.edges(signs.less, signs.greater)
        found = list(minimal_constraints(edges, literals, largest, lambda: None, by_size=by_size))
        if convention == "reduced":
            found = [reduced_places(np.concatenate(found), space, has_images=True)[0]] if found else []
        numbers = numbers_of(found, space)
        assert len(numbers) == len(set(numbers))
        assert set(numbers) == set(right[convention])


OPERATORS_OF_A_COLUMN = [
    ("=", "<", "<=", ">", ">=", "!="),
    ("=", "!="),
    ("=", "<", ">"),
    ("<", ">"),
    ("<", ">", "!="),
    ("<=", ">="),
    ("=", "<", ">", "!="),
    ("=", "<=", ">="),
]


@given(value_tables(max_rows=7, max_width=3), st.lists(st.sampled_from(OPERATORS_OF_A_COLUMN), min_size=3, max_size=3))
def test_mirror_images_are_all_that_is_left_to_remove(table: ValueTable, operators: list[tuple[Operator, ...]]) -> None:
    space = PredicateSpace.of(
        Predicate(Cell("t", column), operator, Cell("s", column))
        for column, chosen in enumerate(operators[: len(table.columns)])
        for operator in chosen
    )
    signs = all_evidence(table.encoded(), space, NullPolicy.EQUAL, 1).signs
    literals = Literals.of(space, "reduced")
    edges = literals.edges(signs.less, signs.greater)
    nothing = np.zeros((0, words_for(len(space))), np.uint64)
    found = np.concatenate([nothing, *minimal_constraints(edges, literals, None, lambda: None)])
    for sets in (found, found[::2], found[1::3]):  # all of them, and what a limit may leave
        kept, places = reduced_places(sets, space)
        for one, place in zip(kept, places, strict=True):
            assert one.tolist() in (sets[place].tolist(), turned_sets(sets[[place]], space)[0].tolist())
        if finds_no_implied(space):
            quickly, _ = reduced_places(sets, space, only_mirrored=True)
            assert quickly[reading_order(quickly)].tolist() == kept[reading_order(kept)].tolist()


@given(cases())
def test_sorting_out_in_parts_and_not_to_the_end(case: Case) -> None:
    """Parts change nothing, and where there is no time for all, the first of them are sorted out."""
    table, space = case
    signs = all_evidence(table.encoded(), space, NullPolicy.EQUAL, 1).signs
    literals = Literals.of(space, "reduced")
    edges = literals.edges(signs.less, signs.greater)
    nothing = np.zeros((0, words_for(len(space))), np.uint64)
    sets = np.concatenate([nothing, *minimal_constraints(edges, literals, None, lambda: None)])
    at_once, _ = reduced_places(sets, space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(denial_reduction, "_SETS_AT_ONCE", 2)
        in_parts, _ = reduced_places(sets, space)
        cut, _ = reduced_places(sets, space, should_stop=lambda: True)
    assert in_parts.tolist() == at_once.tolist()
    distinct, _ = reduced_places(sets, space, only_mirrored=True)
    assert cut.tolist() == reduced_places(distinct[:2], space)[0].tolist()


def test_the_clock_is_looked_at_more_often_where_nodes_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    space = PredicateSpace.of(Predicate(Cell("t", c), op, Cell("s", c)) for c in range(5) for op in OPERATORS)
    literals = Literals.of(space, "reduced")
    edges = minimal_sets(random.integers(1, 1 << len(literals), (60, 1)).astype(np.uint64))
    looks: list[int] = []
    found = []
    for words in (1 << 26, 1):
        monkeypatch.setattr(hitting_sets, "_SLICE_WORDS", words)
        looks.append(0)

        def look() -> None:
            looks[-1] += 1

        found.append(np.concatenate([*minimal_constraints(edges, literals, None, look)]).tolist())
    assert found[0] == found[1]
    assert looks[0] < 5 < looks[1]


def test_constraints_are_read_small_ones_first_and_in_the_order_of_the_space() -> None:
    sets = pack_sets([(1, 2), (70,), (0, 99), (0, 3), (5,), (0, 2, 3)], 100)
    assert unpack_sets(sets[reading_order(sets)]) == [(5,), (70,), (0, 3), (0, 99), (1, 2), (0, 2, 3)]


def test_of_constraints_that_say_the_same_the_weakest_stays() -> None:
    """Where A <= B and B <= C, A < C says no more than A != C, which allows more signs by itself."""
    a, b, c = (Cell("t", column) for column in range(3))
    chain = [Predicate(a, "<=", b), Predicate(b, "<=", c)]
    weak, strong = Predicate(a, "!=", c), Predicate(a, "<", c)
    space = PredicateSpace.of([*chain, strong, weak])
    number = space.numbers
    sets = pack_sets([[number[one] for one in (*chain, last)] for last in (strong, weak)], len(space))
    assert closures(sets, space)[0].tolist() == closures(sets, space)[1].tolist()
    assert number[strong] < number[weak]  # so that nothing but its weakness puts it first
    assert reduced_places(sets, space)[1].tolist() == [1]
    assert reduced_places(sets[::-1], space)[1].tolist() == [0]


def test_some_operators_leave_more_to_remove() -> None:
    column = [PredicateSpace.of(Predicate(Cell("t", 0), o, Cell("s", 0)) for o in ops) for ops in OPERATORS_OF_A_COLUMN]
    assert [finds_no_implied(space) for space in column] == [True, True, True, True, False, True, False, True]


@given(cases(most=8), POLICIES, st.sampled_from([None, 1, 2]), st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_constraints_within_an_error(case: Case, policy: NullPolicy, largest: int | None, allowed: float) -> None:
    table, space = case
    evidence = all_evidence(table.encoded(), space, policy, 1)
    other = turned(evidence.signs, space)
    pairs = max(1, math.comb(len(table.rows), 2))
    for convention in CONVENTIONS:
        literals = Literals.of(space, convention)
        edges = literals.all_edges(evidence.signs.less, evidence.signs.greater)
        mirrored = literals.all_edges(other.less, other.greater)
        most = max(count for count in range(pairs + 1) if count / pairs <= allowed)
        errors: dict[frozenset[int], float] = {}
        families = []
        for sets, broken in almost_constraints(edges, mirrored, evidence.counts, most, literals, largest, lambda: None):
            families.append(sets)
            found = numbers_of([sets], space)
            assert not errors.keys() & set(found)
            errors |= dict(zip(found, (broken / pairs).tolist(), strict=True))
        if convention == "reduced":
            kept = numbers_of([reduced_places(np.concatenate(families), space)[0]], space)
            errors = {numbers: errors[numbers] for numbers in kept}
        plain = denial_oracle.comparisons(space.predicates)
        expected = denial_oracle.minimal_sets(table.rows, plain, policy, largest=largest, allowed=allowed)
        if convention != "set-minimal":
            expected = denial_oracle.one_per_pair(plain, expected)
        if convention == "reduced":
            expected = denial_oracle.reduced(plain, expected)
        assert errors == expected


@given(cases(), POLICIES, st.integers(1, 4))
def test_evidence_is_what_pairs_satisfy(case: Case, policy: NullPolicy, parts: int) -> None:
    table, space = case
    rows, encoded, plain = table.rows, table.encoded(), denial_oracle.comparisons(space.predicates)
    whole = all_evidence(encoded, space, policy, 1)
    assert whole.counts is not None
    assert int(whole.counts.sum()) == math.comb(len(rows), 2)
    other = satisfied(turned(whole.signs, space), space)
    for numbers, mirrored, (t, s) in zip(satisfied(whole.signs, space), other, whole.witnesses.tolist(), strict=True):
        assert numbers == denial_oracle.evidence(plain, rows[t], rows[s], policy)
        assert mirrored == denial_oracle.evidence(plain, rows[s], rows[t], policy)
    cut = tiles(len(rows), parts)
    if cut:
        merged = merge_evidence([evidence_of_tile(encoded, space, policy, tile) for tile in cut])
        whole = merge_evidence([whole])  # in the same order
        assert (merged.signs.less == whole.signs.less).all()
        assert (merged.signs.greater == whole.signs.greater).all()
        assert (merged.counts == whole.counts).all()


@given(cases(), POLICIES)
def test_a_pool_sees_what_a_walk_over_all_pairs_sees(case: Case, policy: NullPolicy) -> None:
    table, space = case
    encoded, size, plain = table.encoded(), len(table.rows), denial_oracle.comparisons(space.predicates)
    pool = DenialPool(encoded, space, policy)
    left, right = np.triu_indices(size, 1)
    pool.add_pairs(left.astype(np.int32), right.astype(np.int32))
    all_ways = {frozenset(numbers) for numbers in satisfied(both_ways(pool.evidence.signs, space), space)}
    whole = all_evidence(encoded, space, policy, 1, counted=False)
    assert whole.counts is None
    assert all_ways == set(satisfied(both_ways(whole.signs, space), space))
    for numbers, (t, s) in zip(satisfied(pool.evidence.signs, space), pool.evidence.witnesses.tolist(), strict=True):
        assert numbers == denial_oracle.evidence(plain, table.rows[t], table.rows[s], policy)


@given(st.data(), st.lists(st.sampled_from(["number", "number", "text"]), min_size=1, max_size=3))
def test_closures_hold_what_predicates_imply(data: st.DataObject, kinds: list[str]) -> None:
    space = data.draw(spaces(kinds))
    if not len(space):
        return
    numbers = data.draw(st.sets(st.sampled_from(range(len(space))), max_size=4))
    plain = denial_oracle.comparisons(space.predicates)
    if not denial_oracle.is_satisfiable(plain, numbers):
        return
    sets = pack_sets([numbers], len(space))
    literals = Literals.of(space, "set-minimal")
    if len({space.group_of[number] for number in numbers}) == len(numbers) or space.compares_across:
        assert frozenset(unpack_sets(closures(sets, space))[0]) == denial_oracle.closure(plain, numbers)
    assert len(literals.predicates(sets)) == 1
    assert frozenset(unpack_sets(turned_sets(sets, space))[0]) == denial_oracle.turned(plain, numbers)


def test_uncompiled_kernels_agree() -> None:
    script = Path(__file__).with_name("uncompiled_denial.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    told = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False, env=environment
    )
    assert told.returncode == 0, told.stderr
