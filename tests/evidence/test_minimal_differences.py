from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lawful.common.meanings import NullPolicy
from lawful.evidence import minimal_differences as module
from lawful.evidence.minimal_differences import minimal_differences
from lawful.search import minimal_sets, pack_sets, sorted_sets
from tests.evidence.pairs import POLICIES, ArrayTable, brute_agree, random_table, tables


def by_brute_force(table: ArrayTable, policy: NullPolicy) -> np.ndarray:
    missing = [
        [column for column in range(table.width) if not agree >> column & 1] for agree, _ in brute_agree(table, policy)
    ]
    return sorted_sets(minimal_sets(pack_sets(missing, table.width)))


@given(tables(max_rows=12), POLICIES)
def test_they_are_what_pairs_do_not_agree_on(table: ArrayTable, policy: NullPolicy) -> None:
    found = minimal_differences(table, policy, range(table.width))
    assert found is not None
    assert np.array_equal(sorted_sets(found), by_brute_force(table, policy))


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [17, 33, 65, 130])
def test_they_are_found_over_many_columns(width: int, policy: NullPolicy) -> None:
    table = random_table(width, 70, width)
    found = minimal_differences(table, policy, range(width))
    expected = by_brute_force(table, policy)
    assert found is not None or len(expected) > 300
    if found is not None:
        assert np.array_equal(sorted_sets(found), expected)


def test_other_ways_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert minimal_differences(random_table(3, 301, 3), NullPolicy.EQUAL, range(3)) is None
    monkeypatch.setattr(module, "_MOST_DIFFERENCES", 1)
    assert minimal_differences(random_table(5, 40, 5), NullPolicy.EQUAL, range(5)) is None
