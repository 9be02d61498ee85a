"""States that are spread over a cluster: their pinned laws are as brute force says, and no batch happens by halves."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Constant, Key, Law, ListOD, Predicate, columns_of
from lawful.discovery.questions import Watch
from lawful.engines.spread.kept_laws import of_part
from lawful.engines.spread.range_index import RangeIndex
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread import ranged_laws
from lawful.maintenance.spread.document import ColumnFacts, SpreadDocument
from lawful.maintenance.spread.keeping import kept_laws
from lawful.maintenance.spread.state import SpreadState
from lawful.tables.living.living_table import RowOrigins
from lawful.tables.options import ReadOptions
from lawful.tables.origins import NO_ORIGINS, Origins
from lawful.tables.spread import segments
from lawful.tables.spread.manifests import Manifests
from lawful.tables.spread.past import Past, PastSegments, RowPlaces
from lawful.tables.spread.segments import Segment, to_join
from lawful.tables.spread.source_rows import read_texts
from maintenance.changing_tables import Row, arrow_of, changes, incoming, taken
from maintenance.test_pinned_laws import LAWS, POLICIES, WIDTH, breaks, fitting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.api import OpenSpreadState, OpenState
    from lawful.runs.following import Followed


def compared(*marked: tuple[int, str]) -> list[Predicate]:
    return [Predicate(Cell("t", column), operator, Cell("s", column)) for column, operator in marked]  # type: ignore[arg-type]  # operators


SOME_LAWS: list[Law] = [
    Key((0,)),
    Key((0, 3)),
    FD((0,), 1),
    FD((), 2),
    CanonicalOD((0,), 1, 2, "asc"),
    POD(((0, "="), (1, "<")), (2, "<=")),
    DC((*compared((3, "="), (1, "<"), (2, ">")), Predicate(Cell("t", 1), ">", Constant(0)))),
    DC((*compared((0, "="), (1, "!="), (2, "!=")),)),
    DC((*compared((0, "=")), Predicate(Cell("t", 1), "<", Cell("s", 2)))),
]
WITHOUT_EQUALITIES: list[Law] = [
    CanonicalOD((), 0, 1, "asc"),
    CanonicalOD((), 1, 2, "desc"),
    POD(((0, "<"), (1, ">=")), (2, "<=")),
    DC((*compared((0, "<"), (2, "!=")), Predicate(Cell("t", 1), "<", Constant(2)))),
    DC((Predicate(Cell("t", 0), "<", Cell("s", 1)), Predicate(Cell("t", 2), "=", Cell("s", 3)))),
    DC((Predicate(Cell("t", 0), ">", Constant(2)),)),
    DC((*compared((0, "<"), (1, "<"), (2, ">"), (3, "<=")),)),
]
LISTS: list[Law] = [ListOD(((0, "asc"), (1, "desc")), ((2, "desc"),)), ListOD((), ((3, "asc"),))]
FIRST: list[Row] = [(1, 1, 1, 0), (1, 2, 1, 0), (2, 3, None, 0), (2, 3, None, 0), (None, 1, 2, 1), (3, None, -1, 1)]
BATCHES: list[tuple[list[Row], float]] = [
    ([(1, 3, 0, 1), (None, 1, 3, 1), (4, 0, 0, 0)], 0.0),
    ([(2, 3, None, 0), (2, 1, 1, 0)], 0.6),
    ([], 1.0),
]


def made(
    spark: SparkSession,
    folder: Path,
    rows: list[Row],
    policy: NullPolicy,
    laws: list[Law],
    row_key: tuple[str, ...] = (),
    buckets: int = 2,
) -> SpreadState:
    source = read_texts(
        spark, spark.createDataFrame(arrow_of(rows, WIDTH)), ReadOptions(), (folder / "source").as_uri()
    )
    settings = StateSettings((), policy, row_key=row_key, only_pinned=True)
    return SpreadState.create(spark, (folder / "state").as_uri(), source, settings, laws, Watch(), buckets=buckets)


def apply(state: SpreadState, come: list[Row], go: list[Row], name: str | None = None) -> Applied:
    inserts, deletes = (incoming(state, rows) if rows else None for rows in (come, go))  # type: ignore[arg-type]  # as a state
    return state.apply(Batch(name or f"batch {state.table.version}", inserts, deletes), Watch())


def pins_are_right(state: SpreadState, applied: Applied, policy: NullPolicy, rows: list[Row], new: int) -> None:
    """Counts and verdicts are those of brute force; the two rows that are shown break the law."""
    assert state.table.rows == len(rows)
    for law, pinned, views in zip(state.pins, applied.pins, state.witnesses(), strict=True):
        pairs = breaks(law, policy, rows)
        involved = {row for pair in pairs for row in pair}
        assert (pinned.holds, pinned.violating, pinned.pairs) == (not pairs, len(involved), len(pairs)), pinned.text
        offending = any(row >= len(rows) - new for row in involved)
        assert bool(len(pinned.offenders)) == offending, pinned.text
        # What any two rows fulfil one way round, such as t.a <= s.a, is not asked, and no index knows its values.
        if views is not None and all(f"c{column}" in views[0].values for column in columns_of(law)):
            shown = [tuple(_number(view.values.get(f"c{n}")) for n in range(WIDTH)) for view in views]
            assert breaks(law, policy, shown), pinned.text


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def batches_are_followed(
    spark: SparkSession, first: list[Row], batches: list[tuple[list[Row], float]], policy: NullPolicy, laws: list[Law]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        state, rows = made(spark, Path(folder), first, policy, laws), list(first)
        pins_are_right(state, Applied("", 0, len(rows), pins=state.judged()), policy, rows, 0)
        for come, share in batches:
            go = taken(rows, share)
            applied = apply(state, come, go)
            for row in go:
                rows.remove(row)
            rows += come
            pins_are_right(state, applied, policy, rows, len(come))
            state = SpreadState.open(spark, state.location)
        assert state.differences() == []


@pytest.mark.parametrize("policy", [NullPolicy.EQUAL, pytest.param(NullPolicy.IGNORE, marks=pytest.mark.slow)])
def test_pinned_laws_of_every_shape_are_as_brute_force_says(
    spark: SparkSession, policy: NullPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_MOST_SEGMENTS", 2)  # so that segments are joined, in part and all of them
    batches_are_followed(spark, FIRST, BATCHES, policy, SOME_LAWS)


def test_laws_that_compare_nothing_by_equality_are_followed(spark: SparkSession) -> None:
    batches_are_followed(spark, FIRST, BATCHES[1:2], NullPolicy.EQUAL, [LISTS[0]])


@pytest.mark.slow
@pytest.mark.parametrize("policy", list(NullPolicy))
def test_laws_that_compare_nothing_by_equality_are_as_brute_force_says(
    spark: SparkSession, policy: NullPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_MOST_SEGMENTS", 2)
    monkeypatch.setattr(ranged_laws, "ROWS_A_BUCKET", 1)  # so that buckets are cut above their rows
    laws = fitting([*WITHOUT_EQUALITIES, *LISTS], policy)
    batches_are_followed(spark, FIRST, BATCHES, policy, laws)


@pytest.mark.slow
@given(data=st.data(), policy=POLICIES)
@one_in(4)
def test_pinned_laws_after_any_batches_are_as_brute_force_says(
    spark: SparkSession, data: st.DataObject, policy: NullPolicy
) -> None:
    first, batches = data.draw(changes(WIDTH, most=8))
    laws = fitting([data.draw(family) for family in LAWS], policy)
    batches_are_followed(spark, first, batches[:2], policy, laws)


@pytest.mark.slow
def test_a_batch_that_never_got_its_manifest_never_happened(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = made(spark, tmp_path, FIRST, NullPolicy.EQUAL, [FD((0,), 1)])
    before = SpreadState.open(spark, state.location)
    with monkeypatch.context() as patched:
        patched.setattr(Manifests, "write", _killed)
        with pytest.raises(KeyboardInterrupt):
            apply(state, [(1, 9, 9, 9)], FIRST[:1], "monday")
    after = SpreadState.open(spark, state.location)
    assert after.judged() == before.judged()
    assert after.table.rows == len(FIRST)
    applied = apply(after, [(1, 9, 9, 9)], FIRST[:1], "monday")
    assert (applied.version, applied.inserted, applied.deleted) == (1, 1, 1)
    known = apply(after, [(1, 9, 9, 9)], FIRST[:1], "monday")
    assert known.was_known
    assert after.judged() == SpreadState.open(spark, state.location).judged()
    with pytest.raises(SourceError, match="another process"):  # which still is where it was
        apply(before, [(1, 9, 9, 9)], [], "tuesday")


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("aside", [False, True])
def test_laws_without_equalities_follow_the_types_of_their_columns(
    spark: SparkSession, tmp_path: Path, aside: bool
) -> None:
    """A column that gets another type has another order: 9 is below 10 as a number, and above it as a text."""
    first = pa.table({"a": [9, 10], "b": [1, 2], "c": pa.array([None, None], pa.string())})
    asked: dict[str, Any] = {"only_pinned": True, "pins": ["{}: a ~ b asc", "[b] -> [c]"]}
    spread = lawful.SparkSettings(session=spark, placement="shuffle")
    batches: list[dict[str, Any]] = [
        {"inserts": pa.table({"a": [9.5], "b": [3], "c": [7]})},
        {
            "inserts": pa.table({"a": [11.0], "b": [1], "c": [5]}),
            "deletes": pa.table({"a": [9], "b": [1], "c": [None]}),
        },
    ]
    with (
        lawful.make_state(tmp_path / "one", first, **asked, engine="local") as one,
        lawful.make_state(tmp_path / "two", spark.createDataFrame(first), **asked, spark=spread) as two,
    ):
        for number, batch in enumerate(batches):
            reports = []
            for each, state in (("one", one), ("two", two)):
                quarantine = {"quarantine": tmp_path / f"{each} {number}"} if aside else {}
                reports.append(state.apply(**batch, **quarantine, misfits="widen", batch_id=f"{number}"))
            assert [_counts(report) for report in reports[:1]] == [_counts(report) for report in reports[1:]]
        for each, other in zip(one._state.table.columns, two._state.table.columns, strict=True):
            assert each.type == other.type
        assert two.described(verify=True).differences == []


def _counts(report: Any) -> list[Any]:
    return [report.rows, *((pin.text, pin.holds, pin.violating, pin.pairs) for pin in report.pins)]


def test_a_law_that_holds_reads_the_buckets_that_its_rows_fall_into(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Row] = [(n, 2 * n, 0, 0) for n in range(60)]
    state = made(spark, tmp_path, rows, NullPolicy.EQUAL, [CanonicalOD((), 0, 1, "asc")], buckets=6)
    ranges = state._document.ranges[0]
    assert len(ranges.boxes) == 6
    read: list[set[str]] = []
    taken_in = RangeIndex.changed

    def noted(self: RangeIndex, segments: Any, parts: set[str], *others: Any) -> Any:
        read.append(parts)
        return taken_in(self, segments, parts, *others)

    monkeypatch.setattr(RangeIndex, "changed", noted)
    apply(state, [(25, 50, 1, 1)], [rows[3]])
    assert len(read.pop()) <= 1
    assert not state._document.degree_segments
    applied = apply(state, [(0, 119, 1, 1)], [])
    assert len(read.pop()) == 6
    rows = [*rows[:3], *rows[4:], (25, 50, 1, 1), (0, 119, 1, 1)]
    pins_are_right(state, applied, NullPolicy.EQUAL, rows, 1)
    assert state.differences() == []
    state._document = replace(state._document, tallies={0: {}})
    assert len(state.differences()) == 1


def test_a_stream_makes_no_spread_state(spark: SparkSession, tmp_path: Path) -> None:
    where = lawful.SparkSettings(placement="shuffle")
    stream = spark.readStream.format("rate").load()
    with pytest.raises(UsageError, match="a stream makes none"):
        lawful.maintain(stream, tmp_path / "state", only_pinned=True, pin=["a -> b"], spark=where)
    assert not (tmp_path / "state").exists()


def test_what_a_manifest_has_no_room_for_is_found_in_segments(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_MOST_SEGMENTS", 1)  # so that two are joined
    past = Past(spark, tmp_path.as_uri())
    first = RowOrigins([0], [Origins(("a.csv", "b.csv"), "line", np.array([[0, 0, 2], [3, 1, 2], [5, 1, 9]]))])
    then = RowOrigins([7, 9], [NO_ORIGINS, Origins(("c.csv",), "line", np.array([[0, 0, 4]]))])
    known = past.plus(PastSegments(), [({"version": 1, "batch": "it's"}, {"aside": []})], first)
    known = past.plus(known, [({"version": 2, "batch": "two"}, {}), ({"version": 3, "batch": "three"}, {})], then)
    assert (len(known.batches), len(known.runs)) == (1, 1)
    assert [entry["batch"] for entry, _ in past.told(known)] == ["it's", "two", "three"]
    assert [entry["batch"] for entry, _ in past.told(known, 2)] == ["three"]
    assert past.entry(known, "it's") == {"version": 1, "batch": "it's"}
    assert past.entry(known, "four") is None
    every = RowOrigins([*first.starts, *then.starts], [*first.batches, *then.batches])
    places = RowPlaces([12], [NO_ORIGINS], lambda ids: past.places(known, ids))
    places.learn(range(11))
    assert [places.place(row) for row in range(11)] == [every.place(row) for row in range(11)]
    assert places.place(13) == NO_ORIGINS.place(1)


TEXTS = {
    "rows.csv": """id,day,at,amount,code,what
1,31/12/2024,2024-01-01T00:00:00Z,1.0,007,x
2,01/02/2024,2024-01-01T01:00:00+01:00,1.00,7,"x
y"
3,,,,,
""",
    "rows.jsonl": """{"id": 1, "day": "2024-12-31", "at": true, "amount": 1.0, "code": 7, "what": "x"}
{"id": 2, "day": "2024-02-01", "at": false, "amount": 1, "code": "7", "what": null}
{"id": 3}
""",
}


@pytest.mark.parametrize("name", ["rows.csv", pytest.param("rows.jsonl", marks=pytest.mark.slow)])
def test_text_files_are_read_as_for_a_state_of_one_process(spark: SparkSession, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXTS[name])
    asked = {"only_pinned": True, "pins": ["amount -> day", "key(code)"], "types": {"id": "string"}, "row_key": ["id"]}
    spread = lawful.SparkSettings(session=spark, placement="shuffle")
    with (
        lawful.make_state(tmp_path / "one", tmp_path / name, **asked, engine="local") as one,  # type: ignore[arg-type]  # options
        lawful.make_state(tmp_path / "two", tmp_path / name, **asked, spark=spread) as two,  # type: ignore[arg-type]  # options
    ):
        for each, other in zip(one._state.table.columns, two._state.table.columns, strict=True):
            assert (each.name, each.type, each.settled) == (other.name, other.type, other.settled)
        assert _pins(one) == _pins(two)
        for state in (one, two):
            state.apply(deletes=pa.table({"id": ["2"]}))
        assert _pins(one) == _pins(two)
    assert not (tmp_path / "two" / "source" / "texts").exists()


def _pins(state: OpenState | OpenSpreadState) -> list[Any]:
    """How pinned laws fare, with the lines of the rows that break them."""
    return [
        (pin.text, pin.violating, pin.pairs, [(view.row, view.place.number, view.values) for view in pin.witness or ()])
        for pin in state.as_it_is().pins
    ]


@pytest.mark.slow
def test_a_stream_feeds_a_spread_state_every_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    arriving, state = tmp_path / "arriving", tmp_path / "state"
    arriving.mkdir()
    (arriving / "1.csv").write_text("id,a,b\n2,1,5\n3,2,1\n")
    frame = spark.createDataFrame([(1, 1, 2)], "id int, a int, b int")
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    pins = ["a -> b", "{}: id ~ a asc"]
    lawful.make_state(state, frame, pins=pins, only_pinned=True, row_key=["id"], spark=where).close()

    def follow(**how: Any) -> Followed:
        told = {"events": tmp_path / "events.jsonl", **how}
        return lawful.follow(str(arriving), state, trigger="available-now", spark=where, **told)

    def rows() -> int:
        with lawful.open_state(state, spark=spark) as opened:
            return opened.rows

    done = follow()
    assert (done.batches, done.inserted, rows()) == (1, 2, 3)
    assert done.report is not None
    assert [pin.violating for pin in done.report.pins] == [2, 0]
    with lawful.open_state(state, spark=spark) as opened:  # somebody else, between two batches of the stream
        opened.apply(pa.table({"id": [7], "a": [7], "b": [7]}))
    (arriving / "2.csv").write_text("_op,id,a,b\n-,2,1,5\n+,2,1,2\n+,8,3,3\n-,8,3,3\n")
    done = follow()
    assert (done.inserted, done.deleted, rows()) == (1, 1, 4)
    checkpoint = tmp_path / "state.checkpoint"
    for number in ("1", ".1.crc"):
        (checkpoint / "commits" / number).unlink(missing_ok=True)  # as if the query had been killed before it knew
    again = follow()
    assert (again.batches, again.inserted, rows()) == (1, 0, 4)
    shutil.rmtree(checkpoint)
    (arriving / "2.csv").unlink()
    with pytest.raises(UsageError, match="the state has seen batch 1"):
        follow()
    events = map(json.loads, (tmp_path / "events.jsonl").read_text().splitlines())
    assert [event["event"] for event in events] == ["broke", "mended"]


def test_a_manifest_from_before_laws_without_equalities_is_read() -> None:
    columns = (ColumnFacts("a", ColumnType.INTEGER, None), ColumnFacts("b", ColumnType.DATE, True))
    settings = StateSettings((), NullPolicy.EQUAL, only_pinned=True)
    document = SpreadDocument("table", columns, settings, (FD((0,), 1),), 8, tallies={0: {3: (2, 1)}})
    told = json.loads(json.dumps(document.to_dict()))
    assert SpreadDocument.from_dict(told, "here") == document
    before = {name: value for name, value in told.items() if name not in ("ranges", "degree_segments")}
    assert SpreadDocument.from_dict(before, "here") == document


def test_two_rows_are_shown_as_long_as_some_bucket_knows_such(spark: SparkSession, tmp_path: Path) -> None:
    """The rows that are known of a class are its first and its last: once both have left, another class is shown."""
    rows = [(k, v) for k in range(6) for v in (1, 1, 1, 1, 2)]
    frame = spark.createDataFrame(rows, "k int, v int")
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    left = {k: [place for place, row in enumerate(rows) if row == (k, 1)] for k in range(6)}
    with lawful.make_state(tmp_path / "state", frame, only_pinned=True, pins=["k -> v"], spark=where) as state:
        for class_ in range(6):
            (pin,) = state.as_it_is().pins
            assert pin.witness is not None
            assert pin.violating == 30 - 2 * class_
            shown = int(pin.witness[0].values["k"])
            ids = left.pop(shown)
            state.apply(delete_ids=[ids[0], ids[-1]])
        assert not left
        (pin,) = state.as_it_is().pins
        assert (pin.witness, pin.violating) == (None, 18)


def test_laws_that_say_the_same_are_kept_alike() -> None:
    laws = [Key((0,)), FD((0,), 1), CanonicalOD((0,), 1, 2, "asc"), ListOD(((0, "asc"),), ((1, "asc"),))]
    assert [kept.shape for kept in kept_laws(laws)] == ["agree", "differ", "classes", "ranges"]
    (kept,) = kept_laws([DC((*compared((0, "="), (1, "<")),))])
    assert (kept.shape, kept.columns) == ("differ", (0, 1))
    assert of_part(kept.part(3)) == (0, 3)


def test_small_segments_are_joined_and_large_ones_stay() -> None:
    def of(*sizes: int) -> int:
        return to_join([Segment(str(n), (), size) for n, size in enumerate(sizes)])

    assert of(*[1] * 16) == -1
    assert of(*[1] * 17) == 0
    assert of(1_000, *[1] * 16) == 1
    assert of(100, 90, *[10] * 16) == 0
