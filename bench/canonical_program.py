"""Canonical order dependencies of one file by lawful, repeated, as one JSON line, as the peer's program gives them.

python -m bench.canonical_program FILE [--separator S] [--no-header] [--columns N] [--rows N] [--runs N] [--listed]
    [--strategy S] [--max-size N] [--min-interest X] [--error X] [--measure M] [--master M]

`seconds` include reading and encoding; `search_seconds` and `cpu_seconds`, which tell the driver, Java and the Python
workers of Spark apart, are those of the last search alone.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bench.cpu_parts import cpu_seconds_by_part
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD
from lawful.discovery.canonical_ods.discover import discover_canonical_ods
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions

if TYPE_CHECKING:
    from lawful.engines import Engine

_WARM_ROWS = 1_000


def main() -> None:
    arguments = _parsed()
    dialect = CsvDialect(separator=arguments.separator, header=not arguments.no_header)
    names = None
    if arguments.columns:
        first_row = encode_in_process(arguments.file, ReadOptions(dialect=dialect, limit=1), reuse=False)
        names = tuple(first_row.names[: arguments.columns])
    options = ReadOptions(dialect=dialect, columns=names, limit=arguments.rows)
    question = CanonicalQuestion(
        max_size=arguments.max_size,
        min_interest=arguments.min_interest,
        strategy=arguments.strategy,
        error=arguments.error,
        measure=arguments.measure,
    )
    seconds = []
    with ExitStack() as stack:
        engine = _engine(arguments.master, stack)
        if arguments.master is not None:
            _warm_up(engine, arguments.file, ReadOptions(dialect=dialect, columns=names, limit=_WARM_ROWS))
        for _ in range(arguments.runs):
            begin = time.perf_counter()
            table = encode_in_process(arguments.file, options, reuse=False, in_folder=arguments.master is not None)
            engine.open(table, NullPolicy.EQUAL)
            opened = time.perf_counter()
            before, searching = cpu_seconds_by_part(), time.perf_counter()  # looking takes some milliseconds itself
            found = discover_canonical_ods(Search(table, engine), question)
            end = time.perf_counter()
            used = cpu_seconds_by_part() - before
            seconds.append(opened - begin + end - searching)
            engine.close()
    search = {"search_seconds": end - searching, "cpu_seconds": {part: round(used[part], 1) for part in sorted(used)}}
    print(json.dumps({"seconds": seconds, **search, **_answer(found, arguments.listed)}))


def _warm_up(engine: Engine, file: str, options: ReadOptions) -> None:
    """Let executors, and Python with the compiled kernels on each, start outside of what is measured."""
    table = encode_in_process(file, options, reuse=False, in_folder=True)
    engine.open(table, NullPolicy.EQUAL)
    question = CanonicalQuestion(max_size=1, strategy="lattice")
    discover_canonical_ods(Search(table, engine), question)
    engine.close()


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--separator", default=",")
    parser.add_argument("--no-header", action="store_true")
    parser.add_argument("--columns", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--listed", action="store_true")
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--max-size", type=int)
    parser.add_argument("--min-interest", type=float, default=0.0)
    parser.add_argument("--error", type=float, default=0.0)
    parser.add_argument("--measure", default="g1")
    parser.add_argument("--master")
    return parser.parse_args()


def _engine(master: str | None, stack: ExitStack) -> Engine:
    if master is None:
        return LocalEngine()
    from lawful.engines.session import spark_session
    from lawful.engines.session_settings import quick_start
    from lawful.engines.spark import SparkEngine

    # The driver encodes the table, so Spark only hands out checks: then `lawful discover` sets it up like this too.
    return SparkEngine(stack.enter_context(spark_session(master, extra=quick_start())).spark)


def _answer(found: Findings, listed: bool) -> dict[str, object]:
    laws = [law for listing in found.listings for law in listing.laws()]
    pairs = [(law.direction, law.context, (law.left, law.right)) for law in laws if isinstance(law, CanonicalOD)]
    directions = [direction for direction, _, _ in pairs]
    answer: dict[str, object] = {
        "fd": found.count(goal_is_key=False),
        "asc": directions.count("asc"),
        "desc": directions.count("desc"),
        "complete": found.complete,
        **found.counts,
    }
    answer["count"] = found.count(goal_is_key=False) + len(pairs)
    if listed:
        fds = [("fd", law.lhs, (law.rhs,)) for block in found.blocks for law in block.laws() if isinstance(law, FD)]
        answer["laws"] = sorted([*fds, *pairs])
    return answer


if __name__ == "__main__":
    main()
