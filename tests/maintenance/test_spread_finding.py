"""The laws that a spread state finds and keeps are those of a state in one process, batch by batch."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD
from lawful.maintenance.spread import deciding_rows, finding, memory
from lawful.maintenance.spread.deciding_rows import DecidingRows
from lawful.runs.maintain import OpenState
from maintenance.changing_tables import Row, arrow_of, changes, names_of, rows_in, taken
from maintenance.test_pinned_laws import breaks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.api import OpenSpreadState
    from lawful.results.batch_report import BatchReport, ChangedLaw

WIDTH = 3
ALL_KINDS = ("key", "fd", "canonical-od", "list-od", "pod")
FIRST: list[Row] = [(1, 1, 1), (1, 2, 1), (2, 3, None), (2, 3, None), (None, 1, 2), (3, None, -1)]
BATCHES: list[tuple[list[Row], float]] = [
    ([(1, 3, 0), (None, 1, 3)], 0.0),
    ([], 0.6),
    ([(2, 3, None), (2, 1, 1)], 0.3),
    ([], 1.0),
    ([(5, 5, 5), (6, 6, 6)], 0.0),
]


def laws_in(state: OpenState | OpenSpreadState) -> set[str]:
    return {law.text for law in state.laws}


def told(laws: list[ChangedLaw]) -> dict[str, bool]:
    return {law.text: law.is_implied for law in laws}


def witnesses_refute(report: BatchReport, policy: NullPolicy) -> None:
    """What went is broken by the two rows that are shown, or holds all the same."""
    for law in report.removed:
        assert (law.witness is None) == law.is_implied
        if law.witness is not None:
            shown = [[view.values.get(name) for name in names_of(WIDTH)] for view in law.witness]
            rows = [tuple(None if text is None else int(text) for text in row) for row in shown]
            assert breaks(law.law.positional, policy, rows), law.text


def remembered(state: OpenState | OpenSpreadState) -> list[Any]:
    """All that happened, but for when, and which of the rows that did it are shown."""
    events = [{**event, "time": "", "rows": []} for event in state.events()]
    for version in {event["version"] for event in events}:
        own = sorted((event for event in events if event["version"] == version), key=lambda event: event["law"])
        for number, event in enumerate(own):
            event["number"] = number
    lives = sorted((life.to_dict() for life in state.history()), key=lambda life: (life["kind"], life["law"]))
    return [sorted(events, key=lambda event: (event["version"], event["number"])), lives]


def states_keep_the_same(
    spark: SparkSession,
    first: list[Row],
    batches: list[tuple[list[Row], float]],
    policy: NullPolicy,
    find: tuple[str, ...],
    max_size: int | None = None,
    sampled: int = 2,
) -> None:
    table = arrow_of(first, WIDTH)
    asked: dict[str, Any] = {"find": find, "null": policy.value, "max_size": max_size, "pins": ["key(c0)"]}
    spread_over = lawful.SparkSettings(session=spark, placement="shuffle")
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(memory, "MOST_CHANGES", 1),
        mock.patch.object(deciding_rows, "_SAMPLED_ROWS", sampled),
    ):
        place = Path(folder) / "spread"
        one = lawful.make_state(Path(folder) / "one", table, **asked, engine="local")
        spread = lawful.make_state(place, spark.createDataFrame(table), **asked, spark=spread_over)
        assert isinstance(one, OpenState)
        with one:
            assert laws_in(spread) == laws_in(one)
            for number, (come, share) in enumerate(batches):
                batch: dict[str, Any] = {
                    "batch_id": f"batch {number}",
                    "inserts": arrow_of(come, WIDTH),
                    "deletes": arrow_of(taken(rows_in(one._state), share), WIDTH),
                }
                expected, found = one.apply(**batch), spread.apply(**batch)
                assert laws_in(spread) == laws_in(one)
                assert told(found.added) == told(expected.added)
                assert told(found.removed) == told(expected.removed)
                assert found.laws == expected.laws
                witnesses_refute(found, policy)
                spread.close()
                spread = lawful.open_state(place, spark=spread_over)
            assert remembered(spread) == remembered(one)
            assert spread.described(verify=True).differences == []
        spread.close()


@pytest.mark.parametrize("find", [("key", "fd"), ("canonical-od",)])
def test_batches_are_followed(spark: SparkSession, find: tuple[str, ...]) -> None:
    states_keep_the_same(spark, FIRST, BATCHES[:3], NullPolicy.EQUAL, find)


@pytest.mark.slow
@pytest.mark.parametrize("sampled", [100, 7])
def test_tables_that_are_no_larger_than_a_sample_are_followed(spark: SparkSession, sampled: int) -> None:
    """With seven rows in a sample, the table outgrows it and becomes small again."""
    states_keep_the_same(spark, FIRST, BATCHES, NullPolicy.EQUAL, ALL_KINDS, sampled=sampled)


@pytest.mark.slow
@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("size", [None, 1])
def test_all_kinds_are_followed(spark: SparkSession, policy: NullPolicy, size: int | None) -> None:
    kinds = tuple(kind for kind in ALL_KINDS if policy is NullPolicy.EQUAL or kind != "list-od")
    states_keep_the_same(spark, FIRST, BATCHES, policy, kinds, size)


@pytest.mark.slow
@given(data=st.data())
@one_in(50)
def test_any_batches_are_followed(spark: SparkSession, data: st.DataObject) -> None:
    find = tuple(data.draw(st.lists(st.sampled_from(ALL_KINDS), min_size=1, unique=True)))
    policy = NullPolicy.EQUAL if "list-od" in find else data.draw(st.sampled_from(NullPolicy))
    first, batches = data.draw(changes(WIDTH))
    size, sampled = data.draw(st.sampled_from([None, 1])), data.draw(st.sampled_from([1, 3, 6]))
    states_keep_the_same(spark, first, batches[:2], policy, find, size, sampled)


@pytest.mark.slow
def test_laws_follow_a_column_that_becomes_text(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding_rows, "_SAMPLED_ROWS", 1)
    first = pa.table({"a": [2, 3, 20], "b": [1, 2, 3], "c": [5, 5, 5]})
    wide = pa.table({"a": ["100", "x"], "b": ["4", "5"], "c": ["5", "5"]})
    asked: dict[str, Any] = {"find": ("fd", "canonical-od", "pod")}
    settings = lawful.SparkSettings(session=spark, placement="shuffle")
    with (
        lawful.make_state(tmp_path / "one", first, **asked, engine="local") as one,
        lawful.make_state(tmp_path / "spread", spark.createDataFrame(first), **asked, spark=settings) as spread,
    ):
        assert laws_in(spread) == laws_in(one)
        expected, found = one.apply(wide, misfits="widen"), spread.apply(wide, misfits="widen")
        assert laws_in(spread) == laws_in(one)
        assert "{}: a asc ~ b asc" in told(found.removed), "20 comes before 3 now"
        assert told(found.removed) == told(expected.removed)
        assert spread.described(verify=True).differences == []


def test_a_batch_that_breaks_nothing_looks_for_no_laws(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding_rows, "_SAMPLED_ROWS", 10)
    table = arrow_of([(n, n % 3, 0) for n in range(30)], WIDTH)
    settings = lawful.SparkSettings(session=spark, placement="shuffle")
    with lawful.make_state(tmp_path / "state", spark.createDataFrame(table), spark=settings) as state:
        before = laws_in(state)
        with monkeypatch.context() as patched:
            patched.setattr(DecidingRows, "laws", lambda *_: pytest.fail("nothing has changed"))
            report = state.apply(arrow_of([(30, 0, 0), (31, 1, 0)], WIDTH))
        assert (report.added, report.removed) == ([], [])
        assert laws_in(state) == before
        report = state.apply(arrow_of([(32, 2, 1)], WIDTH))
        assert "{} -> c2" in told(report.removed)
        state.apply(deletes=arrow_of([(32, 2, 1)], WIDTH))
        assert laws_in(state) == before


def test_laws_of_one_left_side_share_their_lines(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key stands for all that follows from it; when a row comes twice, its functional dependencies are kept."""
    monkeypatch.setattr(deciding_rows, "_SAMPLED_ROWS", 5)
    table = arrow_of([(n, n % 7, 10 * (n % 7)) for n in range(40)], WIDTH)
    settings = lawful.SparkSettings(session=spark, placement="shuffle")
    asked: dict[str, Any] = {"find": ("key", "fd"), "spark": settings}
    of_c0 = {"c0 -> c1", "c0 -> c2"}
    with lawful.make_state(tmp_path / "state", spark.createDataFrame(table), **asked) as state:
        assert laws_in(state) == {"key(c0)", "c1 -> c2", "c2 -> c1", *of_c0}
        found = state._state._document.found
        assert not any(isinstance(law, FD) and law.lhs == (0,) for law in found.checked.values())
        state.apply(arrow_of([(3, 3, 30)], WIDTH))
        assert laws_in(state) == {"c1 -> c2", "c2 -> c1", *of_c0}
        found = state._state._document.found
        numbers = {law.rhs: number for number, law in found.checked.items() if isinstance(law, FD) and law.lhs == (0,)}
        first, second = (found.shared[numbers[column]] for column in (1, 2))
        assert first == second
        report = state.apply(arrow_of([(3, 4, 30), (3, 3, 40)], WIDTH), deletes=arrow_of([(3, 3, 30)], WIDTH))
        assert told(report.removed).keys() >= {*of_c0, "c1 -> c2", "c2 -> c1"}
        state.apply(deletes=arrow_of([(3, 4, 30)], WIDTH))
        assert laws_in(state) == {"c0 -> c1", "key(c0, c2)"}
        assert state.described(verify=True).differences == []


def test_a_batch_is_one_file_of_rows_and_one_of_lines(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding_rows, "_SAMPLED_ROWS", 5)
    table = arrow_of([(n, n % 7, 10 * (n % 7)) for n in range(40)], WIDTH)
    settings = lawful.SparkSettings(session=spark, placement="shuffle")

    def files() -> set[Path]:
        return {file for kind in ("rows", "index") for file in (tmp_path / "state" / kind).rglob("part-*")}

    with lawful.make_state(tmp_path / "state", spark.createDataFrame(table), spark=settings) as state:
        before = files()
        state.apply(arrow_of([(n, n % 7, 10 * (n % 7)) for n in range(40, 60)], WIDTH))
        assert len(files() - before) == 2


def test_what_cannot_be_kept_is_refused(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.createDataFrame(arrow_of(FIRST, WIDTH))
    settings = lawful.SparkSettings(session=spark, placement="shuffle")
    for asked in ({"find": ("dc",)}, {"error": 0.1}, {"evidence": "counted"}):
        with pytest.raises(UsageError, match="spread over a cluster"):
            lawful.make_state(tmp_path / "state", frame, spark=settings, **asked)  # type: ignore[arg-type]  # each of its own type
    for sampled, limit in ((100, "MOST_TOLD"), (2, "MOST_CANDIDATES"), (2, "MOST_INDEXES")):
        with monkeypatch.context() as patched:
            patched.setattr(deciding_rows, "_SAMPLED_ROWS", sampled)
            patched.setattr(finding, limit, 0 if limit != "MOST_INDEXES" else 1)
            with pytest.raises(UsageError, match="would have to be kept"):
                lawful.make_state(tmp_path / "state", frame, spark=settings)
    assert not (tmp_path / "state").exists()
