"""The completion hands on the evidence of exactly the pairs that violate the constraints it is given."""

from __future__ import annotations

import numpy as np
import pytest
from checks.denial_tables import Rows, encoded, predicates, random_rows, violation_matrix
from checks.tables import POLICIES
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import Workspace
from lawful.checks.denials import refining as denial_refining
from lawful.checks.denials import tree as denial_tree
from lawful.checks.denials.refining import Pairs
from lawful.checks.denials.tree import Path, Walk, distinct_violating_pairs
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, Cell, Predicate
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.completion import (
    Numbers,
    Selectivities,
    complete_by_violating_pairs,
    plan_paths,
    without_redundant,
)
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.evidence.denials.lanes import lanes_of
from lawful.search.sets import pack_sets
from lawful.tables.encoded_table import EncodedTable

WIDTH = 3
SEEDS = st.integers(0, 2**32 - 1)
SPACES = st.lists(predicates(WIDTH), min_size=1, max_size=9).map(PredicateSpace.of)


class Collector:
    """Takes pairs and remembers them."""

    def __init__(self) -> None:
        self.pairs: set[tuple[int, int]] = set()

    def add_pairs(self, left: np.ndarray, right: np.ndarray) -> int:
        before = len(self.pairs)
        self.pairs |= set(zip(left.tolist(), right.tolist(), strict=True))
        return len(self.pairs) - before


def chosen_sets(data: st.DataObject, space: PredicateSpace) -> list[Numbers]:
    numbers = st.integers(0, len(space) - 1)
    sets = data.draw(st.lists(st.sets(numbers, min_size=1, max_size=4), max_size=6))
    return [tuple(sorted(members)) for members in sets]


def evidence_of(space: PredicateSpace, rows: Rows, pairs: np.ndarray, policy: NullPolicy) -> set[tuple[bool, ...]]:
    """The evidences of marked pairs, in both orders of each."""
    single = [violation_matrix(DC((predicate,)), rows, policy) for predicate in space.predicates]
    either = pairs | pairs.T
    return {tuple(bool(matrix[t, s]) for matrix in single) for t, s in np.argwhere(either)}


def paths_of(table: EncodedTable, space: PredicateSpace, dcs: list[Numbers], policy: NullPolicy) -> list[Path]:
    selectivities = Selectivities(lanes_of(table, space, policy), space, table.rows, seed=3)
    return plan_paths(space, dcs, selectivities)


def same(column: int, operator: str) -> Predicate:
    return Predicate(Cell("t", column), operator, Cell("s", column))


@given(SEEDS, st.integers(0, 40), SPACES, st.data(), POLICIES)
def test_the_evidence_of_all_violating_pairs_is_found(
    seed: int, size: int, space: PredicateSpace, data: st.DataObject, policy: NullPolicy
) -> None:
    rows = random_rows(seed, size, WIDTH)
    table = encoded(rows, WIDTH)
    dcs = chosen_sets(data, space)
    violating = np.zeros((size, size), np.bool_)
    for numbers in dcs:
        violating |= violation_matrix(space.dc(numbers), rows, policy)
    engine = LocalEngine(threads=2)
    engine.open(table, policy)
    collector = Collector()
    question = DenialQuestion(null_policy=policy)
    complete_by_violating_pairs(Search(table, engine), question, space, pack_sets(dcs, len(space)), collector)
    found = np.zeros((size, size), np.bool_)
    for t, s in collector.pairs:
        found[t, s] = True
    assert not (found & ~(violating | violating.T)).any()
    assert evidence_of(space, rows, found, policy) == evidence_of(space, rows, violating, policy)


def walked(paths: list[Path], workspace: Workspace, size: int) -> np.ndarray:
    found = np.zeros((size, size), np.bool_)

    def take(pairs: Pairs) -> None:
        found[pairs] = True

    for pairs in Walk(paths, workspace, lambda: None).pairs():
        take(pairs)
    return found


@given(SEEDS, SPACES, st.data(), POLICIES)
def test_clusters_that_are_never_written_out_early_lead_to_the_same_pairs(
    seed: int, space: PredicateSpace, data: st.DataObject, policy: NullPolicy
) -> None:
    size = 60
    rows = random_rows(seed, size, WIDTH)
    table = encoded(rows, WIDTH)
    dcs = chosen_sets(data, space)
    violating = np.zeros((size, size), np.bool_)
    for numbers in dcs:
        violating |= violation_matrix(space.dc(numbers), rows, policy)
    paths = paths_of(table, space, dcs, policy)
    workspace = Workspace(table, policy)
    assert np.array_equal(walked(paths, workspace, size), violating)
    with pytest.MonkeyPatch.context() as patch:
        for module in (denial_tree, denial_refining):
            patch.setattr(module, "PAIRS_AT_ONCE", 2)
            patch.setattr(module, "ENTRIES_AT_ONCE", 50)
        assert np.array_equal(walked(paths, workspace, size), violating)


@given(SEEDS, SPACES, st.data(), POLICIES)
def test_what_is_left_out_is_violated_by_no_other_pair(
    seed: int, space: PredicateSpace, data: st.DataObject, policy: NullPolicy
) -> None:
    rows = random_rows(seed, 12, WIDTH)
    dcs = chosen_sets(data, space)
    kept = without_redundant(space, dcs)
    assert set(kept) <= set(dcs)

    def either(some: list[Numbers]) -> np.ndarray:
        violating = np.zeros((12, 12), np.bool_)
        for numbers in some:
            violating |= violation_matrix(space.dc(numbers), rows, policy)
        return violating | violating.T

    assert np.array_equal(either(kept), either(dcs))


def test_constraints_that_imply_each_other_do_not_both_go() -> None:
    space = PredicateSpace.of([same(0, "<"), same(0, "<="), same(0, "!=")])
    less, at_most, different = (space.numbers[same(0, operator)] for operator in ("<", "<=", "!="))
    greater = space.mirrored[less]
    assert without_redundant(space, [(less,), (greater,)]) == [(min(less, greater),)]
    assert without_redundant(space, [(less,), (at_most, different)]) == [(less,)]
    assert without_redundant(space, [(at_most,), (different,)]) == sorted([(at_most,), (different,)])


def test_paths_begin_with_what_is_frequent_and_rarely_satisfied() -> None:
    table = encoded([(i + 1, i % 3 + 1, i % 50 + 1) for i in range(100)], WIDTH)
    space = PredicateSpace.of(same(column, operator) for column in range(3) for operator in ("=", "<", "!="))
    number = {(p.left.column, p.operator): n for n, p in enumerate(space.predicates)}
    dcs = [
        (number[0, "<"], number[1, "!="], number[2, "="]),
        (number[0, "<"], number[1, "<"], number[2, "="]),
        (number[0, "<"], number[1, "<"], number[2, "<"]),
    ]
    paths = paths_of(table, space, dcs, NullPolicy.EQUAL)
    assert [path[0] == (same(2, "="),) for path in paths] == [True, True, False]
    assert sorted(sorted(map(len, path)) for path in paths) == [[1, 1, 1], [1, 2], [1, 2]]


def test_the_walk_ends_when_it_is_told_to() -> None:
    table = encoded([(1, 1, 1), (1, 2, 1)], WIDTH)
    space = PredicateSpace.of([same(0, "=")])
    workspace = Workspace(table, NullPolicy.EQUAL)
    paths: list[Path] = [((same(0, "="),),)]
    assert distinct_violating_pairs(paths, space, workspace, lambda: False).tolist() == [[0, 1]]
    with pytest.raises(StoppedError):
        distinct_violating_pairs(paths, space, workspace, lambda: True)
