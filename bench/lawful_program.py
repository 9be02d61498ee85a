"""Keys or FDs of one file by lawful in this process, repeated, as one JSON line: the counterpart of the peer's program.

python -m bench.lawful_program fd|ucc FILE SEPARATOR HEADER COLUMNS REPETITIONS LISTED
"""

from __future__ import annotations

import json
import sys
import time

from lawful.common.meanings import NullPolicy
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.questions import Question
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions


def main(kind: str, file: str, separator: str, header: str, columns: str, runs: str, listed: str) -> None:
    dialect = CsvDialect(separator=separator, header=header == "1")
    names = _names(file, dialect, int(columns)) if int(columns) else None
    options, question = ReadOptions(dialect=dialect, columns=names), Question(kind == "ucc", kind == "fd")
    seconds, laws = [], []
    for _ in range(int(runs)):
        engine = LocalEngine()  # as the peer's program makes its own before it looks at the clock
        begin = time.perf_counter()
        table = encode_in_process(file, options, reuse=False)
        engine.open(table, NullPolicy.EQUAL)
        found = discover_keys_and_fds(Search(table, engine), question)
        seconds.append(time.perf_counter() - begin)
        engine.close()
    out = {"seconds": seconds, "count": sum(len(block.sets) for block in found.blocks), **found.counts}
    if listed == "1":
        for block in found.blocks:
            laws += [[list(law.lhs), law.rhs] if kind == "fd" else list(law.columns) for law in block.laws()]
        out["laws"] = sorted(laws)
    print(json.dumps(out))


def _names(file: str, dialect: CsvDialect, count: int) -> tuple[str, ...]:
    table = encode_in_process(file, ReadOptions(dialect=dialect, limit=1), reuse=False)
    return tuple(table.names[:count])


if __name__ == "__main__":
    main(*sys.argv[1:])
