"""The pairs of some rows are those that brute force finds, whichever rows, however they are cut."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.evidence import AgreeSets, agree_sets_of_rows, all_agree_sets, merge, tile_of_rows
from tests.evidence.pairs import POLICIES, WIDTHS, ArrayTable, as_known, known, random_table, signs_of, tables


def brute(table: ArrayTable, policy: NullPolicy, rows: set[int]) -> Counter[tuple[int, int]]:
    return Counter(
        known(signs_of(table, t, s, policy, tuple(range(table.width))))
        for s in range(table.rows)
        for t in range(s)
        if t in rows or s in rows
    )


def is_right(table: ArrayTable, policy: NullPolicy, rows: set[int], found: AgreeSets) -> None:
    assert found.counts is not None
    sets = as_known(found.agree, found.differ)
    assert dict(zip(sets, found.counts.tolist(), strict=True)) == brute(table, policy, rows)
    for expected, (t, s) in zip(sets, found.witnesses.tolist(), strict=True):
        assert t < s
        assert {t, s} & rows
        assert known(signs_of(table, t, s, policy, found.columns)) == expected


@given(tables(), POLICIES, st.data())
def test_pairs_of_some_rows_are_those_of_brute_force(
    table: ArrayTable, policy: NullPolicy, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, max(0, table.rows - 1)), unique=True, max_size=table.rows))
    tile = tile_of_rows(table, np.array(rows, np.int64))
    found = agree_sets_of_rows(table, policy, np.array(rows, np.int64), tile)
    is_right(table, policy, set(rows), found)
    noted = agree_sets_of_rows(table, policy, np.array(rows, np.int64), tile, counted=False)
    assert np.array_equal(noted.agree, found.agree)
    assert noted.counts is None


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", WIDTHS)
def test_parts_put_together_are_the_whole(width: int, policy: NullPolicy) -> None:
    table = random_table(width, 15, width)
    for rows in (range(9, 15), range(4), range(15)):
        tile = tile_of_rows(table, rows)
        whole = agree_sets_of_rows(table, policy, rows, tile)
        is_right(table, policy, set(rows), whole)
        joined = merge([agree_sets_of_rows(table, policy, rows, part) for part in tile.cut(4)])
        assert np.array_equal(joined.agree, whole.agree)
        assert np.array_equal(joined.counts, whole.counts)
        assert np.array_equal(joined.witnesses, whole.witnesses)
    assert np.array_equal(whole.agree, all_agree_sets(table, policy).agree)


def test_rows_that_are_not_there_and_rows_that_come_twice_are_refused() -> None:
    table = random_table(1, 5, 3)
    for rows in (np.array([5]), np.array([-1]), np.array([2, 2])):
        with pytest.raises(UsageError, match="asked for"):
            agree_sets_of_rows(table, NullPolicy.EQUAL, rows, tile_of_rows(table, rows))
