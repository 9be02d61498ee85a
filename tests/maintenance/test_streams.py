"""Streaming queries over a state: every micro-batch once, whatever is killed, and what is refused says what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import Cluster

import lawful
from lawful.common.errors import LawfulError, StateInUseError, UsageError
from lawful.maintenance.living_state import LivingState
from lawful.runs.following import Followed, follow
from lawful.runs.stream_batches import STREAMS, BatchTold, failure_of
from lawful.runs.streams import StreamSettings, json_rows, trigger_of
from maintenance.streaming_states import FILES, LONG_AGO, arrive, clean_run, lines_of, outcome, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ON_CONNECT = pytest.param("connect", marks=pytest.mark.slow)
"""A server gives the process that runs a stream's function ten seconds to import PySpark: too few on a busy one."""
SCRIPT = Path(__file__).with_name("streaming_states.py")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A folder where Parquet files of people arrive."""
    (tmp_path / "in").mkdir()
    return tmp_path


def put(root: Path, number: int, **columns: list[Any]) -> None:
    """Let a Parquet file arrive."""
    fresh = root / f"fresh-{number}"
    pq.write_table(pa.table(columns), fresh)
    os.utime(fresh, (LONG_AGO + number, LONG_AGO + number))
    fresh.rename(root / "in" / f"{number:03d}.parquet")


def stream(spark: SparkSession, root: Path, schema: str) -> DataFrame:
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(root / "in"))


def applied(spark: SparkSession, root: Path, schema: str = "id bigint, zip string, city string", **how: Any) -> None:
    """Apply everything that is there; raise what lawful said if it was refused."""
    asked: dict[str, Any] = {"row_key": ["id"], "pin": ["zip -> city"], "trigger": "available-now"} | how
    query = lawful.maintain(stream(spark, root, schema), root / "p.state", **asked)
    while query.isActive:
        query_ended(query)
    failed = query.exception()
    if failed is not None:
        raise failure_of(str((root / "p.state").absolute()), str(failed)) or failed


def followed(spark: SparkSession, root: Path, told: Callable[[BatchTold], None] | None = None, **how: Any) -> Followed:
    """Follow the files that arrive below a folder until all were applied."""
    state = root / "p.state"
    return follow(lambda: run(spark, root, **how), state, StreamSettings().checkpoint_of(state), told)


def query_ended(query: Any) -> None:
    try:
        query.awaitTermination(1)
    except Exception:  # told by query.exception()
        assert not query.isActive


def rows_in(root: Path) -> list[tuple[str | None, ...]]:
    table = LivingState.open(root / "p.state").table
    rows = table.live_rows()
    return sorted(zip(*(table.texts(rows, column).to_pylist() for column in range(table.width)), strict=True))


def expected_rows() -> list[tuple[str, str, str]]:
    """The rows that are there after all files, by brute force: one after the other, and none that breaks a pin."""
    rows: dict[str, tuple[str, str]] = {}
    for number in range(FILES):
        lines = [line.split(",") for line in lines_of(number)]
        for op, key, *_ in lines:
            if op == "-":
                rows.pop(key, None)
        for op, key, place, city in lines:
            fits = place.isdigit() and key not in rows
            breaks = any(place == other and city != its for other, its in rows.values())
            if op == "+" and fits and not breaks:
                rows[key] = place, city
    return sorted((key, *values) for key, values in rows.items())


class TestArrivingFiles:
    def test_every_file_once_with_its_events_and_rows_put_aside(self, spark: SparkSession, tmp_path: Path) -> None:
        for number in range(FILES):
            arrive(tmp_path / "in", number)
            if number in (2, FILES - 1):  # some wait for the next start
                query = run(spark, tmp_path)
                while query.isActive:
                    query_ended(query)
                assert query.exception() is None
        found = outcome(tmp_path)
        assert rows_in(tmp_path) == expected_rows()
        assert found == clean_run(tmp_path / "clean")
        assert [entry["number"] for entry in found["changes"]] == list(range(FILES))
        aside = [row for rows in found["aside"].values() for row in rows]
        came = sum(line[0] == "+" for number in range(FILES) for line in lines_of(number))
        assert sum(entry["inserted"] for entry in found["changes"]) == came - len(aside)
        assert {row["_law"] for row in aside} == {None, "key(id)", "zip -> city"}
        assert aside[0]["_place"].startswith("ROOT/in/000.csv, line ")
        frame = lawful.events(tmp_path / "p.state", spark)
        assert frame.count() == len(found["events"])

    @pytest.mark.cluster
    @pytest.mark.parametrize("kind", ["local-cluster", ON_CONNECT])
    def test_the_same_on_clusters(self, kind: str, cluster_of: Callable[[str], Cluster], tmp_path: Path) -> None:
        expected = clean_run(tmp_path / "clean")
        for number in range(FILES):
            arrive(tmp_path / "in", number)
        more = ["kill an executor"] if kind == "local-cluster" else []
        assert cluster_of(kind).run(SCRIPT, str(tmp_path), *more) == {"failed": None}
        assert outcome(tmp_path) == expected


class TestOutcomes:
    def test_rows_come_once_and_the_next_start_goes_on(self, spark: SparkSession, people: Path) -> None:
        heard: list[dict[str, Any]] = []
        put(people, 0, id=[1, 2], zip=["a", "b"], city=["x", "y"])
        applied(spark, people, on_event=heard.append)
        applied(spark, people)
        put(people, 1, id=[3], zip=["a"], city=["z"])
        applied(spark, people, on_event=heard.append)
        assert rows_in(people) == [("1", "a", "x"), ("2", "b", "y"), ("3", "a", "z")]
        (broke,) = [event for event in heard if event["event"] == "broke"]
        assert (broke["law"], broke["violating"], broke["version"]) == ("zip -> city", 2, 2)
        assert [row["values"] for row in broke["rows"]] == [{"zip": "a", "city": "x"}, {"zip": "a", "city": "z"}]
        assert broke["rows"][1]["file"] == "batch 1"
        history = lawful.history(people / "p.state", text="zip -> city")
        (life,) = [life for life in history if life.pinned]
        assert (life.holds, life.broke, life.errors) == (False, 2, {2: 2})

    def test_late_doubles_unknown_keys_and_types_that_stop_fitting(self, spark: SparkSession, people: Path) -> None:
        schema = "_op string, id string, zip string, city string"
        put(people, 0, _op=["+", "+"], id=["1", "2"], zip=["a", "b"], city=["x", "y"])
        put(people, 1, _op=["+"], id=["1"], zip=["a"], city=["x"])
        with pytest.raises(LawfulError, match=r"batch 1, row 1: the key id = 1 is there already"):
            applied(spark, people, schema)
        with pytest.raises(LawfulError, match="is there already"):  # as long as nothing is done about it
            applied(spark, people, schema)
        applied(spark, people, schema, quarantine=people / "aside")
        assert "its key is there already" in (people / "aside" / "000002.jsonl").read_text()
        put(people, 2, _op=["-"], id=["7"], zip=["a"], city=["x"])
        with pytest.raises(LawfulError, match="no row has the key id = 7"):
            applied(spark, people, schema)
        applied(spark, people, schema, missing="skip")
        put(people, 3, _op=["-", "-"], id=["1", "2"], zip=["", ""], city=["", ""])  # a batch of deletes alone
        put(people, 4, _op=["+", "-"], id=["5", "5"], zip=["e", ""], city=["e", ""])  # comes and leaves: nothing
        put(people, 5, _op=[], id=[], zip=[], city=[])
        applied(spark, people, schema)
        assert rows_in(people) == []
        assert LivingState.open(people / "p.state").stream is not None

    def test_a_late_double_without_a_row_key_breaks_a_key(self, spark: SparkSession, people: Path) -> None:
        heard: list[dict[str, Any]] = []
        for number in range(2):
            put(people, number, id=[1], zip=["a"], city=["x"])
        applied(spark, people, row_key=(), pin=["key(id)"], on_event=heard.append)
        assert rows_in(people) == [("1", "a", "x")] * 2
        (broke,) = [event for event in heard if event["event"] == "broke"]
        assert (broke["law"], broke["violating"], broke["version"]) == ("key(id)", 2, 2)

    def test_another_schema_is_refused(self, spark: SparkSession, people: Path) -> None:
        put(people, 0, id=[1], zip=["a"], city=["x"])
        applied(spark, people)
        put(people, 1, id=[2], zip=["a"], city=["x"], more=[1])
        with pytest.raises(LawfulError, match="has new column 'more'"):
            applied(spark, people, "id bigint, zip string, city string, more bigint")
        with pytest.raises(LawfulError, match="lacks column 'city'"):
            applied(spark, people, "id bigint, zip string", pin=None)
        assert rows_in(people) == [("1", "a", "x")]

    def test_a_file_with_other_columns_is_refused_until_it_is_mended(self, spark: SparkSession, tmp_path: Path) -> None:
        arrive(tmp_path / "in", 0)
        second = tmp_path / "in" / "001.csv"
        for text, said in [
            ("_op,id,zip\n+,11,1\n", "001.csv has no column 'city'"),
            ("_op,id,zip,city,more\n+,11,1,c1,m\n", "has new column 'more'"),
        ]:
            second.write_text(text)
            with pytest.raises(LawfulError, match=said):
                followed(spark, tmp_path)
            assert LivingState.open(tmp_path / "p.state").table.version == 1
        second.write_text("_op,id,zip,city\n+,11,77,c1\n")
        assert followed(spark, tmp_path).inserted == 1

    def test_a_type_that_stops_fitting(self, spark: SparkSession, people: Path) -> None:
        first = pa.table({"id": [1], "zip": ["a"], "city": ["x"]})
        lawful.maintain(first, people / "p.state", row_key=["id"], pin=["zip -> city"], engine="local")
        put(people, 0, id=["2.5"], zip=["a"], city=["x"])
        schema = "id string, zip string, city string"
        with pytest.raises(LawfulError, match=r"batch 0, row 1: '2\.5' in column 'id' is not of its type, integer"):
            applied(spark, people, schema)
        assert rows_in(people) == [("1", "a", "x")]
        applied(spark, people, schema, misfits="widen")
        assert rows_in(people) == [("1", "a", "x"), ("2.5", "a", "x")]

    def test_a_lost_checkpoint_and_a_lost_state(self, spark: SparkSession, people: Path) -> None:
        put(people, 0, id=[1], zip=["a"], city=["x"])
        put(people, 1, id=[2], zip=["b"], city=["x"])
        applied(spark, people)
        shutil.copytree(people / "p.state.checkpoint", people / "old")
        shutil.rmtree(people / "p.state.checkpoint")
        with pytest.raises(UsageError, match=r"has seen batch 1 of query .*, and this is batch 0 of query"):
            applied(spark, people)
        assert len(rows_in(people)) == 2
        shutil.rmtree(people / "p.state.checkpoint")
        shutil.copytree(people / "old", people / "p.state.checkpoint")
        put(people, 2, id=[3], zip=["c"], city=["x"])
        applied(spark, people)
        assert len(rows_in(people)) == 3
        # An older checkpoint plans the last batch anew, here with other rows.
        shutil.rmtree(people / "p.state.checkpoint")
        shutil.copytree(people / "old", people / "p.state.checkpoint")
        (people / "in" / "002.parquet").unlink()
        put(people, 3, id=[4], zip=["d"], city=["x"])
        with pytest.raises(UsageError, match="batch 2 of the query is not the one that the state has seen"):
            applied(spark, people)
        assert len(rows_in(people)) == 3
        shutil.rmtree(people / "p.state")
        with pytest.raises(UsageError, match="goes on at batch 2, and the state has seen none of it"):
            applied(spark, people)

    def test_a_state_that_is_older_than_its_checkpoint(self, spark: SparkSession, people: Path) -> None:
        put(people, 0, id=[1], zip=["a"], city=["x"])
        applied(spark, people)
        shutil.copytree(people / "p.state", people / "old")
        put(people, 1, id=[2], zip=["b"], city=["x"])
        applied(spark, people)
        shutil.rmtree(people / "p.state")
        shutil.copytree(people / "old", people / "p.state")
        put(people, 2, id=[3], zip=["c"], city=["x"])
        with pytest.raises(UsageError, match="batches 1 to 1 of the query are missing"):
            applied(spark, people)
        assert rows_in(people) == [("1", "a", "x")]

    def test_a_new_query_goes_on_where_it_may(self, spark: SparkSession, people: Path) -> None:
        put(people, 0, id=[1], zip=["a"], city=["x"])
        applied(spark, people)
        shutil.rmtree(people / "p.state.checkpoint")
        (people / "in" / "000.parquet").unlink()  # the source brings only what is new
        put(people, 1, id=[2], zip=["b"], city=["x"])
        applied(spark, people, new_query=True)
        put(people, 2, id=[3], zip=["c"], city=["x"])
        applied(spark, people)  # which is the query that the state knows now
        assert len(rows_in(people)) == 3

    def test_change_feeds(self, spark: SparkSession, people: Path) -> None:
        """As Delta gives them: several commits in one batch, updates as two rows, with columns of its own."""
        schema = "id bigint, zip string, _change_type string, _commit_version bigint, _commit_timestamp timestamp"
        put(people, 0, id=[1, 2, 2, 2, 1], zip=["a", "b", "b", "c", "a"],
            _change_type=["insert", "insert", "update_preimage", "update_postimage", "delete"],
            _commit_version=[1, 1, 2, 2, 3], _commit_timestamp=pa.array([None] * 5, pa.timestamp("us")))  # fmt: skip
        applied(spark, people, schema, pin=["key(id)"])
        assert rows_in(people) == [("2", "c")]
        put(people, 1, id=[2], zip=["c"], _change_type=["upsert"], _commit_version=[4],
            _commit_timestamp=pa.array([None], pa.timestamp("us")))  # fmt: skip
        with pytest.raises(LawfulError, match="'upsert' in column '_change_type' is not one of insert"):
            applied(spark, people, schema, pin=["key(id)"])

    def test_the_shape_of_a_topic(self, spark: SparkSession, people: Path) -> None:
        values = [b'{"id": 1, "zip": "a"}', b'{"id": 2, "zip": "b", "_op": "+"}']
        put(people, 0, key=[b"k", None], value=values, topic=["t", "t"], offset=[0, 1])
        frame = stream(spark, people, "key binary, value binary, topic string, offset bigint")
        query = lawful.maintain(
            json_rows(frame, ["id", "zip", "_op"]), people / "p.state", row_key=["id"], trigger="once"
        )
        query.awaitTermination()
        assert rows_in(people) == [("1", "a"), ("2", "b")]


class TestFollowing:
    def test_it_ends_by_itself_and_is_alone(self, spark: SparkSession, tmp_path: Path) -> None:
        arrive(tmp_path / "in", 0)
        told: list[Any] = []

        def begin() -> Any:
            with pytest.raises(StateInUseError, match="another process follows"):
                follow(lambda: None, tmp_path / "p.state", checkpoint, None)  # type: ignore[arg-type,return-value]  # never begun
            return run(spark, tmp_path)

        checkpoint = StreamSettings().checkpoint_of(tmp_path / "p.state")
        done = follow(begin, tmp_path / "p.state", checkpoint, told.append)
        assert done.batches == len(told) == 1
        assert done.report is not None
        assert done.report.holds
        assert told[0].bytes > 0
        assert told[0].lag > 0

    def test_told_to_end_it_does_after_the_batch(self, spark: SparkSession, tmp_path: Path) -> None:
        for number in range(3):
            arrive(tmp_path / "in", number)
        name = str((tmp_path / "p.state").absolute())
        assert followed(spark, tmp_path, lambda _: STREAMS.ending.add(name)).batches == 1
        query = run(spark, tmp_path)  # and it goes on with the next one
        while query.isActive:
            query_ended(query)
        assert [entry["stream"]["batch"] for entry in LivingState.open(tmp_path / "p.state").history] == [0, 1, 2]

    def test_others_may_write_between_two_batches(self, spark: SparkSession, tmp_path: Path) -> None:
        for number in range(2):
            arrive(tmp_path / "in", number)

        def write(batch: BatchTold) -> None:
            with lawful.open_state(tmp_path / "p.state", engine="local") as state:
                row = {"id": [1000 + batch.number], "zip": [100 + batch.number], "city": ["mine"]}
                assert state.apply(pa.table(row)).inserted == 1

        assert followed(spark, tmp_path, write).batches == 2
        state = LivingState.open(tmp_path / "p.state")
        assert [entry.get("stream", {}).get("batch") for entry in state.history] == [0, None, 1, None]
        assert state.table.version == 4

    def test_a_memory_limit_stops_it_and_changes_nothing(self, spark: SparkSession, tmp_path: Path) -> None:
        arrive(tmp_path / "in", 0)
        with pytest.raises(LawfulError, match="the memory limit of 1 MB is reached") as stopped:
            followed(spark, tmp_path, memory_limit="1m")
        assert stopped.value.exit_code == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, {}),
        ("once", {"once": True}),
        ("available-now", {"availableNow": True}),
        ("10s", {"processingTime": "10000 milliseconds"}),
        ("1.5 minutes", {"processingTime": "90000 milliseconds"}),
    ],
)
def test_triggers(text: str | None, expected: dict[str, Any]) -> None:
    assert trigger_of(text) == expected


def test_an_unknown_trigger_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown trigger 'often'"):
        trigger_of("often")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What this process knows of streams goes with each test."""
    yield
    STREAMS.opened.clear()
    STREAMS.ending.clear()
    STREAMS.failed.clear()
