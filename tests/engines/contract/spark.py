"""What Spark must do besides the contract of all engines, in whichever way it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import lawful
from engines.contract.tables import encoded
from engines.contract.verdicts import gives_the_reference_verdicts
from engines.contract.violations import streams_all_violating_rows
from lawful.tables import spark_pipeline
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import ReadOptions

SHIPPED = (gives_the_reference_verdicts, streams_all_violating_rows)
"""The parts of the contract that are tried again on workers that do not see the driver's files."""


def encodes_like_this_process(spark: object, path: Path) -> EncodedTable:
    """Bit-identical ranks and the same places, whether workers share files with the driver or not."""
    expected = encoded(path)
    found = spark_pipeline.encode_on_spark(spark, str(path), ReadOptions(), reuse=False)
    open_token = spark_pipeline._open_token
    spark_pipeline._open_token = lambda staging: (open_token(staging)[0], "the token of another driver")
    try:
        sent = spark_pipeline.encode_on_spark(spark, str(path), ReadOptions(limit=expected.rows), reuse=False)
    finally:
        spark_pipeline._open_token = open_token
    for table in (found, sent):
        assert table.columns == expected.columns
        for position in range(expected.width):
            assert np.array_equal(table.column(position), expected.column(position))
        for row in (0, expected.rows // 2, expected.rows - 1):
            assert table.place(row) == expected.place(row)
            assert [table.value(row, position) for position in range(table.width)] == [
                expected.value(row, position) for position in range(table.width)
            ]
    return found


def gives_frames(spark: Any) -> None:
    """Violating rows of a DataFrame are a DataFrame of the same session, joined to all columns of the source."""
    source = spark.range(0, 1_000, 1, 5).selectExpr("id", "id % 7 as a", "id % 5 as b", "array(id) as rest")
    report = lawful.check(source, ["a -> b", "key(id)"], columns=["id", "a", "b"])
    frame = report.violations(0)
    assert frame.columns == ["_group", "_row", "id", "a", "b", "rest"]
    assert frame.where("_row = id and rest[0] = id and _group = a").count() == 1_000
    assert report.violations(1).count() == 0
