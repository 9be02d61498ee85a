"""Strength: every trial against the definitions, and how often chance is called a law."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import oracle
import pytest
import strength_oracle
from hypothesis import given
from hypothesis import strategies as st

from checks.denial_tables import Rows, constraints, encoded, rows_of, same_column_constraints
from checks.tables import POLICIES, ArrayTable, laws_over, ranked, tables
from checks.test_list_orders import lists
from lawful.checks import CheckTask, Trial, Workspace, check, find_violations
from lawful.checks.strength.fd_measures import fd_measures
from lawful.checks.strength.kernels.orders import count_orders
from lawful.checks.strength.trial import log_binomial_tail, log_poisson_tail, most_lost
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, CanonicalOD, Key, Law, ListOD
from lawful.dependencies.denial_readings import plain_law

WIDTH = 4


def trial_of(law: Law, workspace: Workspace) -> Trial:
    verdict = check(CheckTask(5, law, trial=True), workspace.table, workspace)
    assert verdict.id == 5
    assert verdict.trial is not None
    assert verdict.holds == (verdict.trial.pairs == 0)
    return verdict.trial


def agrees_with_violations(law: Law, trial: Trial, workspace: Workspace) -> None:
    found = find_violations(law, workspace.table, workspace)
    assert (trial.pairs, trial.rows, trial.removals) == (found.pairs, found.rows.size, found.removals)
    assert 0.0 <= trial.sure_strength <= trial.strength <= 1.0
    assert trial.log_chance <= 0.0


@given(tables(max_rows=9, max_width=4), POLICIES)
def test_fds_have_mu_plus(table: ArrayTable, policy: NullPolicy) -> None:
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in laws_over(table.width, largest=2):
        if isinstance(law, FD):
            trial = trial_of(law, workspace)
            assert trial.strength == pytest.approx(float(strength_oracle.mu_plus(law, rows, policy)), abs=1e-9)
            judged = oracle.judged_rows(law, rows, policy)
            assert trial.tested == sum(oracle.agree(law.lhs, rows[i], rows[j]) for i in judged for j in judged if i < j)
            agrees_with_violations(law, trial, workspace)


@given(tables(max_rows=12, max_width=3), POLICIES)
def test_exceptions_are_wrong_rows_that_agree_among_themselves(table: ArrayTable, policy: NullPolicy) -> None:
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in laws_over(table.width, largest=2):
        if isinstance(law, FD):
            wrong = repeated = 0
            classes: dict[tuple[object, ...], Counter[object]] = {}
            for i in oracle.judged_rows(law, rows, policy):
                left = tuple(rows[i][column] for column in law.lhs)
                classes.setdefault(left, Counter())[rows[i][law.rhs]] += 1
            for values in classes.values():  # three rows are a tenth of all
                _, *others = (count for _, count in values.most_common())
                wrong += sum(others)
                repeated += sum(count for count in others if count > 2)
            assert trial_of(law, workspace).has_exceptions == (3 * repeated > wrong), law


@pytest.mark.parametrize(("alike", "is_exception"), [(2, False), (9, False), (10, True), (40, True)])
def test_a_small_part_of_a_large_class_is_no_exception(alike: int, is_exception: bool) -> None:
    right = np.array([1] * (100 - alike) + [2] * alike, np.int32)
    table = ArrayTable([np.ones(100, np.int32), right])
    assert trial_of(FD((0,), 1), Workspace(table, NullPolicy.EQUAL)).has_exceptions is is_exception


@given(tables(max_rows=6, max_width=3), POLICIES)
def test_other_measures_of_fds(table: ArrayTable, policy: NullPolicy) -> None:
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in laws_over(table.width, largest=2):
        if isinstance(law, FD):
            trial = trial_of(law, workspace)
            found = fd_measures(law, trial, workspace)
            assert found.g1 == pytest.approx(oracle.error(law, rows, policy, "g1"))
            assert found.g3 == pytest.approx(oracle.error(law, rows, policy, "g3"))
            assert found.tau == pytest.approx(float(strength_oracle.goodman_kruskal_tau(law, rows, policy)), abs=1e-9)
            information = strength_oracle.reliable_information(law, rows, policy)
            assert found.rfi_plus == pytest.approx(information, abs=1e-7)
            has_two = len({rows[i][law.rhs] for i in oracle.judged_rows(law, rows, policy)}) > 1
            assert (fd_measures(law, trial, workspace, most_terms=0).rfi_plus is None) == has_two


@given(tables(max_rows=8, max_width=4), POLICIES)
def test_keys_and_orders(table: ArrayTable, policy: NullPolicy) -> None:
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in laws_over(table.width, largest=3):
        if isinstance(law, FD):
            continue
        trial, expected = trial_of(law, workspace), strength_oracle.expected_trial(law, rows, policy)
        assert trial.strength == pytest.approx(float(expected.strength), abs=1e-9)
        if not isinstance(law, Key) or len(law.columns) < 2:  # of several columns two may be worth the same
            assert trial.tested == expected.tested
        agrees_with_violations(law, trial, workspace)


@given(st.data(), tables(max_rows=8, max_width=4))
def test_list_orders(data: st.DataObject, table: ArrayTable) -> None:
    law = ListOD(data.draw(lists(table.width)), data.draw(lists(table.width)))
    workspace = Workspace(table, NullPolicy.EQUAL)
    trial = trial_of(law, workspace)
    expected = strength_oracle.expected_trial(law, table.as_rows(), NullPolicy.EQUAL)
    assert trial.strength == pytest.approx(float(expected.strength), abs=1e-9)
    assert trial.tested == expected.tested
    agrees_with_violations(law, trial, workspace)


@given(rows_of(WIDTH), st.lists(st.one_of(constraints(WIDTH), same_column_constraints(WIDTH)), max_size=4), POLICIES)
def test_denial_constraints(rows: Rows, laws: list[DC], policy: NullPolicy) -> None:
    workspace = Workspace(encoded(rows, WIDTH), policy)
    for law in laws:
        trial, plain = trial_of(law, workspace), plain_law(law)
        if plain is not None:
            assert trial == trial_of(plain, workspace)
            continue
        expected = strength_oracle.expected_trial(law, rows, policy)
        assert trial.strength == pytest.approx(float(expected.strength), abs=1e-9)
        agrees_with_violations(law, trial, workspace)


@given(tables(max_rows=6, max_width=3, min_width=2), POLICIES)
def test_chance_of_an_order(table: ArrayTable, policy: NullPolicy) -> None:
    """Where there is no swap, the chance is the share of all arrangements that have none, or as of coins if larger."""
    workspace, rows = Workspace(table, policy), table.as_rows()
    for law in laws_over(table.width, largest=2):
        if isinstance(law, CanonicalOD) and oracle.holds(law, rows, policy):
            share = strength_oracle.share_of_orders_without_swap(law, rows, policy)
            trial, chances = trial_of(law, workspace), strength_oracle.chances_of_order(law, rows, policy)
            assert trial.chances == chances
            assert math.exp(trial.log_chance) == pytest.approx(max(float(share), 0.5**chances))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=6))
def test_variance_of_an_order(points: list[tuple[int, int]]) -> None:
    points.sort()
    a, b = (np.array(column, np.int32) for column in zip(*points, strict=True))
    a.flags.writeable = b.flags.writeable = False
    rows, size = np.arange(a.size, dtype=np.int32), a.size
    *_, variance = count_orders(
        rows,
        np.zeros(size, np.int32),
        a,
        b,
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.zeros(size, np.bool_),
    )
    expected = strength_oracle.variance_of_orders(CanonicalOD((), 0, 1, "asc"), points, NullPolicy.EQUAL)
    assert variance == pytest.approx(float(expected), abs=1e-9)


@given(st.integers(1, 60), st.floats(0.01, 0.99), st.integers(0, 60))
def test_bounds_are_bounds(chances: int, failing: float, lost: int) -> None:
    lost = min(lost, chances)
    exact = math.fsum(math.comb(chances, k) * failing**k * (1 - failing) ** (chances - k) for k in range(lost + 1))
    assert math.exp(log_binomial_tail(chances, failing, lost)) >= exact * (1 - 1e-9)
    mean = chances * failing
    poisson = math.fsum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(lost + 1))
    assert math.exp(log_poisson_tail(mean, lost)) >= poisson * (1 - 1e-9)
    assert math.exp(log_poisson_tail(most_lost(lost), lost)) == pytest.approx(0.05)


def test_most_lost_of_nothing_is_three() -> None:
    assert most_lost(0.0) == pytest.approx(-math.log(0.05))


def test_worked_example() -> None:
    """The example of the documentation: eight rows, one of them wrong."""
    zips, cities = [1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 3, 2, 2, 2, 2]
    table = ArrayTable([ranked(zips), ranked(cities), ranked(list(range(1, 9)))])
    workspace = Workspace(table, NullPolicy.EQUAL)
    trial = trial_of(FD((0,), 1), workspace)
    assert (trial.tested, trial.pairs, trial.rows, trial.removals) == (12, 3, 4, 1)
    assert (trial.chances, trial.lost) == (6.0, 1.5)
    assert trial.expected == pytest.approx(6 * 19 / 28)
    assert round(trial.strength, 2) == 0.63
    assert trial_of(Key((2,)), workspace).strength == 1.0
    assert round(trial_of(Key((0,)), workspace).strength, 2) == 0.14


@pytest.mark.parametrize("values", [(2,), (7,), (40,), (0.9, 0.1), (0.97, 0.01, 0.01, 0.01), (0.5, 0.25, 0.125, 0.125)])
def test_random_columns_are_called_accidental(values: tuple[float, ...]) -> None:
    """Among all keys, FDs and orders of random columns, at most the promised share is no accident."""
    rng = np.random.default_rng(len(values))
    runs, wrong = 40, 0
    for _ in range(runs):
        if len(values) == 1:
            columns = [rng.integers(1, values[0] + 1, 300) for _ in range(4)]
        else:
            columns = [rng.choice(np.arange(1, len(values) + 1), 300, p=values) for _ in range(4)]
        workspace = Workspace(ArrayTable([ranked(column.tolist()) for column in columns]), NullPolicy.EQUAL)
        of_kind: dict[type, list[Trial]] = {}
        for law in laws_over(4, largest=2):
            if not isinstance(law, Key) or len(law.columns) > 1:  # that a column repeats its values is no accident
                of_kind.setdefault(type(law), []).append(trial_of(law, workspace))
        wrong += sum(not trial.is_accidental(len(trials)) for trials in of_kind.values() for trial in trials)
    assert wrong <= 3 * runs * 0.05
