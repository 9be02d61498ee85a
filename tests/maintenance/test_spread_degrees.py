"""How many partners each row has, batch by batch in buckets by range: as brute force says. No Spark runs here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Law, columns_of
from lawful.engines.spread import range_index
from lawful.engines.spread.boxes import Ranking, boxes_of
from lawful.engines.spread.cuts import Ranges, leaves_of, placed, tree_of
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.range_index import _tile_table, _tiles, touched
from lawful.engines.spread.range_tasks import (
    CELLS,
    RowsOfLaw,
    batch_runner,
    degrees_within,
    lines_of_rows,
    partner_runner,
    tile_runner,
)
from lawful.maintenance.spread import ranged_laws
from maintenance.changing_tables import Row, changes, taken
from maintenance.test_pinned_laws import LAWS, POLICIES, WIDTH, breaks, fitting


@dataclass
class Index:
    """What a spread state has of one law, in this process."""

    ranking: Ranking
    ranges: Ranges
    lines: dict[int, tuple[int, list[str | None]]] = field(default_factory=dict)
    """The bucket and the cells of each row by its id."""
    degrees: Counter[tuple[int, int]] = field(default_factory=Counter)
    """The partners of each row by its bucket and id."""

    def add(self, found: Iterable[pa.RecordBatch]) -> None:
        for batch in found:
            for line in batch.to_pylist():
                self.degrees[line["bucket"], line["row"]] += line["d"]
                if line["witness"] is not None and line["d"] > 0:
                    assert line["row"] in [each["row"] for each in line["witness"]]

    def live(self, buckets: Iterable[int]) -> pa.RecordBatch:
        wanted = set(buckets)
        found = [(row, *line) for row, line in self.lines.items() if line[0] in wanted]
        return pa.RecordBatch.from_arrays(
            [
                pa.array([0] * len(found), pa.int32()),
                pa.array([bucket for _, bucket, _ in found], pa.int32()),
                pa.array([row for row, _, _ in found], pa.int64()),
                pa.array([cells for _, _, cells in found], CELLS),
            ],
            names=["t", "bucket", "row", "cells"],
        )

    def count(self) -> None:
        """As when a law is pinned: tile by tile."""
        tiles = _tiles(self.ranking, self.ranges.boxes)
        lines = []
        for tile in _tile_table(tiles).to_pylist() if tiles else ():
            for row, (bucket, cells) in self.lines.items():
                if bucket == tile["b"] and row % tile["pieces"] == tile["piece"]:
                    lines.append({"k0": tile["k0"], "side": tile["side"], "bucket": bucket, "row": row, "cells": cells})
        schema = pa.schema(
            [("k0", pa.int64()), ("side", pa.int64()), ("bucket", pa.int32()), ("row", pa.int64()), ("cells", CELLS)]
        )
        table = pa.RecordBatch.from_pylist(sorted(lines, key=lambda line: line["k0"]), schema=schema)
        self.add(tile_runner(self.ranking)(iter([table])))


def cells_of(ranking: Ranking, rows: Iterable[Row]) -> pa.Array:
    columns = ranking.kept.columns
    return pa.array([[None if row[n] is None else str(row[n]) for n in columns] for row in rows], CELLS)


def judged(ranking: Ranking, rows: list[Row], ids: list[int], signs: list[int], ranges: Ranges) -> RowsOfLaw:
    cells = cells_of(ranking, rows)
    kept = RowsOfLaw(ranking, np.array(ids, np.int64), np.array(signs, np.int64), np.zeros(len(ids), np.int64), cells)
    t_fits, s_fits = ranking.ranked(cells).fits()
    known = [ranking.null is NullPolicy.EQUAL or None not in texts for texts in cells.to_pylist()]
    kept = kept.taken((t_fits | s_fits) & np.array(known, np.bool_))
    buckets = placed(ranking, ranges.tree, kept.cells)
    return RowsOfLaw(ranking, kept.ids, kept.signs, buckets, kept.cells)


def index_of(ranking: Ranking, rows: dict[int, Row], leaves: int) -> Index:
    some = judged(ranking, list(rows.values()), list(rows), [1] * len(rows), Ranges(0, {}, 0, 1))
    tree = tree_of(ranking, some.cells, leaves, 5)
    table = lines_of_rows(ranking, some.ids, some.signs, tree, some.cells)
    found = zip(*(table.column(name).to_pylist() for name in ("rows", "bucket", "key")), strict=True)
    lines = {row: (bucket, cells) for (row,), bucket, cells in found}
    boxes = boxes_of(ranking, some.cells, placed(ranking, tree, some.cells))
    index = Index(ranking, Ranges(tree, boxes, len(rows), len(leaves_of(tree))), lines)
    index.count()
    return index


def is_right(index: Index, law: Law, policy: NullPolicy, rows: dict[int, Row]) -> None:
    ids, expected = list(rows), Counter[int]()
    for pair in breaks(law, policy, list(rows.values())):
        expected.update(ids[place] for place in pair)
    assert {row: degree for (_, row), degree in index.degrees.items() if degree} == dict(expected)


def follow(index: Index, law: Law, policy: NullPolicy, rows: dict[int, Row], gone: list[int], come: list[Row]) -> None:
    """As `RangedLaws.followed` does; `rows` are changed."""
    first = 1 + max(rows, default=-1)
    new = {first + place: row for place, row in enumerate(come)}
    both = {row: rows[row] for row in gone} | new
    signs = [-1] * len(gone) + [1] * len(new)
    batch = judged(index.ranking, list(both.values()), list(both), signs, index.ranges)
    for row in gone:
        rows.pop(row)
        index.lines.pop(row, None)
    within = batch if any(index.degrees.values()) else batch.taken(batch.signs > 0)
    index.add(degrees_within(within))
    met, buckets = touched(index.ranges, within)
    expected = {n for n, row in enumerate(come) if any(breaks(law, policy, [row, other]) for other in rows.values())}
    coming = batch.taken(batch.signs > 0)
    told = [
        line for each in partner_runner([coming])(iter([index.live(index.ranges.boxes)])) for line in each.to_pylist()
    ]
    assert {int(coming.ids[line["place"]]) - first for line in told} == expected
    assert all(breaks(law, policy, [rows[line["row"]], new[int(coming.ids[line["place"]])]]) for line in told)
    if buckets:
        index.add(batch_runner([met])(iter([index.live(buckets)])))
    document = SimpleNamespace(ranges={0: index.ranges})
    index.ranges = ranged_laws._grown(document, [batch])[0]  # type: ignore[arg-type]  # a document, as far as it is read
    for row, bucket, cells in zip(coming.ids.tolist(), coming.buckets.tolist(), coming.cells.to_pylist(), strict=True):
        index.lines[row] = bucket, cells
    rows |= new


@given(
    law=st.one_of(*LAWS),
    policy=POLICIES,
    changed=changes(WIDTH, most=7),
    leaves=st.integers(1, 5),
    piece=st.sampled_from([1, 2, 100]),
)
def test_degrees_after_any_batches_are_as_brute_force_says(
    law: Law,
    policy: NullPolicy,
    changed: tuple[list[Row], list[tuple[list[Row], float]]],
    leaves: int,
    piece: int,
) -> None:
    assume(fitting([law], policy))
    first, batches = changed
    kept = KeptLaw(0, law, "ranges", tuple(sorted(set(columns_of(law)))), ())
    ranking = Ranking(kept, (ColumnType.INTEGER,) * WIDTH, policy)
    rows = dict(enumerate(first))
    with mock.patch.object(range_index, "_MOST_IN_A_PIECE", piece), mock.patch.object(ranged_laws, "ROWS_A_BUCKET", 1):
        index = index_of(ranking, rows, leaves)
        is_right(index, law, policy, rows)
        for come, share in batches:
            follow(index, law, policy, rows, taken(list(rows), share), come)  # type: ignore[type-var,arg-type]  # any list
            is_right(index, law, policy, rows)
            assert all(placed_where_it_is(index, row) for row in index.lines)
    again = index_of(ranking, rows, leaves)
    assert {row: d for (_, row), d in again.degrees.items() if d} == {
        row: d for (_, row), d in index.degrees.items() if d
    }


def placed_where_it_is(index: Index, row: int) -> bool:
    """Whether a row that leaves would be looked for where it is, though buckets were cut since it came."""
    bucket, cells = index.lines[row]
    return placed(index.ranking, index.ranges.tree, pa.array([cells], CELLS)).tolist() == [bucket]
