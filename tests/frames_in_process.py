"""Spark's frames as far as shuffles use them, over a small table in this process: a query takes a millisecond.

Expressions are DuckDB's business, and what tasks do is done here, on partitions and batches that are cut at random. So
a property can be tried on many tables; that Spark does the same is for the tests on Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from lawful.common.meanings import NullPolicy
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shuffled.data import Coding, ShuffledData
from lawful.tables.shuffled.table import ShuffledTable

_TYPES = {"bigint": pa.int64(), "int": pa.int32(), "boolean": pa.bool_(), "string": pa.string()}
_ARROW_NAMES = {pa.int64(): "bigint", pa.int32(): "int", pa.bool_(): "boolean", pa.string(): "string"}
_CONNECTION = duckdb.connect(config={"threads": 1})


def translated(text: str) -> str:
    """An expression of Spark's as DuckDB writes it."""
    text = re.sub(r"(?<=\d)[LD]\b", "", text)
    while (start := text.find("named_struct(")) >= 0:
        end = _closing(text, start + len("named_struct"))
        parts = _split(text[start + len("named_struct(") : end])
        members = ", ".join(f"{name}: {value}" for name, value in zip(parts[::2], parts[1::2], strict=True))
        text = f"{text[:start]}{{{members}}}{text[end + 1 :]}"
    text = re.sub(r"\bstruct\(([\w, ]+)\)", _plain_struct, text)
    text = re.sub(r"approx_percentile\((\w+), array\(([^)]*)\), \d+\)", r"quantile_disc(\1, [\2])", text)
    if (start := text.find("inline(array(")) >= 0:
        end = _closing(text, start + len("inline(array"))
        text = f"{text[:start]}unnest([{text[start + len('inline(array(') : end]}], recursive := true){text[end + 2 :]}"
    text = re.sub(r"sort_array\(collect_list\((\w+)\)\)", r"list_sort(list(\1))", text)
    return text.replace("collect_list(", "list(").replace("rows[0]", "rows[1]")


def _plain_struct(found: re.Match[str]) -> str:
    members = (part.split(" as ") for part in found.group(1).split(", "))
    return "{" + ", ".join(f"'{names[-1]}': {names[0]}" for names in members) + "}"


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    raise AssertionError(text)


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


class Frame:
    """Some rows in partitions."""

    def __init__(self, parts: Sequence[pa.Table], random: Random) -> None:
        assert parts
        self._parts, self._random = list(parts), random

    @property
    def table(self) -> pa.Table:
        return pa.concat_tables(self._parts)

    def toArrow(self) -> pa.Table:  # noqa: N802  # Spark's name
        return self.table

    @property
    def columns(self) -> list[str]:
        return self._parts[0].column_names

    @property
    def schema(self) -> list[Any]:
        return [
            SimpleNamespace(name=field.name, dataType=SimpleNamespace(simpleString=_named(field.type)))
            for field in self._parts[0].schema
        ]

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        return [(field.name, field.dataType.simpleString()) for field in self.schema]

    def _queried(self, query: str, **others: pa.Table) -> Frame:
        with _CONNECTION.cursor() as cursor:
            for name, table in {"given": self.table, **others}.items():
                cursor.register(name, table)
            return self._cut(cursor.sql(query).to_arrow_table())

    def _cut(self, table: pa.Table) -> Frame:
        places = sorted(self._random.randint(0, table.num_rows) for _ in range(2))
        bounds = [0, *places, table.num_rows]
        return Frame([table.slice(a, b - a) for a, b in pairwise(bounds)], self._random)

    def selectExpr(self, *texts: str) -> Frame:  # noqa: N802  # Spark's name
        return self._queried(f"select {', '.join(map(translated, texts))} from given")

    def select(self, *names: str) -> Frame:
        return Frame([part.select(list(names)) for part in self._parts], self._random)

    def where(self, condition: str) -> Frame:
        return self._queried(f"select * from given where {translated(condition)}")

    def distinct(self) -> Frame:
        return self._queried("select distinct * from given")

    def hint(self, _: str) -> Frame:
        return self

    def limit(self, most: int) -> Frame:
        return Frame([self.table.slice(0, most)], self._random)

    def orderBy(self, *names: str) -> Frame:  # noqa: N802  # Spark's name
        return Frame([self.table.sort_by([(name, "ascending") for name in names])], self._random)

    def groupBy(self, *names: str) -> _Grouped:  # noqa: N802  # Spark's name
        return _Grouped(self, names)

    def agg(self, *texts: str) -> Frame:
        return _Grouped(self, ()).agg(*texts)

    def join(self, other: Frame, names: str | list[str], how: str = "inner") -> Frame:
        using = ", ".join([names] if isinstance(names, str) else names)
        return self._queried(f"select * from given {how} join other using ({using})", other=other.table)

    def unionByName(self, other: Frame) -> Frame:  # noqa: N802  # Spark's name
        assert sorted(self.columns) == sorted(other.columns)
        parts = [part.select(self.columns).cast(self._parts[0].schema) for part in other._parts]
        return Frame([*self._parts, *parts], self._random)

    def coalesce(self, count: int) -> Frame:
        assert count == 1
        return Frame([self.table], self._random)

    def repartition(self, *what: Any) -> Frame:
        if what == (1,):
            return self.coalesce(1)
        table, keys = self.table, [name for name in what if isinstance(name, str)]
        order = list(range(table.num_rows))
        self._random.shuffle(order)
        table = table.take(pa.array(order, pa.int64()))
        lines = zip(*(table.column(name).to_pylist() for name in keys), strict=True)
        homes = np.array([hash(line) % 3 for line in lines], np.int64)
        return Frame([table.filter(pa.array(homes == home)) for home in range(3)], self._random)

    def repartitionByRange(self, *what: Any) -> Frame:  # noqa: N802  # Spark's name
        names = [name for name in what if isinstance(name, str)]
        parts = self._cut(self.orderBy(*names).table)._parts
        self._random.shuffle(parts)
        return Frame(parts, self._random)

    def sortWithinPartitions(self, *names: str) -> Frame:  # noqa: N802  # Spark's name
        return Frame([part.sort_by([(name, "ascending") for name in names]) for part in self._parts], self._random)

    def mapInArrow(  # noqa: N802  # Spark's name
        self, runner: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str
    ) -> Frame:
        declared = [part.strip().split(" ", 1) for part in _split(schema)]
        made = []
        for part in self._parts:
            batches = part.combine_chunks().to_batches(max_chunksize=self._random.choice([1, 3, 50]))
            for batch in runner(iter(batches)):
                assert batch.schema.names == [name for name, _ in declared]
                made.append(pa.Table.from_batches([batch]).cast(_schema(declared, batch.schema)))
        return Frame(made or [_schema(declared, pa.schema([])).empty_table()], self._random)


def _schema(declared: Sequence[Sequence[str]], found: pa.Schema) -> pa.Schema:
    """The declared types where they are plain, else those that were found."""
    types = dict(zip(found.names, found.types, strict=True))
    return pa.schema([(name, _TYPES.get(type_) or types.get(name, pa.int64())) for name, type_ in declared])


def _named(type_: pa.DataType) -> Callable[[], str]:
    return lambda: _ARROW_NAMES.get(type_, str(type_))


class _Grouped:
    def __init__(self, frame: Frame, names: Sequence[str]) -> None:
        self._frame, self._names = frame, names

    def agg(self, *texts: str) -> Frame:
        told = ", ".join([*self._names, *map(translated, texts)])
        by = f" group by {', '.join(self._names)}" if self._names else ""
        return self._frame._queried(f"select {told} from given{by}")


class DataInProcess(ShuffledData):
    """The dataset of a table of whole numbers, whose ranks are values: as direct columns have them."""

    def __init__(self, rows: Sequence[Sequence[int]], table: EncodedTable, seed: int) -> None:
        highest = [max((row[column] for row in rows), default=0) for column in range(table.width)]
        codings = [Coding(high, 1) for high in highest]
        spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
        super().__init__(spark, "", [table.type(column) for column in range(table.width)], codings, len(rows))
        columns = {"row": pa.array(range(len(rows)), pa.int64())}
        columns |= {f"c{i}": pa.array([row[i] for row in rows], pa.int32()) for i in range(table.width)}
        self.__dict__["ranks"] = Frame([pa.table(columns)], Random(seed))._cut(pa.table(columns))

    def expr(self, text: str) -> str:
        return text


class EngineInProcess(ShuffleEngine):
    """The engine for tables that no node holds, over such a dataset."""

    def __init__(
        self, rows: Sequence[Sequence[int]], table: EncodedTable, policy: NullPolicy, most_rows: int, seed: int
    ) -> None:
        data = DataInProcess(rows, table, seed)
        super().__init__(data.spark, most_rows)
        own = {field.name: getattr(table, field.name) for field in fields(EncodedTable) if field.init}
        self._opened_on = ShuffledTable(**own, data=data), policy

    def _gathered_table(self, frame: Any) -> pa.Table:
        return frame.toArrow()
