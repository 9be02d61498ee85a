"""Cases of denial constraints: real tables beside the peer's FastADC, and a curve over rows of a generated table.

Both look at single columns only and give constraints that no other one implies, so their answers are the same: the
cases `dc-sets-…` compare them constraint by constraint. FastADC is given tables that it accepts, see `dc_peer_tables`.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.dc_peer_tables import write_without_header
from bench.fd_cases import measured
from bench.harness import ROOT, Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python, peer_python

FINISHED = (
    "iris",
    "bridges",
    "hospital_raha_clean",
    "hospital_raha_dirty",
    "ncvoter_1001r_19c",
    "abalone",
    "hospital_10k",
    "flights_10k",
    "wp_20k_7",
    "chess",
)
"""The tables that FastADC accepts and finishes in some minutes."""
OTHERS = (
    "echocardiogram",
    "hepatitis",
    "horse",
    "ncv_1k_19",
    "fli_1k_14",
    "flight_1k",
    "plista_1k",
    "uniprot_1001r_223c",
    "tax_10k",
    "adult",
    "atom_32k_25",
    "claims_coded_102k",
    "sp500_stocks_7c_122k",
    "nycflights13",
)
TIMED = (*FINISHED, "tax_10k", "sp500_stocks_7c_122k")
LIMITED = ("adult@5000:3",)
CURVE = (10_000, 100_000, 1_000_000)
SETS_LIMIT = 120.0
_PEER_LIMIT = 1_800.0
_NULL_TOKEN = re.compile(r"null token: ([^ ;]+)")

Law = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class _Source:
    """A real table and how its file is to be read."""

    path: Path
    separator: str
    header: bool
    reading: tuple[str, ...]


def _source(settings: Settings, name: str) -> _Source:
    catalogue = settings.table("datasets.json")
    entries: list[dict[str, Any]] = json.loads(catalogue.read_text())
    entry = next((entry for entry in entries if entry["name"] == name), None)
    if entry is None:
        raise Missing(f"{catalogue} does not know {name}")
    reading = ["--separator", entry["sep"], "--escape", entry["escape"]]
    if not entry["header"]:
        reading.append("--no-header")
    token = _NULL_TOKEN.search(entry["notes"])
    if token and token[1] != "empty":
        reading += ["--null-token", token[1]]
    return _Source(settings.table(entry["file"]), entry["sep"], entry["header"], tuple(reading))


def _ours(source: _Source, *more: str, limit: float = _PEER_LIMIT) -> Ran:
    command = [lawful_python(), "-m", "bench.dc_program", str(source.path), *source.reading, *more]
    return run_program(command, limit=limit)


def _theirs(path: Path, separator: str, runs: int, listed: bool, limit: float) -> Ran:
    program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), "dc", "FastADC"]
    return run_program([*program, str(path), separator, "0", "0", str(runs), str(int(listed))], limit=limit)


def _beside_the_peer(name: str) -> Case:
    """A case: lawful and FastADC on one table, each with its own load; `adult@5000:3` says rows and size."""
    short, _, limits = name.partition("@")
    rows, _, size = limits.partition(":")

    def case(settings: Settings) -> Iterator[Measurement]:
        title = f"DCs of {name}"
        source = _source(settings, short)
        limited = [*(["--rows", rows] if rows else []), *(["--max-size", size] if size else [])]
        yield measured(title, "lawful", _ours(source, "--runs", str(settings.repetitions), *limited))
        if limited:
            return  # FastADC knows no largest size
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / source.path.name
            _ours(source, "--write-for-peer", str(copy))
            try:
                theirs = _theirs(copy, source.separator, settings.repetitions, False, _PEER_LIMIT)
                yield measured(title, "desbordante FastADC", theirs)
            except Missing as missing:
                print(f"  {title}, FastADC: {missing}")

    case.__doc__ = f"All reduced denial constraints of {name} over single columns, beside Desbordante's FastADC."
    return case


def _compared_with_the_peer(name: str) -> Case:
    """A case: which constraints of one table only lawful gives, and which only FastADC."""

    def case(settings: Settings) -> Iterator[Measurement]:
        source = _source(settings, name)
        title = f"which DCs of {name}"
        with tempfile.TemporaryDirectory() as folder:
            copy, original = Path(folder) / "copy.csv", Path(folder) / "original.csv"
            changed = _ours(source, "--write-for-peer", str(copy)).answer["changed"]
            yield from _two_answers(title, source, copy, [])
            if changed:
                write_without_header(source.path, original, source.header)
                yield from _two_answers(f"{title}, the file as it stands", source, original, changed)

    case.__doc__ = f"The reduced denial constraints of {name}, one by one beside those of Desbordante's FastADC."
    return case


def _two_answers(title: str, source: _Source, given: Path, changed: list[int]) -> Iterator[Measurement]:
    """Both answers. `only` counts what the other one does not have, and `unexplained` how much of it has no column that
    FastADC reads in another way: a constraint over other columns depends on these alone.
    """
    try:
        theirs = _theirs(given, source.separator, 1, True, SETS_LIMIT)
    except Missing as missing:
        print(f"  {title}, FastADC refuses: {missing}")
        return
    if "laws" not in theirs.answer:
        yield measured(title, "desbordante FastADC", theirs)
        return
    ours = _ours(source, "--listed", limit=SETS_LIMIT)
    answers = {"lawful": ours, "desbordante FastADC": theirs}
    laws = {who: _laws(ran) for who, ran in answers.items()}
    for who, other in zip(answers, reversed(answers), strict=True):
        only = laws[who] - laws[other]
        unexplained = [law for law in only if not any(column in changed for column, _ in law)]
        one = measured(title, who, answers[who])
        told = {"only": len(only), "unexplained": len(unexplained), "read_differently": changed}
        yield replace(one, answers={**one.answers, **told})


def _laws(ran: Ran) -> set[Law]:
    return {tuple((int(column), str(operator)) for column, operator in law) for law in ran.answer["laws"]}


def over_rows(settings: Settings) -> Iterator[Measurement]:
    """Denial constraints of a generated tax table of 15 columns, over rows."""
    for rows in CURVE:
        ran = run_program([lawful_python(), "-m", "bench.dc_program", "tax", "--rows", str(rows)])
        yield measured("DCs over rows", "lawful", ran, size=rows)


CASES: dict[str, Case] = {
    **{f"dcs-{name}": _beside_the_peer(name) for name in (*TIMED, *LIMITED)},
    **{f"dc-sets-{name}": _compared_with_the_peer(name) for name in (*FINISHED, *OTHERS)},
    "dcs-over-rows": over_rows,
}
