"""Tables that rows come to and leave: real ones as codes or as files, and one that is generated in any length."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions

_SEED = 11
_ZIPS, _CITIES, _STATES = 20_000, 2_000, 50
_PRODUCTS = 500
_CUSTOMERS_PER_ROW = 0.25


@dataclass(frozen=True)
class TableFile:
    """A CSV file of the catalogue, with how many of its first columns are meant (0 for all)."""

    file: str
    separator: str
    header: str
    columns: str

    @property
    def dialect(self) -> CsvDialect:
        return CsvDialect(separator=self.separator, header=self.header == "1")

    def codes(self) -> Int32s:
        """All rows as ranks, `int32[columns, rows]`."""
        table = encode_in_process(self.file, ReadOptions(dialect=self.dialect), reuse=False)
        width = min(int(self.columns) or table.width, table.width)
        return np.stack([np.asarray(table.column(position), np.int32) for position in range(width)])

    def lines(self) -> tuple[list[str] | None, list[list[str]]]:
        """The header, if there is one, and the rows as texts."""
        width = int(self.columns) or None
        with Path(self.file).open(encoding="utf-8", newline="") as source:
            lines = [line[:width] for line in csv.reader(source, delimiter=self.separator) if line]
        return (lines[0], lines[1:]) if self.header == "1" else (None, lines)

    def written(self, target: Path, header: list[str] | None, rows: Iterable[list[str]]) -> Path:
        """A file with the same columns and other rows."""
        with target.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, delimiter=self.separator)
            if header is not None:
                writer.writerow(header)
            writer.writerows(rows)
        return target


def generated(rows: int, first: int = 0) -> pa.Table:
    """Orders: zip -> city -> state and product -> price hold, domains are small and large, the rest is chance.

    `first` is the id of the first row; tables with other first rows have other chances and the same laws.
    """
    chance = np.random.default_rng((_SEED, first))
    zips = chance.integers(0, _ZIPS, rows, dtype=np.int32)
    city = zips * 7919 % 20_011 % _CITIES
    product = chance.integers(0, _PRODUCTS, rows, dtype=np.int32)
    customers = max(1, int((first + rows) * _CUSTOMERS_PER_ROW))
    return pa.table(
        {
            "id": np.arange(first, first + rows, dtype=np.int32),
            "zip": zips,
            "city": _named("city", city, _CITIES),
            "state": _named("state", city % _STATES, _STATES),
            "customer": chance.integers(0, customers, rows, dtype=np.int32),
            "day": chance.integers(0, 1_000, rows, dtype=np.int32),
            "product": product,
            "price": product * 13 % 97,
            "amount": chance.integers(1, 20, rows, dtype=np.int32),
            "paid": _named("paid by", chance.integers(0, 4, rows, dtype=np.int32), 4),
        }
    )


def _named(word: str, codes: Int32s, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes), [f"{word} {code}" for code in range(count)])
