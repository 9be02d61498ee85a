"""Denial constraints of one file by lawful in this process, repeated, as one JSON line: beside the peer's program.

python -m bench.dc_program FILE --separator , --no-header --null-token ? --runs 3 --listed --max-size 3
python -m bench.dc_program tax --rows 100000 --runs 3
python -m bench.dc_program FILE --separator , --write-for-peer COPY
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

from bench.dc_peer_tables import write_for_peer
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, swapped
from lawful.discovery.denials.discover import discover_denial_constraints
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow, encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions


def main() -> None:
    asked = _arguments()
    encode = _encoder(asked)
    if asked.write_for_peer is not None:
        print(json.dumps({"changed": write_for_peer(encode(), asked.write_for_peer, asked.separator)}))
        return
    question = DenialQuestion(cross_columns=False, max_size=asked.max_size, strategy=asked.strategy)
    seconds, found = _repeated(asked.runs, encode, question, asked.time_limit)
    (listing,) = found.listings
    out = {"seconds": seconds, "count": len(listing), "complete": found.complete, **found.counts}
    if asked.listed:
        out["laws"] = sorted(min(_written(law), _written(swapped(law))) for law in listing.laws())
    print(json.dumps(out))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--separator", default=",")
    parser.add_argument("--no-header", action="store_true")
    parser.add_argument("--escape", default='"')
    parser.add_argument("--null-token", action="append", default=[])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--listed", action="store_true")
    parser.add_argument("--max-size", type=int)
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--write-for-peer", type=Path)
    return parser.parse_args()


def _encoder(asked: argparse.Namespace) -> Callable[[], EncodedTable]:
    if asked.file == "tax":
        source = make_tax_table(asked.rows).table
        return lambda: encode_arrow(source, ReadOptions())
    dialect = CsvDialect(
        separator=asked.separator,
        header=not asked.no_header,
        escape=asked.escape,
        null_tokens=tuple(asked.null_token),
    )
    options = ReadOptions(dialect=dialect, limit=asked.rows)
    return lambda: encode_in_process(asked.file, options, reuse=False)


def _repeated(
    runs: int, encode: Callable[[], EncodedTable], question: DenialQuestion, time_limit: float | None
) -> tuple[list[float], Findings]:
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        table = encode()
        engine = LocalEngine()
        engine.open(table, question.null_policy)
        watch = Watch(time_limit)
        found = discover_denial_constraints(Search(table, engine, watch), question)
        seconds.append(time.perf_counter() - begin)
        engine.close()
    return seconds, found


def _written(law: DC) -> list[tuple[int, str]]:
    """The columns and operators of a constraint over single columns."""
    return sorted((predicate.left.column, predicate.operator) for predicate in law.predicates)


if __name__ == "__main__":
    main()
