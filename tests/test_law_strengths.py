"""The strengths of laws in complete sets: those of the definition, wherever they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from checks.tables import POLICIES, ArrayTable, tables
from hypothesis import assume, given

import lawful
from lawful.checks import CheckTask, Workspace, check
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import KEY, Block, Findings
from lawful.results import DiscoveryReport
from lawful.results.packed_laws import NO_RIGHT_SIDE
from lawful.runs.strengths import ExactStrengths
from lawful.search import pack_sets


def strength_of(law: Law, table: Any, policy: NullPolicy) -> float:
    trial = check(CheckTask(0, law, trial=True), table, Workspace(table, policy)).trial
    assert trial is not None
    return trial.strength


def frame(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    shop = rng.integers(0, 25, rows)
    name = np.where(rng.random(rows) < 0.02, 77, shop)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "shop": shop,
            "name": name,
            "town": shop % 6,
            "day": rng.integers(0, 300, rows),
            "one": 1,
        }
    )


@given(tables(max_rows=9, max_width=4), POLICIES)
def test_keys_and_fds_that_hold_have_the_strength_of_the_definition(table: ArrayTable, policy: NullPolicy) -> None:
    """All pairs of so few rows are compared; where nulls are ignored, only the left side is looked at."""
    assume(table.width > 0)
    found = lawful.discover(_frame_of(table), null=policy.value, engine="local")
    for each in found:
        exact = strength_of(each.law.positional, found.table, policy)
        if policy is NullPolicy.EQUAL or each.strength == 0.0:
            assert each.strength == exact
        else:
            assert each.strength == 1.0


def _frame_of(table: ArrayTable) -> pd.DataFrame:
    values = [table.column(column).tolist() for column in range(table.width)]
    return pd.DataFrame({f"c{n}": pd.array([v or None for v in each], "Int64") for n, each in enumerate(values)})


@pytest.fixture(scope="module")
def exact() -> DiscoveryReport:
    return lawful.discover(frame(), engine="local")


def test_what_nothing_tests_comes_last(exact: DiscoveryReport) -> None:
    """The table has more pairs than are sampled: keys that were found tell left sides that nothing tests."""
    for found in (exact.keys(), exact.fds()):
        strengths = [each.strength for each in found]
        assert strengths == sorted(strengths, reverse=True)
        for each in found:
            assert each.strength == strength_of(each.law.positional, exact.table, NullPolicy.EQUAL)
    assert {each.strength for each in exact.fds()} == {0.0, 1.0}
    assert next(each for each in exact.fds() if each.text == "{} -> one").strength == 0.0
    document = exact.to_dict()
    assert [entry["strength"] for entry in document["dependencies"]] == [each.strength for each in exact]
    assert "strength" in exact.to_dataframe().columns


def test_without_keys_what_the_sample_does_not_show_is_not_known() -> None:
    found = lawful.discover(frame(), "fd", engine="local")
    assert {1.0, None} <= {each.strength for each in found}
    assert '"strength": null' in str(found.to_dict()).replace("'", '"').replace("None", "null")
    for each in found:
        if each.strength is not None:
            assert each.strength == strength_of(each.law.positional, found.table, NullPolicy.EQUAL)


def test_sets_that_the_sample_does_not_show_are_decided_by_all_keys() -> None:
    table = ArrayTable([np.arange(1, 1001, dtype=np.int32), np.repeat(np.arange(1, 501, dtype=np.int32), 2)])
    coverage = Coverage(table, NullPolicy.EQUAL, range(2))
    keys = Findings([Block(KEY, pack_sets([(0,)], 2))], finished={"key"})
    sets = pack_sets([(0,), (1,), ()], 2)
    rights = np.array([1, 0, 1])
    unseen = np.full(3, 1.0 / 1000)
    assert ExactStrengths(coverage, keys, 1000).weigh(sets, rights, unseen).tolist() == [0.0, 1.0, 0.0]
    assert np.isnan(ExactStrengths(coverage, Findings(), 1000).weigh(sets, rights, unseen)[:2]).all()
    of_keys = ExactStrengths(coverage, keys, 1000).weigh(sets, np.full(3, NO_RIGHT_SIDE), unseen)
    assert of_keys.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("find", ["key,fd", "list-od", "pod", "dc"])
def test_laws_within_an_error_are_ranked_by_what_the_engine_counted(find: str) -> None:
    found = lawful.discover(frame(120), find, error=0.05, max_size=2, engine="local", columns=["id", "shop", "name"])
    assert len(found)
    workspace = Workspace(found.table, NullPolicy.EQUAL)
    for kind in find.split(","):
        laws = found.of_kind(kind)  # type: ignore[arg-type]  # one of the kinds
        strengths = [each.strength for each in laws]
        assert strengths == sorted(strengths, reverse=True)
        for each in laws:
            trial = check(CheckTask(0, each.law.positional, trial=True), found.table, workspace).trial
            assert trial is not None
            assert (each.strength, each.tested, each.violating) == (trial.strength, trial.tested, trial.rows)


def test_other_laws_that_hold_are_tried_where_they_are_few() -> None:
    found = lawful.discover(frame(120), "canonical-od", max_size=1, engine="local", columns=["id", "shop", "town"])
    for each in found.of_kind("canonical-od"):
        assert each.strength == strength_of(each.law.positional, found.table, NullPolicy.EQUAL)


def test_an_almost_key_comes_before_columns_that_merely_agree_seldom() -> None:
    rng = np.random.default_rng(5)
    ids = np.arange(1000)
    ids[10] = ids[11]
    table = pd.DataFrame({"region": rng.integers(0, 150, 1000), "id": ids})
    found = lawful.discover(table, "key", error=0.01, engine="local")
    assert found.settings["measure"] == "g3"
    assert [each.text for each in found] == ["key(id)"]
    by_pairs = lawful.discover(table, "key", error=0.01, measure="g1", engine="local")
    assert [each.text for each in by_pairs] == ["key(id)", "key(region)"]


@pytest.mark.parametrize(("find", "measure"), [("key,fd", "g3"), ("list-od", "g3"), ("fd,dc", "g1"), ("pod", "g1")])
def test_the_measure_is_of_rows_unless_a_kind_knows_only_pairs(find: str, measure: str) -> None:
    found = lawful.discover(frame(60), find, error=0.02, max_size=1, engine="local", columns=["shop", "town"])
    assert found.settings["measure"] == measure
