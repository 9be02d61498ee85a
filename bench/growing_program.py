"""FDs of a generated table, repeated, as one JSON line: how time and memory grow with the rows.

python -m bench.growing_program ROWS REPETITIONS
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pyarrow as pa

from lawful.common.meanings import NullPolicy
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.questions import Question, resident_bytes
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions


def generated(rows: int) -> pa.Table:
    """Shops and the days of their sales: three planted hierarchies, values that repeat, and noise."""
    chance = np.random.default_rng(7)
    shop = chance.integers(0, 2_000, rows)
    city = (shop * 7919 % 2_003) // 20
    day = chance.integers(0, 1_000, rows)
    product = chance.integers(0, 500, rows)
    price = product * 13 % 97 + day // 100
    amount = chance.integers(1, 20, rows)
    return pa.table(
        {
            "shop": shop,
            "city": city,
            "region": city // 9,
            "day": day,
            "month": day // 30,
            "product": product,
            "kind": product % 23,
            "price": price,
            "amount": amount,
            "total": price * amount,
        }
    )


def main(rows: str, runs: str) -> None:
    table = encode_in_process(generated(int(rows)), ReadOptions())
    before = resident_bytes()
    seconds = []
    for _ in range(int(runs)):
        engine = LocalEngine()
        engine.open(table, NullPolicy.EQUAL)
        begin = time.perf_counter()
        found = discover_keys_and_fds(Search(table, engine), Question(keys=True, fds=True))
        seconds.append(time.perf_counter() - begin)
        used = resident_bytes() - before
        engine.close()
    count = sum(len(block.sets) for block in found.blocks)
    sizes = {"table_mb": table.nbytes >> 20, "used_mb": used >> 20, "checks": found.counts.get("checks", 0)}
    print(json.dumps({"seconds": seconds, "count": count, **sizes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
