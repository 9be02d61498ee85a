"""Writers that are killed at random times: every batch has happened whole or not at all, and none twice."""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lawful.common.errors import DamagedStateError, UsageError
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.state_files import StateFiles
from maintenance.changing_tables import Row, apply, laws_in, rows_in
from maintenance.writing_child import PINNED, WAYS, batches, opened

_TESTS = Path(__file__).parents[1]
QUICK = ("counted", "pod")
"""What is tried unless slow tests are asked for."""


class Seen(NamedTuple):
    """What a state holds."""

    rows: list[Row]
    ids: list[int]
    laws: list[str]
    history: list[dict[str, Any]]
    pins: list[tuple[str, int, int]]


def seen(state: LivingState) -> Seen:
    history = [{name: value for name, value in entry.items() if name != "time"} for entry in state.history]
    ids = state.table.ids_of(state.table.live_rows()).tolist()
    pins = [(pin.text, pin.violating, pin.pairs) for pin in state.judged(LocalEngine, Watch())]
    return Seen(rows_in(state), ids, sorted(map(str, laws_in(state))), history, pins)


class Nursery:
    """A process that starts writers quickly, since it has imported everything and loaded all kernels."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, folder: Path, patience: float | None = None) -> int:
        """Let a writer run, and kill it when patience ends; return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder}\n")
        self._process.stdin.flush()
        writer = int(self._line())
        if patience is not None and not select.select([self._process.stdout], [], [], patience)[0]:
            with contextlib.suppress(ProcessLookupError):  # on a busy machine it may have been quicker than usual
                os.kill(writer, signal.SIGKILL)
        return int(self._line())


@contextlib.contextmanager
def nursery_of(way: str, folder: Path) -> Iterator[Nursery]:
    paths = [str(_TESTS), *sys.path]
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("writing_child.py")), str(folder / way)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    ) as process:
        try:
            yield Nursery(process)
        finally:
            process.kill()


def every_version(folder: Path) -> list[Seen]:
    """What the state holds before the first batch and after each, if nobody is killed."""
    state = opened(folder, folder.name)
    found = [seen(state)]
    for number, batch in enumerate(batches()):
        apply(state, *batch, f"batch {number}")
        found.append(seen(state))
    state.close()
    return found


def look(folder: Path, versions: list[Seen]) -> None:
    """Whatever a killed writer has left is one of the versions."""
    if not StateFiles.exist(folder):
        with pytest.raises((UsageError, DamagedStateError)):  # it was killed before there was a state
            LivingState.open(folder)
        return
    state = LivingState.open(folder)
    assert seen(state) == versions[state.table.version]


def kill_again_and_again(nursery: Nursery, way: str, kills: int, tmp_path: Path) -> None:
    chance = random.Random()
    versions = every_version(tmp_path / "clean" / way)
    begin = time.monotonic()
    assert nursery.run(tmp_path / "warm" / way) == 0
    usual = time.monotonic() - begin
    killed, rounds = 0, 0
    while killed < kills:
        folder = tmp_path / f"killed {rounds}" / way
        rounds += 1
        code = -signal.SIGKILL
        while code == -signal.SIGKILL and killed < kills:
            begin = time.monotonic()
            code = nursery.run(folder, chance.uniform(0, usual / 2))
            if code == 0:  # it came through: the machine is less busy than it was
                usual = max(usual / 2, time.monotonic() - begin)
            assert code in (0, -signal.SIGKILL)
            killed += code == -signal.SIGKILL
            look(folder, versions)
        assert nursery.run(folder) == 0
        state = LivingState.open(folder)
        assert seen(state) == versions[-1]
        assert nursery.run(folder) == 0  # which gives the last batch once more
        assert seen(LivingState.open(folder)) == versions[-1]


@pytest.mark.parametrize("way", [way if way in QUICK else pytest.param(way, marks=pytest.mark.slow) for way in WAYS])
def test_a_killed_writer_leaves_the_state_before_or_after_a_batch(way: str, tmp_path: Path) -> None:
    with nursery_of(way, tmp_path / "first") as nursery:
        kill_again_and_again(nursery, way, 5, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("way", [*WAYS, PINNED])
def test_a_hundred_killed_writers(way: str, tmp_path: Path) -> None:
    with nursery_of(way, tmp_path / "first") as nursery:
        kill_again_and_again(nursery, way, 100, tmp_path)
