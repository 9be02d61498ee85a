"""What the tests of this room share: a cache of their own, and a source encoded by either engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

Encode = Callable[..., EncodedTable]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for every test."""
    folder = tmp_path / "lawful-cache"
    monkeypatch.setenv("LAWFUL_CACHE", str(folder))
    return folder


@pytest.fixture(params=["local", "spark"])
def encode(request: pytest.FixtureRequest) -> Encode:
    """Encode a source, once in this process and once on Spark."""
    if request.param == "local":
        return encode_locally
    from lawful.tables.spark_pipeline import encode_on_spark

    spark = request.getfixturevalue("spark")

    def encode_there(source: Any, *, reuse: bool = True, **options: Any) -> EncodedTable:
        return encode_on_spark(spark, source, ReadOptions(**options), reuse=reuse)

    return encode_there


def encode_locally(source: Any, *, reuse: bool = True, **options: Any) -> EncodedTable:
    return encode_in_process(source, ReadOptions(**options), reuse=reuse)
