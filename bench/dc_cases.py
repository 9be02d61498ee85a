"""Cases of denial constraints: real tables beside the peer's FastADC, and a curve over rows of a generated table.

Both look at single columns only and give constraints that no other one implies, so their numbers are the same. FastADC
refuses nulls and dates: what it is given has another value in place of each null, and numbers in place of dates.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from bench.fd_cases import described, measured
from bench.harness import ROOT, Case, Measurement, Missing, Settings, run_program
from bench.peer import lawful_python, peer_python

TABLES = ("abalone", "chess", "hospital_10k", "sp500_stocks_7c_122k", "tax_10k", "flights_10k", "adult@5000:3")
CURVE = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_PEER_LIMIT = 1_800.0
_DATE = re.compile(r"^(\d{4})-(\d{2})-(\d{2})$")
_NUMBER = re.compile(r"^[+-]?\d+(\.\d*)?$")
_MOST_FILLED = "-1"


def _beside_the_peer(name: str) -> Case:
    """A case: lawful and FastADC in turn on one table, each with its own load; `adult@5000:3` says rows and size."""
    short, _, limits = name.partition("@")
    rows, _, size = limits.partition(":")

    def case(settings: Settings) -> Iterator[Measurement]:
        title = f"DCs of {name}"
        path, separator, header, columns = described(settings, short)
        runs = str(settings.repetitions)
        ours = [str(path), separator, header, columns, rows or "0", runs, "0", *([size] if size else [])]
        yield measured(title, "lawful", run_program([lawful_python(), "-m", "bench.dc_program", *ours]))
        if size:
            return  # FastADC knows no largest size
        with tempfile.TemporaryDirectory() as folder:
            filled = fill(path, separator, header == "1", Path(folder))
            program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), "dc", "FastADC"]
            try:
                theirs = run_program([*program, str(filled), separator, header, columns, "1", "0"], limit=_PEER_LIMIT)
                yield measured(title, "desbordante FastADC", theirs)
            except Missing as missing:
                print(f"  {title}, FastADC: {missing}")

    case.__doc__ = f"All reduced denial constraints of {name} over single columns, beside Desbordante's FastADC."
    return case


def fill(path: Path, separator: str, header: bool, folder: Path) -> Path:
    """A copy without nulls and dates: a null is one more value, and a date the number of its day."""
    with path.open(encoding="utf-8", newline="") as source:
        rows = list(csv.reader(source, delimiter=separator))
    first = int(header)
    columns = [list(column) for column in zip(*rows[first:], strict=True)]
    for column in columns:
        known = [text for text in column if text]
        if known and all(_DATE.match(text) for text in known):
            column[:] = [str(date.fromisoformat(text).toordinal()) if text else text for text in column]
        is_number = all(_NUMBER.match(text) for text in known)
        column[:] = [text or (_MOST_FILLED if is_number else "null") for text in column]
    target = folder / path.name
    with target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=separator)
        writer.writerows([*rows[:first], *zip(*columns, strict=True)])
    return target


def over_rows(settings: Settings) -> Iterator[Measurement]:
    """Denial constraints of a generated tax table of 15 columns, over rows."""
    for rows in CURVE:
        ran = run_program([lawful_python(), "-m", "bench.dc_program", "tax", str(rows), "1"])
        yield measured("DCs over rows", f"lawful, {rows:,} rows", ran)


CASES: dict[str, Case] = {**{f"dcs-{name}": _beside_the_peer(name) for name in TABLES}, "dcs-over-rows": over_rows}
