"""Tables that obey laws, the same tables with cells damaged, and how well the damage is found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa

from lawful.results import ErrorsReport

Rows = list[list[str | None]]
NAMES = ["order", "customer", "name", "city", "zip", "product", "title", "kind", "price", "pieces"]
DAMAGED = range(1, 9)
"""The columns of the orders that laws are about."""


def orders(rows: int = 900, seed: int = 1) -> Rows:
    """Orders of products by customers: three things with several columns each, and a number and pieces of their own."""
    rnd = random.Random(seed)
    letters = "abcdefgh"
    products = [
        [f"P{n:03d}", f"{rnd.choice(letters) * 3} thing {n}", rnd.choice(["food", "toys", "tools"]), f"{n + 1}.50"]
        for n in range(30)
    ]
    places = {"Wien": "1010", "Graz": "8010", "Linz": "4020", "Salzburg": "5020"}
    customers = [[str(1000 + n), f"{rnd.choice(letters) * 4} {n}", rnd.choice(sorted(places))] for n in range(60)]
    made: Rows = []
    for number in range(rows):
        customer, product = rnd.choice(customers), rnd.choice(products)
        made.append([str(number), *customer, places[customer[2]], *product, str(rnd.randrange(1, 9))])
    return made


def typo(value: str | None, rows: Rows, column: int, rnd: random.Random) -> str | None:
    """One character replaced, removed or doubled."""
    assert value
    place = rnd.randrange(len(value))
    middle = rnd.choice(["q", "", value[place] * 2])
    return (value[:place] + middle + value[place + 1 :]) or "q"


def swap(value: str | None, rows: Rows, column: int, rnd: random.Random) -> str | None:
    """The value of another row."""
    return rnd.choice(rows)[column]


def loss(value: str | None, rows: Rows, column: int, rnd: random.Random) -> str | None:
    """Nothing."""
    return None


Damage = Callable[[str | None, Rows, int, random.Random], str | None]


def damaged(rows: Rows, columns: Iterable[int], share: float, damage: Damage, seed: int = 3) -> Rows:
    """The rows with a share of the cells of some columns damaged."""
    rnd = random.Random(seed)
    copy = [list(row) for row in rows]
    for column in columns:
        for row in range(len(rows)):
            if rnd.random() < share:
                copy[row][column] = damage(rows[row][column], rows, column, rnd)
    return copy


def arrow(rows: Rows, names: list[str] = NAMES) -> pa.Table:
    return pa.table({name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(names)})


@dataclass(frozen=True)
class Score:
    """The share of the cells found that are wrong, of the wrong cells that are found, and that are mended rightly."""

    precision: float
    recall: float
    mended: float


def score(report: ErrorsReport, dirty: Rows, clean: Rows, names: list[str] = NAMES) -> Score:
    """Judge cell by cell, as texts."""
    wrong = {
        (row, names[column]): after
        for row, (before, twin) in enumerate(zip(dirty, clean, strict=True))
        for column, (now, after) in enumerate(zip(before, twin, strict=True))
        if now != after
    }
    found = {(cell.row, cell.column): cell.suggested for cell in report}
    assert len(found) == len(report)
    right = found.keys() & wrong.keys()
    mended = sum(found[cell] == wrong[cell] for cell in right)
    return Score(len(right) / max(1, len(found)), len(right) / max(1, len(wrong)), mended / max(1, len(wrong)))
