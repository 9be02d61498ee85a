"""How badly laws are broken that are searched for within an error: many in one job, in whole classes.

Rows that break a law agree on each of the columns that it compares by =. So laws that have one such column in common
are counted together on the classes of that column, if these fit a task, and else on the classes of all such columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check
from lawful.common.errors import LawfulError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Law
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.classes import (
    CACHE_BYTES,
    chunks_of_classes,
    equal_columns,
    law_columns,
    raise_told,
    require_task,
)
from lawful.engines.shuffle.keys import PackedKey, key_names
from lawful.engines.shuffle.values import valued_columns, with_values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData
    from lawful.tables.shuffled.table import ShuffledTable

_MOST_LAWS = 256
"""Laws of a job, so that a task ends within reason."""
_COUNTS = "t int, violations decimal(38, 0), error string"
_SCHEMA = pa.schema([("t", pa.int32()), ("violations", pa.decimal128(38, 0)), ("error", pa.string())])


class MeasuringJob(NamedTuple):
    """Tasks that are counted together, in whole classes of some columns on which rows that break their laws agree."""

    columns: tuple[int, ...]
    tasks: list[CheckTask]


def measuring_jobs(tasks: Iterable[CheckTask], classes: Callable[[Law], tuple[int, ...]]) -> Iterator[MeasuringJob]:
    """Put tasks together whose laws are counted in the same classes."""
    together: dict[tuple[int, ...], list[CheckTask]] = {}
    for task in tasks:
        together.setdefault(classes(task.law), []).append(task)
    for columns, some in together.items():
        for first in range(0, len(some), _MOST_LAWS):
            yield MeasuringJob(columns, some[first : first + _MOST_LAWS])


def fine_classes(law: Law) -> tuple[int, ...]:
    """All columns that a law compares by =."""
    return tuple(sorted(equal_columns(law)))


def coarse_classes(table: ShuffledTable, chunk_rows: int) -> Callable[[Law], tuple[int, ...]]:
    """Gives the one of the columns that a law compares by = that has most values; none where a task takes all rows."""

    def classes(law: Law) -> tuple[int, ...]:
        columns = fine_classes(law)
        return (max(columns, key=table.distinct),) if columns and table.rows > chunk_rows else ()

    return classes


def measure_together(
    data: ShuffledData,
    job: MeasuringJob,
    policy: NullPolicy,
    chunk_rows: int,
    gathered: Callable[[DataFrame], list[dict[str, Any]]],
) -> dict[int, int]:
    """What each task of a job counts.

    Raises
    ------
    TooLargeError
        If a class is too large for a task.
    """
    if not job.columns:
        require_task(data.rows)
    key, tasks = PackedKey.of(job.columns, data.codings), job.tasks
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
