"""Real tables as DuckDB and Spark read them, with queries that laws may shorten."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.meanings import ColumnType, Direction
from lawful.dependencies import FD, Key, ListOD
from lawful.rewriting import KnownLaws, Rewriting, rewrite
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions

DATA = Path(os.environ.get("LAWFUL_BENCH_DATA", Path(__file__).parents[3] / "shared" / "data"))

Term = tuple[int, Direction]
RunQuery = Callable[[str], pa.Table]

_TYPES = {
    ColumnType.INTEGER: pa.int64(),
    ColumnType.DECIMAL: pa.decimal128(30, 10),
    ColumnType.FLOAT: pa.float64(),
    ColumnType.DATE: pa.date32(),
    ColumnType.TIMESTAMP: pa.timestamp("us"),
    ColumnType.STRING: pa.string(),
}


def real_table(name: str) -> pa.Table | None:
    """A real table with the types that lawful infers; None if it is not at hand."""
    catalogue = DATA / "datasets.json"
    entries = json.loads(catalogue.read_text()) if catalogue.is_file() else []
    entry = next((entry for entry in entries if entry["name"] == name), None)
    if entry is None:
        return None
    null = entry["notes"].partition("null token: ")[2].split(" ")[0].strip(";")
    dialect = CsvDialect(entry["sep"], entry["header"], entry["quote"], entry["escape"], null_tokens=(null or "NA",))
    encoded = encode_in_process(DATA / entry["file"], ReadOptions(dialect=dialect), reuse=False)
    columns = {column: _typed(encoded, place) for place, column in enumerate(encoded.names)}
    return pa.table({column: values for column, values in columns.items() if values is not None})


def _typed(table: EncodedTable, place: int) -> pa.Array | None:
    """A column of a text source with values; None if Arrow does not know them, or not in the order of their ranks."""
    type_ = _TYPES.get(table.columns[place].type)
    if type_ is None:
        return None
    try:
        values = table.values(place).cast(type_)
    except pa.ArrowInvalid:
        return None
    if pc.all(pc.less(values[:-1], values[1:])).as_py() is False:
        return None
    ranks = np.asarray(table.column(place)).astype(np.int64)
    return values.take(pa.array(ranks - 1, mask=ranks == 0))


@dataclass(frozen=True)
class Asked:
    """A query of the table t, to be written in a dialect."""

    terms: tuple[Term, ...]
    grouped: bool = False
    filter: str = ""
    limit: int | None = None
    index: tuple[Term, ...] = ()

    def sql(self, names: Sequence[str], quote: str) -> str:
        columns = list(dict.fromkeys(quoted(names[column], quote) for column, _ in self.terms))
        where = f" where {self.filter}" if self.filter else ""
        if self.grouped:
            return f"select count(*) as n from t{where} group by {', '.join(columns)}"
        limit = "" if self.limit is None else f" limit {self.limit}"
        return f"select {', '.join(columns)} from t{where} order by {written(self.terms, names, quote)}{limit}"


def quoted(name: str, quote: str) -> str:
    return f"{quote}{name}{quote}"


def written(terms: Sequence[Term], names: Sequence[str], quote: str) -> str:
    return ", ".join(f"{quoted(names[column], quote)} {direction}" for column, direction in terms)


def questions(known: KnownLaws, seed: int) -> Iterator[Asked]:
    """Queries without end: the columns of some law in some order, and others between them."""
    random = Random(seed)
    laws = [law for law in known.laws if isinstance(law, FD | Key | ListOD)]
    by_kind = [[law for law in laws if isinstance(law, kind)] for kind in (FD, Key, ListOD)]
    while True:
        law = random.choice(random.choice([some for some in by_kind if some]))
        terms = _terms_of(law, random)
        for _ in range(random.choice([0, 0, 1, 2])):
            term = (random.randrange(len(known.columns)), random.choice(["asc", "desc"]))
            terms.insert(random.randint(0, len(terms)), term)
        grouped = isinstance(law, FD | Key) and random.random() < 0.3
        limit = random.choice([None, None, 7, 100])
        index = law.lhs if isinstance(law, ListOD) and random.random() < 0.3 else ()
        yield Asked(tuple(terms), grouped, "", limit, () if grouped else index)


def _terms_of(law: FD | Key | ListOD, random: Random) -> list[Term]:
    if isinstance(law, ListOD):
        both = [law.rhs, law.lhs]
        random.shuffle(both)
        turned = random.random() < 0.3
        return [(column, _turned(way) if turned else way) for side in both for column, way in side]
    columns = list(law.columns) if isinstance(law, Key) else [*law.lhs, law.rhs]
    if random.random() < 0.3:
        random.shuffle(columns)
    ways: list[Direction] = ["asc", "desc"]
    return [(column, random.choice(ways)) for column in columns]


def _turned(way: Direction) -> Direction:
    return "desc" if way == "asc" else "asc"


@dataclass
class Judged:
    """How many queries were run in both forms."""

    orders: int = 0
    groups: int = 0
    by_index: int = 0
    limited: int = 0

    @property
    def queries(self) -> int:
        return self.orders + self.groups


def judge(known: KnownLaws, run: RunQuery, dialect: str, wanted: int, seed: int = 0, tries: int = 3_000) -> Judged:
    """Rewrite queries until so many got shorter, and run both forms of each: they must say the same."""
    judged = Judged()
    quote = {"spark": "`", "duckdb": '"'}[dialect]
    for _, asked in zip(range(tries), questions(known, seed), strict=False):
        sql = asked.sql(known.names, quote)
        index = [written(asked.index, known.names, quote)] if asked.index else []
        found = rewrite(sql, known, dialect=dialect, indexes=index)
        if not found.changed:
            continue
        says_the_same(found, asked, run)
        judged.groups += asked.grouped
        judged.orders += not asked.grouped
        judged.limited += asked.limit is not None and not asked.grouped
        judged.by_index += any(use.suffices for use in found.indexes)
        if judged.queries == wanted:
            break
    return judged


def says_the_same(found: Rewriting, asked: Asked, run: RunQuery) -> None:
    """Groups are the same; the asked columns come in the same order, and rows tie as before unless an index helped."""
    first, second = run(found.original), run(found.sql)
    both = (found.original, found.sql)
    if asked.grouped:
        assert sorted(first["n"].to_pylist()) == sorted(second["n"].to_pylist()), both
        return
    assert first.equals(second), both
    last = found.steps[-1].after
    if any(use.suffices and use.order_by == last and not use.alike for use in found.indexes):
        assert asked.limit is None
        return
    orders = [sql.partition(" order by ")[2].partition(" limit ")[0] for sql in both]
    ranks = ", ".join(f"dense_rank() over (order by {order or 1}) as r{i}" for i, order in enumerate(orders))
    apart = run(f"select count(*) as n from (select {ranks} from t) as ranked where r0 <> r1")
    assert apart["n"].to_pylist() == [0], both
