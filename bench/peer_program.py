"""Runs in the peer's environment: one algorithm of Desbordante on one file, repeated, as one JSON line.

python peer_program.py fd|ucc ALGORITHM FILE SEPARATOR HEADER COLUMNS REPETITIONS LISTED
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path


def main(
    kind: str, algorithm: str, file: str, separator: str, header: str, columns: str, runs: str, listed: str
) -> None:
    import desbordante

    path, first_columns = Path(file), int(columns)
    with tempfile.TemporaryDirectory() as folder:
        if first_columns:
            path = _first_columns(path, separator, first_columns, Path(folder))
        seconds, answer = [], None
        for _ in range(int(runs)):
            module = desbordante.fd if kind == "fd" else desbordante.ucc
            program = getattr(module.algorithms, algorithm)()
            begin = time.perf_counter()
            program.load_data(table=(str(path), separator, header == "1"))
            program.execute()
            answer = program.get_fds() if kind == "fd" else program.get_uccs()
            seconds.append(time.perf_counter() - begin)
    out = {"seconds": seconds, "count": len(answer)}
    if listed == "1":
        if kind == "fd":
            out["laws"] = sorted([sorted(fd.to_index_tuple()[0]), fd.to_index_tuple()[1]] for fd in answer)
        else:
            out["laws"] = sorted(sorted(ucc.indices) for ucc in answer)
    print(json.dumps(out))


def _first_columns(path: Path, separator: str, count: int, folder: Path) -> Path:
    import csv

    target = folder / path.name
    with path.open(encoding="utf-8", newline="") as source, target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=separator)
        for row in csv.reader(source, delimiter=separator):
            writer.writerow(row[:count])
    return target


if __name__ == "__main__":
    main(*sys.argv[1:])
