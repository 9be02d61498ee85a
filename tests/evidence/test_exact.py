from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.evidence import (
    AgreeSets,
    agree_sets_of_tile,
    all_agree_sets,
    exact,
    merge,
    tiles,
)
from tests.evidence.pairs import (
    POLICIES,
    WIDTHS,
    ArrayTable,
    as_known,
    brute_agree,
    known,
    random_table,
    same_agree,
    signs_of,
    tables,
)


def check_agree_sets(table: ArrayTable, policy: NullPolicy, found: AgreeSets) -> None:
    assert found.counts is not None
    assert found.counts.sum() == math.comb(table.rows, 2)
    sets = as_known(found.agree, found.differ)
    assert dict(zip(sets, found.counts.tolist(), strict=True)) == brute_agree(table, policy, found.columns)
    assert len(set(sets)) == len(sets)
    agree = [one for one, _ in sets]
    assert agree == sorted(agree)
    for expected, (t, s) in zip(sets, found.witnesses.tolist(), strict=True):
        assert t < s
        assert known(signs_of(table, t, s, policy, found.columns)) == expected


@given(tables(), POLICIES)
def test_agree_sets_are_those_of_all_pairs(table: ArrayTable, policy: NullPolicy) -> None:
    check_agree_sets(table, policy, all_agree_sets(table, policy))


@given(tables(), POLICIES)
def test_a_matrix_of_ranks_gives_the_same(table: ArrayTable, policy: NullPolicy) -> None:
    with_matrix = ArrayTable([table.column(column) for column in range(table.width)])
    with_matrix.matrix = np.stack([table.column(column) for column in range(table.width)])
    with_matrix.matrix.flags.writeable = False
    assert same_agree(all_agree_sets(with_matrix, policy), all_agree_sets(table, policy))


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", WIDTHS)
def test_tables_of_every_width(width: int, policy: NullPolicy) -> None:
    for rows in (2, 13):
        table = random_table(width, rows, width)
        check_agree_sets(table, policy, all_agree_sets(table, policy))


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_rows_make_no_pair(rows: int, policy: NullPolicy) -> None:
    table = ArrayTable([np.ones(rows)] * 3)
    assert len(all_agree_sets(table, policy)) == 0
    assert tiles(rows, 4) == []


@pytest.mark.parametrize("policy", NullPolicy)
def test_columns_can_be_chosen(policy: NullPolicy) -> None:
    table = random_table(1, 12, 8)
    found = all_agree_sets(table, policy, columns=(5, 0, 3))
    assert found.columns == (5, 0, 3)
    check_agree_sets(table, policy, found)
    check_agree_sets(table, policy, all_agree_sets(table, policy, columns=()))
    with pytest.raises(IndexError, match="0 to 7"):
        all_agree_sets(table, policy, columns=(2, 8))
    with pytest.raises(IndexError, match="different"):
        all_agree_sets(table, policy, columns=(2, 2))


def test_ranks_of_two_three_and_four_bytes() -> None:
    generator = np.random.default_rng(3)
    # Ranks need not be dense here, and these agree and differ in any of their bytes. Rows are counted by rank, so the
    # largest is no larger than four bytes need.
    values = [0, 1, 255, 256, 257, 511, 65_535, 65_536, 65_537, 1 << 24, (1 << 24) + 256, (1 << 25) + 1]
    table = ArrayTable([generator.choice(values, 40) for _ in range(4)])
    for policy in NullPolicy:
        check_agree_sets(table, policy, all_agree_sets(table, policy))


@given(st.integers(0, 60), st.integers(1, 12))
def test_tiles_hold_every_pair_once(rows: int, parts: int) -> None:
    cut = tiles(rows, parts)
    assert len(cut) <= parts
    assert all(tile.pairs > 0 for tile in cut)
    assert sum(tile.pairs for tile in cut) == math.comb(rows, 2)
    edges = [0, *(tile.last for tile in cut)]
    assert [tile.first for tile in cut] == edges[:-1]
    # About equal: a tile is at most one row more than its share.
    assert all(tile.pairs <= math.comb(rows, 2) / parts + rows for tile in cut)


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [5, 40])
def test_tiles_put_together_are_the_whole(width: int, policy: NullPolicy) -> None:
    table = random_table(7, 40, width)
    whole = all_agree_sets(table, policy)
    for parts in (1, 3, 8):
        cut = tiles(table.rows, parts)
        found = [agree_sets_of_tile(table, policy, tile) for tile in cut]
        assert [part.counts.sum() for part in found] == [tile.pairs for tile in cut]
        assert same_agree(merge(found), whole)


def test_parts_that_do_not_belong_together_are_refused() -> None:
    table = random_table(7, 10, 4)
    one = all_agree_sets(table, NullPolicy.EQUAL)
    with pytest.raises(ValueError, match="nothing"):
        merge([])
    with pytest.raises(ValueError, match="different columns"):
        merge([one, all_agree_sets(table, NullPolicy.EQUAL, columns=(0, 1))])
    with pytest.raises(ValueError, match="without"):
        merge([one, all_agree_sets(table, NullPolicy.EQUAL, counted=False)])


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [6, 45])
def test_threads_and_interruptions_change_nothing(
    width: int, policy: NullPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_table(11, 150, width)
    agree = all_agree_sets(table, policy, threads=1)
    # Now every call of a kernel walks a few rows only, and the table is large enough for threads.
    monkeypatch.setattr(exact, "_PAIRS_A_CALL", 500)
    for threads in (1, 3):
        assert same_agree(all_agree_sets(table, policy, threads=threads), agree)


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [6, 45])
def test_noting_finds_what_counting_finds(width: int, policy: NullPolicy) -> None:
    table = random_table(13, 60, width)
    counted, noted = all_agree_sets(table, policy), all_agree_sets(table, policy, counted=False)
    assert noted.counts is None
    assert np.array_equal(noted.agree, counted.agree)
    assert np.array_equal(noted.differ, counted.differ)
    assert np.array_equal(noted.witnesses, counted.witnesses)


@pytest.mark.parametrize("small", [1, 1 << 32])
@pytest.mark.parametrize("width", [5, 21])
def test_rows_beyond_one_run(width: int, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_PAIRS_OF_SMALL_COUNTS", small)
    generator = np.random.default_rng(17)
    columns = [generator.integers(1, highest, 4300) for highest in generator.choice([3, 40, 300, 4000], width)]
    table = ArrayTable(columns)
    expected: dict[int, int] = {}
    for i in range(table.rows - 1):
        vectors = sum((column[i + 1 :] == column[i]).astype(np.int64) << c for c, column in enumerate(columns))
        for value, count in zip(*np.unique(vectors, return_counts=True), strict=True):
            expected[int(value)] = expected.get(int(value), 0) + int(count)
    found = all_agree_sets(table, NullPolicy.EQUAL, threads=2)
    assert found.counts is not None
    assert dict(zip(found.agree[:, 0].tolist(), found.counts.tolist(), strict=True)) == expected


def test_a_walk_stops_when_asked() -> None:
    table = random_table(19, 50, 4)
    with pytest.raises(StoppedError):
        all_agree_sets(table, NullPolicy.EQUAL, should_stop=lambda: True)
    with pytest.raises(StoppedError):
        agree_sets_of_tile(table, NullPolicy.EQUAL, tiles(50, 2)[1], should_stop=lambda: True)


def test_uncompiled_kernels_agree() -> None:
    script = Path(__file__).with_name("uncompiled.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    run = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
