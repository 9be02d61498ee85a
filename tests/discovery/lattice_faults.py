"""A script: discovers by the lattice on the Spark that it was started for while something goes wrong there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from clusters import _spark_class, _until, answer, executor_pids, open_session
from discovered_tables import slow_table
from pyarrow import parquet

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.discovery.canonical_ods.lattice import discover_by_lattice
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.search import Search
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.engines.spark import SparkEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

ROWS = 20_000
PATIENCE = 90.0


def discover(
    table: EncodedTable, engine: Engine, question: CanonicalQuestion, at_work: Callable[[int], None] = lambda _: None
) -> Findings:
    """Discover without sampling, so that there is much to check; `at_work` is told of every job that is done."""
    done = 0

    def progress(message: str) -> None:
        nonlocal done
        if "jobs done" in message and (now := int(message.split()[0].replace(",", ""))) > done:
            done = now
            at_work(done)

    engine.open(table, NullPolicy.EQUAL)
    found = discover_by_lattice(Search(table, engine, progress=progress), question, samples=False)
    engine.close()
    return found


def laws(found: Findings) -> list[str]:
    assert found.complete
    return sorted(repr(law) for part in (*found.blocks, *found.listings) for law in stated(part))


def stated(part: object) -> list[Law]:
    return list(part.laws())


def loses_an_executor(spark: object, table: EncodedTable) -> dict[str, object]:
    """Kill an executor while jobs are out."""
    before = executor_pids()
    told: dict[str, object] = {"executors": len(before)}

    def kill(done: int) -> None:
        if done > 10 and "killed_after" not in told:
            os.kill(before[0], signal.SIGKILL)
            told["killed_after"] = done

    found = discover(table, SparkEngine(spark), CanonicalQuestion(), kill)
    return told | {"laws": laws(found), "jobs": found.counts["jobs"], "gone": before[0] not in executor_pids()}


def gains_and_loses_a_worker(spark: object, table: EncodedTable) -> dict[str, object]:
    """Start one more worker of a standalone cluster, wait for its executor, and take it away again."""
    master = spark.sparkContext.master
    told: dict[str, object] = {"executors": [len(executor_pids())]}
    with ExitStack() as stack, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workers: list[subprocess.Popen[bytes]] = []

        def change(done: int) -> None:
            counts = told["executors"]
            if done > 10 and not workers:
                here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--work-dir", str(folder / "work")]
                size = ["--cores", "1", "--memory", "1g"]
                kind = "org.apache.spark.deploy.worker.Worker"
                workers.append(_spark_class(stack, folder / "worker.log", kind, *here, *size, master))
                assert _until(lambda: len(executor_pids()) > counts[0], PATIENCE), "no executor came"
                counts.append(len(executor_pids()))
                told["joined_after"] = done
            elif len(counts) == 2 and done > told["joined_after"] + 200:
                os.killpg(workers[0].pid, signal.SIGTERM)
                assert _until(lambda: len(executor_pids()) == counts[0], PATIENCE), "its executor stays"
                counts.append(len(executor_pids()))
                told["left_after"] = done

        found = discover(table, SparkEngine(spark), CanonicalQuestion(), change)
    return told | {"laws": laws(found), "jobs": found.counts["jobs"]}


def loses_its_driver(table: EncodedTable, folder: Path) -> dict[str, object]:
    """Kill a driver at work, a process of its own, and go on in this one."""
    log = folder / "checkpoint"
    driver = subprocess.Popen([sys.executable, __file__, "drive", str(table.folder), str(log)])
    try:
        is_written = _until(lambda: log.exists() and log.stat().st_size > 20_000, 2 * PATIENCE)
    finally:
        was_running = driver.poll() is None
        driver.kill()
        driver.wait()
    assert is_written, "the driver wrote no checkpoint"
    written = log.read_bytes().count(b"\n")
    with open_session() as spark:
        question = CanonicalQuestion(checkpoint=log, resume=True)
        found = discover(table, SparkEngine(spark), question)
    return {"laws": laws(found), "was_running": was_running, "remembered": written, "checks": found.counts["checks"]}


def main(part: str, *arguments: str) -> None:
    if part == "drive":
        table, log = EncodedTable.open(Path(arguments[0])), Path(arguments[1])
        with open_session() as spark:
            discover(table, SparkEngine(spark), CanonicalQuestion(checkpoint=log))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parquet.write_table(slow_table(ROWS), folder / "table.parquet")
        table = encode_in_process(folder / "table.parquet", ReadOptions())
        expected = laws(discover(table, LocalEngine(), CanonicalQuestion()))
        begin = time.monotonic()
        if part == "driver":
            told = loses_its_driver(table, folder)
        else:
            with open_session() as spark:
                lose = loses_an_executor if part == "executor" else gains_and_loses_a_worker
                told = lose(spark, table)
        told["same"] = told.pop("laws") == expected
        answer(json.loads(json.dumps(told | {"found": len(expected), "seconds": time.monotonic() - begin})))


if __name__ == "__main__":
    main(*sys.argv[1:])
