"""What all cases share: contestants measured in turn, ratios from one run, curves with their exponent.

A case is a function that yields `Measurement`s. Cases measure on one machine in one run, contestants in turn, so
that ratios hold even where absolute times do not. A case that lacks its data or its peer says so and is passed
over.
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA_VARIABLE = "LAWFUL_BENCH_DATA"
MOST_ROWS = 1_000_000
_SMALL_RATIO = 0.1


class Missing(Exception):
    """What a case needs and does not find; the message says what to do."""


@dataclass(frozen=True)
class Measurement:
    """Some runs of one contestant on one input."""

    case: str
    contestant: str
    seconds: tuple[float, ...]
    size: float | None = None
    peak_mb: float | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


Case = Callable[["Settings"], Iterator[Measurement]]


@dataclass(frozen=True)
class Settings:
    """How a run of the benchmarks was asked for."""

    repetitions: int
    data: Path
    folder: Path
    most_rows: int = MOST_ROWS
    """How far a table is to grow that changes; other cases have sizes of their own."""

    def table(self, name: str) -> Path:
        """A real table by its file name."""
        path = self.data / name
        if not path.is_file():
            raise Missing(f"{name} is not in {self.data}: set {DATA_VARIABLE} to a folder that has it")
        return path


def in_turn(
    case: str, contestants: Mapping[str, Callable[[], Mapping[str, Any]]], repetitions: int, size: float | None = None
) -> Iterator[Measurement]:
    """Run the contestants one after the other, again and again, and yield the times of each."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    answers: dict[str, Mapping[str, Any]] = {}
    for _ in range(repetitions):
        for name, contestant in contestants.items():
            begin = time.perf_counter()
            answers[name] = contestant()
            seconds[name].append(time.perf_counter() - begin)
    for name in contestants:
        yield Measurement(case, name, tuple(seconds[name]), size, answers=answers[name])


@dataclass(frozen=True)
class Ran:
    """A program that ended: its time, the peak memory of it and its children, and what it printed last."""

    seconds: float
    peak_mb: float
    answer: Mapping[str, Any]


def run_program(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    limit: float = 1800.0,
    watched: Callable[[int], AbstractContextManager[Any]] = nullcontext,
) -> Ran:
    """Run a program that prints a JSON object on its last line; `watched` may look at its session meanwhile."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        list(command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
    )
    # To look at all processes costs some milliseconds; a run that is watched anyway is a long one.
    watcher = _PeakWatcher(process.pid, 0.05 if watched is nullcontext else 0.5)
    watcher.start()
    try:
        with watched(process.pid):
            out, err = process.communicate(timeout=limit)
    except BaseException as ended:  # whoever breaks a benchmark off does not want its programs to go on
        os.killpg(process.pid, 9)
        process.communicate()
        if not isinstance(ended, subprocess.TimeoutExpired):
            raise
        return Ran(limit, watcher.stop(), {"stopped_after": limit})
    seconds = time.perf_counter() - begin
    peak = watcher.stop()
    if process.returncode != 0:
        raise Missing(f"{Path(command[0]).name} failed: {err.strip().splitlines()[-1] if err.strip() else out[-300:]}")
    return Ran(seconds, peak, json.loads(out.strip().splitlines()[-1]))


class _PeakWatcher(threading.Thread):
    """Adds up the resident memory of a process and its children, several times a second."""

    def __init__(self, session: int, every: float) -> None:
        super().__init__(daemon=True)
        self._session, self._every = session, every
        self._stopped = threading.Event()
        self._peak = 0.0

    def run(self) -> None:
        while not self._stopped.wait(self._every):
            self._peak = max(self._peak, _resident_mb(self._session))

    def stop(self) -> float:
        self._stopped.set()
        self.join()
        return round(self._peak, 1)


def _resident_mb(session: int) -> float:
    pages = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    pages += int((entry / "statm").read_text().split()[1])
            except (OSError, IndexError):
                continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of time over size on logarithmic scales: 1 is linear."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points]
    mean_x = statistics.fmean(x for x, _ in logs)
    mean_y = statistics.fmean(y for _, y in logs)
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread


def show(measurements: Sequence[Measurement]) -> None:
    """Print cases with ratios and fitted curves."""
    for case in dict.fromkeys(measurement.case for measurement in measurements):
        of_case = [measurement for measurement in measurements if measurement.case == case]
        print(f"\n{case}")
        base = of_case[0].contestant
        for measurement in of_case:
            _print_line(measurement, of_case, base)
        for contestant in dict.fromkeys(measurement.contestant for measurement in of_case):
            points = [
                (measurement.size, measurement.median)
                for measurement in of_case
                if measurement.contestant == contestant and measurement.size
            ]
            if len(points) >= 3:
                print(f"  {contestant}: time grows with size to the power {exponent(points):.2f}")
    sys.stdout.flush()


def write(measurements: Sequence[Measurement], folder: Path) -> None:
    """Write everything measured as JSON and charts."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "machine": {"cores": os.cpu_count(), "system": platform.platform(), "python": sys.version.split()[0]},
        "measurements": [{**asdict(measurement), "median": measurement.median} for measurement in measurements],
    }
    path = folder / "bench.json"
    path.write_text(json.dumps(document, indent=1))
    print(f"\nwrote {path}")
    draw(measurements, folder)


def _print_line(measurement: Measurement, of_case: Sequence[Measurement], base: str) -> None:
    against = next(
        (other for other in of_case if other.contestant == base and other.size == measurement.size), measurement
    )
    ratio = measurement.median / against.median if against.median else float("nan")
    size = "" if measurement.size is None else f" size {measurement.size:>12,.0f}"
    least = _shown(min(measurement.seconds))
    peak = "" if measurement.peak_mb is None else f" peak {measurement.peak_mb:8.0f} MB"
    answers = " ".join(f"{key}={value}" for key, value in measurement.answers.items())
    print(
        f"  {measurement.contestant:<28}{size} median {_shown(measurement.median)}"
        f" least {least} (of {len(measurement.seconds)}){peak} ratio {_told(ratio)}  {answers}"
    )


def _told(ratio: float) -> str:
    return f"{f'1/{1 / ratio:,.0f}':>6}" if 0 < ratio < _SMALL_RATIO else f"{ratio:6.2f}"


def _shown(seconds: float) -> str:
    return f"{seconds:9.3f} s " if seconds >= 1 else f"{1000 * seconds:9.3f} ms"


def draw(measurements: Sequence[Measurement], folder: Path) -> None:
    """Draw curves over size, and bars for everything else, as PNG files."""
    try:
        import altair as alt
    except ImportError:
        print("no charts: altair is not installed")
        return
    records = [
        {
            "case": measurement.case,
            "contestant": measurement.contestant,
            "size": measurement.size,
            "seconds": measurement.median,
        }
        for measurement in measurements
    ]
    curves = [record for record in records if record["size"] is not None]
    bars = [record for record in records if record["size"] is None]
    if curves:
        base = alt.Chart(alt.Data(values=curves)).encode(
            x=alt.X("size:Q", scale=alt.Scale(type="log"), title="rows, columns or size of a batch"),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds"),
            color="contestant:N",
        )
        chart = (base.mark_line() + base.mark_point()).properties(width=320, height=220)
        chart.facet("case:N", columns=2).resolve_scale(x="independent", y="independent").save(folder / "curves.png")
        print(f"wrote {folder / 'curves.png'}")
    if bars:
        chart = (
            alt.Chart(alt.Data(values=bars))
            .mark_bar()
            .encode(
                x=alt.X("seconds:Q", title="seconds (median)"),
                y=alt.Y("contestant:N", title=None),
                color=alt.Color("contestant:N", legend=None),
                row=alt.Row("case:N", title=None, header=alt.Header(labelAngle=0, labelAlign="left")),
            )
            .resolve_scale(x="independent", y="independent")
            .properties(width=420)
        )
        chart.save(folder / "bars.png")
        print(f"wrote {folder / 'bars.png'}")
