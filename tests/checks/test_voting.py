"""Votes against brute force, and what opinions have to be whatever the table is."""

from __future__ import annotations

import numpy as np
import voting_oracle
from hypothesis import given
from hypothesis import strategies as st

from checks.tables import POLICIES, ArrayTable, laws_over, tables
from lawful.checks import Workspace
from lawful.checks.voting.asking import opinion_of
from lawful.checks.voting.opinions import FAILS
from lawful.checks.voting.order_opinions import order_votes
from lawful.checks.voting.votes import class_votes
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key


def fds_over(width: int) -> list[FD]:
    return [law for law in laws_over(width, largest=2) if isinstance(law, FD)]


@given(tables(max_rows=9, max_width=4), POLICIES)
def test_votes_are_those_of_all_other_rows(table: ArrayTable, policy: NullPolicy) -> None:
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in fds_over(table.width):
        found = class_votes(law, workspace)
        counted = zip(found.others, found.alike, found.rival, found.suggested, strict=True)
        assert [tuple(map(int, each)) for each in counted] == voting_oracle.votes(law, rows, policy)


@given(tables(max_rows=12, max_width=3), POLICIES, st.randoms(use_true_random=False))
def test_opinions_follow_the_votes_and_not_the_order_of_rows(table: ArrayTable, policy: NullPolicy, random) -> None:
    workspace = Workspace(table, policy)
    order = list(range(table.rows))
    random.shuffle(order)
    shuffled = Workspace(ArrayTable([table.column(column)[order] for column in range(table.width)]), policy)
    everything = np.arange(table.rows, dtype=np.int32)
    for law in fds_over(table.width):
        votes = class_votes(law, workspace)
        found = opinion_of(law, workspace, everything)
        assert (found.weights[~votes.tested] == 0.0).all()
        assert (found.weights[votes.failing] <= 0.0).all()
        assert (found.weights[~votes.failing] >= 0.0).all()
        assert (found.tested, found.failed) == (votes.tested.sum(), votes.failing.sum())
        assert np.allclose(opinion_of(law, shuffled, everything).weights, found.weights[order])
        wrong = opinion_of(law, workspace)
        assert wrong.rows.tolist() == np.flatnonzero(found.weights < FAILS).tolist()
        assert np.array_equal(wrong.suggested, found.suggested[wrong.rows])


def test_a_lone_slip_fails_and_a_class_that_is_mixed_does_not() -> None:
    classes = np.repeat(np.arange(1, 21), 20)
    values = classes.copy()
    values[7] = 9
    slip = opinion_of(FD((0,), 1), Workspace(ArrayTable([classes, values]), NullPolicy.EQUAL))
    assert slip.rows.tolist() == [7]
    assert slip.suggested.tolist() == [1]
    mixed = classes.copy()
    mixed[:20] = np.arange(20) % 4 + 1
    mixed[7] = 9
    opinion = opinion_of(FD((0,), 1), Workspace(ArrayTable([classes, mixed]), NullPolicy.EQUAL))
    assert 7 not in opinion.rows.tolist()


def test_rows_that_fail_together_are_an_exception() -> None:
    classes = np.tile(np.arange(1, 11), 40)
    place = np.repeat(np.arange(1, 41), 10)
    values = np.where(place == 5, classes + 10, classes)
    without = opinion_of(FD((0,), 1), Workspace(ArrayTable([classes, values]), NullPolicy.EQUAL))
    assert without.rows.size == 10
    with_it = opinion_of(FD((0,), 1), Workspace(ArrayTable([classes, values, place]), NullPolicy.EQUAL))
    assert with_it.rows.size == 0


def orders_over(width: int) -> list[CanonicalOD]:
    return [law for law in laws_over(width, largest=1) if isinstance(law, CanonicalOD)]


def classes_of(law: CanonicalOD, rows: voting_oracle.Rows, policy: NullPolicy) -> list[list[int]]:
    """The rows that an order is judged on, class by class; rows that are alone have nobody to be held against."""
    classes: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(rows):
        columns = (*law.context, law.left, law.right)
        if policy is NullPolicy.EQUAL or all(row[column] for column in columns):
            classes.setdefault(tuple(row[column] for column in law.context), []).append(number)
    return list(classes.values())


@given(tables(max_rows=7, max_width=3), POLICIES)
def test_a_longest_chain_of_each_class_votes_on_its_order(table: ArrayTable, policy: NullPolicy) -> None:
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in orders_over(table.width):
        votes = order_votes(law, workspace)
        for members in classes_of(law, rows, policy):
            counts = [(int(votes.others[row]), int(votes.rival[row])) for row in members]
            by_chain = [
                [
                    (
                        sum(voting_oracle.differ_in_both(law, rows[row], rows[other]) for other in chain),
                        sum(voting_oracle.swapped(law, rows[row], rows[other]) for other in chain),
                    )
                    for row in members
                ]
                for chain in voting_oracle.longest_chains(law, rows, members)
            ]
            assert counts in by_chain or len(members) == 1


def test_a_row_far_from_its_place_fails_and_one_in_order_does_not() -> None:
    left = np.arange(1, 201)
    right = left.copy()
    right[20], right[150] = 180, 3
    opinion = opinion_of(CanonicalOD((), 0, 1, "asc"), Workspace(ArrayTable([left, right]), NullPolicy.EQUAL))
    assert opinion.rows.tolist() == [20, 150]
    assert (opinion.suggested == 0).all()
    everybody = opinion_of(
        CanonicalOD((), 0, 1, "asc"),
        Workspace(ArrayTable([left, right]), NullPolicy.EQUAL),
        np.arange(200, dtype=np.int32),
    )
    assert np.count_nonzero(everybody.weights) == 2


def test_columns_that_merely_rise_together_fail_nobody() -> None:
    left = np.arange(1, 401)
    right = left + np.random.default_rng(0).integers(-3, 4, 400) + 3
    workspace = Workspace(ArrayTable([left, np.unique(right, return_inverse=True)[1] + 1]), NullPolicy.EQUAL)
    assert opinion_of(CanonicalOD((), 0, 1, "asc"), workspace).rows.size == 0


def test_a_key_suspects_all_rows_that_share_it_and_fails_none() -> None:
    workspace = Workspace(ArrayTable([np.array([*range(1, 100), 7])]), NullPolicy.EQUAL)
    opinion = opinion_of(Key((0,)), workspace, np.arange(100, dtype=np.int32))
    assert np.flatnonzero(opinion.weights).tolist() == [6, 99]
    assert (opinion.weights > FAILS).all()
    assert opinion_of(Key((0,)), workspace).rows.size == 0
