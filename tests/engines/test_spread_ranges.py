"""Buckets by range: boxes never rule out rows that break a law, and rows stay where they are when buckets are cut."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st
from maintenance.changing_tables import Row, rows_of
from maintenance.test_pinned_laws import LAWS, POLICIES, WIDTH, breaks, fitting

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import CanonicalOD, Law, columns_of
from lawful.engines.spread.boxes import Box, Meeting, Ranking, boxes_of, comparisons_of, joined_boxes
from lawful.engines.spread.cuts import depth_of, leaves_of, placed, read_tree, tree_document, tree_of, with_leaf
from lawful.engines.spread.kept_laws import KeptLaw

LISTED = pa.list_(pa.string())
ANY_LAW = st.one_of(*LAWS)


def ranking_of(law: Law, policy: NullPolicy) -> Ranking:
    kept = KeptLaw(0, law, "ranges", tuple(sorted(set(columns_of(law)))), ())
    return Ranking(kept, (ColumnType.INTEGER,) * WIDTH, policy)


def cells_of(ranking: Ranking, rows: list[Row]) -> pa.Array:
    texts = [[None if row[n] is None else str(row[n]) for n in ranking.kept.columns] for row in rows]
    return pa.array(texts, LISTED)


@given(law=ANY_LAW, policy=POLICIES, rows=rows_of(WIDTH, 10), leaves=st.integers(1, 5), data=st.data())
def test_rows_that_break_a_law_are_in_boxes_that_may_meet(
    law: Law, policy: NullPolicy, rows: list[Row], leaves: int, data: st.DataObject
) -> None:
    assume(fitting([law], policy))
    ranking = ranking_of(law, policy)
    cells = cells_of(ranking, rows)
    tree = tree_of(ranking, cells.slice(0, data.draw(st.integers(0, len(rows)))), leaves, 3)
    assert read_tree(json.loads(json.dumps(tree_document(tree)))) == tree
    assert sorted(leaves_of(tree)) == list(range(3, 3 + len(leaves_of(tree))))
    assert len(leaves_of(tree)) <= leaves
    buckets = placed(ranking, tree, cells)
    assert set(buckets.tolist()) <= set(leaves_of(tree))
    # Boxes of single rows, put together, are those of all rows.
    pieces = [
        each for n in range(len(rows)) for each in boxes_of(ranking, cells[n : n + 1], buckets[n : n + 1]).items()
    ]
    boxes = joined_boxes(ranking, pieces)
    assert boxes == boxes_of(ranking, cells, buckets)
    assert {bucket: Box.from_list(json.loads(json.dumps(box.to_list()))) for bucket, box in boxes.items()} == boxes
    numbers = {bucket: len(rows) + place for place, bucket in enumerate(boxes)}
    meeting = Meeting(ranking, cells, list(boxes.values()))
    for pair in breaks(law, policy, rows):
        for one, other in (pair, pair[::-1]):
            first, second = (numbers[buckets[row]] for row in (one, other))
            assert meeting.meets(one, np.array([other, second])).all()
            assert meeting.meets(first, np.array([other, second])).all()


@given(law=ANY_LAW, policy=POLICIES, rows=rows_of(WIDTH, 10), leaves=st.integers(1, 4), data=st.data())
def test_rows_stay_where_they_are_when_a_bucket_is_cut_above_them(
    law: Law, policy: NullPolicy, rows: list[Row], leaves: int, data: st.DataObject
) -> None:
    assume(fitting([law], policy) and rows)
    ranking = ranking_of(law, policy)
    cells = cells_of(ranking, rows)
    first = cells.slice(0, data.draw(st.integers(1, len(rows))))
    tree = tree_of(ranking, first, leaves, 0)
    before = placed(ranking, tree, first)
    boxes = boxes_of(ranking, first, before)
    for bucket, box in boxes.items():
        if box.t is not None and box.t == box.s and box.t:
            tree = with_leaf(tree, bucket, 0, box.t[0][1], 100 + bucket) if 0 in ranking.comparisons.cut_by else tree
            assert with_leaf(tree, bucket, 0, box.t[0][1], 200 + bucket) == tree
    t_fits, s_fits = ranking.ranked(first).fits()
    inside = np.flatnonzero(t_fits | s_fits)  # others are not in the index
    assert placed(ranking, tree, first)[inside].tolist() == before[inside].tolist()


def test_boxes_of_a_law_that_holds_meet_their_neighbours_alone() -> None:
    law = CanonicalOD((), 0, 1, "asc")
    ranking = ranking_of(law, NullPolicy.EQUAL)
    cells = cells_of(ranking, [(n, 2 * n, 0, 0) for n in range(1000)])
    tree = tree_of(ranking, cells, 16, 0)
    assert (len(leaves_of(tree)), depth_of(tree)) == (16, 4)
    buckets = placed(ranking, tree, cells)
    boxes = boxes_of(ranking, cells, buckets)
    assert {box.rows for box in boxes.values()} <= {62, 63}
    meeting = Meeting(ranking, cells_of(ranking, [(530, 1060, 0, 0), (530, 0, 0, 0)]), list(boxes.values()))
    assert meeting.meets(0, slice(2, None)).sum() == 1
    assert meeting.meets(1, slice(2, None)).sum() == 9
    for box in range(2, 18):
        assert meeting.meets(box, slice(2, None)).sum() == 1


def test_what_may_only_differ_is_not_cut() -> None:
    assert comparisons_of(CanonicalOD((2,), 0, 1, "asc")).cut_by == (0, 1, 2)
