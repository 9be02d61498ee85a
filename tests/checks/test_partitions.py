from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import agreeing_classes

from checks.tables import POLICIES, ArrayTable, tables
from lawful.checks import Partition, Workspace
from lawful.checks.partitions import Scratch, all_rows, product, refine, single
from lawful.meanings import NullPolicy


def as_lists(partition: Partition) -> list[list[int]]:
    return sorted(rows.tolist() for rows in partition)


@given(tables(), POLICIES, st.data())
@settings(max_examples=150, deadline=None)
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
@settings(max_examples=150, deadline=None)
def test_the_product_of_two_partitions_is_that_of_their_columns(
    table: ArrayTable, policy: NullPolicy, data: st.DataObject
) -> None:
    some_columns = st.lists(st.integers(0, table.width - 1), unique=True)
    first, second = data.draw(some_columns), data.draw(some_columns)
    workspace = Workspace(table, policy)
    result = product(workspace.partition(first), workspace.partition(second), workspace.scratch)
    assert as_lists(result) == sorted(agreeing_classes(sorted({*first, *second}), table.as_rows(), policy))


@given(tables(max_rows=12, min_width=2), POLICIES)
@settings(max_examples=100, deadline=None)
def test_the_first_classes_alone_begin_like_the_whole_product(table: ArrayTable, policy: NullPolicy) -> None:
    workspace = Workspace(table, policy)
    whole = workspace.refine(workspace.partition([0]), 1)
    begun = workspace.refine(workspace.partition([0]), 1, first_only=True)
    assert (begun.size == 0) == (whole.size == 0)
    assert begun.rows.tolist() == whole.rows[: begun.size].tolist()
    assert begun.offsets.tolist() == whole.offsets[: begun.classes + 1].tolist()


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
