"""Shuffled tables whose columns are compared with others and with constants: verdicts and counts as elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from shuffled_tables import mixed_table, write_parts

from engines.test_shuffle_counting import assert_tried_alike, opened
from engines.test_valued_chunks import TEXT_LAWS, TEXTS
from lawful.checks import CheckTask, Workspace, checks_of, find_violations
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, parse_laws
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shuffled.encode import encode_by_shuffles
from lawful.tables.shuffled.table import ShuffledTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("cache_of_module"),
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]  # dozens of jobs on a busy machine

EVERYTHING = ReadOptions()


VALUED = """not(t.a < s.b and t.c = s.c); not(t.b > t.a); not(t.f > t.one); not(t.f > 0); not(t.a = 3 and s.b > 9);
not(t.s = s.twin); not(t.b = s.c and t.a < s.half and t.c = s.c); not(t.f < -19.4 and t.a < s.id); not(t.s > 'v5');
not(t.one = 1 and t.b > 8.5 and t.skew = s.skew); not(t.b > s.id and t.a < 1.5)"""
"""Denial constraints that compare columns with others and with constants, some of which hold."""


def assert_judged_alike(
    laws: str, spark: SparkSession, table: ShuffledTable, whole: EncodedTable, policy: NullPolicy
) -> None:
    parsed = parse_laws(laws, whole.names)
    tasks = [CheckTask(number, law) for number, law in enumerate(parsed)]
    tasks += [CheckTask(100 + number, law, damage=True) for number, law in enumerate(parsed)]
    local = LocalEngine(1)
    local.open(whole, policy)
    expected = {verdict.id: verdict for verdict in local.check(tasks)}
    engine = ShuffleEngine(spark, 150)
    engine.open(table, policy)
    found = {verdict.id: verdict for verdict in engine.check(tasks)}
    assert {id_: (v.holds, v.damage) for id_, v in found.items()} == {
        id_: (v.holds, v.damage) for id_, v in expected.items()
    }
    counted = [task.id for task in tasks if task.damage]
    assert {id_: found[id_].witness for id_ in counted} == {id_: expected[id_].witness for id_ in counted}
    for task in tasks:
        witness = found[task.id].witness
        assert (witness is None) == found[task.id].holds
        if witness is not None:
            violating = find_violations(task.law, whole, Workspace(whole, policy)).rows.tolist()
            assert set(witness) <= set(violating)
            assert not task.damage or refuted_by(task.law, whole, policy, witness)


def refuted_by(law: Law, whole: EncodedTable, policy: NullPolicy, pair: tuple[int, int]) -> bool:
    """Whether the first of two rows as t and the second as s break a law."""
    return checks_of(law).oriented(law, pair, Workspace(whole, policy)) == pair


@pytest.mark.parametrize("policy", NullPolicy)
def test_columns_are_compared_with_others_and_with_constants(
    policy: NullPolicy, spark: SparkSession, tmp_path: Path
) -> None:
    folder = write_parts(mixed_table(500), tmp_path / "mixed")
    table, whole = encode_by_shuffles(spark, str(folder), EVERYTHING), encode_in_process(folder, EVERYTHING)
    assert_judged_alike(VALUED, spark, table, whole, policy)


@pytest.mark.parametrize("policy", NullPolicy)
def test_how_strong_such_constraints_are(policy: NullPolicy, spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(mixed_table(120), tmp_path / "tried")
    table, whole = encode_by_shuffles(spark, str(folder), EVERYTHING), encode_in_process(folder, EVERYTHING)
    laws = "not(t.a < s.b and t.c = s.c); not(t.b > t.a); not(t.a = 3 and s.b > 9 and t.c = s.c); not(t.f > 0)"
    assert_tried_alike(opened(spark, table, whole, policy), parse_laws(laws, whole.names))


def test_texts_of_csv_files_are_compared_by_their_types(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS)
    table, whole = encode_by_shuffles(spark, str(path), EVERYTHING), encode_in_process(path, EVERYTHING)
    laws = f"{TEXT_LAWS}; not(t.d > '04/05/2024' and t.n < s.n); not(t.d = s.e and t.n != s.m); not(t.d > '2024-05-05')"
    assert_judged_alike(laws, spark, table, whole, NullPolicy.EQUAL)
    engine = ShuffleEngine(spark)
    engine.open(table, NullPolicy.EQUAL)
    for wrong in ("not(t.n < s.s)", "not(t.n < 'x')", "not(t.x < '2024-01-01T10:00')", "not(t.d < '32/01/2024')"):
        with pytest.raises(UsageError, match=r"order between them|cannot be compared with"):
            list(engine.check([CheckTask(0, law) for law in parse_laws(wrong, whole.names)]))
