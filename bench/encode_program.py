"""A program: encode a CSV file on `local[2]` with a given driver heap, and print what it took."""

from __future__ import annotations

import json
import sys
import time

from lawful.engines.session import spark_session
from lawful.tables.options import ReadOptions
from lawful.tables.spark_pipeline import encode_on_spark


def main(path: str, heap: str) -> None:
    with spark_session("local[2]", driver_memory=heap) as handle:
        handle.spark.range(10).count()
        begin = time.perf_counter()
        table = encode_on_spark(handle.spark, path, ReadOptions(), reuse=False)
        seconds = time.perf_counter() - begin
        print(json.dumps({"encode_seconds": seconds, "rows": table.rows, "columns": table.width}))


if __name__ == "__main__":
    main(*sys.argv[1:])
