"""What can be told of a Spark session without changing it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNKNOWN_PARALLELISM = 8


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect, whose files and processes are another machine's."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def parallelism(spark: SparkSession) -> int:
    """How many tasks the cluster runs at once, as far as the session tells."""
    if not is_connect(spark):
        return max(1, int(spark.sparkContext.defaultParallelism))
    for setting in ("spark.default.parallelism", "spark.master"):
        value = spark.conf.get(setting, "") or ""
        if numbers := re.search(r"^(\d+)$|^local\[(\d+)", value):
            return max(1, int(numbers.group(1) or numbers.group(2)))
    return _UNKNOWN_PARALLELISM
