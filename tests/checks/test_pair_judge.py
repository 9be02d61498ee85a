"""How many rows each row breaks a law with: as many as comparing it with all of them says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maintenance.changing_tables import Row, rows_of
from maintenance.test_pinned_laws import LAWS, POLICIES, WIDTH, breaks, fitting

from lawful.checks.denials.pair_judge import PairJudge
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, Cell, Law, ListOD, Predicate
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.text_rows import text_rows


def table_of(rows: list[Row]) -> LiveView:
    columns = {
        column: pa.array([None if row[column] is None else str(row[column]) for row in rows], pa.string())
        for column in range(WIDTH)
    }
    return text_rows(columns, [ColumnType.INTEGER] * WIDTH, len(rows))


@given(law=st.one_of(*LAWS), policy=POLICIES, rows=rows_of(WIDTH, 9), data=st.data())
def test_degrees_are_as_brute_force_says(law: Law, policy: NullPolicy, rows: list[Row], data: st.DataObject) -> None:
    if not fitting([law], policy):
        return
    ours, theirs = (
        np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), np.bool_) for _ in "ab"
    )
    pairs = breaks(law, policy, rows)
    expected = [
        sum(bool(theirs[b]) for pair in pairs for a, b in (pair, pair[::-1]) if a == row) if ours[row] else 0
        for row in range(len(rows))
    ]
    assert PairJudge(law, table_of(rows), policy).degrees(ours, theirs).tolist() == expected


ORDERS: list[Law] = [
    ListOD(((0, "asc"),), ((1, "desc"), (2, "asc"))),
    *(
        DC(tuple(Predicate(Cell("t", n), o, Cell("s", n)) for n, o in enumerate(operators)))  # type: ignore[arg-type]  # operators
        for operators in (["<"], ["<", ">"], ["<=", ">="], ["<", "<", ">"], ["<", ">", "!="], ["<", "<=", ">", ">="])
    ),
]


@pytest.mark.parametrize("law", ORDERS, ids=str)
def test_degrees_of_many_rows_are_those_of_one_after_the_other(law: Law) -> None:
    random = np.random.default_rng(3)
    rows: list[Row] = [tuple(row) for row in random.integers(0, [4, 300, 40, 7], (400, WIDTH)).tolist()]
    judge = PairJudge(law, table_of(rows), NullPolicy.EQUAL)
    ours, theirs = random.random(len(rows)) < 0.7, random.random(len(rows)) < 0.7
    found = judge.degrees(ours, theirs)
    for row in range(len(rows)):
        others = np.flatnonzero(theirs & (np.arange(len(rows)) != row))
        assert found[row] == (judge.partners(row, others).sum() if ours[row] else 0)
