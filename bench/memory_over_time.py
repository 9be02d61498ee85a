"""The memory and processor time of every process of a program while it runs, and a drawing of them."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_DRAWN_POINTS = 2_000
"""More points of one drawing say no more, and make it slow."""


@dataclass(frozen=True)
class Seen:
    """One process at one moment. `mb` counts pages that several processes share in part, where the system tells."""

    pid: int
    kind: str
    mb: float
    cpu_seconds: float


def kind_of(command: str) -> str:
    """What a process of Spark is, by its command line."""
    if "CoarseGrainedExecutorBackend" in command:
        return "executor (Java)"
    if "SparkSubmit" in command or "SparkConnectServer" in command:
        return "driver (Java)"
    if "pyspark" in command and ("daemon" in command or "worker" in command):
        return "tasks of an executor (Python)"
    return "driver (Python)" if "python" in command else "other"


def seen_in(session: int) -> Iterator[Seen]:
    """All processes of a session."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            cpu = (int(fields[11]) + int(fields[12])) / _TICKS
            yield Seen(int(entry.name), kind_of(command), _megabytes(entry), cpu)
        except (OSError, IndexError, ValueError):
            continue


def _megabytes(entry: Path) -> float:
    try:
        lines = (entry / "smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return int((entry / "statm").read_text().split()[1]) * _PAGE / 2**20


class MemoryWatch(threading.Thread):
    """Looks at all processes of a session again and again."""

    def __init__(self, session: int, every: float = 1.0) -> None:
        super().__init__(daemon=True)
        self._session, self._every = session, every
        self._over = threading.Event()
        self._begin = time.monotonic()
        self._cpu: dict[int, float] = {}
        self._executors: dict[int, str] = {}
        self.points: list[dict[str, Any]] = []

    def run(self) -> None:
        while not self._over.wait(self._every):
            at = round(time.monotonic() - self._begin, 2)
            together: dict[str, float] = {}
            for seen in sorted(seen_in(self._session), key=lambda one: one.pid):
                self._cpu[seen.pid] = max(seen.cpu_seconds, self._cpu.get(seen.pid, 0.0))
                name = self._shown_as(seen)
                together[name] = together.get(name, 0.0) + seen.mb
            self.points += [{"at": at, "process": name, "mb": round(mb, 1)} for name, mb in together.items()]

    def _shown_as(self, seen: Seen) -> str:
        """Executors are drawn one by one, and the many short-lived processes of Python together."""
        if seen.kind != "executor (Java)":
            return seen.kind.replace("an executor", "all executors")
        if seen.pid not in self._executors:
            self._executors[seen.pid] = f"executor {len(self._executors) + 1} (Java)"
        return self._executors[seen.pid]

    def __enter__(self) -> MemoryWatch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    @property
    def peaks(self) -> dict[str, float]:
        """The most megabytes of each."""
        found: dict[str, float] = {}
        for point in self.points:
            found[point["process"]] = max(point["mb"], found.get(point["process"], 0.0))
        return found

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all processes that were seen; the last moments of each are missing."""
        return round(sum(self._cpu.values()), 1)


def draw_memory(runs: dict[str, list[dict[str, Any]]], folder: Path, name: str) -> None:
    """Draw the memory of every process over time, one panel for each run, and write the points as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(runs))
    try:
        import altair as alt
    except ImportError:
        return
    charts = []
    for title, points in runs.items():
        step = 1 + len(points) // _DRAWN_POINTS
        moments = {at: number for number, at in enumerate(sorted({point["at"] for point in points}))}
        some = [point for point in points if moments[point["at"]] % step == 0]
        charts.append(
            alt.Chart(alt.Data(values=some), title=title, width=620, height=150)
            .mark_line(interpolate="step-after")
            .encode(
                x=alt.X("at:Q", title="seconds"),
                y=alt.Y("mb:Q", title="memory (MB)", scale=alt.Scale(zero=True)),
                color=alt.Color("process:N", title=None),
            )
        )
    if charts:
        alt.vconcat(*charts).save(str(folder / f"{name}.png"), scale_factor=1.5)
        print(f"wrote {folder / f'{name}.png'}")
