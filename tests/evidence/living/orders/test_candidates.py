from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies.laws import POD, POD_LEFT_OPERATORS, POD_RIGHT_OPERATORS
from lawful.evidence.living.orders import (
    Fetch,
    IndexPlan,
    better_with_all,
    candidate_counts,
    choose_indexes,
    fetches_of,
    is_better_with_all,
    violating_candidates,
)
from lawful.evidence.living.orders.fetches import finer_fetches_of, widest
from lawful.evidence.living.orders.sampled_pairs import correlation
from tests.evidence.living.orders.growing import Growing, Row, histories
from tests.evidence.pairs import POLICIES

WIDTH = 4
SCORINGS = ("share", "correlation")


@st.composite
def pods(draw: st.DrawFn) -> POD:
    columns = draw(st.permutations(range(WIDTH)))
    left = [(column, draw(st.sampled_from(POD_LEFT_OPERATORS))) for column in columns[: draw(st.integers(0, 3))]]
    return POD(tuple(left), (columns[-1], draw(st.sampled_from(POD_RIGHT_OPERATORS))))


def listed(plan: IndexPlan, new: np.ndarray, chunk: int) -> set[tuple[int, int]]:
    """The pairs that are listed."""
    found: list[tuple[int, int]] = []
    for some in violating_candidates(plan, new, chunk=chunk):
        assert len(some.left) <= chunk
        found += zip(some.left.tolist(), some.right.tolist(), strict=True)
    assert len(set(found)) == len(found)
    told = dict(zip(new.tolist(), candidate_counts(plan, new).tolist(), strict=True))
    assert all(count <= told[row] for row, count in Counter(row for _, row in found).items())
    return set(found)


def check_plan(plan: IndexPlan) -> None:
    """Every POD is served by one index, on columns that it compares, with a fetch that finds what breaks it."""
    served = sorted(number for each in plan.indexes for number in each.serves)
    assert served == list(range(len(plan.pods)))
    assert all(plan.covers(law) for law in plan.pods)
    for each in plan.indexes:
        for number in each.serves:
            law = plan.pods[number]
            answered = [(fetch.columns, fetch.within) for fetch in (*fetches_of(law), *finer_fetches_of(law))]
            assert (each.index.columns, each.index.within) in answered


@given(
    histories(WIDTH, 8),
    st.lists(pods(), max_size=4),
    POLICIES,
    st.sampled_from(SCORINGS),
    st.sampled_from([1, 7, 100]),
)
def test_every_pair_that_breaks_a_pod_is_a_candidate(
    history: tuple[list[Row], list[tuple[list[Row], int]]],
    laws: list[POD],
    policy: NullPolicy,
    scoring: str,
    chunk: int,
) -> None:
    first, batches = history
    growing = Growing(first, WIDTH)
    # A text of the parameters.
    plan = choose_indexes(growing.table, laws, policy, scoring=scoring)  # type: ignore[arg-type]
    check_plan(plan)
    for come, every in batches:
        new = growing.change(come, growing.live[::every] if every else ())
        plan.catch_up()
        found = listed(plan, new, chunk)
        pairs = [(other, row) for row in new.tolist() for other in growing.live if other < row]
        assert found <= set(pairs)
        for one, other in pairs:
            if any(growing.breaks(law, *pair, policy) for law in laws for pair in ((one, other), (other, one))):
                assert (one, other) in found


@pytest.mark.parametrize("left_op", POD_LEFT_OPERATORS)
@pytest.mark.parametrize("right_op", POD_RIGHT_OPERATORS)
@pytest.mark.parametrize("policy", NullPolicy)
def test_a_pod_of_two_comparisons_lists_what_breaks_it_and_nothing_else(left_op, right_op, policy) -> None:
    """`=` on the left is looked up, and then all rows with the value are listed."""
    generator = np.random.default_rng(3)
    rows = [tuple(None if cell == 4 else cell for cell in row) for row in generator.integers(0, 9, (40, 2)).tolist()]
    growing = Growing(rows, 2)
    law = POD(((0, left_op),), (1, right_op))
    plan = choose_indexes(growing.table, [law], policy)
    found = listed(plan, np.arange(40), 13)
    pairs = {(one, other) for one, other in product(range(40), range(40)) if one < other}
    broken = {pair for pair in pairs if growing.breaks(law, *pair, policy) or growing.breaks(law, *pair[::-1], policy)}
    equal = {pair for pair in pairs if growing.holds(pair[0], "=", pair[1], 0, policy)}
    assert broken <= found <= (equal if left_op == "=" else broken)


def test_a_plan_lists_little_where_the_laws_nearly_hold() -> None:
    """Salaries rise with grades and taxes with salaries, and hardly any pair is in the wrong order."""
    generator = np.random.default_rng(4)
    grade = generator.integers(0, 500, 2000)
    salary = grade * 10 + generator.integers(0, 10, 2000)
    rows = np.stack([grade, salary, salary // 3, generator.integers(0, 1000, 2000)], axis=1)
    growing = Growing([tuple(row) for row in rows.tolist()], WIDTH)
    laws = [POD(((0, "<"), (3, "<")), (1, "<")), POD(((1, "<="), (3, ">")), (2, "<=")), POD(((0, "="),), (3, "="))]
    counts = {}
    for scoring in SCORINGS:
        # A text of the parameters.
        plan = choose_indexes(growing.table, laws, NullPolicy.EQUAL, scoring=scoring)  # type: ignore[arg-type]
        new = np.arange(1900, 2000)
        counts[scoring] = len(listed(plan, new, 1000))
        told = sum(each.counts(new) for each in plan.indexes)
        assert np.array_equal(told, candidate_counts(plan, new))
        assert sum(each.share for each in plan.indexes) < 0.1
        assert plan.memory > 0
    assert max(counts.values()) < 0.1 * 100 * 1950


def test_a_law_within_classes_lists_no_more_in_a_larger_table() -> None:
    """Any two comparisons of it find a share of the table; all three find nothing."""
    laws = [POD(((0, "="), (1, "<")), (2, "<=")), POD(((0, "="), (1, "=")), (2, "="))]
    for count in (1000, 4000):
        generator = np.random.default_rng(6)
        group, amount = generator.integers(0, 8, count), generator.integers(0, 60, count)
        rows = np.stack([group, amount, amount // 2 + group * 5 % 7 * 10, amount], axis=1)
        growing = Growing([tuple(row) for row in rows.tolist()], WIDTH)
        plan = choose_indexes(growing.table, laws, NullPolicy.EQUAL)
        assert all(each.index.within is not None for each in plan.indexes)
        assert not listed(plan, np.arange(count - 100, count), 1000)
        (row,) = growing.change([(3, 30, 1000, 0)])
        plan.catch_up()
        broken = [s for s, (of, paid, _, _) in enumerate(growing.rows[:count]) if of == 3 and int(paid or 0) >= 30]
        assert sorted(listed(plan, np.array([row]), 1000)) == [(s, row) for s in broken]


def test_rows_are_compared_with_all_where_that_saves_much() -> None:
    few, many = np.full(200, 10), np.full(200, 900)
    assert not better_with_all(few, 1000).any()
    assert better_with_all(many, 1000).all()
    assert better_with_all(np.concatenate([few, many]), 1000).tolist() == [False] * 200 + [True] * 200
    assert not better_with_all(many[:1], 1000).any(), "laying the table out costs more than one row"
    assert is_better_with_all(200 * 900, 200 * 1000, 1000)
    assert not is_better_with_all(900, 1000, 1000)
    assert not is_better_with_all(200 * 10, 200 * 1000, 1000)


def test_a_selective_column_or_a_shared_index_covers_many() -> None:
    growing = Growing([(k, k % 2, -k, (k * k) % 7) for k in range(50)], WIDTH)
    laws = [POD(((0, "="), (1, "<")), (2, "<")), POD(((0, "="),), (3, "="))]
    (only,) = choose_indexes(growing.table, laws, NullPolicy.EQUAL, scoring="correlation").indexes
    assert only.fetches == (Fetch(0, "="),)
    assert only.serves == (0, 1)
    falling = [POD(((0, "<"), (3, ">")), (2, "=")), POD(((0, ">="), (1, "=")), (2, "<="))]
    (pair,) = choose_indexes(growing.table, falling, NullPolicy.EQUAL, scoring="correlation").indexes
    assert pair.index.columns == (0, 2)
    assert pair.rank == 1
    (all_,) = choose_indexes(growing.table, [POD((), (0, "="))], NullPolicy.EQUAL).indexes
    assert (all_.rank, all_.share) == (1, 1.0)
    assert choose_indexes(growing.table, [], NullPolicy.EQUAL).indexes == ()


def test_a_plan_covers_what_takes_the_place_of_its_laws() -> None:
    growing = Growing([(k, k // 2, k % 5, -k) for k in range(30)], WIDTH)
    plan = choose_indexes(growing.table, [POD(((0, "<="),), (1, "<"))], NullPolicy.EQUAL)
    for law in (POD(((0, "<"),), (1, "<")), POD(((0, "<="), (2, ">")), (1, "<=")), POD(((0, "="),), (1, "<"))):
        assert plan.covers(law)
    for law in (POD(((0, "<="),), (1, "=")), POD(((2, "<"),), (1, "<")), POD((), (1, "="))):
        assert not plan.covers(law)


def test_indexes_are_kept_from_plan_to_plan() -> None:
    growing = Growing([(k, k // 2, k % 5, -k) for k in range(30)], WIDTH)
    laws = [POD(((0, "<="),), (1, "<=")), POD(((2, "="),), (3, "="))]
    before = choose_indexes(growing.table, laws, NullPolicy.EQUAL)
    new = growing.change([(3, 50, 2, 8)])
    before.catch_up()
    after = choose_indexes(growing.table, [*laws, POD(((1, "<"),), (3, "<"))], NullPolicy.EQUAL, before=before)
    assert {id(each.index) for each in before.indexes} < {id(each.index) for each in after.indexes}
    assert {(other, 30) for other in range(4, 30)} <= listed(after, new, 50)


def test_fetches_that_others_find_too_are_not_asked() -> None:
    assert widest([Fetch.of((0, "<"), (1, ">")), Fetch.of((0, ">="), (1, "<="))]) == (Fetch(0, "<=", 1, ">="),)
    assert widest([Fetch.of((0, "<"), (1, "!="))]) == (Fetch(0, "<", 1, "<"), Fetch(0, "<", 1, ">"))
    assert widest([Fetch.of((0, "="), (1, "!="))]) == (Fetch(0, "=", 1, "<"),)
    assert widest([Fetch.of((3, "!="))]) == (Fetch(3, "<"),)
    assert Fetch.of((0, "<"), (1, ">"), 2).is_within(Fetch.of((0, "<="), (1, ">")))
    assert not Fetch.of((0, "<"), (1, ">")).is_within(Fetch.of((0, "<="), (1, ">"), 2))
    assert not Fetch.of((0, "<"), (1, ">"), 3).is_within(Fetch.of((0, "<="), (1, ">"), 2))


def test_a_correlation_is_a_number() -> None:
    values = np.arange(5.0)
    assert correlation(values, -3 * values + 1) == pytest.approx(-1)
    assert correlation(values, np.ones(5)) == 0
    assert correlation(values[:0], values[:0]) == 0
