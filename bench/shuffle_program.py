"""A program: encode a Parquet table and find its laws up to size 2 on two executors, and print what each step took."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

import lawful

LOG_FOLDER = "LAWFUL_BENCH_EVENT_LOG"
"""Names the folder for Spark's event log, if one is wanted."""

_EXECUTORS = "local-cluster[2,1,2048]"


def main(path: str, placement: str) -> None:
    conf = {"spark.executor.memory": "2g", "spark.sql.shuffle.partitions": "64"}
    if folder := os.environ.get(LOG_FOLDER):
        # One plain file, for `event_log` to read.
        conf |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": Path(folder).as_uri()}
        conf |= {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false"}
    spark = lawful.SparkSettings(_EXECUTORS, driver_memory="2g", conf=conf, placement=placement)
    found = lawful.discover(path, ("key", "fd", "canonical-od"), max_size=2, spark=spark)
    driver_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    laws = sorted(entry["text"] for entry in found.to_dict()["dependencies"])
    answer = {
        "rows": found.table.rows,
        "laws": len(laws),
        "digest": hash_of(laws),
        "driver_python_mb": driver_mb,
        **{f"{step}_seconds": seconds for step, seconds in found.seconds.items()},
    }
    print(json.dumps(answer))


def hash_of(laws: list[str]) -> str:
    """A short word that tells two lists of laws apart."""
    import hashlib

    return hashlib.blake2b("\n".join(laws).encode(), digest_size=6).hexdigest()


if __name__ == "__main__":
    main(*sys.argv[1:])
