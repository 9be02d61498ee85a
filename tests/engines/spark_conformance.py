"""A script: runs the contract of engines on the Spark that it was started for, and answers with what it did."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
from clusters import answer, executor_pids, open_session

from engines.contract import CONTRACT
from engines.contract.evidence import refuting_vectors, signs_of_pairs, two_pointwise_laws
from engines.contract.spark import SHIPPED, encodes_like_this_process, gives_frames
from engines.contract.tables import encoded, in_order, random_tasks, reference, write_table
from lawful.checks import Verdict
from lawful.common.meanings import NullPolicy
from lawful.engines import packing, spark_jobs
from lawful.engines.local import LocalEngine
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


def refutes_after_a_lost_executor(spark: object, folder: Path) -> dict[str, object]:
    """Kill an executor while it compares rows for pointwise laws: the same pairs, as if nothing had happened."""
    table = encoded(write_table(folder, 20_000))
    laws, rows = two_pointwise_laws(table.width), range(table.rows - 3_000, table.rows)
    engine = SparkEngine(spark)
    engine.open(table, NullPolicy.EQUAL)
    undisturbed = engine.refuting_pairs(laws, rows, lambda: False)
    before, jobs = executor_pids(), 0
    with patch.object(spark_jobs, "JOBS_IN_FLIGHT", 2):

        def kills() -> bool:
            """Each job asks this before it starts. At the third one, the second is under way and others wait."""
            nonlocal jobs
            jobs += 1
            if jobs == 3:
                os.kill(before[0], signal.SIGKILL)
            return False

        found = engine.refuting_pairs(laws, rows, kills)
    here = LocalEngine(threads=1)
    here.open(table, NullPolicy.EQUAL)
    expected = here.refuting_pairs(laws, rows, lambda: False)
    vectors = [
        refuting_vectors(signs_of_pairs(table, *pairs.T.astype(np.int64), NullPolicy.EQUAL), laws, table.width)
        for pairs in (found, expected)
    ]
    assert vectors[0] == vectors[1]
    return {
        "jobs": jobs,
        "gone": before[0] not in executor_pids(),
        "pairs": len(found),
        "same": np.array_equal(found, undisturbed),
    }


def main(parts: list[str]) -> None:
    done: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name, open_session() as spark:
        if "contract" in parts:
            done["contract"] = keeps_the_contract(spark, Path(name))
        if "kill" in parts:  # last, as it leaves the cluster smaller for a while
            done["kill"] = survives_a_lost_executor(spark, Path(name))
            done["kill pairs"] = refutes_after_a_lost_executor(spark, Path(name))
    answer(done)


if __name__ == "__main__":
    main(sys.argv[1:])
