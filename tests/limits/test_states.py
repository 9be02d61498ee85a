"""Work on a state that does not look at its limit: it is left behind, and never writes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lawful
from lawful.common.errors import StateInUseError, StoppedError, UsageError
from lawful.maintenance import living_state, state_files
from lawful.maintenance.all_laws import AllLaws
from lawful.maintenance.pins.pinned_laws import PinnedLaws
from lawful.maintenance.state_files import StateFiles
from lawful.runs import batch_reading, making_states, stopping

HANGS = 120.0
"""Seconds after which a test has failed, because nobody has come back."""
FIRST = pa.table({"id": [1, 2, 3], "zip": ["10001", "10001", "02139"], "city": ["New York", "New York", "Cambridge"]})
NEW = pa.table({"id": [4, 5], "zip": ["10001", "60601"], "city": ["Boston", "Chicago"]})
OTHER = pa.table({"id": [6], "zip": ["94105"], "city": ["San Francisco"]})


class Standstill:
    """A function that comes to a standstill when it is called, until it is told to go on."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._goes_on = threading.Event()
        self.reached = threading.Event()

    def at(self, place: Any, name: str) -> None:
        real = getattr(place, name)

        def standing_still(*given: Any, **named: Any) -> Any:
            if not self.reached.is_set():
                self.reached.set()
                self._goes_on.wait(HANGS)
            return real(*given, **named)

        self._patch.setattr(place, name, standing_still)

    def then(self, act: Callable[[], None]) -> None:
        """Do something once the function stands still."""

        def wait() -> None:
            assert self.reached.wait(HANGS)
            act()

        threading.Thread(target=wait, daemon=True).start()

    def end(self) -> None:
        """Let it go on, and wait until all work that was left behind has ended."""
        self._goes_on.set()
        for thread in list(stopping._working):
            thread.join(HANGS)
        assert not stopping.is_work_left_behind()


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[Standstill]:
    monkeypatch.setattr(stopping, "_GRACE", 0.1)
    standstill = Standstill(monkeypatch)
    yield standstill
    standstill.end()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lawful.make_state(tmp_path / "s", FIRST, row_key=["id"], pins=["zip -> city"]).close()
    return tmp_path / "s"


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_right(folder: Path, rows: int, version: int) -> bool:
    with lawful.open_state(folder, writes=False) as state:
        return (state.rows, state.version) == (rows, version) and state.described(verify=True).is_right


PHASES = {
    "reading the batch": (batch_reading, "open_source"),
    "finding rows to delete": (living_state, "rows_to_delete"),
    "fitting values": (living_state, "fit"),
    "thinking about laws": (AllLaws, "apply"),
    "counting what breaks pinned laws": (PinnedLaws, "apply"),
    "gathering what is to be written": (living_state, "logged_arrays"),
}


@pytest.mark.timeout(2 * HANGS)
@pytest.mark.parametrize("phase", PHASES)
def test_a_batch_that_does_not_look_is_left_behind(phase: str, still: Standstill, folder: Path) -> None:
    before = files_in(folder)
    with lawful.open_state(folder) as state:
        still.at(*PHASES[phase])
        still.then(ctrl_c)
        with pytest.raises(StoppedError, match="the user stopped it") as stopped:
            state.apply(NEW, batch_id="new")
        assert stopped.value.hint == "Nothing was changed."
        assert still.reached.is_set()
        assert files_in(folder) == before
        assert (state.rows, state.version) == (3, 0)
        with pytest.raises(StateInUseError):
            lawful.open_state(folder)
        state.apply(OTHER)
        after = files_in(folder)
        still.end()
        assert files_in(folder) == after, "what was left behind writes nothing"
        assert state.apply(NEW, batch_id="new").version == 2
        assert {row["city"] for row in lawful_rows(state)} >= {"Boston", "San Francisco"}
    assert is_right(folder, 6, 2)


def lawful_rows(state: Any) -> list[dict[str, Any]]:
    table = state.table
    return [{name: table.value(row, place) for place, name in enumerate(table.names)} for row in range(table.rows)]


@pytest.mark.timeout(2 * HANGS)
@pytest.mark.parametrize("phase", ["reading the batch", "thinking about laws"])
def test_a_time_limit_is_kept_whatever_a_batch_is_at(phase: str, still: Standstill, folder: Path) -> None:
    with lawful.open_state(folder) as state:
        still.at(*PHASES[phase])
        with pytest.raises(StoppedError, match=r"the time limit of 0\.5 s is reached"):
            state.apply(NEW, time_limit=0.5)
    still.end()
    assert is_right(folder, 3, 0)


@pytest.mark.timeout(2 * HANGS)
@pytest.mark.parametrize("name", ["write_durably", "packed"])
def test_a_batch_that_is_being_written_is_waited_for(name: str, still: Standstill, folder: Path) -> None:
    def press() -> None:
        ctrl_c()
        time.sleep(1.0)  # ten times as long as work is given that can be left behind
        still._goes_on.set()

    with lawful.open_state(folder) as state:
        still.at(state_files, name)
        still.then(press)
        assert state.apply(NEW).version == 1
    assert is_right(folder, 5, 1)


@pytest.mark.timeout(2 * HANGS)
def test_a_second_ctrl_c_breaks_off(still: Standstill, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_GRACE", HANGS)
    usual = signal.getsignal(signal.SIGINT)

    def press() -> None:
        ctrl_c()
        while signal.getsignal(signal.SIGINT) is not usual:
            time.sleep(0.01)
        ctrl_c()

    with lawful.open_state(folder) as state:
        still.at(*PHASES["thinking about laws"])
        still.then(press)
        with pytest.raises(KeyboardInterrupt):
            state.apply(NEW, batch_id="new")
        assert state.version == 0
        still.end()
        assert state.apply(NEW, batch_id="new").version == 1
    assert is_right(folder, 5, 1)


MAKING = {
    "reading the table": (making_states, "open_source"),
    "finding the laws": (living_state, "discovered_laws"),
    "gathering what is to be written": (living_state, "columns_document"),
}


@pytest.mark.timeout(2 * HANGS)
@pytest.mark.parametrize("limit", [None, 0.5], ids=["Ctrl-C", "time limit"])
@pytest.mark.parametrize("phase", MAKING)
def test_a_state_that_is_left_behind_is_not_made(
    phase: str, limit: float | None, still: Standstill, tmp_path: Path
) -> None:
    still.at(*MAKING[phase])
    if limit is None:
        still.then(ctrl_c)
    with pytest.raises(StoppedError, match="time limit" if limit else "the user stopped it") as stopped:
        lawful.make_state(tmp_path / "s", FIRST, time_limit=limit)
    assert str(stopped.value.hint).startswith("No state was made.")
    assert not (tmp_path / "s").exists()
    still.end()
    assert not (tmp_path / "s").exists()
    lawful.make_state(tmp_path / "s", FIRST).close()
    assert is_right(tmp_path / "s", 3, 0)


@pytest.mark.timeout(2 * HANGS)
def test_a_state_that_is_being_written_is_waited_for(still: Standstill, tmp_path: Path) -> None:
    def press() -> None:
        ctrl_c()
        time.sleep(1.0)
        still._goes_on.set()

    still.at(StateFiles, "create")
    still.then(press)
    lawful.make_state(tmp_path / "s", FIRST).close()
    assert is_right(tmp_path / "s", 3, 0)


def test_whoever_looks_for_the_last_time_is_not_left_behind() -> None:
    watch = stopping.UserWatch(None, None)
    watch.last_look()
    watch.end()
    assert not watch.leave_behind("the user stopped it")
    assert watch.reason() is None


def test_whoever_is_left_behind_does_not_look_for_the_last_time() -> None:
    watch = stopping.UserWatch(None, None)
    assert watch.leave_behind("late")
    with pytest.raises(StoppedError, match="late"):
        watch.last_look()


def test_files_that_were_handed_over_cannot_be_written_to(folder: Path) -> None:
    files = StateFiles(folder)
    files.take_lock()
    fresh = files.handed_over()
    with pytest.raises(UsageError, match="not open for writing"):
        files.append({})
    with pytest.raises(StateInUseError):
        StateFiles(folder).take_lock()
    files.close()
    fresh.require_writer()
    fresh.close()
    StateFiles(folder).take_lock()


OPENING = {
    "reading the state": (living_state, "read_state"),
    "cleaning up": (StateFiles, "clean_up"),
}


@pytest.mark.timeout(2 * HANGS)
@pytest.mark.parametrize("limit", [None, 0.5], ids=["Ctrl-C", "time limit"])
@pytest.mark.parametrize("phase", OPENING)
def test_a_state_that_takes_long_to_open_is_left_behind(
    phase: str, limit: float | None, still: Standstill, folder: Path
) -> None:
    still.at(*OPENING[phase])
    if limit is None:
        still.then(ctrl_c)
    with pytest.raises(StoppedError, match=r"time limit of 0\.5 s" if limit else "the user stopped it") as stopped:
        lawful.open_state(folder, time_limit=limit)
    assert stopped.value.hint == "Nothing was changed."
    still.end()
    lawful.open_state(folder).close()  # whoever was left behind has let go of the lock
    assert is_right(folder, 3, 0)


@pytest.mark.timeout(2 * HANGS)
def test_limits_of_opening_count_for_what_is_done_then(still: Standstill, folder: Path) -> None:
    with lawful.open_state(folder, time_limit=2.0) as state:
        still.at(*PHASES["thinking about laws"])
        with pytest.raises(StoppedError, match=r"the time limit of 2 s is reached"):
            state.apply(NEW)
        still.end()
        assert state.apply(NEW, time_limit=HANGS).version == 1, "a batch may have limits of its own"
        with pytest.raises(StoppedError, match=r"the time limit of 2 s is reached"):
            state.apply(OTHER)
    assert is_right(folder, 5, 1)


@pytest.mark.timeout(2 * HANGS)
def test_pinned_laws_that_take_long_to_count_are_left_behind(still: Standstill, folder: Path) -> None:
    with lawful.open_state(folder, time_limit=1.0) as state:
        state.pin(["city -> zip"])
        still.at(PinnedLaws, "judged")
        with pytest.raises(StoppedError, match=r"the time limit of 1 s is reached") as stopped:
            state.as_it_is()
        assert stopped.value.hint == "What is stored stays as it is."
    still.end()
    with lawful.open_state(folder) as state:
        assert [pin.to_dict()["text"] for pin in state.as_it_is().pins] == ["zip -> city", "city -> zip"]


@pytest.mark.timeout(2 * HANGS)
def test_laws_are_not_pinned_after_the_limit(folder: Path) -> None:
    before = files_in(folder)
    with lawful.open_state(folder, time_limit=0.3) as state:
        time.sleep(0.4)
        with pytest.raises(StoppedError, match=r"the time limit of 0\.3 s is reached") as stopped:
            state.pin(["city -> zip"])
        assert stopped.value.hint == "Nothing was changed."
    assert files_in(folder) == before
