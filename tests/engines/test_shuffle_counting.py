"""What is counted and listed of laws by shuffles: as where every node has all rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from shuffled_tables import mixed_table, write_parts

import lawful
from engines.contract.tables import random_tasks
from lawful.checks import CheckTask, GroupRows, Most, Verdict
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, POD, Key, Law, ListOD, parse_laws
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle import engine as engine_module
from lawful.engines.shuffle.engine import ShuffleEngine
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
    pytest.mark.timeout(900),
]  # dozens of jobs, on a machine that may be busy

LAWS = """key(half); key(id); key(b, c); key(a); a -> b; b -> a; c, b -> a; {} -> c;
{c}: a asc ~ b asc; {b}: a asc ~ f desc; {c}: half asc ~ id asc; {}: a asc ~ skew desc; {b, c}: skew asc ~ half asc;
{c=, a<} -> {b<=}; {b=, skew<} -> {id<}; {a<, b<=} -> {skew<};
not(t.c = s.c and t.a < s.a and t.b > s.b); not(t.b = s.b and t.skew < s.skew and t.id > s.id);
not(t.a = s.a and t.c = s.c and t.half = s.half); not(t.b = s.b and t.a != s.a and t.skew < s.skew and t.half > s.half);
not(t.a < s.a and t.skew > s.skew and t.half < s.half)"""
"""Laws of every kind: with and without classes, in disguise, that hold and that do not."""

SOME = (
    "key(half); b -> a; {c}: half asc ~ id asc; not(t.b = s.b and t.a != s.a and t.skew < s.skew and t.half > s.half)"
)
"""One law for each way to list."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parts(mixed_table(150, seed=8), tmp_path_factory.mktemp("mixed"), 3)


@pytest.fixture(scope="module")
def shuffled(spark: SparkSession, folder: Path) -> ShuffledTable:
    return encode_by_shuffles(spark, str(folder), ReadOptions())


@pytest.fixture(scope="module")
def whole(folder: Path) -> EncodedTable:
    return encode_in_process(folder, ReadOptions())


@pytest.fixture(scope="module", params=[NullPolicy.EQUAL, pytest.param(NullPolicy.IGNORE, marks=pytest.mark.slow)])
def engines(
    request: pytest.FixtureRequest, spark: SparkSession, shuffled: ShuffledTable, whole: EncodedTable
) -> tuple[ShuffleEngine, LocalEngine]:
    return opened(spark, shuffled, whole, request.param)


def opened(
    spark: SparkSession, shuffled: ShuffledTable, whole: EncodedTable, policy: NullPolicy
) -> tuple[ShuffleEngine, LocalEngine]:
    engine, local = ShuffleEngine(spark, 40), LocalEngine(1)
    engine.open(shuffled, policy)
    local.open(whole, policy)
    return engine, local


def laws_of(text: str, table: EncodedTable, policy: NullPolicy) -> list[Law]:
    lists: list[Law] = [ListOD(((6, "asc"),), ((0, "asc"),)), ListOD(((2, "asc"), (7, "desc")), ((1, "asc"),))]
    return parse_laws(text, table.names) + (lists if policy is NullPolicy.EQUAL and text == LAWS else [])


SLOW_LAWS = pytest.mark.parametrize("text", [SOME, pytest.param(LAWS, marks=pytest.mark.slow)], ids=["some", "all"])


def listed(engine: Engine, law: Law, shown: Shown, *, in_pairs: bool) -> dict[int, list[tuple[object, ...]]]:
    groups: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for batch in engine.violations(law, shown, in_pairs=in_pairs):
        assert batch.schema == engine.shown_schema(shown)
        for group, *row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            groups[group].append(tuple(row))
    assert list(groups) == list(range(len(groups)))
    return groups


@SLOW_LAWS
def test_violating_rows_are_listed_as_from_one_place(
    text: str, engines: tuple[ShuffleEngine, LocalEngine], shuffled: ShuffledTable, whole: EncodedTable
) -> None:
    shown = Shown((1, 0, 3), as_text=True)
    policy = engines[0]._opened()[1]
    for law in laws_of(text, whole, policy):
        for in_pairs in (False, True) if isinstance(law, DC | POD) else (False,):
            found, expected = (listed(engine, law, shown, in_pairs=in_pairs) for engine in engines)
            assert sorted(found.values()) == sorted(expected.values()), law
            if not in_pairs:
                firsts = [rows[0][0] for rows in found.values()]
                assert firsts == sorted(firsts)


@SLOW_LAWS
def test_groups_are_told_in_short(
    text: str, engines: tuple[ShuffleEngine, LocalEngine], shuffled: ShuffledTable, whole: EncodedTable
) -> None:
    engine, local = engines
    for law in laws_of(text, whole, engine._opened()[1]):
        found, expected = engine.violating_groups(law, Most(2, 3, 2)), local.violating_groups(law, Most(None, 3, 2))
        assert found == sorted(expected, key=_first)[:2], law
        for row in {row for group in found for _, rows in group.variants for row in rows[:1]}:
            assert shuffled.value(row, 1) == whole.value(row, 1)


def _first(group: GroupRows) -> int:
    return group.first


def tried(engine: Engine, laws: list[Law]) -> dict[int, Verdict]:
    tasks = [CheckTask(number, law, trial=True, measures=True) for number, law in enumerate(laws)]
    return {verdict.id: verdict for verdict in engine.check(tasks)}


def assert_tried_alike(engines: tuple[Engine, Engine], laws: list[Law]) -> None:
    found, expected = (tried(engine, laws) for engine in engines)
    for number, law in enumerate(laws):
        one, other = found[number], expected[number]
        assert one.holds == other.holds, law
        assert numbers_of(one) == pytest.approx(numbers_of(other), rel=1e-9, abs=1e-9), law


def numbers_of(verdict: Verdict) -> list[float]:
    told = [*astuple(verdict.trial), *(verdict.measures[name] for name in sorted(verdict.measures))]
    return [-1.0 if number is None else number for number in told]


@SLOW_LAWS
def test_trials_are_those_of_all_rows_in_one_place(
    text: str, engines: tuple[ShuffleEngine, LocalEngine], whole: EncodedTable
) -> None:
    assert_tried_alike(engines, laws_of(text, whole, engines[0]._opened()[1]))


@pytest.mark.slow
@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("seed", range(3))
def test_random_laws_are_tried_alike(seed: int, policy: NullPolicy, spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(seed))
    folder = write_parts(table, tmp_path / "random", 3)
    engines = opened(
        spark,
        encode_by_shuffles(spark, str(folder), ReadOptions()),
        encode_in_process(folder, ReadOptions()),
        policy,
    )
    laws = [task.law for task in random_tasks(table.num_columns, 12, seed=seed, largest=3)]
    assert_tried_alike(engines, [Key(()), FD((), 1), *laws])


def random_table(random: np.random.Generator) -> pa.Table:
    """Few values, so that all laws lose something; groups that disagree, nulls, and a value in half of the rows."""
    rows = int(random.integers(40, 120))
    columns = {f"c{number}": random.integers(0, number + 2, rows) for number in range(5)}
    columns["usual"] = np.where(random.random(rows) < 0.5, 3, random.integers(0, 20, rows))
    return pa.table({name: pa.array(values, mask=random.random(rows) < 0.1) for name, values in columns.items()})


@pytest.mark.slow
@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_the_strongest_laws_are_proposed_by_a_sample_and_counted_on_all_rows(
    null: str, spark: SparkSession, tmp_path: Path
) -> None:
    folder = write_parts(mixed_table(600, seed=4), tmp_path / "mixed")
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    asked = {"max_size": 2, "null": null, "top": 12, "columns": ("id", "a", "b", "skew", "half", "c", "one")}
    expected = lawful.strongest(folder, engine="local", **asked)
    of_all = lawful.strongest(folder, spark=where, **asked)
    assert of_all.settings["placement"] == "shuffle"
    assert of_all.complete
    assert _stated(of_all) == _stated(expected)
    assert of_all.to_dict()["dependencies"] == expected.to_dict()["dependencies"]
    with patch.object(table_module, "SAMPLED_ROWS", 300), patch.object(engine_module, "chunk_rows", lambda _: 200):
        of_some = lawful.strongest(folder, spark=where, **asked)
    known = _stated(expected)
    shared = {text: numbers for text, numbers in _stated(of_some).items() if text in known}
    assert shared == {text: known[text] for text in shared}, "what is stated is counted on all rows"
    assert len(shared) > len(known) // 2


def _stated(report: lawful.StrongestReport) -> dict[str, tuple[object, ...]]:
    entries = report.to_dict()["dependencies"]
    return {each["text"]: (round(each["strength"], 9), each["tested"], each["violating"]) for each in entries}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_are_listed(rows: int, spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(mixed_table(3).slice(0, rows), tmp_path / "few", 2)
    table = encode_by_shuffles(spark, str(folder), ReadOptions())
    engines = opened(spark, table, encode_in_process(folder, ReadOptions()), NullPolicy.EQUAL)
    shown = Shown((0, 2))
    for law in (Key(()), FD((), 0)):
        counts = [[len(group) for group in listed(engine, law, shown, in_pairs=False).values()] for engine in engines]
        assert counts == [[2], [2]] if rows == 2 else counts == [[], []]
        assert engines[0].violating_groups(law, Most(3)) == engines[1].violating_groups(law, Most(3))
    assert_tried_alike(engines, [Key(()), Key((0,)), Key((0, 2)), FD((), 0), *parse_laws(SOME, table.names)])


@pytest.mark.slow
def test_reports_explain_and_write_what_breaks_laws(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    laws, settings = "b -> a; {b}: a asc ~ f desc; key(half)", lawful.SparkSettings(session=spark, placement="shuffle")
    found, expected = (
        {"spark": settings},
        {"engine": "local"},
    )
    written = []
    for number, where in enumerate((found, expected)):
        files = lawful.check(folder, laws, **where).write_violations(tmp_path / str(number))
        written.append([sorted(line.split(",", 1)[1] for line in file.read_text().splitlines()) for file in files])
    assert written[0] == written[1]
    explained = [lawful.explain(folder, "b -> a", **where).to_dict()["dependencies"][0] for where in (found, expected)]
    for one in explained:
        one["groups"] = sorted(one["groups"], key=lambda group: group["rows"][0]["row"])
    assert explained[0] == explained[1]
    assert str(lawful.explain(folder, "id -> a", spark=settings)).count("holds")
    assert "rows" in str(lawful.explain(folder, "b -> a", spark=settings))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "asked",
    [
        {"find": ("fd", "canonical-od"), "max_size": 2, "columns": ("id", "b", "f", "half")},
        {"find": ("key", "fd"), "max_size": 1, "error": 0.3, "columns": ("a", "b", "c")},
        {"find": "dc", "max_size": 1, "operators": "=,!=", "columns": ("b", "half", "one")},
    ],
    ids=["orders", "errors", "constraints"],
)
def test_found_laws_tell_their_strength(asked: dict[str, Any], spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(mixed_table(300), tmp_path / "mixed")
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    found, expected = (lawful.discover(folder, **how, **asked) for how in ({"spark": where}, {"engine": "local"}))
    strengths, others = (
        {entry["text"]: entry["strength"] for entry in report.to_dict()["dependencies"]} for report in (found, expected)
    )
    assert list(strengths) == list(others), "they are ranked alike"
    assert strengths == pytest.approx(others)
    assert strengths
    assert None not in strengths.values()
