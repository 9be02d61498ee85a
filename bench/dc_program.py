"""Denial constraints of one file by lawful in this process, repeated, as one JSON line: beside the peer's program.

python -m bench.dc_program FILE SEPARATOR HEADER COLUMNS ROWS REPETITIONS LISTED [MAX_SIZE]
python -m bench.dc_program tax ROWS REPETITIONS
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, swapped
from lawful.discovery.denial_constraints import discover_denial_constraints
from lawful.discovery.denial_questions import DenialQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow, encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions


def main(*arguments: str) -> None:
    if arguments[0] == "tax":
        rows, runs = map(int, arguments[1:3])
        source = make_tax_table(rows).table
        seconds, found = _repeated(runs, lambda: encode_arrow(source, ReadOptions()), None)
        listed = "0"
    else:
        file, separator, header, columns, rows_text, runs_text, listed, *size = arguments
        dialect = CsvDialect(separator=separator, header=header == "1")
        names = _names(file, dialect, int(columns)) if int(columns) else None
        options = ReadOptions(dialect=dialect, columns=names, limit=int(rows_text) or None)
        max_size = int(size[0]) if size else None
        seconds, found = _repeated(int(runs_text), lambda: encode_in_process(file, options, reuse=False), max_size)
    (listing,) = found.listings
    out = {"seconds": seconds, "count": len(listing), **found.counts}
    if listed == "1":
        out["laws"] = sorted(min(_written(law), _written(swapped(law))) for law in listing.laws())
    print(json.dumps(out))


def _repeated(runs: int, encode: Callable[[], EncodedTable], max_size: int | None) -> tuple[list[float], Findings]:
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        table = encode()
        question = DenialQuestion(cross_columns=False, max_size=max_size)
        engine = LocalEngine()
        engine.open(table, question.null_policy)
        found = discover_denial_constraints(table, engine, question, Watch(), lambda _: None, lambda _: None)
        seconds.append(time.perf_counter() - begin)
        engine.close()
    return seconds, found


def _written(law: DC) -> list[tuple[int, str]]:
    """The columns and operators of a constraint over single columns."""
    return sorted((predicate.left.column, predicate.operator) for predicate in law.predicates)


def _names(file: str, dialect: CsvDialect, count: int) -> tuple[str, ...]:
    table = encode_in_process(file, ReadOptions(dialect=dialect, limit=1), reuse=False)
    return tuple(table.names[:count])


if __name__ == "__main__":
    main(*sys.argv[1:])
