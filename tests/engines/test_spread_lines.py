"""Lines of spread indexes: classes that are too large are told with their law, and laws that share lines keep apart."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow as pa
import pytest

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import FD, CanonicalOD
from lawful.engines.shuffle import classes
from lawful.engines.spread import class_checks
from lawful.engines.spread.class_checks import class_runner
from lawful.engines.spread.kept_laws import KeptLaw, SharedLines
from lawful.engines.spread.lines import law_by_law, lines_of
from lawful.engines.spread.tallies import suspected, tallied

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("a", "b", "c")
TYPES = (ColumnType.STRING,) * 3
SHARED = SharedLines(4, (1, 2))
LAWS = [
    KeptLaw(4, FD((0,), 1), "differ", (0,), (1,), SHARED),
    KeptLaw(5, FD((0,), 2), "differ", (0,), (2,), SHARED),
]
ROWS = [("x", "1", "p"), ("x", "1", None), ("x", "1", "p"), ("y", "2", "q"), ("y", "3", "q"), ("z", None, None)]


def test_a_class_that_no_task_takes_is_told_with_its_law() -> None:
    laws = [KeptLaw(number, CanonicalOD((0,), 1, 2, "asc"), "classes", (0,), (1, 2)) for number in (3, 8)]
    numbers = [3, 3, *[8] * 40]
    rows = pa.table(
        {
            "k0": pa.array(numbers, pa.int64()),
            "k1": pa.array([0] * len(numbers), pa.int64()),
            "k2": pa.array([1, 2, *[3] * 40], pa.int64()),
            "row": pa.array(range(len(numbers)), pa.int64()),
            "cells": pa.array([["x", "1", "1"]] * len(numbers), pa.list_(pa.string())),
        }
    )
    with patch.object(classes, "LARGEST_CLASS", 10), patch.object(class_checks, "_ROWS_AT_ONCE", 8):
        run = class_runner(laws, TYPES, NullPolicy.EQUAL, 0, 10)
        (told,) = pa.Table.from_batches(list(run(iter(rows.to_batches(max_chunksize=5))))).to_pylist()
    assert told["t"] == 8
    assert "it compares by =" in told["error"]


@pytest.mark.parametrize(("null", "of_c"), [(NullPolicy.EQUAL, (3, 2)), (NullPolicy.IGNORE, None)])
def test_laws_that_share_lines_are_counted_each_by_itself(
    spark: SparkSession, null: NullPolicy, of_c: tuple[int, int] | None
) -> None:
    rows = spark.createDataFrame(
        [(n, 1, *cells) for n, cells in enumerate(ROWS)], "row bigint, n int, c0 string, c1 string, c2 string"
    )
    lines = lines_of(rows, LAWS, null, 4, all_came=True)
    assert {line["t"] for line in lines.collect()} == {4}
    assert {line["t"] for line in law_by_law(lines, LAWS, null).collect()} == {4, 5}
    for some in (lines, suspected(lines, LAWS)):
        found = tallied(some, LAWS, NAMES, TYPES, null, 0)
        counts = {number: [(each.rows, each.pairs) for each in own.values()] for number, own in found.items()}
        assert counts == {4: [(2, 1)], 5: [] if of_c is None else [of_c]}
    assert {line["key"][0] for line in suspected(lines, LAWS).collect()} == {"x", "y"}
