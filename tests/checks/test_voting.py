"""Votes against brute force, and what opinions have to be whatever the table is."""

from __future__ import annotations

import numpy as np
import voting_oracle
from hypothesis import given
from hypothesis import strategies as st

from checks.tables import POLICIES, ArrayTable, laws_over, tables
from lawful.checks import Workspace
from lawful.checks.voting.opinions import FAILS, opinion_of
from lawful.checks.voting.votes import class_votes
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD


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
