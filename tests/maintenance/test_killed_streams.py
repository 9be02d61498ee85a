"""Streams that are killed at random points: in the end all is as if nobody had been, nothing twice and nothing lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from clusters import EXECUTOR, TESTS, Cluster, cluster, processes_below

from maintenance.streaming_states import FILES, arrive, clean_run, is_done, outcome, planned

SCRIPT = Path(__file__).with_name("streaming_states.py")
WORKER = "pyspark.sql.connect.streaming.worker.foreach_batch_worker"
"""What a server of Spark Connect starts for each query, to apply its batches."""
PATIENCE = 600.0
MOST_MARKS = 7
"""A kill comes at the latest after so many marks; a batch makes three."""


class Place:
    """A Spark to run a stream on, and what of it can be killed; a server that was killed is started again."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self._folder = kind, folder
        self._stack = ExitStack()
        self._cluster: Cluster | None = None

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def cluster(self) -> Cluster:
        if self._cluster is None or any(process.poll() is not None for process in self._cluster.processes):
            self._stack.close()
            self._cluster = self._stack.enter_context(cluster(self.kind, self._folder))
        return self._cluster

    def kill_the_driver(self, script: subprocess.Popen[bytes]) -> None:
        """Kill all that drives the stream: the script with its Java or, on Connect, the server and the script."""
        for process in (*self.cluster.processes, script):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kill_a_part(self, script: subprocess.Popen[bytes]) -> bool:
        """Kill an executor or, on Connect, the process of the server that applies batches; say whether there is one."""
        if self.kind == "connect":
            parts = processes_below({process.pid for process in self.cluster.processes}, WORKER)
        else:
            parts = processes_below({script.pid}, EXECUTOR)
        if not parts:
            return False
        with suppress(ProcessLookupError):
            os.kill(random.choice(parts), signal.SIGKILL)
            return True
        return False


@contextmanager
def running(cluster: Cluster, root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The script in a process group of its own, with the Java that it starts."""
    about = {"session": cluster.session, "pids": [], "answer": str(root / "answer.json")}
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    with (root / "script.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(root)],
            stdout=log,
            stderr=log,
            env=os.environ | {"LAWFUL_TEST_CLUSTER": json.dumps(about), "PYTHONPATH": path},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def marks(root: Path) -> int:
    """How far a stream is: batches that its query has planned, the state has applied, and the query knows as done."""
    checkpoint = root / "p.state.checkpoint"
    folders = {checkpoint / "offsets": "[0-9]*", root / "p.state" / "log": "*.batch", checkpoint / "commits": "[0-9]*"}
    return sum(len(list(folder.glob(names))) for folder, names in folders.items())


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "nothing happens"
        time.sleep(0.005)


def killed_in_a_run(place: Place, root: Path, most: int, chance: random.Random) -> int:
    """Let the stream go on, kill parts of it at random points, then all that drives it; how many kills there were."""
    given = 0
    with running(place.cluster, root) as script:
        while given < most:
            wanted = marks(root) + chance.randint(1, MOST_MARKS)
            wait_until(lambda: marks(root) >= wanted or script.poll() is not None)  # noqa: B023  # asked at once
            time.sleep(chance.uniform(0, 0.15))
            if script.poll() is not None:
                return given
            if place.kind == "local" or chance.random() < 0.5:
                place.kill_the_driver(script)
                return given + 1
            given += place.kill_a_part(script)
        script.wait(PATIENCE)  # it goes on with another executor, or tells that it failed
    return given


def killed_and_the_same(place: Place, root: Path, kills: int) -> int:
    """Kill a stream so many times, if it lasts so long, and let it end; how many times it was."""
    stream, given = root / "killed", 0
    for number in range(FILES):
        arrive(stream / "in", number)
    chance = random.Random()
    while given < kills and not is_done(stream):
        given += killed_in_a_run(place, stream, kills - given, chance)
    with running(place.cluster, stream) as script:
        assert script.wait(PATIENCE) == 0, (stream / "script.log").read_text()[-3000:]
    assert json.loads((stream / "answer.json").read_text()) == {"failed": None}
    assert sorted(name for names in planned(stream) for name in names) == [f"{n:03d}.csv" for n in range(FILES)]
    assert outcome(stream) == clean_run(root / "clean", planned(stream))
    return given


KINDS = ["local", "local-cluster", "connect"]


@pytest.mark.cluster
@pytest.mark.timeout(3 * PATIENCE)
@pytest.mark.parametrize("kind", ["local", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])])
def test_a_killed_stream_goes_on(kind: str, tmp_path: Path) -> None:
    with Place(kind, tmp_path) as place:
        killed_and_the_same(place, tmp_path, 1)


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_kills(kind: str, tmp_path: Path) -> None:
    killed = 0
    with Place(kind, tmp_path) as place:
        while killed < 100:
            root = tmp_path / str(killed)
            root.mkdir()
            killed += killed_and_the_same(place, root, 100 - killed)
