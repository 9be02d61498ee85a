"""Constraints of tables with very many comparisons: what they take grows with columns and answers, not with pairs."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
from allocations import allocations
from denial_tables import spaces
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies.denial_implication import satisfiable
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.preliminary import Numbers, Preliminary
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.evidence.denials.evidence import all_evidence
from lawful.evidence.denials.pool import DenialPool
from lawful.search import unpack_sets
from lawful.search.denials.literals import CONVENTIONS, Literals
from lawful.search.denials.reduction import reduced_places
from lawful.search.sets import pack_sets
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

ROWS, COLUMNS = 400, 40


def wide_table(rows: int = ROWS, columns: int = COLUMNS) -> EncodedTable:
    random = np.random.default_rng(2)
    made = {f"c{place}": random.integers(0, 40, rows) for place in range(columns)}
    return encode_arrow(pa.table(made), ReadOptions())


def wide_space(table: EncodedTable) -> PredicateSpace:
    space = predicate_space(table, DenialQuestion())
    assert len(space.groups) > 15 * table.width
    return space


@st.composite
def constraints(draw: st.DrawFn) -> tuple[PredicateSpace, list[Numbers]]:
    space = draw(spaces(("number", "number", "text"), most=30))
    numbers = st.sets(st.integers(0, max(0, len(space) - 1)), min_size=1, max_size=3).map(lambda x: tuple(sorted(x)))
    drawn = draw(st.lists(numbers, max_size=12, unique=True)) if len(space) else []
    return space, [each for each in drawn if satisfiable(space.predicates[one] for one in each)]


def test_pairs_are_compared_in_the_room_of_columns() -> None:
    table = wide_table()
    space = wide_space(table)
    left = np.arange(ROWS - 1, dtype=np.int32)
    DenialPool(table, space, NullPolicy.EQUAL).compare(left, left + 1)
    with allocations() as counted:
        pool = DenialPool(table, space, NullPolicy.EQUAL)
    assert counted.peak < ROWS * len(space.groups)  # one byte for each comparison of each row would be more
    assert len(pool.compare(left, left + 1)) == len(left)


def test_literals_take_no_square_of_bits() -> None:
    space = wide_space(wide_table())
    with allocations() as counted:
        for convention in CONVENTIONS:
            literals = Literals.of(space, convention)
            assert len(literals.members) == literals.most_units
    assert counted.peak < 1000 * len(space) < len(space) ** 2 // 8


@given(constraints())
def test_what_follows_from_what_is_the_same_among_few_predicates(case: tuple[PredicateSpace, list[Numbers]]) -> None:
    space, some = case
    table = wide_table(3, 3)
    preliminary = Preliminary(Search(table, LocalEngine(threads=1)), DenialQuestion(), table, space)
    reduced, _ = reduced_places(pack_sets(some, len(space)), space)
    strongest = preliminary.strongest_of(some)
    assert sorted(strongest) == sorted(unpack_sets(reduced))
    assert sorted(map(len, strongest)) == list(map(len, strongest))


def test_a_space_is_sent_without_what_was_worked_out() -> None:
    space = wide_space(wide_table(50, 10))
    plain = len(pickle.dumps(space))
    assert Literals.of(space, "reduced") is Literals.of(space, "reduced")
    assert len(space.mirrored) == len(space)
    sent = pickle.dumps(space)
    assert len(sent) == plain
    assert pickle.loads(sent) == space


def test_comparisons_across_columns_are_those_of_all_pairs() -> None:
    random = np.random.default_rng(3)
    made = {f"c{place}": pa.array(random.integers(0, 5, 70), mask=random.random(70) < 0.2) for place in range(9)}
    table = encode_arrow(pa.table(made), ReadOptions())
    space = predicate_space(table, DenialQuestion(constants=2))
    left, right = np.triu_indices(table.rows, 1)
    for policy in NullPolicy:
        pool = DenialPool(table, space, policy)
        pool.add_pairs(left.astype(np.int32), right.astype(np.int32))
        literals, everything = Literals.of(space, "set-minimal"), all_evidence(table, space, policy, 1).signs
        seen = pool.evidence.signs
        edges = literals.edges(everything.less, everything.greater)
        assert np.array_equal(literals.edges(seen.less, seen.greater), edges)
        assert len(edges) > 1
