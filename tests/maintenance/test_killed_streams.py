"""Streams that are killed at random points: in the end all is as if nobody had been, nothing twice and nothing lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clusters import TESTS, Cluster

from maintenance.streaming_states import FILES, all_batches, arrive, clean_run, outcome

ON_CONNECT = pytest.param("connect", marks=pytest.mark.slow)
"""A server gives the process that runs a stream's function ten seconds to import PySpark: too few on a busy one."""
SCRIPT = Path(__file__).with_name("streaming_states.py")
PATIENCE = 240.0


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


def batches_in(root: Path) -> int:
    return sum(path.suffix == ".batch" for path in (root / "p.state" / "log").glob("*.batch"))


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "nothing happens"
        time.sleep(0.005)


def kill_drivers(cluster: Cluster, root: Path, kills: int) -> None:
    """Kill the driver, Python and Java, at random points of random batches."""
    chance = random.Random()
    for _ in range(kills):
        before = batches_in(root)
        with running(cluster, root) as process:
            wanted = before + chance.randrange(3)
            wait_until(lambda: batches_in(root) > wanted or process.poll() is not None)  # noqa: B023  # asked at once
            time.sleep(chance.uniform(0, 0.15))
    with running(cluster, root) as process:
        assert process.wait(PATIENCE) == 0, (root / "script.log").read_text()[-3000:]


def kill_workers(cluster: Cluster, root: Path, kills: int) -> None:
    """Kill the Python process of the server that applies batches, at random points."""
    chance, killed = random.Random(), 0
    while True:
        done = threading.Event()

        def kill(done: threading.Event = done) -> None:
            time.sleep(chance.uniform(0, 0.5))
            while not done.wait(0.02):
                for pid in workers_below(cluster):
                    time.sleep(chance.uniform(0, 1.0))
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                    return

        thread = threading.Thread(target=kill)
        if killed < kills:
            thread.start()
        with running(cluster, root) as process:
            process.wait(PATIENCE)
        done.set()
        if killed < kills:
            thread.join()
            killed += 1
        elif all_batches(root):
            return


def workers_below(cluster: Cluster) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if b"foreach_batch_worker" in words and parent in {each.pid for each in cluster.processes}:
                found.append(int(entry.name))
    return found


def killed_and_the_same(cluster: Cluster, root: Path, kills: int) -> None:
    expected = clean_run(root / "clean")
    stream = root / "killed"
    for number in range(FILES):
        arrive(stream / "in", number)
    (kill_workers if cluster.kind == "connect" else kill_drivers)(cluster, stream, kills)
    assert outcome(stream) == expected


@pytest.mark.cluster
@pytest.mark.parametrize("kind", ["local", ON_CONNECT])
def test_a_killed_stream_goes_on(kind: str, cluster_of: Callable[[str], Cluster], tmp_path: Path) -> None:
    killed_and_the_same(cluster_of(kind), tmp_path, 1 if kind == "local" else 2)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", ["local", "connect"])
def test_a_hundred_kills(kind: str, cluster_of: Callable[[str], Cluster], tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / str(number)).mkdir()
        killed_and_the_same(cluster_of(kind), tmp_path / str(number), 4)
