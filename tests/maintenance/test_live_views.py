"""Views of a table that changed are the tables that encoding its rows from scratch gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.tables.living.incoming import Incoming, fit, match_columns
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

VALUES: dict[str, tuple[st.SearchStrategy[object], pa.DataType]] = {
    "integers": (st.integers(-5, 12), pa.int64()),
    "floats": (st.sampled_from([-1.5, 0.0, 2.0, 10.0, 1e300, float("inf")]), pa.float64()),
    "texts": (st.sampled_from(["", "a", "B", "ab", "ä", "10", "9", "\x1b[1m"]), pa.string()),
    "dates": (st.dates(), pa.date32()),
    "timestamps": (st.datetimes(), pa.timestamp("us")),
    "booleans": (st.booleans(), pa.bool_()),
    "octets": (st.binary(max_size=2), pa.binary()),
}


def arrow_of(rows: list[object], type_: pa.DataType) -> pa.Table:
    return pa.table({"v": pa.array(rows, type_)})


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
@one_in(2)
def test_ranks_are_in_the_order_of_the_values_when_new_ones_come_between(kind: str, data: st.DataObject) -> None:
    values, type_ = VALUES[kind]
    cells = st.lists(st.one_of(st.none(), values), max_size=6)
    rows = [None, data.draw(values), *data.draw(cells)]  # one value at least, so that the column has its type
    living = LivingTable.of(encode_arrow(arrow_of(rows, type_), ReadOptions(), "t"))
    versions = [rows]
    for _ in range(3):
        come = data.draw(cells)
        gone = data.draw(st.sets(st.integers(0, len(rows) - 1))) if rows else set()
        batch = encode_arrow(arrow_of(come, type_), ReadOptions(), "batch")
        incoming = Incoming(batch, np.arange(batch.rows), match_columns(living, batch))
        live = living.live_rows()
        living.change(live[sorted(gone)], fit(living, incoming, "refuse").add(living))
        rows = [value for place, value in enumerate(rows) if place not in gone] + come
        versions.append(rows)
    for version, expected in enumerate(versions):
        anew = encode_arrow(arrow_of(expected, type_), ReadOptions(), "t")
        ordered, plain = (LiveView.of(living, version, ordered=ordered) for ordered in (True, False))
        assert np.array_equal(ordered.column(0), anew.column(0))
        assert (ordered.rows, ordered.distinct(0), ordered.nulls(0)) == (anew.rows, anew.distinct(0), anew.nulls(0))
        # Where only equality matters, the same rows are equal.
        pairs = set(zip(plain.column(0).tolist(), anew.column(0).tolist(), strict=True))
        assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
        assert max(plain.column(0).tolist(), default=0) == plain.distinct(0)
