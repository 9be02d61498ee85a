"""List-based order dependencies of one table by lawful, repeated, as one JSON line, as the peer's program gives them.

python -m bench.list_od_program FILE [--separator S] [--no-header] [--rows N] [--runs N] [--bidirectional] [--rigid]
    [--error E --measure M] [--generated]

With --generated there is no file: N rows are made first, and only the discovery is timed.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import pyarrow as pa

from lawful.common.meanings import NullPolicy
from lawful.discovery.list_ods.discover import discover_list_ods
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow, encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions


def main() -> None:
    arguments = _parsed()
    question = ListQuestion(
        bidirectional=arguments.bidirectional,
        flexible=not arguments.rigid,
        error=arguments.error,
        measure=arguments.measure,
    )
    dialect = CsvDialect(separator=arguments.separator, header=not arguments.no_header)
    options = ReadOptions(dialect=dialect, limit=arguments.rows)
    made = encode_arrow(made_table(arguments.rows), ReadOptions()) if arguments.generated else None
    seconds, search = [], []
    for _ in range(arguments.runs):
        begin = time.perf_counter()
        table: EncodedTable = made or encode_in_process(arguments.file, options, reuse=False)
        read = time.perf_counter()
        engine = LocalEngine()
        engine.open(table, NullPolicy.EQUAL)
        found = discover_list_ods(Search(table, engine), question)
        seconds.append(time.perf_counter() - begin)
        search.append(time.perf_counter() - read)
        engine.close()
    stated = sum(len(listing) for listing in found.listings)
    answer = {"seconds": seconds, "count": found.counts["tree_nodes"], "stated": stated, **found.counts}
    print(json.dumps(answer | {"search": round(sorted(search)[len(search) // 2], 4)}))


def made_table(rows: int) -> pa.Table:
    """Orders as a shop keeps them: by time, with dates in parts, running numbers, prices and places."""
    chance = np.random.default_rng(5)
    minute = np.cumsum(chance.integers(0, 3, rows))
    day = minute // 1440
    price = np.round(chance.gamma(2.0, 40.0, rows), 2)
    place = chance.integers(0, 400, rows)
    columns = {
        "number": np.arange(rows) + 1000,
        "minute": minute,
        "day": day,
        "month": day // 30 % 12 + 1,
        "year": day // 360 + 1990,
        "countdown": -day,
        "place": place,
        "region": place // 25,
        "price": price,
        "vat": np.round(price * 0.19, 2),
        "customer": chance.integers(0, max(10, rows // 20), rows),
        "currency": np.zeros(rows, np.int64),
    }
    shuffled = chance.permutation(rows)
    return pa.table({name: column[shuffled] for name, column in columns.items()})


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--separator", default=",")
    parser.add_argument("--no-header", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bidirectional", action="store_true")
    parser.add_argument("--rigid", action="store_true", help="without the flexible strategy")
    parser.add_argument("--error", type=float, default=0.0)
    parser.add_argument("--measure", default="g1")
    parser.add_argument("--generated", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
