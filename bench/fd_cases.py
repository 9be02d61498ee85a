"""Cases of keys and FDs: real tables beside the peer, load included on both sides, and curves over rows and columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import ROOT, Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python, peer_python

FD_TABLES = ("adult", "chess", "hepatitis", "bridges", "horse", "nycflights13", "uniprot:60", "flight_1k:60")
FD_PEERS = ("HyFD", "Pyro", "EulerFD")
KEY_TABLES = ("adult", "chess", "hepatitis", "bridges", "nycflights13", "claims_coded_102k", "sp500_stocks_7c_122k")
_PEER_LIMIT = 900.0


def _described(settings: Settings, name: str) -> tuple[Path, str, str, str]:
    """The file, separator, header flag and number of columns (0 for all) of a table such as `uniprot:60`."""
    short, _, columns = name.partition(":")
    catalogue = settings.table("datasets.json")
    entries: list[dict[str, Any]] = json.loads(catalogue.read_text())
    entry = next((entry for entry in entries if entry["name"].startswith(short)), None)
    if entry is None:
        raise Missing(f"{catalogue} does not know {short}")
    return settings.table(entry["file"]), entry["sep"], "1" if entry["header"] else "0", columns or "0"


def _measured(case: str, contestant: str, ran: Ran, **more: Any) -> Measurement:
    if "seconds" not in ran.answer:
        return Measurement(case, contestant, (ran.seconds,), peak_mb=ran.peak_mb, answers={"stopped": "time limit"})
    answers = {key: value for key, value in ran.answer.items() if key in ("count", "checks", "rounds", "full_evidence")}
    return Measurement(case, contestant, tuple(ran.answer["seconds"]), peak_mb=ran.peak_mb, answers=answers, **more)


def _beside_the_peer(
    settings: Settings, kind: str, names: tuple[str, ...], peers: tuple[str, ...]
) -> Iterator[Measurement]:
    for name in names:
        try:
            file, separator, header, columns = _described(settings, name)
        except Missing as missing:
            print(f"  {name} passed over: {missing}")
            continue
        case = f"{kind}s of {name}"
        runs = str(settings.repetitions)
        what = [str(file), separator, header, columns, runs, "0"]
        yield _measured(case, "lawful", run_program([lawful_python(), "-m", "bench.lawful_program", kind, *what]))
        for peer in peers:
            once = [*what[:4], "1" if name in ("nycflights13",) else runs, "0"]
            program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), kind, peer, *once]
            try:
                yield _measured(case, f"desbordante {peer}", run_program(program, limit=_PEER_LIMIT))
            except Missing as missing:
                print(f"  {case}, {peer}: {missing}")


def fds(settings: Settings) -> Iterator[Measurement]:
    """All minimal FDs of real tables, beside Desbordante's HyFD, Pyro and EulerFD."""
    yield from _beside_the_peer(settings, "fd", FD_TABLES, FD_PEERS)


def keys(settings: Settings) -> Iterator[Measurement]:
    """All minimal keys of real tables, beside Desbordante's HPIValid."""
    yield from _beside_the_peer(settings, "ucc", KEY_TABLES, ("HPIValid",))


CASES: dict[str, Case] = {"fds": fds, "keys": keys}
