"""The evidence for denial constraints: what pairs of rows say about every comparison of a predicate space.

The evidence of a pair (t, s) is the set of predicates that it satisfies (Hydra, section 4.1). It is kept as one sign
per group of predicates: two bits, `less` and `greater`, in two planes of words. Equal has neither, unknown has both. A
group that does not tell less from greater has `less` wherever the pair is known to differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Bytes, Int32s, Int64s
from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.byte_columns import ByteColumns, Layout, null_bytes, planes_for, sorted_order
from lawful.evidence.denials.lanes import Lane, column_lane, lanes_of
from lawful.evidence.exact import ShouldStop, Tile, compared_vectors
from lawful.evidence.kernels.layout import ordered_byte_planes
from lawful.evidence.multisets import grouped_vectors
from lawful.evidence.pairs_of_rows import Rows, in_front
from lawful.evidence.signs import SignVectors
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranked_table import RankedTable, stacked


@dataclass(frozen=True, eq=False, slots=True)
class DenialEvidence:
    """Distinct vectors of pairs (t, s), one order of each two rows; the other order follows.

    Attributes
    ----------
    signs
        The vectors; bit g stands for group g of the space.
    counts
        The pairs of rows with each vector, `int64[vectors]`; None if they were not counted. A vector and its mirror
        image may both be there, for different pairs.
    witnesses
        A pair (t, s) of rows for each vector, `int32[vectors, 2]`.
    """

    signs: SignVectors
    counts: Int64s | None
    witnesses: Int32s

    def __len__(self) -> int:
        return len(self.signs)


def all_evidence(
    table: EncodedTable,
    space: PredicateSpace,
    policy: NullPolicy,
    threads: int | None = None,
    should_stop: ShouldStop | None = None,
    *,
    counted: bool = True,
) -> DenialEvidence:
    """The evidence of all pairs of rows; see `all_agree_sets` for the parameters."""
    return _evidence(_byte_columns(table, space, policy), None, threads, should_stop, counted)


def evidence_of_tile(
    table: EncodedTable,
    space: PredicateSpace,
    policy: NullPolicy,
    tile: Tile,
    should_stop: ShouldStop | None = None,
    *,
    counted: bool = True,
) -> DenialEvidence:
    """The evidence of the pairs of one tile, in this thread; see `merge_evidence`."""
    return _evidence(_byte_columns(table, space, policy), tile, 1, should_stop, counted)


def merge_evidence(parts: Sequence[DenialEvidence]) -> DenialEvidence:
    """Put the evidence of tiles together: counts add up, the first witness stays."""
    planes = [np.concatenate([part.signs.less for part in parts]), np.concatenate([p.signs.greater for p in parts])]
    all_counts = [part.counts for part in parts if part.counts is not None]
    counts = np.concatenate(all_counts) if all_counts else None
    grouped, counts, witnesses = grouped_vectors(planes, counts, np.concatenate([part.witnesses for part in parts]))
    return DenialEvidence(SignVectors(grouped[0], grouped[1]), counts, witnesses)


def signs_of_rows(
    table: RankedTable,
    policy: NullPolicy,
    rows: Rows,
    tile: Tile,
    threads: int | None = 1,
    should_stop: ShouldStop | None = None,
) -> DenialEvidence:
    """How some rows compare with all rows, column by column: the pairs of `tile`, of `tile_of_rows` or a part of it.

    Every column is a group by itself, compared by its order. Pairs are not counted.

    Raises
    ------
    UsageError
        If a row is not there or comes twice.
    """
    lanes = [column_lane(table, column, policy) for column in range(table.width)]
    return _evidence(_laid_out(lanes, table.rows, policy, rows), tile, threads, should_stop, False)


def evidence_of_rows(
    table: EncodedTable,
    space: PredicateSpace,
    policy: NullPolicy,
    rows: Rows,
    tile: Tile,
    threads: int | None = 1,
    should_stop: ShouldStop | None = None,
) -> DenialEvidence:
    """How some rows compare with all rows over a space; see `signs_of_rows`. Pairs are not counted."""
    return _evidence(
        _laid_out(lanes_of(table, space, policy), table.rows, policy, rows), tile, threads, should_stop, False
    )


def _byte_columns(table: EncodedTable, space: PredicateSpace, policy: NullPolicy) -> ByteColumns:
    """Lay the lanes of a space out as the kernels that compare all pairs want them."""
    return _laid_out(lanes_of(table, space, policy), table.rows, policy)


def _laid_out(all_lanes: Sequence[Lane], rows: int, policy: NullPolicy, first: Rows = range(0)) -> ByteColumns:
    """Lay lanes out, with some rows in front."""
    varying = [group for group, lane in enumerate(all_lanes) if lane.varies]
    # First the lanes with two bits: those with an order, then those that may be unknown.
    numbers = sorted(varying, key=lambda g: (not all_lanes[g].is_ordered, all_lanes[g].nulls is None))
    lanes = [all_lanes[group] for group in numbers]
    ordered = sum(lane.is_ordered for lane in lanes)
    second = sum(lane.is_ordered or lane.nulls is not None for lane in lanes)
    right = stacked([lane.right for lane in lanes], rows)
    is_one = all(lane.left is lane.right for lane in lanes)
    left = right if is_one else stacked([lane.left for lane in lanes], rows)
    highest = [lane.highest for lane in lanes]
    order = sorted_order(right, highest, [place for place, lane in enumerate(lanes) if lane.left is lane.right])
    order = in_front(first, order) if len(first) else order
    layout = Layout.of(tuple(range(len(lanes))), tuple(map(planes_for, highest)), second)
    planes = ordered_byte_planes(right, order, layout.line, layout.byte)
    return ByteColumns(
        columns=tuple(range(len(all_lanes))),
        policy=policy,
        rows=rows,
        layout=layout,
        own=planes if is_one else ordered_byte_planes(left, order, layout.line, layout.byte),
        planes=planes,
        ordered_planes=int(np.searchsorted(layout.lane, ordered)),
        nulls=_nulls(lanes[:second], order),
        lanes=np.array(numbers, np.int64),
        always_equal=(),
        always_differ=(),
        order=order,
    )


def _nulls(lanes: Sequence[Lane], order: Int32s) -> Bytes:
    """Where lanes are unknown, eight per byte, if any is anywhere."""
    if all(lane.nulls is None for lane in lanes):
        return np.empty((0, 0), np.uint8)
    none = np.zeros(order.size, np.bool_)
    return null_bytes(np.stack([(none if lane.nulls is None else lane.nulls)[order] for lane in lanes]))


def _evidence(
    compared: ByteColumns, tile: Tile | None, threads: int | None, should_stop: ShouldStop | None, counted: bool
) -> DenialEvidence:
    keys, counts, witnesses = compared_vectors(compared, tile, threads, should_stop, counted=counted)
    assert compared.order is not None
    rows = compared.order[witnesses] if len(witnesses) else witnesses
    return DenialEvidence(SignVectors(*compared.decode(keys)), counts, rows)
