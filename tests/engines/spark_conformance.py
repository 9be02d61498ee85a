"""A script: runs the contract of engines on the Spark that it was started for, and answers with what it did."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from clusters import answer, executor_pids, open_session

from engines.contract import CONTRACT
from engines.contract.spark import SHIPPED, encodes_like_this_process, gives_frames
from engines.contract.tables import encoded, in_order, random_tasks, reference, write_table
from lawful.checks import Verdict
from lawful.common.meanings import NullPolicy
from lawful.engines import packing
from lawful.engines.spark import SparkEngine


def keeps_the_contract(spark: object, folder: Path) -> list[str]:
    table = encodes_like_this_process(spark, write_table(folder, 3_000))
    for requirement in CONTRACT:
        requirement(lambda: SparkEngine(spark), table)
    for requirement in SHIPPED:
        requirement(lambda: SparkEngine(spark, shares_files=False), table)
    gives_frames(spark)
    return [requirement.__name__ for requirement in CONTRACT]


def survives_a_lost_executor(spark: object, folder: Path) -> dict[str, object]:
    """Kill an executor while its checks run: the same verdicts, nothing twice."""
    table = encoded(write_table(folder, 20_000))
    tasks = random_tasks(table.width, 1_500, seed=11, largest=5)
    engine = SparkEngine(spark)
    engine.open(table, NullPolicy.EQUAL)
    before = executor_pids()
    found: list[Verdict] = []
    with patch.object(packing, "_ROW_VISITS_A_JOB", 2e7):  # many jobs: after the first, others are under way
        jobs = packing.in_jobs(tasks, table, len(before), others_wait=False)
        for verdict in engine.check(tasks):
            if not found:
                os.kill(before[0], signal.SIGKILL)
            found.append(verdict)
    assert in_order(found) == reference(table, tasks, NullPolicy.EQUAL)
    return {"jobs": len(jobs), "gone": before[0] not in executor_pids(), "verdicts": len(found)}


def main(parts: list[str]) -> None:
    done: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name, open_session() as spark:
        if "contract" in parts:
            done["contract"] = keeps_the_contract(spark, Path(name))
        if "kill" in parts:  # last, as it leaves the cluster smaller for a while
            done["kill"] = survives_a_lost_executor(spark, Path(name))
    answer(done)


if __name__ == "__main__":
    main(sys.argv[1:])
