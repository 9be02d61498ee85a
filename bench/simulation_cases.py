"""The case of the simulated scheduler: held against measured runs of two executors, then asked about large clusters."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from bench.event_log import FEATURES, LoggedRun, read_log
from bench.harness import Case, Measurement, Settings, run_program
from bench.scheduler_simulation import Cluster, Outcome, PlannedStage, Units, fitted, plan_of, simulate
from bench.shuffle_cases import SCRATCH, write_rows
from bench.shuffle_program import LOG_FOLDER

_WITHIN = 0.2
"""How far the simulation may be from what was measured before it is believed."""
_LIMIT = 8 * 3600.0
_SEEDS = range(5)
_SOURCE_BYTES, _RANK_BYTES, _LINE_BYTES, _TEXT_BYTES = 250.0, 104.0, 20.0, 24.0
"""What a row takes in the source, and packed among ranks; a packed line of a check, and a value of a text that hardly
repeats."""


def shuffle_simulation(settings: Settings) -> Iterator[Measurement]:
    """Fit unit costs to measured runs, simulate these and larger ones on two executors, then clusters on paper."""
    sizes = [max(1, settings.most_rows // part) for part in (10, 3, 1)]
    runs: dict[int, LoggedRun] = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get(SCRATCH)) as folder:
        for rows in sizes:
            runs[rows] = _measured(Path(folder), rows)
    units = fitted([runs[sizes[0]], runs[sizes[-1]]])  # the run between them is foretold
    settings.folder.mkdir(parents=True, exist_ok=True)
    written = {"features": FEATURES, **asdict(units)}
    (settings.folder / "shuffle-units.json").write_text(json.dumps(written, indent=1))
    farthest = 0.0
    for rows, run in runs.items():
        told = [simulate(plan_of(run, units), Cluster(run.executors), units, seed).seconds for seed in _SEEDS]
        middle = sorted(told)[len(told) // 2]
        farthest = max(farthest, abs(middle / run.seconds - 1.0))
        tasks = sum(len(stage.tasks) for stage in run.stages)
        about = {"stages": len(run.stages), "tasks": tasks}
        yield Measurement("shuffle-simulation", "measured", (run.seconds,), rows, answers=about)
        yield Measurement(
            "shuffle-simulation", "simulated", tuple(told), rows, answers={"off": middle / run.seconds - 1}
        )
    print(f"  the simulation is off by {farthest:.0%} at most: {'' if farthest <= _WITHIN else 'not '}to be believed")
    yield from on_paper(units)


def _measured(folder: Path, rows: int) -> LoggedRun:
    path, log = folder / f"rows-{rows}", folder / f"log-{rows}"
    log.mkdir()
    write_rows(path, rows)
    environment = {"LAWFUL_CACHE": str(folder / f"cache-{rows}"), LOG_FOLDER: str(log)}
    run_program([sys.executable, "-m", "bench.shuffle_program", str(path), "shuffle"], environment, _LIMIT)
    return read_log(log)


def on_paper(units: Units) -> Iterator[Measurement]:
    """The clusters of docs/scale.md."""
    for name, rows, rows_a_task, executors in (
        ("10^9 x 50 on 100 executors", 10**9, 10**6, 100),
        ("10^11 x 50 on 2,000 executors", 10**11, 10**7, 2_000),
    ):
        plan = large_plan(rows, 50, 4, rows_a_task, executors, units)
        for losses in (0.0, 0.02):
            outcome: Outcome = simulate(plan, Cluster(executors, 4, losses), units)
            told = {"tasks": outcome.tasks, "lost": outcome.lost_executors, "repeated": outcome.repeated_tasks}
            hours = {f"{stage}_h": round(seconds / 3600, 2) for stage, seconds in outcome.stage_seconds.items()}
            label = f"{name}, {losses:g} losses an hour"
            yield Measurement("shuffle-on-paper", label, (outcome.seconds,), answers={**told, **_longest(hours)})


def _longest(hours: dict[str, float]) -> dict[str, float]:
    return dict(sorted(hours.items(), key=lambda entry: -entry[1])[:5])


def large_plan(
    rows: int, columns: int, texts: int, rows_a_task: int, executors: int, units: Units, rounds: int = 6
) -> list[PlannedStage]:
    """Encode a table, and find its laws: some rounds of chunks, 24 left sides of FDs that hold, 12 orders that hold.

    Left sides and orders that hold are those that hardly repeat, which cost most.
    """
    tasks = max(1, rows // rows_a_task)
    n = float(rows_a_task)
    merging = max(4 * executors, tasks)
    share = rows / merging
    stages: list[PlannedStage] = []

    def add(name: str, count: int, *work: float) -> None:
        after = (len(stages) - 1,) if stages else ()
        stages.append(PlannedStage(name, [units.of((1.0, *work))] * count, after, 0.5))

    add("facts", tasks, n, 0.0, 1.0, 100.0, 0.0)
    for column in range(columns):
        kept, size = (n, _TEXT_BYTES) if column < texts else (n / 100, 8.0)
        add(f"values of column {column}", tasks, n, 0.0, kept, kept * size, 0.0)
        merged = share * kept / n
        add(f"values of column {column}, met", merging, 0.0, merged * size, merged, merged * size, 0.0)
    for text in range(texts):
        add(f"sent to ranks of text {text}", tasks, n, 0.0, n, n * _SOURCE_BYTES, 0.0)
        add(f"ranks of text {text}", merging, 0.0, share * _SOURCE_BYTES, share, share * _RANK_BYTES, 0.0)
    for number in range(rounds):
        add(f"chunks of round {number}", tasks, n, 0.0, 10.0, 1000.0, n)
    for number in range(2):
        add(f"lines of FDs {number}", tasks, n, 0.0, 12 * n, 12 * n * _LINE_BYTES, 0.0)
        add(f"groups of FDs {number}", merging, 0.0, 12 * share * _LINE_BYTES, 1.0, 100.0, 0.0)
    lines = 12 * share
    add("lines of orders", tasks, n, 0.0, 12 * n, 12 * n * _LINE_BYTES, 0.0)
    add("points of orders", merging, 0.0, lines * _LINE_BYTES, lines, lines * _LINE_BYTES, 0.0)
    add("sweeps of orders", merging, 0.0, lines * _LINE_BYTES, 10.0, 1000.0, lines)
    return stages


CASES: dict[str, Case] = {"shuffle-simulation": shuffle_simulation}
