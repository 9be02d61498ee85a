"""Laws whose violations lie within classes: rows that agree on some columns meet in one task, in whole classes.

Rows are partitioned by the columns on which a law wants them to be equal, sorted by these, and read in chunks of whole
classes, so that the ordinary checks see every pair that can break the law. A class must fit a task; a law without
equalities has one class, the whole table. Classes beyond that are left out here and cut elsewhere (`large`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check, find_violations
from lawful.common.errors import EngineError, LawfulError, TooLargeError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Constant, Key, Law, columns_of
from lawful.dependencies.pointwise import as_denial
from lawful.engines.shuffle.chunks import Chunk, Runner
from lawful.engines.shuffle.keys import PackedKey, key_names
from lawful.engines.shuffle.values import ValuedChunk, valued_columns, with_values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

LARGEST_CLASS = 5_000_000
"""Rows of a class that a task still takes: some hundred megabytes with what checks make of them."""
DAMAGES = (
    "holds boolean, first bigint, second bigint, rows bigint, groups bigint, pairs decimal(38, 0), removals bigint, "
    "error string"
)
_DAMAGE_TYPES = (
    pa.bool_(),
    pa.int64(),
    pa.int64(),
    pa.int64(),
    pa.int64(),
    pa.decimal128(38, 0),
    pa.int64(),
    pa.string(),
)
_DAMAGE_NAMES = [part.split()[0] for part in DAMAGES.replace("(38, 0)", "").split(", ")]
CACHE_BYTES = 64 << 20
SIGNS = {"=": (0,), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1), "!=": (-1, 1)}
"""How the value of t may stand to that of s, by the operator between them."""


def equal_columns(law: Law) -> tuple[int, ...]:
    """The columns on which two rows that break a law agree."""
    if isinstance(law, Key):
        return law.columns
    if isinstance(law, FD):
        return law.lhs
    if isinstance(law, CanonicalOD):
        return law.context
    if isinstance(law, POD):
        return tuple(column for column, operator in law.lhs if operator == "=")
    if isinstance(law, DC):
        return tuple(dict.fromkeys(_equalities(law)))
    return ()


def _equalities(law: DC) -> Iterator[int]:
    for predicate in law.predicates:
        left, right = predicate.left, predicate.right
        is_of_both = not isinstance(right, Constant) and left.row != right.row and left.column == right.column
        if predicate.operator == "=" and is_of_both:
            yield left.column


def class_columns(law: Law) -> tuple[int, ...]:
    """The columns on which two rows that break a law agree, also where several comparisons say so together."""
    if not isinstance(law, POD | DC):
        return equal_columns(law)
    signs: dict[int, set[int]] = {}
    for predicate in (as_denial(law) if isinstance(law, POD) else law).predicates:
        left, right = predicate.left, predicate.right
        if not isinstance(right, Constant) and left.row != right.row and left.column == right.column:
            signs.setdefault(left.column, {-1, 0, 1}).intersection_update(SIGNS[predicate.operator])
    return tuple(column for column, left_over in signs.items() if left_over == {0})


def law_columns(law: Law) -> list[int]:
    """The columns of a law, each once."""
    return sorted(set(columns_of(law)))


def by_classes(
    data: ShuffledData,
    law: Law,
    *,
    columns: Sequence[int] | None = None,
    in_order: bool = False,
    prune: Runner | None = None,
    where: str | None = None,
) -> tuple[DataFrame, int]:
    """The rows with the columns of a law, in whole classes and sorted by them; and the words of their keys.

    With `columns`, these instead of the law's own. With `in_order` the rows of a class come in the order of their ids.
    Where all rows are one class, a task can leave out those that it need not have, by `prune`. With `where` only some
    rows are taken, in whole classes.
    """
    key = PackedKey.of(class_columns(law), data.codings)
    names = key_names(len(key.words))
    keys = [f"{text} as {name}" for text, name in zip(key.texts(len(names)), names, strict=True)]
    ranks = [f"c{column}" for column in columns or law_columns(law)]
    values = [f"v{column}" for column in valued_columns(law)]
    given = with_values_of(data, [law])
    rows = (given if where is None else given.where(where)).selectExpr(*keys, "row", *ranks, *values)
    if names:
        together = rows.repartition(*names)
    elif prune is None:
        together = rows.coalesce(1)
    else:
        schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)
        together = rows.mapInArrow(prune, schema).repartition(1)
    sorted_by = [*names, "row"] if in_order else names
    return (together.sortWithinPartitions(*sorted_by) if sorted_by else together), len(names)


def damage_runner(
    law: Law, policy: NullPolicy, words: int, types: Sequence[ColumnType], most: int, *, counts: bool
) -> Runner:
    """A task that checks a law on whole classes: it tells two rows, or the first one and how much breaks the law."""

    def work(chunk: Chunk, workspace: Workspace) -> Iterator[tuple[object, ...]]:
        ids, pair = chunk.ids(), check(CheckTask(0, law), chunk, workspace).witness
        if pair is not None and counts:
            found = find_violations(law, chunk, workspace)
            yield (False, int(ids[found.rows].min()), None, *astuple(found.damage), None)
        elif pair is not None:
            first, second = sorted(int(ids[place]) for place in pair)
            yield (False, first, second, *(None,) * 4, None)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines: list[tuple[object, ...]] = []
        try:
            for chunk in chunks_of_classes(batches, words, types, most):
                lines += work(chunk, Workspace(chunk, policy, CACHE_BYTES))
        except LawfulError as error:
            lines = [(None,) * 7 + (error.typed_message,)]
        columns = zip(*lines, strict=True) if lines else ((),) * len(_DAMAGE_TYPES)
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, _DAMAGE_TYPES, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=_DAMAGE_NAMES)

    return run


def too_large() -> str:
    """What is wrong with a class that is too large."""
    return (
        f"more than {LARGEST_CLASS:,} rows agree on all columns that a law compares by =, and a task takes no more; "
        "use --placement replicate"
    )


def require_task(rows: int) -> None:
    """Refuse rows of one class that a task does not take."""
    if rows > LARGEST_CLASS:
        raise TooLargeError(too_large())


def raise_told(error: str | None) -> None:
    """Raise what a task could not do, if it told such a thing."""
    if error is not None:
        raise TooLargeError(error) if error == too_large() else EngineError(error)


def chunks_of_classes(
    batches: Iterator[pa.RecordBatch], words: int, types: Sequence[ColumnType], most: int
) -> Iterator[ValuedChunk]:
    """Whole classes as chunks of a table that has columns of some types."""
    for rows in whole_classes(batches, words, most):
        yield ValuedChunk(rows.drop_columns(key_names(words)) if words else rows, types)


def whole_classes(batches: Iterator[pa.RecordBatch], words: int, most: int) -> Iterator[pa.Table]:
    """Cut rows that are sorted by the words of their keys (`k0`, …) into about `most` at once, between classes only."""
    waiting: list[pa.RecordBatch] = []
    rows, look_at = 0, most
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows < look_at:
            continue
        table = pa.Table.from_batches(waiting).combine_chunks()
        cut = _last_start(table, words)
        if rows - cut > LARGEST_CLASS:
            raise TooLargeError(too_large())
        if cut:
            yield table.slice(0, cut)
        rest = table.slice(cut)
        waiting, rows = rest.to_batches(), rest.num_rows
        look_at = most if cut else 2 * rows  # one class is looked at again when it has doubled
    if rows > LARGEST_CLASS and not words:
        raise TooLargeError(too_large())
    if rows:
        yield pa.Table.from_batches(waiting)


def _last_start(table: pa.Table, words: int) -> int:
    """Where the last class begins."""
    differs = np.zeros(table.num_rows, np.bool_)
    for name in key_names(words):
        values = table.column(name).to_numpy()
        differs[1:] |= values[1:] != values[:-1]
    starts = np.flatnonzero(differs)
    return int(starts[-1]) if starts.size else 0
