"""Denial constraints without equalities, whose one class is the whole table: most rows can be left out of it.

Comparisons within a row and with constants say who may be t or s; rows that may be neither go. If what is left compares
t with s in one order at most, two rows for t and two for s stand for a chunk: those from which the order asks least
and those that offer most. Two, because a row is no partner of itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from lawful.checks import Workspace
from lawful.checks.denials.denial import Denial, make_ready
from lawful.common.arrays import Flags, Int32s
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, Constant
from lawful.engines.shuffle.chunks import Runner, in_chunks
from lawful.engines.shuffle.values import ValuedChunk

_STAND_FOR_ALL = 2


def pruner(law: DC, policy: NullPolicy, types: Sequence[ColumnType], most: int) -> Runner:
    """A task that keeps the rows that decide whether a law holds."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in in_chunks(batches, most):
            denial = make_ready(law, Workspace(ValuedChunk(rows, types), policy))
            if denial is not None:
                yield from rows.take(pa.array(_deciding(denial, rows.num_rows))).combine_chunks().to_batches()

    return run


def can_prune(law: DC) -> bool:
    """Whether a law asks something of single rows, or compares two of them in one order at most."""
    between = [p for p in law.predicates if not isinstance(p.right, Constant) and p.left.row != p.right.row]
    is_order = len(between) <= 1 and all(predicate.operator not in ("=", "!=") for predicate in between)
    return is_order or len(between) < len(law.predicates)


def _deciding(denial: Denial, rows: int) -> Int32s:
    """The places of the rows that decide."""
    t_rows, s_rows = (_places(fits, rows) for fits in (denial.t_fits, denial.s_fits))
    is_simple = not (denial.equal_columns or denial.equal_across or denial.differences)
    if is_simple and len(denial.orders) <= 1:
        for order in denial.orders:
            t_rows = t_rows[np.argsort(order.bounds(t_rows), kind="stable")]
            s_rows = s_rows[np.argsort(-order.values(s_rows), kind="stable")]
        t_rows, s_rows = t_rows[:_STAND_FOR_ALL], s_rows[:_STAND_FOR_ALL]
    return np.union1d(t_rows, s_rows)


def _places(fits: Flags | None, rows: int) -> Int32s:
    return np.arange(rows, dtype=np.int32) if fits is None else np.flatnonzero(fits).astype(np.int32)
