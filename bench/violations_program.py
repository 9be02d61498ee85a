"""Ten broken laws of a generated table, checked on Spark: what it takes, and how much of it the driver's Python holds.

python -m bench.violations_program ROWS MASTER
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lawful
from lawful.engines.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WARM_UP_ROWS = 20_000
LAWS = (
    "key(id)",
    "key(shop, day, product, amount)",
    "shop -> city",
    "city -> region",
    "shop, product -> price",
    "{}: id asc ~ at asc",
    "{shop}: id asc ~ at asc",
    "[day] -> [month]",
    "[day, id] -> [month]",
    "not(t.shop = s.shop and t.id < s.id and t.at > s.at and t.product != s.product)",
)


def generated(spark: SparkSession, rows: int) -> DataFrame:
    """Sales of shops: a few rows in a million break each law that was meant to hold."""
    plain = spark.range(rows).selectExpr(
        "id as n",
        "pmod(xxhash64(id, 1), 2000) as shop",
        "pmod(xxhash64(id, 2), 1000) as day",
        "pmod(xxhash64(id, 3), 500) as product",
        "pmod(xxhash64(id, 4), 20) as amount",
    )
    meant = plain.selectExpr("*", "shop * 7919 % 2003 div 20 as town", "product * 13 % 97 + shop % 10 as cost")
    return meant.selectExpr(
        "if(n % 100003 = 7, n - 1, n) as id",
        "shop",
        "if(n % 300007 = 3, town + 1, town) as city",
        "if(n % 900001 = 5, 0, town div 9) as region",
        "day",
        "if(n % 700001 = 9, 0, day div 30) as month",
        "product",
        "amount",
        "if(n % 200003 = 1, cost + 1, cost) as price",
        "if(n % 400009 = 2, n - 50000, n) * 3 as at",
    )


class _Watcher(threading.Thread):
    """Looks at this process several times a second: its memory, and what is resident of the files of encoded tables."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.memory = self.mapped = 0
        self._folder, self._ended = str(folder), threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            self.memory = max(self.memory, _resident("VmRSS"))
            self.mapped = max(self.mapped, self._resident_of_files())

    def stop(self) -> None:
        self._ended.set()
        self.join()

    def _resident_of_files(self) -> int:
        resident, is_ours = 0, False
        for line in Path("/proc/self/smaps").read_text().splitlines():
            first, _, rest = line.partition(" ")
            if "-" in first:
                is_ours = rest.endswith(".npy") and self._folder in rest
            elif is_ours and first == "Rss:":
                resident += int(rest.split()[0]) << 10
        return resident


def _resident(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) << 10


def main(rows: str, master: str) -> None:
    tables = Path(os.environ["LAWFUL_CACHE"])
    with spark_session(master) as handle:
        lawful.check(generated(handle.spark, _WARM_UP_ROWS), LAWS)  # kernels are loaded, workers are up
        source = generated(handle.spark, int(rows))
        watcher = _Watcher(tables)
        watcher.start()
        begin = time.perf_counter()
        report = lawful.check(source, LAWS)
        whole = time.perf_counter() - begin
        watcher.stop()
        answer: dict[str, Any] = {
            "seconds": {**report.seconds, "whole": whole},
            "broken": len(report.broken),
            "violating_rows": [outcome.rows for outcome in report.outcomes],
            "violating_pairs": [outcome.pairs for outcome in report.outcomes],
            "removals": [outcome.removals for outcome in report.outcomes],
            "driver_peak_mb": watcher.memory >> 20,
            "mapped_peak_mb": watcher.mapped / 2**20,
            "table_mb": report.table.nbytes >> 20,
        }
        found = report.violations("key(id)")
        if hasattr(found, "sparkSession"):
            begin = time.perf_counter()
            answer["frame_rows"] = found.count()
            answer["frame_seconds"] = time.perf_counter() - begin
        print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
