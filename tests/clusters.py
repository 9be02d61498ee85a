"""Spark as it is run in earnest, for tests: clusters of several processes on this machine.

Two kinds of session, classic and Connect, do not live together in one Python process. So a test hands a
script to `Cluster.run`, which runs it in a process of its own and gives back what it told with `answer`:

    from clusters import answer, open_session

    with open_session() as spark:
        answer(spark.range(3).count())
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parent
START_SECONDS = 90.0
SCRIPT_SECONDS = 180.0
LINES_SHOWN = 60

SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Java options for processes that live for seconds: the quickest start counts, not the speed afterwards."""

QUICK_START = {"spark.driver.extraJavaOptions": SHORT_LIVED, "spark.executor.extraJavaOptions": SHORT_LIVED}
"""Spark settings with the same purpose."""

SHORT_LIVED_JAVA = {"SPARK_SUBMIT_OPTS": SHORT_LIVED, "SPARK_LAUNCHER_OPTS": SHORT_LIVED}
"""The environment in which Spark gives them to whatever Java it starts: the driver's, and the one that starts it."""

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
"""A word in the command of every executor."""

EVERY_KIND = [
    pytest.param("local", id="local"),
    *(pytest.param(kind, id=kind, marks=pytest.mark.cluster) for kind in ("local-cluster", "standalone", "connect")),
]
"""The ways of running Spark, to parametrize a test with."""


@dataclass(frozen=True)
class Cluster:
    """A way of running Spark: what to give to `spark_session`, and the processes that were started for it."""

    kind: str
    session: dict[str, str]
    folder: Path
    processes: tuple[subprocess.Popen[bytes], ...] = ()

    def run(self, script: str | Path, *arguments: str, timeout: float = SCRIPT_SECONDS) -> Any:
        """Run a Python script, given as text or as a file, against this cluster; give what it answered."""
        path = script if isinstance(script, Path) else self._write(script)
        reply = self.folder / f"answer-{time.monotonic_ns()}.json"
        about = {
            "session": self.session,
            "pids": [process.pid for process in self.processes],
            "answer": str(reply),
        }
        # What is on the path of the tests stays there: they may be those of another checkout than the installed one.
        path_of_modules = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
        environment = os.environ | {"LAWFUL_TEST_CLUSTER": json.dumps(about), "PYTHONPATH": path_of_modules}
        command = [sys.executable, str(path), *arguments]
        with _process(command, self.folder / f"{path.stem}.log", environment) as process:
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                code = None
        if code != 0 or not reply.exists():
            ended = "was still running" if code is None else f"ended with {code}"
            said = _end_of(self.folder / f"{path.stem}.log")
            pytest.fail(f"the script on {self.kind} {ended}:\n{said}", pytrace=False)
        return json.loads(reply.read_text())

    def _write(self, text: str) -> Path:
        path = self.folder / f"script-{time.monotonic_ns()}.py"
        path.write_text(text)
        return path


@contextmanager
def cluster(kind: str, folder: Path) -> Iterator[Cluster]:
    """Start a way of running Spark; everything that it started is gone afterwards."""
    with ExitStack() as stack:
        if kind == "local":
            yield Cluster(kind, {"master": "local[2]"}, folder)
        elif kind == "local-cluster":
            yield Cluster(kind, {"master": "local-cluster[2,1,1024]"}, folder)
        elif kind == "standalone":
            yield _standalone(stack, folder)
        elif kind == "connect":
            yield _connect_server(stack, folder)
        else:
            raise ValueError(f"no such kind of cluster: {kind}")


def _standalone(stack: ExitStack, folder: Path) -> Cluster:
    """Start a master and two workers of one core each."""
    here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    log = folder / "master.log"
    processes = [_spark_class(stack, log, "org.apache.spark.deploy.master.Master", *here)]
    url = _wait_for(log, r"Starting Spark master at (spark://\S+)", processes[0])[0]
    for number in (1, 2):
        size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker-{number}")]
        worker = ["org.apache.spark.deploy.worker.Worker", *here, *size, url]
        processes.append(_spark_class(stack, folder / f"worker-{number}.log", *worker))
    _wait_for(log, r"Registering worker (\S+)", processes[0], count=2)
    return Cluster("standalone", {"master": url}, folder, tuple(processes))


def _connect_server(stack: ExitStack, folder: Path) -> Cluster:
    """Start a Spark Connect server with two cores in a process of its own."""
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.python.authenticate.socketTimeout": "120s",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    log = folder / "connect.log"
    server = _spark_class(
        stack,
        log,
        "org.apache.spark.deploy.SparkSubmit",
        *("--master", "local[2]", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        "spark-internal",
    )
    port = _wait_for(log, r"Spark Connect server started at: \S*:(\d+)", server)[0]
    return Cluster("connect", {"remote": f"sc://127.0.0.1:{port}"}, folder, (server,))


def _spark_class(stack: ExitStack, log: Path, *command: str) -> subprocess.Popen[bytes]:
    import pyspark

    from lawful.engines.java import ensure_java

    ensure_java()
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "1g",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
    }
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    return stack.enter_context(_process([str(program), *command], log, environment))


@contextmanager
def _process(command: list[str], log: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a process group of its own, and end the whole group afterwards."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        for way, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
            try:
                os.killpg(process.pid, way)
            except ProcessLookupError:
                break
            _until(lambda: process.poll() is not None, patience)


def _wait_for(log: Path, pattern: str, process: subprocess.Popen[bytes], count: int = 1) -> list[str]:
    """Wait until a process has said something `count` times."""

    def found() -> list[str]:
        return re.findall(pattern, log.read_text(errors="replace"))

    _until(lambda: len(found()) >= count or process.poll() is not None, START_SECONDS)
    if len(found()) < count:
        pytest.fail(f"{log.name} does not say {pattern!r}:\n{_end_of(log)}", pytrace=False)
    return found()


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LINES_SHOWN:])


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def open_session(**extra: str) -> Iterator[SparkSession]:
    """Open the session that the script of a test was started for, with further Spark settings."""
    from lawful.engines.session import spark_session

    where = json.loads(os.environ["LAWFUL_TEST_CLUSTER"])["session"]
    settings = extra if "remote" in where else QUICK_START | extra
    with spark_session(**where, extra=settings) as handle:
        application = None if "remote" in where else handle.spark.sparkContext.applicationId
        yield handle.spark
    _forget_local_cluster(application)


def _forget_local_cluster(application: str | None) -> None:
    """Remove what a local-cluster keeps inside the installed package; Spark has no setting for the place."""
    import pyspark

    if application is not None:
        shutil.rmtree(Path(pyspark.__file__).parent / "work" / application, ignore_errors=True)


def answer(value: Any) -> None:
    """Give a value back to the test that runs this script."""
    Path(json.loads(os.environ["LAWFUL_TEST_CLUSTER"])["answer"]).write_text(json.dumps(value))


def executor_pids() -> list[int]:
    """List the Java processes of the executors that work for the script that asks.

    A local-cluster starts them below the script's own Java process, a standalone cluster below its workers.
    """
    roots = {os.getpid(), *json.loads(os.environ["LAWFUL_TEST_CLUSTER"])["pids"]}
    return processes_below(roots, EXECUTOR)


def processes_below(roots: Set[int], word: str) -> list[int]:
    """List the processes that descend from some, and have a word in their command."""
    parents = {pid: parent for pid in _all_pids() if (parent := _parent(pid)) is not None}

    def descends(pid: int) -> bool:
        while pid in parents and pid not in roots:
            pid = parents[pid]
        return pid in roots

    return sorted(pid for pid in parents if descends(pid) and word.encode() in _command(pid))


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _parent(pid: int) -> int | None:
    try:
        # The second field is the program's name in brackets and may hold anything; the fourth is the parent.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _command(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
