"""List-based order dependencies of one table by lawful, repeated, as one JSON line, as the peer's program gives them.

python -m bench.list_od_program FILE [--separator S] [--no-header] [--rows N] [--runs N] [--bidirectional]
    [--error E --measure M] [--generated NAME [--columns N]] [--time-limit S]

With --generated there is no file: N rows are made first, with the last N columns of a table of `list_tables`, and only
the discovery is timed.
"""

from __future__ import annotations

import argparse
import json
import time

from bench.list_tables import TABLES
from lawful.common.meanings import NullPolicy
from lawful.discovery.list_ods.discover import discover_list_ods
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow, encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions


def main() -> None:
    arguments = _parsed()
    question = ListQuestion(
        bidirectional=arguments.bidirectional,
        error=arguments.error,
        measure=arguments.measure,
    )
    dialect = CsvDialect(separator=arguments.separator, header=not arguments.no_header)
    options = ReadOptions(dialect=dialect, limit=arguments.rows)
    made = _made(arguments.generated, arguments.rows, arguments.columns) if arguments.generated else None
    seconds, search = [], []
    for _ in range(arguments.runs):
        begin = time.perf_counter()
        table: EncodedTable = made or encode_in_process(arguments.file, options, reuse=False)
        read = time.perf_counter()
        engine = LocalEngine()
        engine.open(table, NullPolicy.EQUAL)
        found = discover_list_ods(Search(table, engine, Watch(arguments.time_limit)), question)
        seconds.append(time.perf_counter() - begin)
        search.append(time.perf_counter() - read)
        engine.close()
    stated = sum(len(listing) for listing in found.listings)
    count = found.counts.get("tree_nodes", stated)
    answer = {"seconds": seconds, "count": count, "stated": stated, "complete": found.complete, **found.counts}
    print(json.dumps(answer | {"search": round(sorted(search)[len(search) // 2], 4)}))


def _made(name: str, rows: int, columns: int | None) -> EncodedTable:
    table = TABLES[name](rows)
    return encode_arrow(table.select(table.column_names[-(columns or table.num_columns) :]), ReadOptions())


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--separator", default=",")
    parser.add_argument("--no-header", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bidirectional", action="store_true")
    parser.add_argument("--error", type=float, default=0.0)
    parser.add_argument("--measure", default="g1")
    parser.add_argument("--generated", choices=sorted(TABLES))
    parser.add_argument("--columns", type=int)
    parser.add_argument("--time-limit", type=float)
    return parser.parse_args()


if __name__ == "__main__":
    main()
