"""All violating rows of a law: found by tasks, sorted by Spark, and brought to the driver piece by piece.

A group is known by its first row, and groups come in the order of these. Nothing here holds more than a piece: a frame
of the rows can be written or counted where they are, and a stream of them takes the memory of a partition.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.checks import GroupRows, Most, VariantRows, Workspace, checks_of, find_violations, violating_rows
from lawful.checks.summaries import summary_of_group
from lawful.common.arrays import Int64s
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, FD, POD, Key, Law, ListOD
from lawful.dependencies.denial_readings import plain_law
from lawful.dependencies.pointwise import as_denial
from lawful.engines.payloads import batch_bytes, read_batch
from lawful.engines.shuffle.chunks import Chunk, Runner
from lawful.engines.shuffle.classes import CACHE_BYTES, by_classes, chunks_of_classes
from lawful.engines.shuffle.keys import PackedKey, key_names, without_nulls
from lawful.tables.ranking import typed_to_text
from lawful.tables.shown_rows import Shown, places_of, row_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.engines.shuffle.large import LargeClasses, LargeRows
    from lawful.tables.shuffled.data import ShuffledData
    from lawful.tables.shuffled.table import ShuffledTable

_LISTED = "lawful_group bigint, lawful_row bigint, lawful_other bigint, lawful_place int"
"""A row and the first row of its group. Of a pair also the second row, and which of the two this is."""
_NAMES = [part.split()[0] for part in _LISTED.split(", ")]
_IN_ORDER = ("lawful_group", "lawful_other", "lawful_place", "lawful_row")
_NO_PAIR = -1
_SUMMARIES = "first bigint, summary string"


def simplest(law: Law) -> Law:
    """The key, functional dependency or order that says exactly what a law says; else the law itself."""
    if isinstance(law, POD | DC):
        return plain_law(as_denial(law) if isinstance(law, POD) else law) or law
    return law


def listed_rows(
    data: ShuffledData, law: Law, policy: NullPolicy, chunk_rows: int, of_large: LargeRows, *, in_pairs: bool = False
) -> DataFrame:
    """The violating rows of a law with their groups, found when the frame is used; large classes are cut before."""
    law = simplest(law)
    if isinstance(law, Key | FD):
        return _listed_by_keys(data, law, policy)
    large = of_large.classes(law)
    found = _listed_in_large(data, law, of_large, large, in_pairs=in_pairs) if large else None
    if found is not None and large.are_all:
        return found
    rows, words = by_classes(data, law, in_order=True, where=large.others)
    runner = _row_runner(law, policy, words, tuple(data.types), chunk_rows, in_pairs=in_pairs)
    others = rows.mapInArrow(runner, _LISTED)
    return others if found is None else others.unionByName(found)


def _listed_in_large(
    data: ShuffledData, law: Law, of_large: LargeRows, large: LargeClasses, *, in_pairs: bool
) -> DataFrame:
    """The violating rows of large classes: a group is a class, or what an order of lists links."""
    if in_pairs and isinstance(law, POD | DC):
        both = (f"named_struct('lawful_row', {row}, 'lawful_place', {place})" for place, row in enumerate(("t", "s")))
        pairs = of_large.violating_pairs(law, large).selectExpr("t", "s", f"inline(array({', '.join(both)}))")
        return pairs.selectExpr("t as lawful_group", "lawful_row", "s as lawful_other", "lawful_place")
    rows = of_large.violating(law, large)
    firsts = rows.groupBy("part").agg(data.expr("min(lawful_row) as lawful_group"))
    if not isinstance(law, ListOD):
        firsts = firsts.hint("broadcast")
    pair = f"{_NO_PAIR}L as lawful_other", "0 as lawful_place"
    return rows.join(firsts, "part").selectExpr("lawful_group", "lawful_row", *pair)


def _listed_by_keys(data: ShuffledData, law: Key | FD, policy: NullPolicy) -> DataFrame:
    """The rows of classes with several right sides, whatever the size of a class; a key determines the row."""
    lhs = law.lhs if isinstance(law, FD) else law.columns
    judged = (*lhs, law.rhs) if isinstance(law, FD) else lhs
    key = PackedKey.of(lhs, data.codings)
    names = key_names(max(1, len(key.words)))
    keys = [f"{text} as {name}" for text, name in zip(key.texts(len(names)), names, strict=True)]
    side = f"cast(c{law.rhs} as bigint)" if isinstance(law, FD) else "row"
    ranks = data.ranks.where(without_nulls(judged)) if judged and policy is NullPolicy.IGNORE else data.ranks
    rows = ranks.selectExpr(*keys, "row as lawful_row", f"{side} as a")
    sides = ("min(a) as low", "max(a) as high", "min(lawful_row) as lawful_group")
    groups = rows.groupBy(*names).agg(*map(data.expr, sides)).where("low < high").select(*names, "lawful_group")
    pair = f"{_NO_PAIR}L as lawful_other", "0 as lawful_place"
    return rows.join(groups, names).selectExpr("lawful_group", "lawful_row", *pair)


def _row_runner(
    law: Law, policy: NullPolicy, words: int, types: Sequence[ColumnType], most: int, *, in_pairs: bool
) -> Runner:
    """A task that gives the violating rows of whole classes."""

    def listed(chunk: Chunk) -> Iterator[pa.RecordBatch]:
        ids, workspace = chunk.ids(), Workspace(chunk, policy, CACHE_BYTES)
        are_pairs = in_pairs and checks_of(law).violating_pairs(law, workspace) is not None
        last = -1, -1  # a group that goes on in the next batch, and its first row
        for groups, rows in violating_rows(law, chunk, workspace, in_pairs=in_pairs):
            own, places = ids[rows], np.zeros(rows.size, np.int32)
            others = np.full(rows.size, _NO_PAIR, np.int64)
            if are_pairs:
                others, places = np.repeat(own[1::2], 2), np.arange(rows.size, dtype=np.int32) % 2
            distinct, starts, numbers = np.unique(groups, return_index=True, return_inverse=True)
            firsts = own[starts]
            if distinct[0] == last[0]:
                firsts[0] = last[1]
            last = int(distinct[-1]), int(firsts[-1])
            arrays = [pa.array(values) for values in (firsts[numbers], own, others, places)]
            yield pa.RecordBatch.from_arrays(arrays, names=_NAMES)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in chunks_of_classes(batches, words, types, most):
            yield from listed(chunk)

    return run


def pieces_in_order(data: ShuffledData, rows: DataFrame, shown: Shown | None) -> DataFrame:
    """Violating rows by their groups, as batches in bytes (`piece`), with what is shown of them."""
    columns = () if shown is None else shown.columns
    is_text = shown is not None and shown.as_text
    valued = data.with_values(rows, columns) if columns else rows
    values = [f"v{column}" for column in columns]
    in_order = valued.orderBy(*_IN_ORDER).select("lawful_group", "lawful_other", "lawful_row", *values)
    return in_order.mapInArrow(_piece_runner(len(values) if is_text else 0), "piece binary")


def _piece_runner(texts: int) -> Runner:
    """A task that turns batches into bytes, and so many of their last columns into texts."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            kept = batch.num_columns - texts
            arrays = [*batch.columns[:kept], *map(typed_to_text, batch.columns[kept:])]
            piece = pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
            yield pa.RecordBatch.from_arrays([pa.array([batch_bytes(piece)], pa.binary())], names=["piece"])

    return run


def numbered_batches(
    pieces: Iterable[bytes], table: ShuffledTable, shown: Shown | None, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Read pieces that come in order: groups are numbered from 0, and rows get their places in files."""
    number, last = -1, (-1, -1)
    for piece in pieces:
        batch = read_batch(piece)
        if not batch.num_rows:
            continue
        firsts, others = (batch.column(place).to_numpy() for place in (0, 1))
        begins = np.ones(batch.num_rows, np.bool_)
        begins[1:] = (firsts[1:] != firsts[:-1]) | (others[1:] != others[:-1])
        begins[0] = last != (firsts[0], others[0])
        groups = number + np.cumsum(begins)
        number, last = int(groups[-1]), (int(firsts[-1]), int(others[-1]))
        ids: Int64s = batch.column(2).to_numpy()
        places = () if shown is None else places_of(table.origins, ids)
        yield pa.RecordBatch.from_arrays([pa.array(groups), pa.array(ids), *places, *batch.columns[3:]], schema=schema)


def listed_schema(data: ShuffledData, shown: Shown | None) -> pa.Schema:
    """The schema of such batches."""
    if shown is None or shown.as_text:
        columns = () if shown is None else shown.columns
        return row_schema(columns, [pa.string()] * len(columns), has_places=shown is not None)
    nothing = data.with_values(data.ranks.selectExpr("row as lawful_row").limit(0), shown.columns).toArrow()
    types = [nothing.schema.field(f"v{column}").type for column in shown.columns]
    return row_schema(shown.columns, types, has_places=True)


def summarized(data: ShuffledData, law: Law, policy: NullPolicy, chunk_rows: int, most: Most) -> DataFrame:
    """The first groups of violating rows in short, in their order (`first`, `summary`)."""
    rows, words = by_classes(data, law, in_order=True)
    found = rows.mapInArrow(_summary_runner(law, policy, words, tuple(data.types), chunk_rows, most), _SUMMARIES)
    in_order = found.orderBy("first")
    return in_order if most.groups is None else in_order.limit(most.groups)


def _summary_runner(
    law: Law, policy: NullPolicy, words: int, types: Sequence[ColumnType], most_rows: int, most: Most
) -> Runner:
    """A task that tells, of all groups of its classes, those with the least first rows."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kept: list[tuple[int, str]] = []
        for chunk in chunks_of_classes(batches, words, types, most_rows):
            ids, workspace = chunk.ids(), Workspace(chunk, policy, CACHE_BYTES)
            found = find_violations(law, chunk, workspace)
            firsts = ids[found.rows[found.offsets[:-1]]]
            for group in np.argsort(firsts)[: most.groups].tolist():
                members = found.rows[found.offsets[group] : found.offsets[group + 1]]
                told = with_ids(summary_of_group(members, law, workspace, most), ids)
                kept.append((told.first, json.dumps(told)))
            kept = sorted(kept)[: most.groups]
        arrays = [pa.array([first for first, _ in kept], pa.int64()), pa.array([text for _, text in kept], pa.string())]
        yield pa.RecordBatch.from_arrays(arrays, names=["first", "summary"])

    return run


def with_ids(group: GroupRows, ids: Int64s) -> GroupRows:
    """A group whose rows are places among some rows, with the ids of these instead."""
    variants = tuple(VariantRows(size, tuple(ids[list(rows)].tolist())) for size, rows in group.variants)
    return group._replace(first=int(ids[group.first]), variants=variants)
