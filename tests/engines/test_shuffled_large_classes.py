"""Classes that no task takes, on Spark: what the tests in one process try on many tables, on a few here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from shuffled_tables import mixed_table, write_parts

import lawful
from engines.test_shuffle_counting import assert_tried_alike, listed, opened
from engines.test_shuffled_values import VALUED, assert_judged_alike
from engines.test_valued_chunks import TEXT_LAWS, TEXTS
from lawful.checks import CheckTask, GroupRows, Most
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, POD, Law, ListOD, parse_laws
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle import classes, deciding
from lawful.engines.shuffle import engine as engine_module
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.engines.shuffle.large import LargeRows
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shown_rows import Shown
from lawful.tables.shuffled import table as table_module
from lawful.tables.shuffled.encode import encode_by_shuffles
from lawful.tables.shuffled.table import ShuffledTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("cache_of_module"),
    pytest.mark.cluster,
    pytest.mark.timeout(1800),
]  # dozens of jobs, on a machine that may be busy

LISTS: list[Law] = [
    ListOD(((2, "asc"), (7, "desc")), ((1, "asc"),)),
    ListOD(((7, "asc"), (2, "asc")), ((5, "desc"), (4, "asc"))),
]
SOME = "{c}: a asc ~ skew asc; not(t.c = s.c and t.a < s.b and t.half > s.a)"
MANY = """{c}: half asc ~ id asc; {}: a asc ~ skew desc; {b, c}: skew asc ~ half asc; {a<, b<=} -> {skew<};
not(t.a < s.a and t.skew > s.skew and t.half < s.half); not(t.a = s.b and t.c != s.c); not(t.s = s.twin and t.c < s.c);
not(t.a > 30 and s.b < 3 and t.half < s.half); not(t.a > 35 and s.b < 3); not(t.a < s.b);
not(t.one = s.one and t.a != s.a); not(t.a <= t.b and t.skew >= s.half and t.c != s.c)"""
HELD = """{}: id asc ~ half asc; {c}: b asc ~ f desc; [id asc] -> [half asc]; not(t.id < s.id and t.half > s.half);
{id<=} -> {half<=}"""


@pytest.fixture(autouse=True)
def _few_rows_a_task() -> Iterator[None]:
    with patch.object(classes, "LARGEST_CLASS", 50):
        yield


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[ShuffledTable, EncodedTable]:
    folder = write_parts(mixed_table(150, seed=8), tmp_path_factory.mktemp("large"), 3)
    return encode_by_shuffles(spark, str(folder), ReadOptions()), encode_in_process(folder, ReadOptions())


def assert_counted_alike(laws: list[Law], engines: tuple[ShuffleEngine, LocalEngine]) -> None:
    tasks = [CheckTask(number, law, damage=True) for number, law in enumerate(laws)]
    found, expected = ({verdict.id: verdict for verdict in engine.check(tasks)} for engine in engines)
    for number, law in enumerate(laws):
        one, other = found[number], expected[number]
        assert (one.holds, one.damage, one.witness) == (other.holds, other.damage, other.witness), law


def test_what_breaks_laws_is_counted(spark: SparkSession, tables: tuple[ShuffledTable, EncodedTable]) -> None:
    assert_counted_alike(parse_laws(SOME, tables[1].names), opened(spark, *tables, NullPolicy.EQUAL))


def test_what_holds_is_tried_without_counting_what_breaks_it(
    spark: SparkSession, tables: tuple[ShuffledTable, EncodedTable]
) -> None:
    with patch.object(LargeRows, "damage", side_effect=AssertionError):
        assert_tried_alike(opened(spark, *tables, NullPolicy.EQUAL), parse_laws(HELD, tables[1].names))


@pytest.mark.slow
@pytest.mark.parametrize("policy", NullPolicy)
def test_answers_are_those_of_all_rows_in_one_place(
    policy: NullPolicy, spark: SparkSession, tables: tuple[ShuffledTable, EncodedTable]
) -> None:
    engines = opened(spark, *tables, policy)
    laws = parse_laws(f"{SOME}; {MANY}", tables[1].names) + (LISTS if policy is NullPolicy.EQUAL else [])
    assert_counted_alike(laws, engines)
    for law in laws:
        assert_listed_alike(law, *engines)
    assert_tried_alike(engines, laws)


def assert_listed_alike(law: Law, engine: ShuffleEngine, local: LocalEngine) -> None:
    shown = Shown((1, 0, 3), as_text=True)
    for in_pairs in (False, True) if isinstance(law, DC | POD) else (False,):
        found, expected = (listed(each, law, shown, in_pairs=in_pairs) for each in (engine, local))
        assert sorted(found.values()) == sorted(expected.values()), law
    most = Most(2, 3, 2)
    groups = sorted(local.violating_groups(law, most._replace(groups=None)), key=_first)
    assert engine.violating_groups(law, most) == groups[:2], law


def _first(group: GroupRows) -> int:
    return group.first


@pytest.mark.slow
@pytest.mark.parametrize("policy", NullPolicy)
def test_values_of_every_type_are_compared_across_tiles(
    policy: NullPolicy, spark: SparkSession, tables: tuple[ShuffledTable, EncodedTable], tmp_path: Path
) -> None:
    with patch.object(deciding, "can_prune", lambda _: False):
        assert_judged_alike(VALUED, spark, *tables, policy)
        path = tmp_path / "texts.csv"
        path.write_text(TEXTS)
        table, whole = encode_by_shuffles(spark, str(path), ReadOptions()), encode_in_process(path, ReadOptions())
        with patch.object(classes, "LARGEST_CLASS", 4):
            assert_judged_alike(TEXT_LAWS, spark, table, whole, policy)


@pytest.mark.slow
def test_a_search_for_constraints_between_columns_comes_to_its_end(spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(mixed_table(300), tmp_path / "mixed")
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    asked = {"columns": ("a", "b", "half"), "max_size": 2}
    with (
        patch.object(classes, "LARGEST_CLASS", 200),
        patch.object(table_module, "SAMPLED_ROWS", 40),
        patch.object(engine_module, "chunk_rows", lambda _: 100),
    ):
        found = lawful.discover(source, "dc", spark=where, **asked)
    expected = lawful.discover(source, "dc", engine="local", **asked)
    assert found.complete
    assert _told(found) == _told(expected)


def _told(report: lawful.DiscoveryReport) -> list[str]:
    return sorted(entry["text"] for entry in report.to_dict()["dependencies"])
