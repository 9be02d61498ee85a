"""What Spark's event log tells of a run: its stages, when they could begin, and what each of their tasks did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FEATURES = ("tasks", "input_records", "read_bytes", "write_records", "write_bytes", "python_records")
"""What the time of a task is explained by. Bytes of files are not among it: they grow with records, and Parquet packs
some tables ten times as well as others."""


@dataclass(frozen=True)
class TaskRun:
    """One task: its seconds, the values of `FEATURES`, and the seconds that its executor had worked before."""

    seconds: float
    work: tuple[float, ...]
    worked_before: float = 0.0


@dataclass
class StageRun:
    """One stage. It could begin `gap` seconds after all stages of `after` had ended: so long the driver thought."""

    number: int
    begin: float
    end: float
    tasks: list[TaskRun] = field(default_factory=list)
    after: tuple[int, ...] = ()
    gap: float = 0.0


@dataclass(frozen=True)
class LoggedRun:
    """A run: its stages in the order in which they began, and its seconds from the first to the last."""

    stages: list[StageRun]
    seconds: float
    executors: int


def read_log(folder: Path) -> LoggedRun:
    """Read the one log in a folder."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith(("appstatus", "."))]
    stages: dict[int, StageRun] = {}
    ended: list[dict[str, Any]] = []
    python: set[int] = set()
    executors = 0
    for event in _events(files):
        kind = event["Event"]
        if kind == "SparkListenerExecutorAdded":
            executors += 1
        elif kind == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            if "Failure Reason" in info or "Submission Time" not in info:
                continue
            number = int(info["Stage ID"])
            begin, end = (info[name] / 1000 for name in ("Submission Time", "Completion Time"))
            stages[number] = StageRun(number, begin, end)
            if any("InArrow" in str(rdd.get("Scope", "")) for rdd in info["RDD Info"]):
                python.add(number)
        elif kind == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success":
            ended.append(event)
    worked: dict[str, float] = {}
    for event in sorted(ended, key=lambda event: int(event["Task Info"]["Launch Time"])):
        number, executor = int(event["Stage ID"]), str(event["Task Info"]["Executor ID"])
        task = _task(event, worked.get(executor, 0.0), is_python=number in python)
        worked[executor] = task.worked_before + task.seconds
        if number in stages:
            stages[number].tasks.append(task)
    return _ordered([stage for stage in stages.values() if stage.tasks], executors)


def _events(files: list[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        with file.open() as lines:
            for line in lines:
                yield json.loads(line)


def _task(event: dict[str, Any], worked_before: float, *, is_python: bool) -> TaskRun:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    read, write = metrics.get("Shuffle Read Metrics", {}), metrics.get("Shuffle Write Metrics", {})
    given = metrics.get("Input Metrics", {})
    read_bytes = read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0)
    records = given.get("Records Read", 0) + read.get("Total Records Read", 0)
    work = (
        1.0,
        float(given.get("Records Read", 0)),
        float(read_bytes),
        float(write.get("Shuffle Records Written", 0)),
        float(write.get("Shuffle Bytes Written", 0)),
        float(records) if is_python else 0.0,
    )
    return TaskRun((info["Finish Time"] - info["Launch Time"]) / 1000, work, worked_before)


def _ordered(stages: list[StageRun], executors: int) -> LoggedRun:
    """Find out what each stage waited for: whatever had ended when it began."""
    stages.sort(key=lambda stage: (stage.begin, stage.number))
    first = min((stage.begin for stage in stages), default=0.0)
    for stage in stages:
        before = [other for other in stages if other.end <= stage.begin + 1e-9 and other is not stage]
        stage.after = tuple(other.number for other in before)
        stage.gap = stage.begin - max((other.end for other in before), default=first)
    return LoggedRun(stages, max((stage.end for stage in stages), default=0.0) - first, max(1, executors))
