"""Checks of pointwise order dependencies against brute force over all pairs."""

from __future__ import annotations

from itertools import permutations

import pod_oracle
from denial_tables import ValueTable, value_tables
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask, Workspace, check, find_violations
from lawful.checks.law_checks import checks_of
from lawful.common.meanings import NullPolicy
from lawful.dependencies import POD

WIDTH = 3
MARKS = st.sampled_from(sorted(pod_oracle.COMPARE))


@st.composite
def pointwise(draw: st.DrawFn, width: int) -> POD:
    right, *others = draw(st.permutations(range(width)))
    left = draw(st.sets(st.sampled_from(others))) if others else set()
    return POD(tuple((column, draw(MARKS)) for column in left), (right, draw(st.sampled_from(pod_oracle.RIGHT))))


@given(value_tables(max_rows=7, max_width=WIDTH), st.sampled_from(NullPolicy), st.data())
def test_verdict_witness_and_counts(table: ValueTable, policy: NullPolicy, data: st.DataObject) -> None:
    law = data.draw(pointwise(len(table.columns)))
    rows, encoded = table.rows, table.encoded()
    broken = {
        (i, j)
        for i, j in permutations(range(len(rows)), 2)
        if pod_oracle.violates((law.lhs, law.rhs), rows[i], rows[j], policy)
    }
    workspace = Workspace(encoded, policy)
    verdict = check(CheckTask(0, law), encoded, workspace)
    assert verdict.holds == (not broken)
    if verdict.witness is not None:
        assert verdict.witness[0] < verdict.witness[1]
        assert checks_of(law).oriented(law, verdict.witness, workspace) in broken
    pairs = {frozenset(pair) for pair in broken}
    assert check(CheckTask(0, law, "g1"), encoded, workspace).violations == len(pairs)
    found = find_violations(law, encoded, workspace)
    assert (found.pairs, set(found.rows.tolist())) == (len(pairs), {row for pair in pairs for row in pair})
