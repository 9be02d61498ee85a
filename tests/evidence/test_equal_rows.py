from __future__ import annotations

from hypothesis import given

from lawful.common.meanings import NullPolicy
from lawful.evidence import equal_rows
from tests.evidence.pairs import POLICIES, ArrayTable, every_pair, signs_of, tables


@given(tables(max_width=3), POLICIES)
def test_two_equal_rows_are_seen_where_there_are_any(table: ArrayTable, policy: NullPolicy) -> None:
    found = equal_rows(table, range(table.width), policy)
    all_equal = ("=",) * table.width
    assert (found is not None) == (all_equal in every_pair(table, policy))
    assert found is None or signs_of(table, *found, policy) == all_equal
