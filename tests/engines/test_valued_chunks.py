"""Rows that bring their values along compare columns and constants as the table that they are of does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from checks.denial_tables import Rows, constraints, encoded, rows_of
from checks.tables import POLICIES
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask, Workspace, check
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, parse_laws
from lawful.engines.shuffle.pruning import pruner
from lawful.engines.shuffle.values import ValuedChunk, valued_columns
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

WIDTH = 4


def rows_with_values(table: EncodedTable, spread: int = 1) -> tuple[pa.Table, list[ColumnType]]:
    """All rows of a table with their values, and its types; ranks lie far apart where they are multiplied."""
    columns = {"row": pa.array(range(table.rows), pa.int64())}
    for column in range(table.width):
        ranks = table.column(column)
        columns[f"c{column}"] = pa.array(ranks.astype("int64") * spread)
        columns[f"v{column}"] = table.values(column).take(pa.array(ranks - 1, mask=ranks == 0))
    return pa.table(columns), [table.type(column) for column in range(table.width)]


def assert_alike(law: DC, table: EncodedTable, policy: NullPolicy, spread: int) -> None:
    chunk, task = ValuedChunk(*rows_with_values(table, spread)), CheckTask(0, law, damage=True)
    found = check(task, chunk, Workspace(chunk, policy))
    expected = check(task, table, Workspace(table, policy))
    assert (found.holds, found.damage) == (expected.holds, expected.damage)
    assert (found.witness is None) == (expected.witness is None)


@given(rows_of(WIDTH), st.lists(constraints(WIDTH), max_size=8), POLICIES, st.sampled_from([1, 10**10]))
def test_columns_and_constants_of_numbers(rows: Rows, laws: list[DC], policy: NullPolicy, spread: int) -> None:
    table = encoded(rows, WIDTH)
    for law in laws:
        assert_alike(law, table, policy, spread)


@given(rows_of(WIDTH), st.lists(constraints(WIDTH), max_size=4), POLICIES, st.sampled_from([1, 10**10]))
def test_how_strong_constraints_are(rows: Rows, laws: list[DC], policy: NullPolicy, spread: int) -> None:
    table = encoded(rows, WIDTH)
    for law in laws:
        chunk, task = ValuedChunk(*rows_with_values(table, spread)), CheckTask(0, law, trial=True)
        found, expected = (check(task, some, Workspace(some, policy)).trial for some in (chunk, table))
        assert found == expected


TEXTS = """n,m,d,e,s,u,b,v,x
1,1.0,01/02/2024,13/02/2024,a,b,true,FALSE,2024-01-01T10:00Z
+2,1.00,13/02/2024,01/02/2024,b,b,False,false,2024-01-01T10:00+01
,2.5,05/05/2024,,a,,true,,
2,-1e3,01/02/2024,01/02/2024,ä,a,TRUE,true,2024-01-01T09:00Z
"""
"""Spellings of numbers, dates whose day comes first, texts, booleans and instants."""

TEXT_LAWS = """not(t.n < s.m and t.s = s.s); not(t.n = t.m); not(t.n > s.m and t.m <= s.n);
not(t.s = s.u and t.n != s.n); not(t.u < s.s and t.m < s.n); not(t.b = s.v and t.n < s.n); not(t.n > 1.5 and t.s = s.s);
not(t.m = 1 and s.m = 1.0); not(t.s > 'a' and t.u = 'b');
not(t.b = true and s.v = false); not(t.x < '2024-01-01T10:30+01:00' and t.n > s.m)"""


@pytest.mark.parametrize("policy", NullPolicy)
def test_texts_are_compared_by_their_types(policy: NullPolicy, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS)
    table = encode_in_process(path, ReadOptions(), reuse=False)
    for law in parse_laws(TEXT_LAWS, table.names):
        assert isinstance(law, DC)
        assert_alike(law, table, policy, 1)


@given(rows_of(WIDTH), st.lists(constraints(WIDTH), max_size=8), POLICIES, st.integers(1, 5))
def test_pruned_rows_decide_as_all_rows_do(rows: Rows, laws: list[DC], policy: NullPolicy, most: int) -> None:
    table = encoded(rows, WIDTH)
    whole, types = rows_with_values(table)
    for law in laws:
        kept = list(pruner(law, policy, types, most)(iter(whole.to_batches(max_chunksize=most))))
        expected = check(CheckTask(0, law), table, Workspace(table, policy)).holds
        if not kept:
            assert expected
        else:
            few = ValuedChunk(pa.Table.from_batches(kept), types)
            assert check(CheckTask(0, law), few, Workspace(few, policy)).holds == expected


def test_which_columns_bring_their_values() -> None:
    laws = parse_laws("not(t.a < s.a and t.b = t.c); not(t.a > 5 and t.b = s.b); a -> b", ["a", "b", "c"])
    assert [valued_columns(law) for law in laws] == [(1, 2), (0,), ()]
