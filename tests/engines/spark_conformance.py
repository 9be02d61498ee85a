"""A script: runs the conformance suite on the Spark that it was started for, and answers with what it did."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from clusters import answer, executor_pids, open_session

sys.path.insert(0, str(Path(__file__).parent))
from conformance import (
    CONTRACT,
    encoded,
    in_order,
    random_tasks,
    reference,
    streams_all_violating_rows,
    write_table,
)

import lawful
from lawful.common.meanings import NullPolicy
from lawful.engines.spark import SparkEngine
from lawful.tables import spark_pipeline
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import ReadOptions


def encodes_like_this_process(spark: object, path: Path) -> EncodedTable:
    """Bit-identical ranks and the same places, whether workers share files with the driver or not."""
    expected = encoded(path)
    found = spark_pipeline.encode_on_spark(spark, str(path), ReadOptions(), reuse=False)
    open_token = spark_pipeline._open_token
    spark_pipeline._open_token = lambda staging: (open_token(staging)[0], "the token of another driver")
    try:
        sent = spark_pipeline.encode_on_spark(spark, str(path), ReadOptions(limit=expected.rows), reuse=False)
    finally:
        spark_pipeline._open_token = open_token
    for table in (found, sent):
        assert table.columns == expected.columns
        for position in range(expected.width):
            assert np.array_equal(table.column(position), expected.column(position))
        for row in (0, expected.rows // 2, expected.rows - 1):
            assert table.place(row) == expected.place(row)
            assert [table.value(row, position) for position in range(table.width)] == [
                expected.value(row, position) for position in range(table.width)
            ]
    return found


def gives_frames(spark: Any) -> None:
    """Violating rows of a DataFrame are a DataFrame of the same session, joined to all columns of the source."""
    source = spark.range(0, 1_000, 1, 5).selectExpr("id", "id % 7 as a", "id % 5 as b", "array(id) as rest")
    report = lawful.check(source, ["a -> b", "key(id)"], columns=["id", "a", "b"])
    frame = report.violations(0)
    assert frame.columns == ["_group", "_row", "id", "a", "b", "rest"]
    assert frame.where("_row = id and rest[0] = id and _group = a").count() == 1_000
    assert report.violations(1).count() == 0


def survives_a_lost_executor(spark: object, folder: Path) -> dict[str, object]:
    """Kill an executor while its checks run: the same verdicts, nothing twice."""
    table = encoded(write_table(folder, 150_000))
    tasks = random_tasks(table.width, 1_500, seed=11, largest=5)
    engine = SparkEngine(spark)
    engine.open(table, NullPolicy.EQUAL)
    before = executor_pids()
    killed_at = []

    def kill() -> None:
        time.sleep(1.0)
        os.kill(before[0], signal.SIGKILL)
        killed_at.append(time.monotonic())

    thread = threading.Thread(target=kill)
    thread.start()
    found = in_order(engine.check(tasks))
    ended_at = time.monotonic()
    thread.join()
    assert found == reference(table, tasks, NullPolicy.EQUAL)
    return {
        "killed": before[0],
        "still_running_when_killed": ended_at > killed_at[0],
        "gone": before[0] not in executor_pids(),
        "verdicts": len(found),
    }


def main(parts: list[str]) -> None:
    done: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name, open_session() as spark:
        folder = Path(name)
        if "contract" in parts:
            table = encodes_like_this_process(spark, write_table(folder, 3_000))
            for requirement in CONTRACT:
                requirement(lambda: SparkEngine(spark), table)
            for shipped in (CONTRACT[0], streams_all_violating_rows):
                shipped(lambda: SparkEngine(spark, shares_files=False), table)
            gives_frames(spark)
            done["contract"] = [requirement.__name__ for requirement in CONTRACT]
        if "kill" in parts:
            done["kill"] = survives_a_lost_executor(spark, folder)
    answer(json.loads(json.dumps(done)))


if __name__ == "__main__":
    main(sys.argv[1:])
