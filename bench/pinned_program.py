"""What batches cost a state of pinned laws, and the same laws as SQL on the whole table, as one JSON line.

python -m bench.pinned_program WHAT ARGUMENTS, where ARGUMENTS are those of the function of that name, as JSON
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lawful
from bench.pinned_tables import LAWS, QUERIES, orders
from lawful.discovery.questions import resident_bytes
from lawful.runs.maintain import OpenState

_PART = 1_000_000


def _parts(rows: int) -> Iterator[pa.Table]:
    for first in range(0, rows, _PART):
        yield orders(min(_PART, rows - first), first)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _made(path: Path, rows: int, pins: list[str]) -> OpenState:
    table = pa.concat_tables(_parts(rows))
    return lawful.make_state(path, table, pins=pins, only_pinned=True, row_key=["id"], engine="local")


def state(rows: int, size: int, rounds: int, laws: list[str] | None = None) -> dict[str, Any]:
    """Batches of new orders, and batches of which half are changed orders, into a state of pinned laws."""
    times: dict[str, Any] = defaultdict(list)

    def timed(name: str, work: Any) -> Any:
        begin, cpu = time.perf_counter(), _cpu()
        done = work()
        times[name].append(time.perf_counter() - begin)
        times[f"{name} cpu"].append(_cpu() - cpu)
        return done

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.state"
        pins = list(laws or LAWS)
        timed("make", lambda: _made(path, rows, pins).close())
        opened = timed("open", lambda: lawful.open_state(path, engine="local"))
        timed("build", opened.as_it_is)
        times["memory"] = resident_bytes()
        timed("first batch", lambda: opened.apply(orders(size, rows)))
        next_row = rows + size
        for _ in range(rounds):
            batch = orders(size, next_row)
            report = timed("insert", lambda batch=batch: opened.apply(batch))
            next_row += size
        for number in range(rounds):
            old = orders(size // 2, rows + size * (1 + number)).select(["id"])
            new = orders(size // 2, next_row)
            report = timed("change", lambda old=old, new=new: opened.apply(new, old))
            next_row += size // 2
        times["broken"] = sum(not pin.holds for pin in report.pins)
        times["violating"] = sum(pin.violating for pin in report.pins)
        times["index_memory"] = opened._state.index_bytes
        opened.close()
    return times


def sql(rows: int, rounds: int) -> dict[str, Any]:
    """The same laws by SQL on the whole table, once for each batch."""
    from lawful.engines.session import spark_session

    times: dict[str, Any] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, spark_session("local[2]") as handle:
        for number, part in enumerate(_parts(rows)):
            pq.write_table(part, Path(folder) / f"{number}.parquet")
        handle.spark.read.parquet(folder).createOrReplaceTempView("orders")
        for _ in range(rounds):
            begin = time.perf_counter()
            for query in QUERIES:
                handle.spark.sql(query).collect()
            times["sql"].append(time.perf_counter() - begin)
    return times


if __name__ == "__main__":
    what, arguments = sys.argv[1], json.loads(sys.argv[2])
    print(json.dumps({"state": state, "sql": sql}[what](**arguments)))
