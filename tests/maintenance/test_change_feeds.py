"""Changes of a micro-batch have the effect of all, one after the other; files beside a state only catch up."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import UsageError
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.runs.arrived_files import ArrivedRows, read_arrived
from lawful.runs.change_feeds import columns_beside
from lawful.runs.handed_on import EventFile, QuarantineFolder
from lawful.runs.stream_batches import StreamJob
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

Row = tuple[str, str]


def state_of(folder: Path, rows: list[Row], *, keyed: bool) -> LivingState:
    table = pa.table({"id": [row[0] for row in rows], "v": [row[1] for row in rows]})
    schema = pa.schema([("id", pa.string()), ("v", pa.string())])
    encoded = encode_arrow(table.cast(schema), ReadOptions(), "t")
    settings = StateSettings(("key",), way="witnesses", row_key=("id",) if keyed else ())
    return LivingState.create(folder, encoded, settings, [], LocalEngine, Watch())


def rows_in(state: LivingState) -> list[Row]:
    rows = state.table.live_rows()
    return sorted(zip(*(state.table.texts(rows, column).to_pylist() for column in range(2)), strict=True))


@st.composite
def commits(draw: st.DrawFn, *, keyed: bool) -> tuple[list[Row], list[tuple[str, Row]], list[Row]]:
    """Rows, changes that can be made one after the other, and the rows after them."""
    cell = st.sampled_from("abc")
    first = draw(st.lists(st.tuples(cell, cell), max_size=3, unique_by=(lambda row: row[0]) if keyed else None))
    now, made = list(first), []
    for _ in range(draw(st.integers(0, 8))):
        if now and draw(st.booleans()):
            row = draw(st.sampled_from(now))
            now.remove(row)
            made.append(("delete", row))
            continue
        row = draw(st.tuples(cell, cell))
        if not keyed or all(row[0] != other[0] for other in now):
            now.append(row)
            made.append(("insert", row))
    return first, made, now


@one_in(2)
@given(st.booleans().flatmap(lambda keyed: st.tuples(st.just(keyed), commits(keyed=keyed))), st.booleans())
def test_a_batch_of_changes_has_the_effect_of_all_of_them(drawn: Any, by_key: bool) -> None:
    keyed, (first, made, now) = drawn
    by_key &= keyed  # then rows that leave tell their keys alone
    names = {"insert": "+", "delete": "-"}
    batch = pa.table(
        {
            "_op": pa.array([names[what] for what, _ in made], pa.string()),
            "id": pa.array([row[0] for _, row in made], pa.string()),
            "v": pa.array([None if by_key and what == "delete" else row[1] for what, row in made], pa.string()),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        state = state_of(Path(folder) / "s", first, keyed=keyed)
        job = StreamJob(str(folder), "", state.settings)
        come, gone = job._incoming(state, ArrivedRows(encode_arrow(batch, ReadOptions(), "b"), False))
        state.apply(Batch("b", come, gone), lambda: LocalEngine(threads=1), Watch())
        assert rows_in(state) == sorted(now)


def test_columns_that_could_mean_two_things_are_refused() -> None:
    with pytest.raises(UsageError, match="has a column '_op' of its own"):
        columns_beside(["_op", "a"], ["_op", "a"])
    with pytest.raises(UsageError, match="both _op and _change_type"):
        columns_beside(["_op", "_change_type", "a"], None)


def test_files_that_arrive_together_keep_their_lines(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("id,v\n1,x\n2,y\n")
    (tmp_path / "a.csv").write_text("id,v\n3,z\n")
    rows = read_arrived([tmp_path / "b.csv", tmp_path / "a.csv"], ReadOptions(), ["id", "v"])
    assert rows.is_text
    assert [str(rows.table.place(row)) for row in range(3)] == [
        f"{tmp_path / 'a.csv'}, line 2",
        f"{tmp_path / 'b.csv'}, line 2",
        f"{tmp_path / 'b.csv'}, line 3",
    ]


class TestHandedOn:
    @pytest.fixture
    def state(self, tmp_path: Path) -> LivingState:
        with lawful.make_state(tmp_path / "s", pa.table({"a": [1], "b": [1]}), pins=["a -> b"], engine="local") as made:
            for number in range(4):
                batch = pa.table({"a": [number, number], "b": [number, 9]})
                made.apply(batch, batch_id=str(number), quarantine=tmp_path / "aside", events=tmp_path / "e.jsonl")
        return LivingState.open(tmp_path / "s")

    @pytest.mark.parametrize("left", [0, 1, 40, 400, -1, -30])
    def test_a_file_that_was_cut_off_is_made_whole(self, state: LivingState, tmp_path: Path, left: int) -> None:
        path = tmp_path / "e.jsonl"
        whole = path.read_bytes()
        path.write_bytes(whole[:left])
        for _ in range(2):
            EventFile(path).catch_up(state)
            assert path.read_bytes() == whole
        assert [json.loads(line) for line in whole.splitlines()] == list(state.events())

    def test_a_quarantine_catches_up(self, state: LivingState, tmp_path: Path) -> None:
        files = {path.name: path.read_text() for path in (tmp_path / "aside").glob("*.jsonl")}
        assert len(files) == 4
        other = tmp_path / "other"
        QuarantineFolder(other).catch_up(state)
        assert {path.name: path.read_text() for path in other.glob("*.jsonl")} == files
        (other / max(files)).unlink()  # whoever has read a file may take it away
        QuarantineFolder(other).catch_up(state)
        assert len(list(other.glob("*.jsonl"))) == 3

    def test_what_is_no_file_of_events_is_left_alone(self, state: LivingState, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("my notes\n")
        with pytest.raises(UsageError, match="is no file of events"):
            EventFile(path).catch_up(state)
        path.write_text('{"version": 99, "number": 0}\n')
        with pytest.raises(UsageError, match="tells of version 99, and the state"):
            EventFile(path).catch_up(state)
