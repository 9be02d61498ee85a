"""Cases of wrong cells: tables with known errors, and how many of these are found and mended.

A cell is judged against the clean twin of its table, as a text. The damage to tax_10k is made here, from a seed.
"""

from __future__ import annotations

import csv
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.harness import Case, Measurement, Settings

Rows = list[list[str]]
_DAMAGED = ("City str", "State str", "Zip int", "Rate float", "AreaCode int")
_SHARE = 0.01


def hospital(settings: Settings) -> Iterator[Measurement]:
    """Wrong cells of hospital_raha_dirty, judged by hospital_raha_clean."""
    dirty, clean = settings.table("hospital_raha_dirty.csv"), settings.table("hospital_raha_clean.csv")
    yield _measured("wrong cells of hospital_raha_dirty", dirty, _read(dirty)[1:], _read(clean)[1:])


def _tax(kind: str) -> Case:
    """A case: 1 % of the cells of five columns of tax_10k damaged in one way."""

    def case(settings: Settings) -> Iterator[Measurement]:
        header, *clean = _read(settings.table("tax_10k.csv"))
        dirty = _damaged(header, clean, kind)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tax.csv"
            with path.open("w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerows([header, *dirty])
            yield _measured(f"wrong cells of tax_10k, {kind}", path, dirty, clean)

    case.__doc__ = f"Wrong cells of tax_10k with 1 % of the cells of five columns damaged: {kind}."
    return case


def _damaged(header: Sequence[str], clean: Rows, kind: str) -> Rows:
    rnd = random.Random(20)
    dirty = [list(row) for row in clean]
    for name in _DAMAGED:
        column = header.index(name)
        for row in range(1, len(clean)):
            if rnd.random() < _SHARE:
                dirty[row][column] = _damage(kind, clean, row, column, rnd)
    return dirty


def _damage(kind: str, rows: Rows, row: int, column: int, rnd: random.Random) -> str:
    """A typo; the value of any other row; the value of the row before."""
    value = rows[row][column]
    if kind == "swaps":
        return rnd.choice(rows)[column]
    if kind == "copies":
        return rows[row - 1][column]
    place = rnd.randrange(len(value))
    letter = rnd.choice("0123456789" if value[place].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    middle = rnd.choice([letter, letter + value[place], ""])
    return value[:place] + middle + value[place + 1 :] or letter


def _read(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def _measured(title: str, path: Path, dirty: Rows, clean: Rows) -> Measurement:
    import lawful

    begin = time.perf_counter()
    report = lawful.errors(path, reuse=False)
    seconds = time.perf_counter() - begin
    names = list(report.table.names)
    wrong = {
        (row, column): after
        for row, (before, twin) in enumerate(zip(dirty, clean, strict=True))
        for column, (now, after) in enumerate(zip(before, twin, strict=True))
        if now != after
    }
    found = {(cell.row, names.index(cell.column)): cell.suggested for cell in report}
    mended = sum(found[cell] == wrong[cell] for cell in found.keys() & wrong.keys())
    answers = {
        "wrong": len(wrong),
        "found": len(found),
        **_scores("found", len(found.keys() & wrong.keys()), found, wrong),
    }
    changed = {cell: text for cell, text in found.items() if text is not None}
    return Measurement(title, "lawful", (seconds,), answers=answers | _scores("mended", mended, changed, wrong))


def _scores(name: str, right: int, found: Any, wrong: Any) -> dict[str, float]:
    precision, recall = right / max(1, len(found)), right / max(1, len(wrong))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    values = {"precision": precision, "recall": recall, "F1": f1}
    return {f"{measure} of {name}": round(value, 3) for measure, value in values.items()}


CASES: dict[str, Case] = {
    "errors-hospital": hospital,
    **{f"errors-tax-{kind}": _tax(kind) for kind in ("typos", "swaps", "copies")},
}
