from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import agreeing_classes

from checks.tables import POLICIES, ArrayTable, tables
from lawful.checks import Partition, Workspace
from lawful.checks import workspace as workspace_module
from lawful.checks.kernels import partitions as partition_kernels
from lawful.checks.partitions import Scratch, all_rows, product, refine, single
from lawful.common.meanings import NullPolicy


def as_lists(partition: Partition) -> list[list[int]]:
    return sorted(rows.tolist() for rows in partition)


@given(tables(), POLICIES, st.data())
def test_a_partition_groups_the_rows_that_agree(table: ArrayTable, policy: NullPolicy, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.integers(0, table.width - 1), unique=True))
    partition = Workspace(table, policy).partition(columns)
    expected = sorted(agreeing_classes(columns, table.as_rows(), policy))
    assert as_lists(partition) == expected
    assert partition.classes == len(expected)
    assert partition.size == sum(map(len, expected))
    assert partition.error == partition.size - partition.classes
    assert partition.table_rows == table.rows
    assert partition.nbytes >= partition.rows.nbytes + partition.offsets.nbytes


@given(tables(max_rows=12), POLICIES, st.data())
def test_the_product_of_two_partitions_is_that_of_their_columns(
    table: ArrayTable, policy: NullPolicy, data: st.DataObject
) -> None:
    some_columns = st.lists(st.integers(0, table.width - 1), unique=True)
    first, second = data.draw(some_columns), data.draw(some_columns)
    workspace = Workspace(table, policy)
    result = product(workspace.partition(first), workspace.partition(second), workspace.scratch)
    assert as_lists(result) == sorted(agreeing_classes(sorted({*first, *second}), table.as_rows(), policy))


@given(tables(max_rows=12, min_width=2), POLICIES)
def test_the_first_classes_alone_begin_like_the_whole_product(table: ArrayTable, policy: NullPolicy) -> None:
    workspace = Workspace(table, policy)
    whole = workspace.refine(workspace.partition([0]), 1)
    begun = workspace.refine(workspace.partition([0]), 1, first_only=True)
    assert (begun.size == 0) == (whole.size == 0)
    assert begun.rows.tolist() == whole.rows[: begun.size].tolist()
    assert begun.offsets.tolist() == whole.offsets[: begun.classes + 1].tolist()


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("bits", [np.int32, np.uint16])
def test_classes_of_every_size_are_split_alike(policy: NullPolicy, bits: type) -> None:
    """Few rows are compared and many are counted, whichever block of fetched ranks they fall into."""
    rng = np.random.default_rng(5)
    sizes = np.concatenate([rng.integers(2, 3 * partition_kernels._FEW_ROWS, 500), [3 * partition_kernels.ROWS_AHEAD]])
    first = rng.permutation(np.repeat(np.arange(1, sizes.size + 1), sizes)).astype(np.int32)
    second = rng.integers(0, 7, first.size).astype(np.int32)
    lowest = int(policy is NullPolicy.IGNORE)
    scratch = Scratch()
    refined = refine(single(first, sizes.size, lowest, scratch), second.astype(bits), 6, lowest, scratch)
    expected = agreeing_classes([0, 1], list(zip(first.tolist(), second.tolist(), strict=True)), policy)
    assert as_lists(refined) == sorted(expected)
    assert not scratch.zeros("slots", sizes.size + 1).any()


def test_columns_of_a_large_table_are_slim_where_their_ranks_fit() -> None:
    rows = workspace_module._LARGE_TABLE
    few, many = np.arange(rows) % 65_535 + 1, np.arange(rows) % 65_536 + 1
    large, small = (Workspace(ArrayTable([few[:n], many[:n]]), NullPolicy.EQUAL) for n in (rows, rows - 1))
    assert [large.slim_column(i).dtype for i in range(2)] == [np.uint16, np.int32]
    assert [small.slim_column(i).dtype for i in range(2)] == [np.int32, np.int32]
    for i in range(2):
        assert (large.slim_column(i) == large.column(i)).all()


def test_single_columns_keep_or_drop_null() -> None:
    column = np.array([0, 2, 0, 1, 2], np.int32)
    assert [rows.tolist() for rows in single(column, 2, 0, Scratch())] == [[0, 2], [1, 4]]
    assert [rows.tolist() for rows in single(column, 2, 1, Scratch())] == [[1, 4]]


def test_no_columns_put_all_rows_into_one_class() -> None:
    assert all_rows(0).classes == all_rows(1).classes == 0
    assert [rows.tolist() for rows in all_rows(3)] == [[0, 1, 2]]


def test_scratch_is_clean_after_use() -> None:
    scratch = Scratch()
    rng = np.random.default_rng(1)
    column = rng.integers(0, 5, 40).astype(np.int32)
    for _ in range(3):
        refine(single(column, 4, 0, scratch), rng.integers(0, 9, 40).astype(np.int32), 8, 1, scratch)
        assert not scratch.zeros("slots", 9).any()


def test_columns_may_be_read_only_memory_maps(tmp_path) -> None:
    values = np.array([1, 1, 2, 2], np.int32)
    np.save(tmp_path / "column.npy", values)
    mapped = np.load(tmp_path / "column.npy", mmap_mode="r")
    table = ArrayTable([values, values])
    table._columns[0] = mapped
    assert as_lists(Workspace(table, NullPolicy.EQUAL).partition([0, 1])) == [[0, 1], [2, 3]]
