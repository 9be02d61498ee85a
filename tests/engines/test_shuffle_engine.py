"""Tables that no node holds: the same ranks, verdicts and laws as where every node has all rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from clusters import EVERY_KIND, Cluster
from shuffled_tables import mixed_table, refutes, typed_table, write_parts

import lawful
from engines.contract.tables import random_tasks
from lawful.checks import CheckTask
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law, ListOD, parse_laws
from lawful.engines.local import LocalEngine
from lawful.engines.placement import place
from lawful.engines.shuffle import classes as classes_module
from lawful.engines.shuffle import engine as engine_module
from lawful.engines.shuffle.classes import by_classes, damage_runner
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.kept_tables import forget, kept_tables
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.sample import dense
from lawful.tables.shuffled import table as table_module
from lawful.tables.shuffled.encode import encode_by_shuffles
from lawful.tables.shuffled.table import ShuffledTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.cluster  # takes long

EVERYTHING = ReadOptions()


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parts(mixed_table(2_000), tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def shuffled(spark: SparkSession, folder: Path) -> ShuffledTable:
    return encode_by_shuffles(spark, str(folder), EVERYTHING)


@pytest.fixture(scope="module")
def whole(folder: Path) -> EncodedTable:
    return encode_in_process(folder, EVERYTHING)


def assert_same(shuffled: ShuffledTable, whole: EncodedTable) -> None:
    assert shuffled.rows == whole.rows
    assert shuffled.columns == whole.columns
    ranks = shuffled.dataset.ranks.toArrow().sort_by("row")
    assert ranks.column("row").to_pylist() == list(range(whole.rows))
    for column in range(whole.width):
        assert np.array_equal(dense(ranks.column(f"c{column}").to_numpy()), whole.column(column))
    for row in {0, whole.rows // 2, whole.rows - 1} if whole.rows else ():
        assert shuffled.place(row) == whole.place(row)
        assert [shuffled.value(row, n) for n in range(whole.width)] == [whole.value(row, n) for n in range(whole.width)]


@pytest.mark.slow
def test_ranks_keep_the_order_of_values_of_every_type(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(typed_table(40), tmp_path / "typed", 3)
    assert_same(encode_by_shuffles(spark, str(folder), EVERYTHING), encode_in_process(folder, EVERYTHING))


@pytest.mark.slow
def test_skewed_and_distinct_columns_are_ranked_by_joins(
    shuffled: ShuffledTable, whole: EncodedTable, spark: SparkSession, folder: Path
) -> None:
    assert_same(shuffled, whole)
    with patch("lawful.tables.shuffled.encode._BROADCAST_VALUES", 0):
        joined = encode_by_shuffles(spark, str(folder), ReadOptions(columns=("skew", "id", "s")), reuse=False)
    assert_same(joined, encode_in_process(folder, ReadOptions(columns=("skew", "id", "s"))))


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_row_and_of_one(rows: int, spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(mixed_table(3).slice(0, rows), tmp_path / "few")
    table = encode_by_shuffles(spark, str(folder), EVERYTHING)
    assert_same(table, encode_in_process(folder, EVERYTHING))
    engine = ShuffleEngine(spark)
    engine.open(table, NullPolicy.EQUAL)
    laws = [Key(()), FD((), 1), CanonicalOD((2,), 1, 3, "asc")]
    assert all(verdict.holds for verdict in engine.check([CheckTask(n, law) for n, law in enumerate(laws)]))


@pytest.mark.slow
def test_a_dataset_is_used_again_unless_it_is_damaged(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(mixed_table(50), tmp_path / "kept")
    first = encode_by_shuffles(spark, str(folder), EVERYTHING)
    again = encode_by_shuffles(spark, str(folder), EVERYTHING)
    assert again.dataset.location == first.dataset.location
    location = Path(first.dataset.location.removeprefix("file://"))
    (kept,) = [table for table in kept_tables() if table.folder == location.parent]
    assert (kept.name, kept.rows, kept.columns) == ("kept", 50, 10)
    assert not forget(kept.folder), "it is in use"
    ranks = next(location.glob("ranks/*.parquet"))
    ranks.write_bytes(ranks.read_bytes()[:-1])
    anew = encode_by_shuffles(spark, str(folder), EVERYTHING)
    assert anew.dataset.location != first.dataset.location
    assert_same(anew, encode_in_process(folder, EVERYTHING))
    del first, again, anew
    assert forget(kept.folder)
    assert not location.exists()


@pytest.mark.slow
def test_frames_are_shuffled_and_go_with_their_table(spark: SparkSession, folder: Path) -> None:
    frame = spark.read.parquet(str(folder)).limit(100)
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    with lawful.open(frame, spark=where) as table:
        location = table._opened.table.dataset.location
        assert Path(location.removeprefix("file://")).is_dir()
        assert table.profile().rows == 100
    del table
    assert not Path(location.removeprefix("file://")).exists()


def some_laws(width: int) -> list[Law]:
    laws: list[Law] = [task.law for task in random_tasks(width, 60, seed=1, largest=3)]
    laws += [
        Key(()),
        FD((), 8),
        FD((1,), 2),
        FD((2,), 1),
        FD((0,), 6),
        FD((6, 7), 0),
        Key((0,)),
        Key((6, 7)),
        Key((4,)),
    ]
    laws += [CanonicalOD((), 0, 6, "asc"), CanonicalOD((), 2, 5, "desc"), CanonicalOD((7,), 4, 0, "asc")]
    return list(dict.fromkeys(laws))


@pytest.mark.parametrize("most_rows", [pytest.param(None, marks=pytest.mark.slow), 150])
@pytest.mark.parametrize("policy", [NullPolicy.EQUAL, pytest.param(NullPolicy.IGNORE, marks=pytest.mark.slow)])
def test_verdicts_are_those_of_all_rows_in_one_place(
    policy: NullPolicy, most_rows: int | None, spark: SparkSession, shuffled: ShuffledTable, whole: EncodedTable
) -> None:
    tasks = [CheckTask(3 * number, law) for number, law in enumerate(some_laws(whole.width))]
    local = LocalEngine(1)
    local.open(whole, policy)
    expected = {verdict.id: verdict.holds for verdict in local.check(tasks)}
    engine = ShuffleEngine(spark, most_rows)
    engine.open(shuffled, policy)
    found = {verdict.id: verdict for verdict in engine.check(tasks)}
    assert {id_: verdict.holds for id_, verdict in found.items()} == expected
    for task in tasks:
        witness = found[task.id].witness
        assert (witness is None) == expected[task.id]
        if witness is not None:
            assert witness[0] < witness[1]
            assert refutes(task.law, whole, policy, witness)


LAWS = """key(half); key(id); a -> b; b -> a; c -> skew; {c}: a asc ~ b asc; {b}: a asc ~ f desc;
{c}: half asc ~ id asc;
{c=, a<} -> {b<=}; {b=, skew<} -> {id<}; not(t.c = s.c and t.a < s.a and t.b > s.b);
not(t.b = s.b and t.skew < s.skew and t.id > s.id); not(t.a = s.a and t.c = s.c and t.half = s.half)"""
"""Laws of the kinds that are counted by aggregation and class by class, some of which hold."""


@pytest.mark.parametrize("policy", [NullPolicy.EQUAL, pytest.param(NullPolicy.IGNORE, marks=pytest.mark.slow)])
def test_counts_are_those_of_all_rows_in_one_place(
    policy: NullPolicy, spark: SparkSession, shuffled: ShuffledTable, whole: EncodedTable
) -> None:
    laws = parse_laws(LAWS, whole.names)
    assert isinstance(laws[1], Key)  # which holds
    tasks = [CheckTask(number, law, damage=True) for number, law in enumerate(laws)]
    tasks += [CheckTask(100 + number, law, "g1") for number, law in enumerate(laws[:3])]
    if policy is NullPolicy.EQUAL:
        tasks.append(CheckTask(200, ListOD(((6, "asc"),), ((0, "asc"),)), damage=True))
    local = LocalEngine(1)
    local.open(whole, policy)
    expected = {verdict.id: verdict for verdict in local.check(tasks)}
    engine = ShuffleEngine(spark, 300)
    engine.open(shuffled, policy)
    found = {verdict.id: verdict for verdict in engine.check(tasks)}
    assert {id_: (v.holds, v.damage, v.violations, v.witness) for id_, v in found.items()} == {
        id_: (v.holds, v.damage, v.violations, v.witness) for id_, v in expected.items()
    }
    assert {verdict.holds for verdict in found.values()} == {True, False}


@pytest.mark.slow
def test_violating_rows_are_a_frame_that_nobody_collects(spark: SparkSession, folder: Path) -> None:
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    columns = ("id", "b", "a", "s")
    report = lawful.check(folder, "b -> a; id -> s", spark=where, columns=columns)
    assert "rows shuffled" in str(report)
    frame = report.violations("b -> a").toArrow().sort_by("_row")
    expected = lawful.check(folder, "b -> a", engine="local", columns=columns).violations("b -> a").sort_by("_row")
    assert frame.column_names == ["_group", "_row", *columns]
    assert frame.column("_row").to_pylist() == expected.column("_row").to_pylist()
    for name in columns:
        assert frame.column(name).to_pylist() == expected.column(name).to_pylist()
    assert report.violations("id -> s").count() == 0
    across = "not(t.b = t.a and t.id < s.id and t.b = s.b)"
    rows, expected = (
        lawful.check(folder, across, columns=columns, **how).violations(across)
        for how in ({"spark": where}, {"engine": "local"})
    )
    assert (
        rows.toArrow().sort_by("_row").column("_row").to_pylist() == expected.sort_by("_row").column("_row").to_pylist()
    )


@pytest.mark.slow
def test_a_class_that_is_too_large_for_a_task_is_an_error(
    spark: SparkSession, shuffled: ShuffledTable, whole: EncodedTable
) -> None:
    engine = ShuffleEngine(spark, 300)
    engine.open(shuffled, NullPolicy.EQUAL)
    tasks = [CheckTask(0, law, damage=True) for law in parse_laws("{c}: a asc ~ skew asc", whole.names)]
    with patch("lawful.engines.shuffle.classes.LARGEST_CLASS", 500):  # read when the task is made
        types = tuple(shuffled.dataset.types)
        runner = damage_runner(tasks[0].law, NullPolicy.EQUAL, 1, types, 100, counts=True)
        rows, _ = by_classes(shuffled.dataset, tasks[0].law)
        (found,) = runner(iter(rows.coalesce(1).sortWithinPartitions("k0").toArrow().to_batches()))
    assert "agree on all columns" in found.to_pylist()[0]["error"]


@pytest.mark.parametrize(
    ("rows", "gigabytes", "is_shuffled"),
    [(10**8, 24, False), (10**8, 4, True), (3 * 10**9, 10**6, True), (0, 1, False)],
)
def test_rows_are_spread_if_a_node_has_no_room_for_them(rows: int, gigabytes: int, is_shuffled: bool) -> None:
    assert place(rows, 10, gigabytes << 30, 2).is_shuffled == is_shuffled


@pytest.mark.parametrize("null", [pytest.param("equal", marks=pytest.mark.slow), "ignore"])
def test_the_same_laws_are_found_from_a_sample(null: str, spark: SparkSession, folder: Path) -> None:
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    asked = {"find": ("key", "fd", "canonical-od"), "max_size": 2, "null": null}
    with patch.object(table_module, "SAMPLED_ROWS", 300), patch.object(engine_module, "chunk_rows", lambda _: 500):
        found = lawful.discover(folder, spark=where, **asked)
    expected = lawful.discover(folder, engine="local", **asked)
    assert found.complete
    assert found.settings["placement"] == "shuffle"
    assert _told(found) == _told(expected)


FAMILIES = [
    {"find": "list-od", "max_size": 3},
    {"find": "pod", "max_size": 2},
    {"find": "dc", "max_size": 3, "cross_columns": False},
    {"find": ("key", "fd"), "max_size": 2, "error": 0.05},
    {"find": ("key", "fd"), "max_size": 2, "error": 0.01, "measure": "g1"},
]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("asked", FAMILIES, ids=lambda asked: f"{asked['find']} {asked.get('measure', '')}".strip())
@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_laws_of_every_kind_are_found_from_a_sample(
    asked: dict[str, object], null: str, spark: SparkSession, folder: Path
) -> None:
    if asked["find"] == "list-od" and null == "ignore":
        pytest.skip("lists have no other meaning of null")
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    columns = ("a", "b", "skew", "half", "c", "one", "twin")
    with (
        patch.object(table_module, "SAMPLED_ROWS", 200),
        patch.object(engine_module, "chunk_rows", lambda _: 400),
        patch.object(classes_module, "LARGEST_CLASS", 600),
    ):
        found = lawful.discover(folder, spark=where, null=null, columns=columns, **asked)
    expected = lawful.discover(folder, engine="local", null=null, columns=columns, **asked)
    assert found.complete
    assert _told(found) == _told(expected)
    assert len(found)


def _told(report: lawful.DiscoveryReport) -> list[tuple[str, float]]:
    return sorted((entry["text"], entry["interest"]) for entry in report.to_dict()["dependencies"])


@pytest.mark.slow
def test_a_limit_of_time_ends_shuffles(spark: SparkSession, folder: Path) -> None:
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    with lawful.open(folder, spark=where) as table, patch.object(engine_module, "chunk_rows", lambda _: 100):
        stopped = table.discover("fd", time_limit=0.5)
        assert not stopped.complete
        assert "time" in str(stopped.stopped_because)
        whole = table.discover("fd", max_size=1)  # the next call has nothing to do with that
    assert whole.complete


@pytest.mark.slow
def test_what_cannot_be_shuffled_is_said(spark: SparkSession) -> None:
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    with pytest.raises(UsageError, match="can be shuffled"):
        lawful.profile(pa.table({"a": [1]}), spark=where)
    with pytest.raises(UsageError, match="unknown placement"):
        lawful.SparkSettings(placement="elsewhere")


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.timeout(900)  # dozens of jobs, on a machine that may be busy
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_every_way_of_running_spark_shuffles_alike(
    kind: str, cluster_of: Callable[[str], Cluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    told = cluster_of(kind).run(Path(__file__).parent / "spark_shuffles.py", kind, timeout=850)
    assert told["verdicts"] == 6
    assert told["laws"] > 0


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.timeout(900)  # dozens of jobs, on a machine that may be busy
def test_nothing_that_grows_with_the_rows_comes_to_the_driver(
    cluster_of: Callable[[str], Cluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    told = cluster_of("local").run(Path(__file__).parent / "capped_driver.py", timeout=850)
    assert told["holds"] == [True, False, True]
    assert told["pairs"] == 300_000
    assert told["laws"] > 0
