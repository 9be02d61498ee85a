"""Laws within an error of tables that no node holds: those of one place, with the same errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from shuffled_tables import write_parts

import lawful
from lawful.checks import CheckTask
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import parse_laws
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle import engine as engine_module
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.engines.shuffle.measured import fine_classes
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shuffled.encode import encode_by_shuffles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("cache_of_module"),
    pytest.mark.cluster,
    pytest.mark.timeout(900),
]  # dozens of jobs, on a machine that may be busy

LAWS = """[a] -> [b]; [a, b] -> [c asc]; [c desc] -> [a]; {a=, b<} -> {c<=}; {a<} -> {b<=}; {a=, c=} -> {b=};
not(t.a = s.a and t.b < s.b and t.c > s.c); not(t.a = s.a and t.b != s.b); not(t.b < s.b and t.c > s.c);
not(t.a = s.a and t.c = s.c); not(t.b >= s.c and t.a < s.a)"""
"""Laws with and without the same classes."""


def random_table(seed: int, rows: int = 60) -> pa.Table:
    random = np.random.default_rng(seed)
    a = random.integers(0, 8, rows)
    slips = random.random(rows) < 0.05
    return pa.table(
        {
            "a": pa.array(a, mask=random.random(rows) < 0.05),
            "b": np.where(slips, random.integers(0, 9, rows), a // 2),
            "c": pa.array(random.integers(0, 4, rows) + a, mask=random.random(rows) < 0.1),
        }
    )


@pytest.mark.parametrize("policy", NullPolicy)
def test_many_laws_are_measured_in_few_jobs(policy: NullPolicy, spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(random_table(1), tmp_path / "table", 3)
    whole, there = encode_in_process(source, ReadOptions()), encode_by_shuffles(spark, str(source), ReadOptions())
    local, engine = LocalEngine(), ShuffleEngine(spark, 15)
    local.open(whole, policy)
    engine.open(there, policy)
    laws = parse_laws(LAWS, whole.names)
    asked: list[tuple[Any, Any]] = [(law, "g1") for law in laws]
    asked += [(law, "g3") for law in laws if type(law).__name__ == "ListOD" and policy is NullPolicy.EQUAL]
    tasks = [CheckTask(number, *each) for number, each in enumerate(asked)]
    if policy is NullPolicy.IGNORE:
        tasks = [task for task in tasks if type(task.law).__name__ != "ListOD"]
    found = {verdict.id: (verdict.holds, verdict.violations) for verdict in engine.check(tasks)}
    with patch.object(engine_module, "coarse_classes", lambda *_: fine_classes):
        finer = {verdict.id: (verdict.holds, verdict.violations) for verdict in engine.check(tasks)}
    assert finer == found
    assert found == {verdict.id: (verdict.holds, verdict.violations) for verdict in local.check(tasks)}
    assert any(violations for _, violations in found.values())


def stated(report: lawful.DiscoveryReport) -> dict[str, tuple[Any, ...]]:
    assert report.complete
    return {law.text: (law.error, law.interest) for law in report}


ASKED = [
    {"find": "list-od", "error": 0.1},
    {"find": "list-od", "error": 0.1, "measure": "g3"},
    {"find": "canonical-od", "error": 0.03, "measure": "g1"},
    {"find": "canonical-od", "error": 0.1, "measure": "g3", "null": "ignore"},
    {"find": "pod", "error": 0.03},
    {"find": "dc", "error": 0.03, "max_size": 2},
    {"find": ("fd", "list-od", "pod"), "error": 0.02, "max_size": 1},
]


@pytest.mark.parametrize(
    ("seed", "asked"),
    [
        *((1, asked) for asked in ASKED),
        *(pytest.param(seed, asked, marks=pytest.mark.slow) for seed in (3, 5) for asked in ASKED),
    ],
)
def test_laws_within_an_error_are_those_of_one_place(
    seed: int, asked: dict[str, Any], spark: SparkSession, tmp_path: Path
) -> None:
    source = write_parts(random_table(seed), tmp_path / "table", 2)
    there = lawful.discover(source, spark=lawful.SparkSettings(session=spark, placement="shuffle"), **asked)
    here = stated(lawful.discover(source, engine="local", **asked))
    assert stated(there).keys() == here.keys()
    for text, numbers in stated(there).items():
        assert numbers == pytest.approx(here[text]), text
    assert here


@pytest.mark.parametrize("asked", [{"find": "dc", "error": 0.1, "measure": "g3"}])
def test_what_is_refused_everywhere_is_refused(asked: dict[str, Any], spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(random_table(1), tmp_path / "table", 1)
    with pytest.raises(UsageError) as here:
        lawful.discover(source, engine="local", **asked)
    with pytest.raises(UsageError) as there:
        lawful.discover(source, spark=lawful.SparkSettings(session=spark, placement="shuffle"), **asked)
    assert str(there.value) == str(here.value)
