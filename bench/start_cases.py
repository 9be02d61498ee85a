"""The case of cold starts: commands in new processes, as a user has them, with kernels compiled before and without."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.harness import ROOT, Case, Measurement, Missing, Settings
from bench.peer import lawful_python, peer_python

_ROWS = (4, 100, 2_000)


def cold_start(settings: Settings) -> Iterator[Measurement]:
    """Small files discovered, checked and profiled in new processes, kernels compiled before or not; and the peer."""
    with tempfile.TemporaryDirectory(prefix="lawful-bench-") as made:
        folder = Path(made)
        try:
            peer = peer_python()
        except Missing as missing:
            print(f"  without the peer: {missing}")
            peer = None
        for rows in _ROWS:
            file = _table(folder / f"{rows}.csv", rows)
            commands = {
                "discover": ("discover", str(file)),
                "check": ("check", str(file), "--laws", "zip -> city"),
                "profile": ("profile", str(file)),
            }
            for verb, command in commands.items():
                case = f"cold start: {verb}, {rows:,} rows"
                yield from _measured(case, command, folder, settings.repetitions)
                if verb == "discover" and peer is not None:
                    program = str(ROOT / "bench" / "peer_program.py")
                    algorithm = [peer, program, "fd", "HyFD", str(file), ",", "1", "0", "1", "0"]
                    yield _runs(
                        f"cold start: {verb}, {rows:,} rows", "peer (HyFD)", algorithm, {}, settings.repetitions
                    )


def _measured(case: str, command: Sequence[str], folder: Path, repetitions: int) -> Iterator[Measurement]:
    kernels = folder / "kernels"
    whole = [lawful_python(), "-m", "lawful", *command, "--no-cache"]
    places = {"LAWFUL_CACHE": str(folder / "cache"), "NUMBA_CACHE_DIR": str(kernels)}
    shutil.rmtree(kernels, ignore_errors=True)
    first = _runs(case, "lawful, nothing compiled", whole, places, 1)
    yield _runs(case, "lawful, all compiled", whole, places, repetitions)
    yield first


def _runs(
    case: str, contestant: str, command: Sequence[str], places: Mapping[str, str], repetitions: int
) -> Measurement:
    """Run a program some times, each time in a new process; its processor time is beside the time that a user waits."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | places
    seconds, processor = [], []
    for _ in range(repetitions):
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=ROOT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(time.perf_counter() - begin)
        processor.append(used.ru_utime + used.ru_stime)
        if process.returncode not in (0, 1):
            raise Missing(f"{contestant} ended with exit code {process.returncode}")
    return Measurement(case, contestant, tuple(seconds), answers={"processor": f"{min(processor):.2f}s"})


def _table(path: Path, rows: int) -> Path:
    """Write a table of people: a name is a key, a zip code has one city."""
    lines = (f"person {n},{n * 7 % (rows // 2 + 1)},city {n * 7 % (rows // 2 + 1) % 9},{n % 5}\n" for n in range(rows))
    path.write_text("name,zip,city,group\n" + "".join(lines))
    return path


CASES: dict[str, Case] = {"cold-start": cold_start}
