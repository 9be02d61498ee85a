"""Tables for the tests of shuffles, and what two rows say about a law."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lawful.common.arrays import Int32s
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law, columns_of
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.sample import dense
from lawful.tables.shuffled.table import ShuffledTable


def mixed_table(rows: int, seed: int = 5) -> pa.Table:
    """Ties, nulls, skew, columns of many values, twins, constants, and an order that holds."""
    random = np.random.default_rng(seed)
    a, unique = random.integers(0, 40, rows), random.permutation(rows)
    known = pa.array(a, mask=random.random(rows) < 0.1)
    return pa.table(
        {
            "id": unique * 10**8,
            "a": known,
            "b": a // 4,
            "s": pa.array([f"v{value}" for value in a], mask=random.random(rows) < 0.2),
            "skew": np.where(random.random(rows) < 0.5, 7, random.integers(0, rows + 1, rows) * 10**7),
            "f": a * -0.5,
            "half": unique // 2,
            "c": random.integers(0, 2, rows),
            "one": np.ones(rows),
            "twin": pa.array([None if value is None else f"t{99 - value:02d}" for value in known.to_pylist()]),
        }
    )


def typed_table(rows: int) -> pa.Table:
    """A column of every type that has an order."""
    numbers = np.arange(rows) % 7
    day, second = datetime.date(1969, 12, 28), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    return pa.table(
        {
            "truth": pa.array([value % 2 == 0 for value in numbers]),
            "small": pa.array(numbers - 3, pa.int8()),
            "wide": pa.array((numbers - 3) * 10**17, pa.int64()),
            "float": pa.array(np.where(numbers == 2, np.nan, (numbers - 3) * -0.0 + (numbers % 3)), pa.float32()),
            "decimal": pa.array([Decimal(int(value)) / 4 for value in numbers], pa.decimal128(10, 2)),
            "date": pa.array([day + datetime.timedelta(int(value)) for value in numbers]),
            "time": pa.array([second + datetime.timedelta(int(value)) for value in numbers], pa.timestamp("us", "UTC")),
            "text": pa.array([None if value == 1 else "äöz"[value % 3] * int(value) for value in numbers]),
            "bytes": pa.array([bytes([250 - value, value]) for value in numbers], pa.binary()),
            "nothing": pa.nulls(rows, pa.int32()),
            "odd `name`, x": pa.array(numbers),
        }
    )


def write_parts(table: pa.Table, folder: Path, parts: int = 2) -> Path:
    """Write a table as several Parquet files; where there are more parts than rows, some are empty."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-table.num_rows // parts) or 1
    for part in range(parts):
        pq.write_table(table.slice(part * size, size), folder / f"{part}.parquet")
    return folder


class Gathered:
    """A shuffled table with all of its ranks in this process, dense as those of other tables."""

    def __init__(self, table: ShuffledTable) -> None:
        self._ranks = table.dataset.ranks.toArrow().sort_by("row")
        assert self._ranks.column("row").to_pylist() == list(range(table.rows))
        self.rows, self.width, self.columns = table.rows, table.width, table.columns
        self.value, self.place = table.value, table.place

    def column(self, position: int) -> Int32s:
        return dense(self._ranks.column(f"c{position}").to_numpy())


def refutes(law: Law, table: EncodedTable, policy: NullPolicy, pair: tuple[int, int]) -> bool:
    """Whether two rows refute a law."""
    first, second = pair
    ranks = {column: np.asarray(table.column(column)) for column in columns_of(law)}
    known = all(ranks[column][row] for column in ranks for row in pair)
    if first == second or (policy is NullPolicy.IGNORE and not known):
        return False

    def agree(columns: tuple[int, ...]) -> bool:
        return all(ranks[column][first] == ranks[column][second] for column in columns)

    if isinstance(law, Key):
        return agree(law.columns)
    if isinstance(law, FD):
        return agree(law.lhs) and not agree((law.rhs,))
    assert isinstance(law, CanonicalOD)
    left, right = (int(ranks[column][first]) - int(ranks[column][second]) for column in (law.left, law.right))
    return agree(law.context) and left * right * (1 if law.direction == "asc" else -1) < 0
