"""The first rows that break laws together with given ones: one pass over all rows, for many laws at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from lawful.checks import Workspace
from lawful.checks.first_pairs import first_partner
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Law
from lawful.engines.shuffle.chunks import Runner, in_chunks
from lawful.engines.shuffle.classes import CACHE_BYTES, law_columns
from lawful.engines.shuffle.values import ValuedChunk, rows_with_values, valued_columns, with_values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_FOUND = "law int, row bigint"


def first_partners(
    data: ShuffledData,
    given: Mapping[int, tuple[Law, int]],
    policy: NullPolicy,
    chunk_rows: int,
    gathered: Callable[[DataFrame], pa.Table],
) -> dict[int, int]:
    """By the number of each law and row, the first row that breaks the law with it; none of families of others."""
    if not given:
        return {}
    wanted = []
    for law, row in given.values():
        names = ["row", *(f"c{column}" for column in law_columns(law)), *(f"v{c}" for c in valued_columns(law))]
        wanted.append((law, rows_with_values(data, law, [row], gathered).select(names)))
    rows = with_values_of(data, (law for law, _ in wanted))
    found = rows.mapInArrow(_partner_finder(wanted, policy, tuple(data.types), chunk_rows), _FOUND)
    lines = gathered(found.groupBy("law").agg(data.expr("min(row) as row"))).to_pylist()
    numbers = list(given)
    return {numbers[line["law"]]: line["row"] for line in lines}


def _partner_finder(
    wanted: Sequence[tuple[Law, pa.Table]], policy: NullPolicy, types: Sequence[ColumnType], most: int
) -> Runner:
    """A task that tells of each law the first of its rows that breaks it together with a given one."""

    def partner(law: Law, given: pa.Table, rows: pa.Table) -> int | None:
        rows = rows.select(given.column_names)
        chunk = ValuedChunk(pa.concat_tables([given.cast(rows.schema), rows]), types)
        ids = chunk.ids()
        found = first_partner(law, 0, Workspace(chunk, policy, CACHE_BYTES), ids)
        return None if found is None else int(ids[found])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in in_chunks(batches, most):
            told = [(number, partner(law, given, rows)) for number, (law, given) in enumerate(wanted)]
            told = [(number, row) for number, row in told if row is not None]
            numbers, partners = zip(*told, strict=True) if told else ((), ())
            arrays = [pa.array(numbers, pa.int32()), pa.array(partners, pa.int64())]
            yield pa.RecordBatch.from_arrays(arrays, names=["law", "row"])

    return run
