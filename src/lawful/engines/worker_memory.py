"""How much memory Spark's Python workers may use for partitions, as far as a session tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lawful.checks import DEFAULT_CACHE_BYTES
from lawful.common.machine import memory_bytes
from lawful.engines.session_settings import runs_on_this_machine
from lawful.tables.spark_facts import is_connect, parallelism

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNITS = {"": 20, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
"""By how many bits a number is shifted; Spark takes a plain number of `spark.executor.pyspark.memory` for mebibytes."""


def most_cache_bytes(spark: SparkSession) -> int:
    """How much memory partitions may take in each Python worker.

    A cluster kills what takes more than it was promised, and only `spark.executor.pyspark.memory` says what that is:
    half of it, for each core. On this machine it is a quarter of the memory for all workers together. Elsewhere it is
    what fits beside Java by default.
    """
    promised = bytes_of(spark.conf.get("spark.executor.pyspark.memory", "") or "")
    if promised is not None:
        return promised // 2 // max(1, int(spark.conf.get("spark.executor.cores", "1") or 1))
    if not is_connect(spark) and runs_on_this_machine(spark.sparkContext.master or ""):
        return memory_bytes() // 4 // parallelism(spark)
    return DEFAULT_CACHE_BYTES


def bytes_of(size: str) -> int | None:
    """Read a size as Spark writes it, such as `2g`; None if it is not one."""
    found = re.fullmatch(r"(\d+)\s*([bkmgtp]?)b?", size.strip().lower())
    return None if found is None else int(found[1]) << _UNITS[found[2]]
