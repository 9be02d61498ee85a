"""Arrow tables that are handed to Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A DataFrame of all rows of a table.

    PySpark 4 loses rows of a table whose columns are cut into chunks at different places, so they become one.
    """
    return spark.createDataFrame(table.combine_chunks())
