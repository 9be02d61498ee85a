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
KEY_PEERS = ("HPIValid",)
KEY_TABLES = ("adult", "chess", "hepatitis", "bridges", "nycflights13", "claims_coded_102k", "sp500_stocks_7c_122k")
_PEER_LIMIT = 900.0


def described(settings: Settings, name: str) -> tuple[Path, str, str, str]:
    """The file, separator, header flag and number of columns (0 for all) of a table such as `uniprot:60`."""
    short, _, columns = name.partition(":")
    catalogue = settings.table("datasets.json")
    entries: list[dict[str, Any]] = json.loads(catalogue.read_text())
    entry = next((entry for entry in entries if entry["name"].startswith(short)), None)
    if entry is None:
        raise Missing(f"{catalogue} does not know {short}")
    return settings.table(entry["file"]), entry["sep"], "1" if entry["header"] else "0", columns or "0"


def measured(case: str, contestant: str, ran: Ran, **more: Any) -> Measurement:
    if "seconds" not in ran.answer:
        return Measurement(case, contestant, (ran.seconds,), peak_mb=ran.peak_mb, answers={"stopped": "time limit"})
    answers = {key: value for key, value in ran.answer.items() if key in ("count", "checks", "rounds", "full_evidence")}
    return Measurement(case, contestant, tuple(ran.answer["seconds"]), peak_mb=ran.peak_mb, answers=answers, **more)


def _beside_the_peer(kind: str, name: str, peers: tuple[str, ...]) -> Case:
    """A case: lawful and the peer's programs in turn on one table, each with its own load, several times."""
    what = "FDs" if kind == "fd" else "keys"

    def case(settings: Settings) -> Iterator[Measurement]:
        file, separator, header, columns = described(settings, name)
        runs = str(settings.repetitions)
        table = [str(file), separator, header, columns]
        title = f"{what} of {name}"
        ours = run_program([lawful_python(), "-m", "bench.lawful_program", kind, *table, runs, "0"])
        yield measured(title, "lawful", ours)
        for peer in peers:
            program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), kind, peer, *table]
            try:
                yield measured(title, f"desbordante {peer}", run_program([*program, runs, "0"], limit=_PEER_LIMIT))
            except Missing as missing:
                print(f"  {title}, {peer}: {missing}")

    case.__doc__ = f"All minimal {what} of {name}, beside Desbordante's {', '.join(peers)}."
    return case


CASES: dict[str, Case] = {
    **{f"fds-{name}": _beside_the_peer("fd", name, FD_PEERS) for name in FD_TABLES},
    **{f"keys-{name}": _beside_the_peer("ucc", name, KEY_PEERS) for name in KEY_TABLES},
}
