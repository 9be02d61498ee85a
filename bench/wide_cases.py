"""Cases of keys and FDs of wide tables beside the peer, by turns in new processes: time with load, memory, equal sets.

The tables are the wide ones among the real tables, and generated ones; curves go over the columns of a generated table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.fd_cases import described
from bench.harness import ROOT, Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python, peer_python
from bench.wide_tables import WideTable

REAL_TABLES = ("hfi", "lahman_pitching", "flight_1k", "plista_1k", "uniprot:60")
GENERATED = (
    *(WideTable(1_000, 30, 3), WideTable(3_000, 75, 3), WideTable(10_000, 30, 4), WideTable(10_000, 55, 3)),
    *(WideTable(20_000, 40, 4), WideTable(50_000, 40, 4), WideTable(50_000, 30, 6), WideTable(1_500, 120, 3)),
    WideTable(30_000, 140, 3),
)
CURVE = tuple(WideTable(2_000, columns, 3, seed=4) for columns in (20, 40, 60, 80, 100, 120, 140))
"""The last ones have more laws than anybody waits for: there a curve ends at the cap."""
_CAP = 60.0
"""Seconds that a program may take; both are stopped there."""


class _Kind(NamedTuple):
    """What is searched for, and by which of the peer's programs."""

    name: str
    what: str
    peer: str


KEYS, FDS = _Kind("ucc", "keys", "HPIValid"), _Kind("fd", "FDs", "HyFD")


def _real(kind: _Kind, name: str) -> Case:
    def case(settings: Settings) -> Iterator[Measurement]:
        file, separator, header, columns = described(settings, name)
        yield from _beside_the_peer(kind, f"{kind.what} of {name}", [str(file), separator, header, columns], settings)

    case.__doc__ = f"All minimal {kind.what} of {name}, a wide table, beside {kind.peer}."
    return case


def _generated(kind: _Kind, table: WideTable) -> Case:
    def case(settings: Settings) -> Iterator[Measurement]:
        with tempfile.TemporaryDirectory() as folder:
            file = table.write(Path(folder))
            title = f"{kind.what} of {table.name}"
            yield from _beside_the_peer(kind, title, [str(file), ",", "1", "0"], settings)

    case.__doc__ = f"All minimal {kind.what} of a generated table, {table.name}, beside {kind.peer}."
    return case


def _curve(kind: _Kind) -> Case:
    def case(settings: Settings) -> Iterator[Measurement]:
        with tempfile.TemporaryDirectory() as folder:
            for table in CURVE:
                asked = [str(table.write(Path(folder))), ",", "1", "0"]
                title = f"{kind.what} over columns"
                yield from _beside_the_peer(kind, title, asked, settings, size=table.columns)

    case.__doc__ = f"All minimal {kind.what} of {CURVE[0].rows:,} generated rows, over columns, beside {kind.peer}."
    return case


def _beside_the_peer(
    kind: _Kind, title: str, table: list[str], settings: Settings, size: float | None = None
) -> Iterator[Measurement]:
    """Run lawful and the peer by turns, a new process each time, until one has reached the cap; then compare the laws.

    The time is that of loading and searching: starting Python, and what it imports, is left out on both sides.
    """
    programs = {"lawful": [lawful_python(), "-m", "bench.lawful_program", kind.name]}
    try:
        peer_program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), kind.name, kind.peer]
        programs[f"desbordante {kind.peer}"] = peer_program
    except Missing as missing:
        print(f"  {title}: {missing}")
    runs: dict[str, list[Ran]] = {contestant: [] for contestant in programs}
    for turn in range(settings.repetitions + 1):
        for contestant, program in programs.items():
            if any("seconds" not in ran.answer for ran in runs[contestant]):
                continue  # it would be stopped again
            listed = turn == settings.repetitions  # laws are listed in a run that is not timed
            ran = run_program([*program, *table, "2" if not listed else "1", "1" if listed else "0"], limit=_CAP)
            runs[contestant].append(ran)
    same = _compared([ran[-1] for ran in runs.values()])
    for contestant, own in runs.items():
        yield _measured(title, contestant, own, size, same)


def _measured(title: str, contestant: str, runs: list[Ran], size: float | None, same: dict[str, int]) -> Measurement:
    peak = max(ran.peak_mb for ran in runs)
    if "seconds" not in runs[-1].answer:
        return Measurement(title, contestant, (_CAP,), size, peak, {"stopped": f"after {_CAP:g} s"})
    # The first search of a process also loads kernels, or the peer's library; it is left out.
    seconds = tuple(ran.answer["seconds"][-1] for ran in runs[:-1])
    return Measurement(title, contestant, seconds, size, peak, {"count": runs[-1].answer["count"], **same})


def _compared(last: list[Ran]) -> dict[str, int]:
    """How many laws only one of the two has, where both have ended."""
    if len(last) < 2 or any("laws" not in ran.answer for ran in last):
        return {}
    ours, theirs = ({str(law) for law in ran.answer["laws"]} for ran in last)
    return {"only_ours": len(ours - theirs), "only_theirs": len(theirs - ours)}


CASES: dict[str, Case] = {
    **{f"wide-{kind.what.lower()}-{name}": _real(kind, name) for kind in (KEYS, FDS) for name in REAL_TABLES},
    **{
        f"wide-{kind.what.lower()}-{table.rows}x{table.columns}": _generated(kind, table)
        for kind in (KEYS, FDS)
        for table in GENERATED
    },
    **{f"wide-{kind.what.lower()}-over-columns": _curve(kind) for kind in (KEYS, FDS)},
}
