"""How badly laws are broken that are searched for within an error: many in one job, in whole classes.

Laws that compare the same columns by = have the same classes, so that their rows are partitioned once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check
from lawful.common.errors import LawfulError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.classes import CACHE_BYTES, chunks_of_classes, equal_columns, law_columns, raise_told
from lawful.engines.shuffle.keys import PackedKey, key_names
from lawful.engines.shuffle.values import valued_columns, with_values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_MOST_LAWS = 256
"""Laws of a job, so that a task ends within reason."""
_COUNTS = "t int, violations decimal(38, 0), error string"
_SCHEMA = pa.schema([("t", pa.int32()), ("violations", pa.decimal128(38, 0)), ("error", pa.string())])


def measuring_jobs(tasks: Sequence[CheckTask]) -> Iterator[list[CheckTask]]:
    """Put tasks together whose laws have the same classes."""
    together: dict[tuple[int, ...], list[CheckTask]] = {}
    for task in tasks:
        together.setdefault(tuple(sorted(equal_columns(task.law))), []).append(task)
    for some in together.values():
        for first in range(0, len(some), _MOST_LAWS):
            yield some[first : first + _MOST_LAWS]


def measure_together(
    data: ShuffledData,
    tasks: Sequence[CheckTask],
    policy: NullPolicy,
    chunk_rows: int,
    gathered: Callable[[DataFrame], list[dict[str, Any]]],
) -> dict[int, int]:
    """What each task counts, for tasks whose laws have the same classes.

    Raises
    ------
    TooLargeError
        If a class is too large for a task.
    """
    key = PackedKey.of(sorted(equal_columns(tasks[0].law)), data.codings)
    names = key_names(len(key.words))
    keys = [f"{text} as {name}" for text, name in zip(key.texts(len(names)), names, strict=True)]
    laws = [task.law for task in tasks]
    ranks = [f"c{column}" for column in sorted({column for law in laws for column in law_columns(law)})]
    values = [f"v{column}" for column in sorted({column for law in laws for column in valued_columns(law)})]
    rows = with_values_of(data, laws).selectExpr(*keys, "row", *ranks, *values)
    rows = rows.repartition(*names).sortWithinPartitions(*names) if names else rows.coalesce(1)
    runner = _counting_runner(tasks, policy, len(names), tuple(data.types), chunk_rows)
    sums = [data.expr("sum(violations) as violations"), data.expr("max(error) as error")]
    found = gathered(rows.mapInArrow(runner, _COUNTS).groupBy("t").agg(*sums))
    for line in found:
        raise_told(line["error"])
    counted = {tasks[line["t"]].id: int(line["violations"]) for line in found if line["t"] is not None}
    return {task.id: counted.get(task.id, 0) for task in tasks}


def _counting_runner(
    tasks: Sequence[CheckTask], policy: NullPolicy, words: int, types: Sequence[ColumnType], most: int
) -> Runner:
    """A task that counts what breaks each of some laws in whole classes."""
    asked = [CheckTask(number, task.law, task.measure) for number, task in enumerate(tasks)]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = [0] * len(asked)
        error: str | None = None
        try:
            for chunk in chunks_of_classes(batches, words, types, most):
                workspace = Workspace(chunk, policy, CACHE_BYTES)
                for task in asked:
                    counts[task.id] += check(task, chunk, workspace).violations or 0
        except LawfulError as failed:
            error = failed.typed_message
        told = [number for number, count in enumerate(counts) if count and error is None]
        lines: list[tuple[int | None, Decimal | None, str | None]] = [(n, Decimal(counts[n]), None) for n in told]
        lines += [(None, None, error)] if error is not None else []
        columns = zip(*lines, strict=True) if lines else ((),) * len(_SCHEMA)
        arrays = [pa.array(side, field.type) for side, field in zip(columns, _SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)

    return run
