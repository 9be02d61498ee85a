"""What happened to laws is told by the log and, once that is compacted, by the history: the same, and for good."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import oracle
import pyarrow.parquet as pq
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import DamagedStateError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key, format_law
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.stream_place import StreamPlace, is_replay
from maintenance.changing_tables import Row, apply, as_ranks, changes, incoming, laws_in, make_state, rows_in, taken

WIDTH = 3
PINS = [Key((0,)), FD((0,), 1)]


def texts_of(state: LivingState) -> set[str]:
    return {format_law(law, state.table.names) for law in laws_in(state)}


def replayed(laws: set[str], events: list[dict[str, Any]]) -> set[str]:
    """The laws after some events; each has to make sense where it stands."""
    now = set(laws)
    for event in events:
        if event["event"] == "gone":
            now.remove(event["law"])
        elif event["event"] == "new":
            assert event["law"] not in now
            now.add(event["law"])
    return now


def fares_of(rows: list[Row], state: LivingState) -> dict[str, bool]:
    """Which pinned laws hold."""
    ranks = as_ranks(rows, WIDTH)
    return {format_law(law, state.table.names): oracle.holds(law, ranks, NullPolicy.EQUAL) for law in PINS}


EVERY_KIND = ("key", "fd", "canonical-od", "list-od", "pod", "dc")
KEPT = [
    StateSettings(way="counted"),
    StateSettings(way="witnesses"),
    StateSettings(("key", "fd", "pod"), way="witnesses"),
    StateSettings(EVERY_KIND, max_size=2, way="witnesses"),
]


@one_in(2)
@given(changes(WIDTH), st.sampled_from([1, 2, 100]), st.sampled_from(KEPT))
def test_events_replayed_give_the_laws_and_how_pinned_ones_fare(
    drawn: Any, compacted: int, kept: StateSettings
) -> None:
    first, batches = drawn
    with tempfile.TemporaryDirectory() as folder:
        state = make_state(Path(folder) / "s", first, WIDTH, kept, PINS)
        begun, rows = texts_of(state), list(first)
        told: dict[int, set[str]] = {0: begun}
        fares = {0: fares_of(rows, state)}
        for number, (come, share) in enumerate(batches, 1):
            gone = taken(rows, share)
            for row in gone:
                rows.remove(row)
            rows += come
            apply(state, come, gone)
            told[number] = texts_of(state)
            fares[number] = fares_of(rows, state)
            if number % compacted == 0:
                state.compact()
        before = list(state.events())
        state.close()
        again = LivingState.open(Path(folder) / "s")
        events = list(again.events())
        assert events == before
        assert [(event["version"], event["number"]) for event in events] == sorted(
            {(event["version"], event["number"]) for event in events}
        )
        for version, laws in told.items():
            passed = [event for event in events if event["version"] <= version]
            assert replayed(begun, passed) == laws
            last = {event["law"]: event["event"] for event in passed if event["pinned"]}
            assert fares[version] == {
                law: last[law] == "mended" if law in last else at_first for law, at_first in fares[0].items()
            }
            assert list(again.events(version)) == [event for event in events if event["version"] > version]
        assert [entry["version"] for entry in again.history] == list(range(1, len(batches) + 1))


def test_segments_are_joined_and_every_event_stays(tmp_path: Path) -> None:
    state = make_state(tmp_path / "s", [(1, 1, 1)], WIDTH, StateSettings(way="witnesses"), PINS)
    for number in range(40):
        apply(state, [(1, number, 2)], [], f"b{number}")
        state.compact()
    names = sorted(path.name for path in (tmp_path / "s" / "history").iterdir())
    assert len(names) <= 2 * 6  # the logarithm of 40, and two files for each
    assert [entry["batch"] for entry in state.history] == [f"b{number}" for number in range(40)]
    state.close()
    reader = LivingState.open(tmp_path / "s")
    assert [entry["batch"] for entry in reader.history] == [f"b{number}" for number in range(40)]
    assert pq.read_table(tmp_path / "s" / "history" / names[0]).num_rows > 0
    # A reader goes on while a writer compacts, and still tells what it was opened on.
    writer = LivingState.open(tmp_path / "s", writes=True)
    apply(writer, [(7, 7, 7)], [], "last")
    writer.compact()
    assert len(reader.history) == 40
    assert writer.version_of("b3") == 4
    writer.close()


def test_a_damaged_history_is_named(tmp_path: Path) -> None:
    state = make_state(tmp_path / "s", [(1, 1, 1)], WIDTH, StateSettings(way="witnesses"))
    apply(state, [(2, 2, 2)], [])
    state.compact()
    state.close()
    path = next((tmp_path / "s" / "history").glob("events-*"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedStateError, match=f"{path.name} of its history does not match"):
        list(LivingState.open(tmp_path / "s").events())


class TestMicroBatches:
    def place(self, number: int, query: str = "q", plan: str | None = "p") -> StreamPlace:
        return StreamPlace(query, number, f"{plan}{number}" if plan else None)

    def give(self, state: LivingState, place: StreamPlace, rows: list[Row], *, new_query: bool = False) -> Any:
        batch = Batch(place.id, incoming(state, rows), stream=place, new_query=new_query)
        return state.apply(batch, LocalEngine, Watch())

    def test_one_after_the_other_and_again(self, tmp_path: Path) -> None:
        state = make_state(tmp_path / "s", [], WIDTH, StateSettings(way="witnesses"))
        for number in range(3):
            assert not self.give(state, self.place(number), [(number, 0, 0)]).was_known
            assert self.give(state, self.place(number), [(number, 0, 0)]).was_known
            state.close()
            state = LivingState.open(tmp_path / "s", writes=True)
        state.compact()
        assert self.give(state, self.place(2), [(9, 9, 9)]).was_known
        assert self.give(state, self.place(1), [(9, 9, 9)]).was_known
        assert rows_in(state) == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]

    def test_an_older_copy_is_followed_and_no_batch_left_out(self, tmp_path: Path) -> None:
        state = make_state(tmp_path / "s", [], WIDTH, StateSettings(way="witnesses"))
        self.give(state, self.place(0), [(0, 0, 0)])
        shutil.copytree(tmp_path / "s", tmp_path / "old")
        self.give(state, self.place(1), [(1, 0, 0)])
        state.close()
        shutil.rmtree(tmp_path / "s")
        shutil.copytree(tmp_path / "old", tmp_path / "s")
        state.take_lock(0.0)
        assert rows_in(state) == [(0, 0, 0)]
        with pytest.raises(UsageError, match="batches 1 to 1 of the query are missing"):
            self.give(state, self.place(2), [(2, 0, 0)])
        assert not self.give(state, self.place(1), [(3, 0, 0)]).was_known
        state.close()
        assert rows_in(LivingState.open(tmp_path / "s")) == [(0, 0, 0), (3, 0, 0)]

    @pytest.mark.parametrize(
        ("seen", "comes", "said"),
        [
            (None, StreamPlace("q", 3, "x"), "goes on at batch 3, and the state has seen none"),
            (StreamPlace("q", 2, "x"), StreamPlace("q", 4, "x"), "batches 3 to 3 of the query are missing"),
            (StreamPlace("q", 2, "x"), StreamPlace("r", 0, "x"), "batch 2 of query q, and this is batch 0 of query r"),
            (StreamPlace("q", 2, "x"), StreamPlace("q", 2, "y"), "batch 2 of the query is not the one"),
            (StreamPlace("q", 2, "x"), StreamPlace("q", 1, "y"), "batch 1 of the query is not the one"),
        ],
    )
    def test_what_cannot_come_next(self, seen: StreamPlace | None, comes: StreamPlace, said: str) -> None:
        with pytest.raises(UsageError, match=said) as refused:
            is_replay(seen, comes, lambda _: None)
        assert "Nothing was changed" in str(refused.value)

    def test_a_new_query_begins_at_its_first_batch_if_it_may(self) -> None:
        seen = StreamPlace("q", 2, "x")
        assert not is_replay(seen, StreamPlace("r", 0, "x"), lambda _: None, new_query=True)
        assert not is_replay(seen, StreamPlace("q", 3, "x"), lambda _: None, new_query=True)
        with pytest.raises(UsageError, match="goes on at batch 1"):
            is_replay(seen, StreamPlace("r", 1, "x"), lambda _: None, new_query=True)
