"""The Python functions: every kind of source, and everything that a result can do."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from canonical_oracle import minimal_canonical_laws
from checks.tables import ArrayTable, ranked
from discovered_tables import table as table_with_laws

import lawful
from lawful.common.errors import LawfulError, NotationError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key, NamedLaw
from lawful.results import CheckReport
from lawful.runs.run import Where

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = pa.table(
    {
        "id": [1, 2, 3, 4, 5],
        "zip": ["10001", "10001", "94105", "94105", None],
        "city": ["New York", "Newark", "San Francisco", "San Francisco", None],
        "price": [1.5, 2.5, 3.5, 3.0, 4.0],
    }
)
LAWS = ["zip -> city", "key(id)", "{}: id asc ~ price asc"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("LAWFUL_CACHE", str(folder))
    return folder


@pytest.fixture
def report() -> CheckReport:
    return lawful.check(DATA, LAWS)


def _assert_right(report: CheckReport) -> None:
    assert [(outcome.text, outcome.holds) for outcome in report.outcomes] == [
        ("zip -> city", False),
        ("key(id)", True),
        ("{}: id asc ~ price asc", False),
    ]
    assert report.complete
    assert not report.holds
    witness = report.outcomes[0].witness
    assert witness is not None
    assert [view.row for view in witness] == [0, 1]
    assert [view.values["city"] for view in witness] == ["New York", "Newark"]


def _sources(folder: Path) -> dict[str, Any]:
    pq.write_table(DATA, folder / "t.parquet")
    pandas_frame = DATA.to_pandas()
    pandas_frame.to_csv(folder / "t.csv", index=False)
    pandas_frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    return {
        "csv": str(folder / "t.csv"),
        "path": folder / "t.csv",
        "parquet": folder / "t.parquet",
        "jsonl": folder / "t.jsonl",
        "pandas": pandas_frame,
        "polars": pl.from_arrow(DATA),
        "arrow": DATA,
        "record batch": DATA.to_batches()[0],
    }


@pytest.mark.parametrize("kind", ["csv", "path", "parquet", "jsonl", "pandas", "polars", "arrow", "record batch"])
def test_every_source_in_this_process(tmp_path: Path, kind: str) -> None:
    report = lawful.check(_sources(tmp_path)[kind], LAWS)
    assert report.engine == "local"
    _assert_right(report)


@pytest.mark.parametrize("kind", ["path", "parquet", "pandas", "polars", "arrow"])
def test_every_source_on_spark(tmp_path: Path, spark: SparkSession, kind: str) -> None:
    report = lawful.check(_sources(tmp_path)[kind], LAWS, spark=spark)
    assert report.engine == "spark"
    _assert_right(report)


def test_types_that_only_arrow_has(spark: SparkSession) -> None:
    table = pa.table(
        {
            "small": pa.array([1, 2, 2], pa.uint8()),
            "large": pa.array([2**64 - 1, 1, 1], pa.uint64()),
            "half": pa.array([0.5, 1.5, 1.5], pa.float32()).cast(pa.float16()),
            "word": pa.array(["b", "a", "a"]).dictionary_encode(),
            "view": pa.array(["y", "x", "x"], pa.string_view()),
        }
    )
    laws = ["small -> large", "{}: small ~ large desc", "{}: small ~ half", "word -> view", "key(view)"]
    here, there = lawful.check(table, laws), lawful.check(table, laws, spark=spark)
    assert [outcome.holds for outcome in here.outcomes] == [True, True, True, True, False]
    assert here.outcomes == there.outcomes


@pytest.mark.parametrize("engine", ["auto", "spark", "local"])
def test_a_spark_dataframe(spark: SparkSession, engine: Any) -> None:
    frame = spark.createDataFrame(DATA).coalesce(1)
    report = lawful.check(frame, LAWS, engine=engine)
    assert report.engine == ("local" if engine == "local" else "spark")
    _assert_right(report)


def test_tables_and_queries_of_spark(spark: SparkSession) -> None:
    spark.createDataFrame(DATA).coalesce(1).createOrReplaceTempView("places")
    _assert_right(lawful.check("table:places", LAWS))
    report = lawful.check("sql:select id, zip from places where zip is not null", "zip -> id")
    assert (report.engine, report.table.rows) == ("spark", 4)
    long_query = "sql:select id, zip from places where " + " and ".join(["id > 0"] * 100)
    assert lawful.profile(long_query).rows == 5


def _kept_tables(cache: Path) -> list[Path]:
    return list((cache / "tables").glob("[!.]*"))


def test_tables_that_no_run_can_reuse_go_with_their_report(
    spark: SparkSession, tmp_path: Path, own_cache: Path
) -> None:
    path = _sources(tmp_path)["csv"]
    for source, reuse in ((spark.createDataFrame(DATA), True), (DATA, True), (path, False)):
        report = lawful.check(source, LAWS, spark=spark, reuse=reuse)
        assert len(_kept_tables(own_cache)) == 1
        assert report.violating_row_ids(0).size == 2
        del report
        gc.collect()
        assert _kept_tables(own_cache) == []
    lawful.check(path, LAWS, spark=spark)
    gc.collect()
    assert len(_kept_tables(own_cache)) == 1


def test_the_session_is_left_as_it_was(spark: SparkSession) -> None:
    before = spark.conf.getAll
    lawful.check(spark.createDataFrame(DATA), LAWS)
    assert spark.conf.getAll == before
    assert spark.range(3).count() == 3


def test_laws_as_texts_and_values() -> None:
    assert len(lawful.check(DATA, "zip -> city, price; key(id)").outcomes) == 3
    assert lawful.check(DATA, NamedLaw(Key((0,)), ("id",))).holds
    constants = lawful.check(DATA, "{id}: [] -> zip, city").outcomes
    assert [outcome.text for outcome in constants] == ["id -> zip", "id -> city"]
    assert lawful.check(DATA, [NamedLaw(FD((0,), 1), DATA.column_names), "id -> city"]).holds
    assert lawful.check(DATA, (law for law in LAWS)).asked == 3


def test_null_policies() -> None:
    table = pa.table({"a": [None, None, 1], "b": [1, 2, 3]})
    assert not lawful.check(table, "a -> b").holds
    assert not lawful.check(table, "a -> b", null="equal").holds
    ignoring = lawful.check(table, "a -> b", null="ignore")
    assert ignoring.holds
    assert ignoring.null_policy is NullPolicy.IGNORE
    assert ignoring.to_dict()["settings"]["null"] == "ignore"


def test_reading_options(tmp_path: Path, own_cache: Path) -> None:
    path = tmp_path / "dump"
    path.write_text("1;x\n2;-\n3;z\n")
    dialect = lawful.CsvDialect(separator=";", header=False, null_tokens=("-",))
    options: dict[str, Any] = {"format": "csv", "dialect": dialect, "types": {"c1": "string"}, "limit": 2}
    profile = lawful.profile(path, columns=["c2", "c1"], reuse=False, **options)
    assert [(column.name, column.type, column.nulls) for column in profile.columns] == [
        ("c2", "string", 1),
        ("c1", "string", 0),
    ]
    assert profile.rows == 2
    assert not [file for file in own_cache.rglob("*") if file.is_file()]
    assert lawful.check(path, "key(c1)", **options).table.rows == 2
    assert [file for file in own_cache.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"laws": []}, "there are no laws"),
        ({"laws": "zip -> town"}, "no column named"),
        ({"laws": Key((0,))}, "speaks of columns by their positions"),
        ({"laws": ["key(id)", FD((0,), 1)]}, "bind it to names: lawful.NamedLaw(law, names)"),
        ({"laws": NamedLaw(FD((0,), 1), ("id", "Price"))}, 'id -> Price: There is no column named "Price"'),
        ({"laws": [42]}, "42 is not a law"),
        ({"laws": "key(id)", "null": "sometimes"}, "Use equal or ignore"),
        ({"laws": "key(id)", "engine": "gpu"}, "unknown engine 'gpu'"),
        ({"laws": "key(id)", "columns": "id"}, "columns must be a list"),
        ({"laws": "key(id)", "columns": ["ID"]}, "has no column 'ID'"),
        ({"laws": "key(id)", "types": {"id": "number"}}, "unknown type 'number' for column 'id'"),
        ({"laws": "key(id)", "types": {"id": "binary"}}, "unknown type 'binary' for column 'id'"),
        ({"laws": "key(id)", "limit": -1}, "must not be negative"),
        ({"laws": "key(id)", "format": "xls"}, "unknown format 'xls'"),
        ({"laws": "key(id)", "source": 42}, "cannot read a table from int"),
        ({"laws": "key(id)", "source": "no/such/file.csv"}, "there is no such file"),
    ],
)
def test_errors_are_ours_and_say_what_to_do(arguments: dict[str, Any], words: str) -> None:
    arguments = {"source": DATA, **arguments}
    with pytest.raises(LawfulError) as refusal:
        lawful.check(arguments.pop("source"), arguments.pop("laws"), **arguments)
    assert words in str(refusal.value)


def test_to_dict_is_plain_json(report: CheckReport) -> None:
    document = report.to_dict()
    assert json.loads(json.dumps(document)) == document
    assert document["format"] == "lawful/1"
    assert document["dependencies"][0]["violations"] == {"rows": 2, "pairs": 1, "removals": 1}
    assert document["stats"]["seconds"]["total"] >= document["stats"]["seconds"]["check"]


def test_to_dataframe(report: CheckReport) -> None:
    frame = report.to_dataframe()
    assert list(frame.columns) == ["law", "holds", "violating_rows", "violating_pairs", "removals"]
    assert frame["law"].tolist() == LAWS
    assert frame["removals"].tolist() == [1, 0, 1]
    profile = lawful.profile(DATA).to_dataframe()
    assert profile["name"].tolist() == DATA.column_names
    assert list(profile.columns) == ["name", "type", "distinct", "nulls", "min", "max"]


def test_a_report_without_verdicts_still_has_its_columns(report: CheckReport) -> None:
    stopped = CheckReport(report.table, report.null_policy, (), 3, "local", {})
    assert not stopped.complete
    assert not stopped.holds
    assert list(stopped.to_dataframe().columns) == list(report.to_dataframe().columns)
    assert "incomplete" in stopped._repr_html_()


def test_violations_have_every_value_of_their_rows(report: CheckReport) -> None:
    found = report.violations("zip -> city")
    assert found.column_names == ["_group", "_row", "_file", "_number", "id", "zip", "city", "price"]
    assert found.to_pylist() == [
        {
            "_group": 0,
            "_row": row,
            "_file": None,
            "_number": row + 1,
            "id": row + 1,
            "zip": "10001",
            "city": city,
            "price": price,
        }
        for row, (city, price) in enumerate([("New York", 1.5), ("Newark", 2.5)])
    ]
    assert report.violating_row_ids(0).tolist() == [0, 1]


def test_a_law_is_found_by_any_of_its_spellings(report: CheckReport) -> None:
    for spelling in (2, "{}: id asc ~ price asc", "{}:id~price", "{}: price desc ~ id desc"):
        assert report.violating_row_ids(spelling).tolist() == [2, 3]
    assert report.violations("key(id)").num_rows == 0
    assert report.violations("key(id)").column_names[:2] == ["_group", "_row"]
    assert report.violating_row_ids("key(id)").tolist() == []
    for wrong in (3, -1, "key(zip)"):
        with pytest.raises(UsageError, match="was checked"):
            report.violations(wrong)
    with pytest.raises(NotationError):
        report.violations("nonsense")


def test_many_violations_come_in_one_table() -> None:
    rows = 120_000
    report = lawful.check(pa.table({"a": [1] * rows, "b": list(range(rows))}), "a -> b")
    found = report.violations(0)
    assert found.num_rows == rows
    assert found["_group"].unique().to_pylist() == [0]
    assert found["b"][-1].as_py() == rows - 1


def test_write_violations_takes_a_text_or_a_path(report: CheckReport, tmp_path: Path) -> None:
    for folder in (tmp_path / "one", str(tmp_path / "two")):
        written = report.write_violations(folder)
        assert [path.name for path in written] == ["001-zip-city.csv", "003-id-asc-price-asc.csv"]
        assert all(path.is_file() for path in written)
        with pytest.raises(UsageError, match="is not empty"):
            report.write_violations(folder)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_is_escaped(tmp_path: Path) -> None:
    name = "<script>alert('x')</script>&\"b"
    table = pa.table({name: ["<img src=x onerror=y>", "</table>"], "b": [1, 1]})
    laws = [NamedLaw(law, table.column_names) for law in (Key((0,)), FD((0,), 1), FD((1,), 0))]
    report = lawful.check(table, laws[0])
    explained = [lawful.explain(table, law) for law in laws]
    for shown in (report, lawful.profile(table), lawful.discover(table), *explained):
        tags = _Tags()
        tags.feed(shown._repr_html_())
        assert tags.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert any("<script>" in text for text in tags.texts)


@pytest.mark.parametrize("find", ["canonical-od", "fd,canonical-od"])
@pytest.mark.parametrize("strategy", ["lattice", "evidence"])
@pytest.mark.parametrize("policy", NullPolicy)
def test_discover_exactly_the_minimal_canonical_laws(find: str, strategy: Any, policy: NullPolicy) -> None:
    for seed in range(4):
        chance = np.random.default_rng(seed)
        columns = [ranked(chance.integers(0, most, 9).tolist()) for most in (3, 4, 5, 9)]
        columns.append(columns[1])  # a twin
        table = ArrayTable(columns)
        source = pa.table({f"c{place}": pa.array(c, mask=c == 0) for place, c in enumerate(columns)})
        report = lawful.discover(source, find, strategy=strategy, null=policy.value)
        found = [found.law.on(source.column_names) for found in report]
        assert len(found) == len(set(found))
        assert set(found) == minimal_canonical_laws(table.as_rows(), table.width, policy)


@pytest.mark.parametrize("strategy", ["auto", "lattice", "evidence"])
def test_discover_goes_on_from_a_checkpoint(tmp_path: Path, strategy: Any) -> None:
    source = table_with_laws(rows=1_200)
    log = tmp_path / "log"
    cut = lawful.discover(source, "canonical-od", strategy=strategy, checkpoint=log, time_limit=1e-6)
    assert not cut.complete
    with pytest.raises(UsageError, match="did not end"):
        lawful.discover(source, "canonical-od", strategy=strategy, checkpoint=str(log))
    resumed = lawful.discover(source, "canonical-od", strategy=strategy, checkpoint=log, resume=True)
    assert resumed.complete
    assert resumed.counts["checks"] > 0
    assert log.read_bytes().count(b"\n") > 2
    assert [found.text for found in resumed] == [found.text for found in lawful.discover(source, "canonical-od")]
    assert ("jobs" in resumed.counts) == (strategy == "lattice")


def test_progress_and_notes_are_told() -> None:
    done: list[str] = []
    noted: list[str] = []
    lawful.check(DATA, LAWS, progress=done.append)
    assert done == ["encoding the table", "checking 3 laws", *(f"checked {n} of 3 laws" for n in (1, 2, 3))]
    lawful.discover(DATA, "dc", max_size=2, progress=done.append, notes=noted.append)
    assert done[-1] == "ranking what was found"
    assert noted[0] == "40 predicates in 8 comparisons:"


def test_laws_are_kept_in_a_partial_file_until_they_are_saved(tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    with lawful.PartialFile(out) as partial:
        found = lawful.discover(DATA, partial=partial)
        assert partial.path == tmp_path / "laws.json.partial"
        assert {json.loads(line) for line in partial.path.read_text().splitlines()} == {law.text for law in found}
        assert lawful.check(DATA, partial.path).holds
        found.save(out)
        partial.forget()
    assert [path.name for path in tmp_path.iterdir()] == ["laws.json"]
    with pytest.raises(UsageError, match="both the document and the checkpoint"):
        lawful.discover(DATA, partial=lawful.PartialFile(out), checkpoint=out)


def test_spark_settings_ask_for_spark() -> None:
    settings = lawful.SparkSettings(master="local[1]")
    with pytest.raises(UsageError, match="the local engine uses no Spark"):
        lawful.profile(DATA, engine="local", spark=settings)
    assert Where.of("auto", settings).settle(DATA) == "spark"


def test_no_law_depends_on_the_partition_chain() -> None:
    source = table_with_laws(rows=1_200)
    kept, chained = (lawful.discover(source, "canonical-od", partition_chain=chain) for chain in (None, 1))
    assert list(kept) == list(chained)
    assert kept.counts["full_evidence"] == chained.counts["full_evidence"] == 0
    for find, chain, words in (("canonical-od", 0, "at least 1"), ("fd", 3, "is for canonical-od only")):
        with pytest.raises(UsageError, match=words):
            lawful.discover(source, find, partition_chain=chain)


def test_explain() -> None:
    broken = lawful.explain(DATA, "zip -> city")
    assert (broken.holds, broken.minimal, broken.text, broken.group_count()) == (False, False, "zip -> city", 1)
    (group,) = broken.groups()
    assert group.values == {"zip": "10001"}
    assert [(view.row, dict(view.values)) for view in group.rows] == [
        (0, {"city": "New York"}),
        (1, {"city": "Newark"}),
    ]
    assert list(broken.groups(most=0)) == []
    assert broken.agreeing_rows == 4
    assert broken.coverage == pytest.approx((4 + 4 + 1) / 25)
    held = lawful.explain(DATA, NamedLaw(FD((2,), 1), DATA.column_names))
    assert (held.holds, held.minimal, held.group_count()) == (True, True, 0)
    assert list(held.groups()) == list(held.summary(5)) == []
    assert [(outcome.text, outcome.holds) for outcome in held.stronger] == [("{} -> zip", False)]
    assert held.determines == ()
    assert lawful.explain(DATA, "id, price -> zip").minimal_laws == ("id -> zip", "price -> zip")
    assert lawful.explain(DATA, "id -> zip").determines == ("city", "price")
    assert lawful.explain(DATA, "{zip}: [] -> city").text == "zip -> city"
    for explained in (broken, held):
        document = explained.to_dict()
        assert json.loads(json.dumps(document)) == document


def test_explanations_of_long_laws_name_what_they_can() -> None:
    wide = pa.table({f"c{place}": [place, place, 0] for place in range(12)} | {"id": [1, 2, 3], "last": [1, 2, 3]})
    long = lawful.explain(wide, f"{', '.join(wide.column_names[:-1])} -> last")
    assert (long.minimal, long.minimal_laws) == (False, None)
    assert [outcome.holds for outcome in long.stronger] == [True] * 12 + [False]


def test_explain_on_spark_as_in_this_process(spark: SparkSession) -> None:
    frame = spark.createDataFrame(DATA).coalesce(1)
    for law in ("zip -> city", "city -> zip", "key(id)", "{}: id asc ~ price asc"):
        here, there = lawful.explain(DATA, law), lawful.explain(frame, law)
        assert there.report.engine == "spark"
        assert here.outcome == there.outcome
        assert here.stronger == there.stronger
        assert list(here.groups()) == list(there.groups())


def test_profile() -> None:
    profile = lawful.profile(DATA)
    assert (profile.rows, len(profile.columns)) == (5, 4)
    price = profile.columns[3]
    assert (price.name, price.type, price.distinct, price.minimum, price.maximum) == ("price", "float", 5, "1.5", "4")
    assert profile.to_dict()["table"]["columns"][1]["nulls"] == 1


def test_importing_loads_neither_spark_nor_numba() -> None:
    script = "import lawful, sys; print(sorted({'pyspark', 'numba', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError):
        lawful.nothing  # noqa: B018
