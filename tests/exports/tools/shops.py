"""Tables for real tools, with nulls, ties and NaN, and laws of all families over them; a real one if it is at hand."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import lawful
from lawful.exports.shapes import Singles, shape_of
from lawful.exports.slugs import Slugs
from lawful.results import CheckReport

DATA = Path(os.environ.get("LAWFUL_BENCH_DATA", Path(__file__).parents[4] / "shared" / "data"))
HOSPITAL = DATA / "hospital_raha_dirty.csv"

LAWS = [
    "key(id)",
    "key(a)",
    "key(a, b)",
    "key(id, a)",
    'key(a, b, "d e")',
    "a -> b",
    "b -> c",
    "id -> a",
    'a, b -> "d e"',
    "{} -> f",
    "{a}: id asc ~ b asc",
    "{}: c asc ~ b desc",
    '{a<} -> {"d e"<=}',
    "not(t.a = s.a and t.b < s.b and t.c > s.c)",
    'not(t.a < s."d e" and t.b != s.b)',
    "not(t.f = s.f and t.b != s.b and t.a != s.a)",
    'not(t.a > t."d e")',
]
LISTS = ['[a, b] -> ["d e"]', "[id] -> [a desc]"]


@dataclass(frozen=True)
class Shop:
    """A table in a file, what `check` says of laws on it, and how many rows violate each."""

    parquet: Path
    report: CheckReport

    @property
    def rows(self) -> dict[str, int]:
        """The violating rows by law, but for constraints on single rows, of which `check` counts all rows."""
        return {
            outcome.text: len(self.report.violating_row_ids(outcome))
            for outcome in self.report.outcomes
            if not isinstance(shape_of(outcome.law.positional), Singles)
        }

    @property
    def broken(self) -> dict[str, bool]:
        return {outcome.text: not outcome.holds for outcome in self.report.outcomes}

    def law_of_slug(self) -> dict[str, str]:
        slugs = Slugs("shop")
        return {slugs.of(outcome.law): outcome.text for outcome in self.report.outcomes}


def random_shop(folder: Path, seed: int, null: str) -> Shop:
    random, rows = Random(seed), 14
    values = {
        "a": ([None, 1, 2, 3], pa.int64()),
        "b": ([None, "x", "y", "Z", "é", "o'k"], pa.string()),
        "c": ([None, 1.5, 2.5, float("nan")], pa.float64()),
        "d e": ([None, 10, 20], pa.int64()),
        "f": ([True, False, None], pa.bool_()),
    }
    columns = {name: pa.array(random.choices(some, k=rows), type_) for name, (some, type_) in values.items()}
    table = pa.table({"id": pa.array(range(rows), pa.int64()), **columns})
    path = folder / "shop.parquet"
    pq.write_table(table, path)
    laws = LAWS + (LISTS if null == "equal" else [])
    return Shop(path, lawful.check(str(path), laws, null=null, engine="local"))


def hospital_shop(folder: Path, null: str) -> Shop:
    """The dirty hospital table as text, as a database has it that read it without types, and its broken laws."""
    names = pa_csv.read_csv(HOSPITAL).column_names
    convert = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True)
    path = folder / "shop.parquet"
    pq.write_table(pa_csv.read_csv(HOSPITAL, convert_options=convert), path)
    found = lawful.strongest(str(HOSPITAL), engine="local")
    broken = [law.law for law in found if law.violating][:12]
    laws = [*broken, *(law.law for law in found.keys()[:3])]
    return Shop(path, lawful.check(str(HOSPITAL), laws, null=null, engine="local"))
