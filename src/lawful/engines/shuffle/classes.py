"""Laws whose violations lie within classes: rows that agree on some columns meet in one task, in whole classes.

Rows are partitioned by the columns on which a law wants them to be equal, sorted by these, and read in chunks of whole
classes, so that the ordinary checks see every pair that can break the law. A class must fit a task; a law without
equalities has one class, the whole table. Beyond a limit that is an error and never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check, violating_rows
from lawful.common.errors import LawfulError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Constant, Key, Law, columns_of
from lawful.engines.shuffle.chunks import Chunk, Runner
from lawful.engines.shuffle.keys import PackedKey, key_names

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
_CACHE_BYTES = 64 << 20


class TooLargeError(Exception):
    """A class has more rows than a task takes."""


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


def needs_values(law: Law) -> bool:
    """Whether a law compares columns with others or with constants, for which ranks are not enough."""
    return isinstance(law, DC) and any(
        isinstance(predicate.right, Constant) or predicate.left.column != predicate.right.column
        for predicate in law.predicates
    )


def law_columns(law: Law) -> list[int]:
    """The columns of a law, each once."""
    return sorted(set(columns_of(law)))


def by_classes(data: ShuffledData, law: Law) -> tuple[DataFrame, int]:
    """The rows with the columns of a law, in whole classes and sorted by them; and the words of their keys."""
    columns = equal_columns(law)
    key = PackedKey.of(columns, data.codings)
    names = key_names(len(key.words))
    keys = [f"{text} as {name}" for text, name in zip(key.texts(len(names)), names, strict=True)]
    rows = data.ranks.selectExpr(*keys, "row", *(f"c{column}" for column in law_columns(law)))
    if not names:
        return rows.coalesce(1), 0
    return rows.repartition(*names).sortWithinPartitions(*names), len(names)


def damage_runner(law: Law, policy: NullPolicy, words: int, width: int, most: int, *, counts: bool) -> Runner:
    """A task that checks a law on whole classes, and counts what breaks it if asked."""

    def work(chunk: Chunk, workspace: Workspace) -> Iterator[tuple[object, ...]]:
        verdict = check(CheckTask(0, law, damage=counts), chunk, workspace)
        if verdict.witness is not None:
            first, second = sorted(int(chunk.ids()[place]) for place in verdict.witness)
            damage = verdict.damage
            told = (None,) * 4 if damage is None else (damage.rows, damage.groups, damage.pairs, damage.removals)
            yield (False, first, second, *told, None)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines: list[tuple[object, ...]] = []
        try:
            for rows in whole_classes(batches, words, most):
                chunk = _chunk(rows, words, width)
                lines += work(chunk, Workspace(chunk, policy, _CACHE_BYTES))
        except TooLargeError:
            lines = [(None,) * 7 + (too_large(),)]
        except LawfulError as error:
            lines = [(None,) * 7 + (str(error),)]
        columns = zip(*lines, strict=True) if lines else ((),) * len(_DAMAGE_TYPES)
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, _DAMAGE_TYPES, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=_DAMAGE_NAMES)

    return run


VIOLATING = "lawful_group bigint, lawful_row bigint"


def row_runner(law: Law, policy: NullPolicy, words: int, width: int, most: int) -> Runner:
    """A task that gives the violating rows of a law; a group has the least id of its rows."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            for whole in whole_classes(batches, words, most):
                chunk = _chunk(whole, words, width)
                ids = chunk.ids()
                least: dict[int, int] = {}
                for groups, rows in violating_rows(law, chunk, Workspace(chunk, policy, _CACHE_BYTES)):
                    own = ids[rows]
                    order = np.argsort(own, kind="stable")[::-1]
                    for group, id_ in zip(groups[order].tolist(), own[order].tolist(), strict=True):
                        least[group] = min(id_, least.get(group, id_))
                    named = pa.array([least[group] for group in groups.tolist()], pa.int64())
                    yield pa.RecordBatch.from_arrays([named, pa.array(own)], names=["lawful_group", "lawful_row"])
        except TooLargeError:
            raise RuntimeError(too_large()) from None

    return run


def too_large() -> str:
    """What is wrong with a class that is too large."""
    return (
        f"more than {LARGEST_CLASS:,} rows agree on all columns that a law compares by =, and a task takes no more; "
        "use --placement replicate"
    )


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
            raise TooLargeError
        if cut:
            yield table.slice(0, cut)
        rest = table.slice(cut)
        waiting, rows = rest.to_batches(), rest.num_rows
        look_at = most if cut else 2 * rows  # one class is looked at again when it has doubled
    if rows > LARGEST_CLASS and not words:
        raise TooLargeError
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


def _chunk(table: pa.Table, words: int, width: int) -> Chunk:
    return Chunk(table.drop_columns(key_names(words)) if words else table, width)
