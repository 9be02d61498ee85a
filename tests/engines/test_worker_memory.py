from __future__ import annotations

import pytest

from lawful.common.machine import memory_bytes
from lawful.engines.spark import SparkEngine
from lawful.engines.worker_memory import bytes_of, most_cache_bytes


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("2g", 2 << 30),
        ("512m", 512 << 20),
        ("512", 512 << 20),
        ("1024 KB", 1 << 20),
        ("7b", 7),
        ("", None),
        ("2x", None),
    ],
)
def test_sizes_are_read_as_spark_writes_them(size: str, expected: int | None) -> None:
    assert bytes_of(size) == expected


def test_the_workers_of_this_machine_share_a_quarter_of_its_memory(spark) -> None:
    workers = spark.sparkContext.defaultParallelism
    assert most_cache_bytes(spark) == SparkEngine(spark).most_cache_bytes == memory_bytes() // 4 // workers
    assert SparkEngine(spark, cache_bytes=50_000).most_cache_bytes == 50_000
