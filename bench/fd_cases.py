"""Cases of keys and FDs beside the peer on real tables: time with load included on both sides, and equal sets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.harness import ROOT, Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python, peer_python

FD_TABLES = ("adult", "chess", "hepatitis", "bridges", "horse", "nycflights13", "uniprot:60", "flight_1k:60")
FD_PEERS = ("HyFD", "Pyro", "EulerFD")
KEY_PEERS = ("HPIValid",)
ALL_TABLES = (
    *("iris", "bridges", "echocardiogram", "hepatitis", "abalone", "chess", "horse", "adult", "nycflights13"),
    *("ncvoter_1001r_19c", "ncv_1k_19", "fli_1k_14", "wp_20k_7", "plista_1k", "flight_1k:60", "uniprot:60"),
    *("hospital_raha_clean", "hospital_raha_dirty", "hospital_10k", "tax_10k", "flights_10k", "atom_32k_25"),
    *("claims_coded_102k", "sp500_stocks_7c_122k"),
)
"""Tables on which keys are timed, and on which the laws themselves are compared, not only their number."""
_TURNS = 2
_LONG_TURN = 10.0
"""Contestants run by turns, because a machine's speed changes; one turn is enough for a longer one than this."""
_SHORT = 0.005
_OFTEN = 200
"""How many times more often a shorter run is repeated in its second turn: it has to be warm."""
_PEER_LIMIT = 900.0
_SETS_LIMIT = 240.0


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
        title = f"{what} of {name}"
        programs = {"lawful": [lawful_python(), "-m", "bench.lawful_program", kind]}
        try:
            peer_program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), kind]
            programs |= {f"desbordante {peer}": [*peer_program, peer] for peer in peers}
        except Missing as missing:
            print(f"  {title}: {missing}")
        yield from _by_turns(title, programs, [str(file), separator, header, columns], settings.repetitions)

    case.__doc__ = f"All minimal {what} of {name}, beside Desbordante's {', '.join(peers)}."
    return case


def _by_turns(
    title: str, programs: Mapping[str, list[str]], table: list[str], repetitions: int
) -> Iterator[Measurement]:
    """Run programs in turn, each several times a turn, and yield the times of all its turns."""
    seconds: dict[str, list[float]] = {contestant: [] for contestant in programs}
    last: dict[str, Measurement] = {}
    for _ in range(_TURNS):
        for contestant, program in programs.items():
            before = last.get(contestant)
            # By the median: the first run may have compiled kernels.
            if before is not None and before.median * len(before.seconds) > _LONG_TURN:
                continue
            often = _OFTEN if before is not None and before.median < _SHORT else 1
            try:
                ran = run_program([*program, *table, str(repetitions * often), "0"], limit=_PEER_LIMIT)
            except Missing as missing:
                print(f"  {title}, {contestant}: {missing}")
                continue
            last[contestant] = measured(title, contestant, ran)
            seconds[contestant] += last[contestant].seconds
    for contestant, measurement in last.items():
        yield replace(measurement, seconds=tuple(seconds[contestant]))


def _equal_sets(kind: str, name: str, peer: str) -> Case:
    """A case: the laws of lawful and of one of the peer's programs, compared as sets."""
    what = "FDs" if kind == "fd" else "keys"

    def case(settings: Settings) -> Iterator[Measurement]:
        file, separator, header, columns = described(settings, name)
        table = [str(file), separator, header, columns, "1", "1"]
        title = f"the same {what} of {name}"
        theirs = run_program(
            [peer_python(), str(ROOT / "bench" / "peer_program.py"), kind, peer, *table], limit=_SETS_LIMIT
        )
        if "laws" not in theirs.answer:
            yield measured(title, f"desbordante {peer}", theirs)
            return
        ours = run_program([lawful_python(), "-m", "bench.lawful_program", kind, *table])
        our_laws, their_laws = _as_set(ours), _as_set(theirs)
        only = {"only_ours": len(our_laws - their_laws), "only_theirs": len(their_laws - our_laws)}
        for contestant, ran in (("lawful", ours), (f"desbordante {peer}", theirs)):
            answers = {"count": len(ran.answer["laws"]), **only}
            yield Measurement(title, contestant, tuple(ran.answer["seconds"]), peak_mb=ran.peak_mb, answers=answers)

    case.__doc__ = f"Whether the minimal {what} of {name} are those of Desbordante's {peer}."
    return case


def _as_set(ran: Ran) -> set[str]:
    return {json.dumps(law) for law in ran.answer["laws"]}


CASES: dict[str, Case] = {
    **{f"fds-{name}": _beside_the_peer("fd", name, FD_PEERS) for name in FD_TABLES},
    **{f"keys-{name}": _beside_the_peer("ucc", name, KEY_PEERS) for name in ALL_TABLES},
    **{f"fds-sets-{name}": _equal_sets("fd", name, "HyFD") for name in ALL_TABLES},
    **{f"keys-sets-{name}": _equal_sets("ucc", name, "HPIValid") for name in ALL_TABLES},
}
