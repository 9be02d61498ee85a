"""The table and the checks that the contract is tried on, and the verdicts that every engine has to give."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from lawful.checks import CheckTask, Verdict
from lawful.common.meanings import NullPolicy
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import FD, CanonicalOD, Key, Law, ListOD
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

EngineFactory = Callable[[], Engine]

DENIALS = (
    "not(t.state = s.state and t.salary < s.salary and t.rate > s.rate)",
    "not(t.state = s.state and t.salary <= s.salary and t.rate > s.rate and t.zip != s.zip)",
    "not(t.single_exemption = s.married_exemption and t.salary < s.salary and t.child_exemption > s.child_exemption)",
    "not(t.state = 'NY' and s.state != 'NY' and t.zip = s.zip)",
    "not(t.single_exemption > t.married_exemption and s.salary >= 100000 and t.phone > s.phone and t.zip < s.zip)",
    "not(t.area_code = s.area_code and t.phone = s.phone)",
    "not(t.zip <= s.zip and t.phone >= s.phone and t.salary < s.salary and t.rate < s.rate)",
    "{state=, salary<} -> {rate<=}",
    "{zip<=, phone>=, salary<} -> {rate<}",
)

VIOLATED: tuple[Law, ...] = (
    Key((4, 5)),
    FD((6,), 5),
    CanonicalOD((7,), 10, 11, "asc"),
    ListOD(((10, "asc"), (6, "desc")), ((11, "asc"),)),
    Key((0, 1, 2, 3, 10)),
)


def write_table(folder: Path, rows: int, seed: int = 3) -> Path:
    """A CSV file with ties, nulls and duplicate rows: the tax table, with cells knocked out of two columns."""
    table = make_tax_table(rows, 0, seed).table
    knocked_out = np.random.default_rng(seed).random(rows) < 0.1
    for name in ("rate", "city"):
        position = table.column_names.index(name)
        texts = table.column(name).cast(pa.string()).combine_chunks()
        table = table.set_column(position, name, pa.array(texts.to_pylist(), mask=knocked_out))
    table = pa.concat_tables([table, table.slice(0, rows // 50)])
    path = folder / f"tax-{rows}.csv"
    csv.write_csv(table, path)
    return path


def encoded(path: Path) -> EncodedTable:
    return encode_in_process(path, ReadOptions())


def random_tasks(width: int, count: int, seed: int, largest: int = 4, *, lists: bool = False) -> list[CheckTask]:
    """Laws of the families that have a check, some of which hold; list-based ones only where they are asked for."""
    chance = random.Random(seed)
    tasks = []
    for number in range(count):
        columns = chance.sample(range(width), chance.randint(2, largest + 2))
        kind = number % (4 if lists else 3)
        law: Law
        if kind == 0:
            law = Key(tuple(columns))
        elif kind == 1:
            law = FD(tuple(columns[1:]), columns[0])
        elif kind == 2:
            law = CanonicalOD(tuple(columns[2:]), columns[0], columns[1], chance.choice(("asc", "desc")))
        else:
            marked = [(column, chance.choice(("asc", "desc"))) for column in columns]
            law = ListOD(tuple(marked[:-1]), tuple(marked[-1:]))
        measure = chance.choice((None, None, None, "g1", "g3"))
        tasks.append(CheckTask(number, law, measure, damage=measure is None and chance.random() < 0.4))
    return tasks


def reference(table: EncodedTable, tasks: Sequence[CheckTask], policy: NullPolicy) -> list[Verdict]:
    """The verdicts of the local engine with one thread."""
    engine = LocalEngine(threads=1)
    engine.open(table, policy)
    return in_order(engine.check(tasks))


def in_order(verdicts: object) -> list[Verdict]:
    found = list(verdicts)
    return sorted(found, key=lambda verdict: verdict.id)
