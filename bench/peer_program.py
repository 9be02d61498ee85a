"""Runs in the peer's environment: one algorithm of Desbordante on one file, repeated, as one JSON line.

python peer_program.py fd|ucc|canonical|list|dc ALGORITHM FILE SEPARATOR HEADER COLUMNS REPETITIONS LISTED
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_LONG = 60.0
"""Seconds after which a program is not run once more."""


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
            module = {"fd": desbordante.fd, "ucc": desbordante.ucc, "dc": desbordante.dc}.get(kind, desbordante.od)
            program = getattr(module.algorithms, algorithm)()
            begin = time.perf_counter()
            program.load_data(table=(str(path), separator, header == "1"))
            program.execute(**(_denial_options(path) if kind == "dc" else {}))
            answer = _answer(program, kind)
            seconds.append(time.perf_counter() - begin)
            if sum(seconds) > _LONG:
                break
    out = {"seconds": seconds, "count": len(answer)}
    if kind == "canonical":
        laws = sorted({_canonical(str(od)) for od in answer})  # it lists (A, B) and (B, A)
        out |= {sort: sum(law[0] == sort for law in laws) for sort in ("fd", "asc", "desc")}
        out["count"] = len(laws)
    if listed == "1":
        if kind == "dc":
            out["laws"] = sorted(map(_denial, map(str, answer)))
        elif kind == "canonical":
            out["laws"] = laws
        elif kind == "list":
            out["laws"] = sorted([list(od.lhs), list(od.rhs)] for od in answer)
        elif kind == "fd":
            out["laws"] = sorted([sorted(fd.to_index_tuple()[0]), fd.to_index_tuple()[1]] for fd in answer)
        else:
            out["laws"] = sorted(sorted(ucc.indices) for ucc in answer)
    print(json.dumps(out))


def _answer(program: Any, kind: str) -> list[Any]:
    if kind == "fd":
        return program.get_fds()
    if kind == "ucc":
        return program.get_uccs()
    if kind == "list":
        return program.get_list_ods()
    if kind == "dc":
        return program.get_dcs()
    return [*program.get_simple_ods(), *program.get_asc_ods(), *program.get_desc_ods()]


def _denial_options(path: Path) -> dict[str, Any]:
    """Exact constraints over single columns; its shards must not be longer than the table."""
    with path.open("rb") as lines:
        rows = sum(1 for _ in lines) - 1
    return {"evidence_threshold": 0.0, "allow_cross_columns": False, "shard_length": min(350, rows)}


def _denial(text: str) -> list[tuple[int, str]]:
    """Read `t.3 <= s.3 ∧ t.4 == s.4`, columns counted from zero: the smaller of itself and its mirror image."""
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    found = [(int(column), "=" if o == "==" else o) for column, o in re.findall(r"t\.(\d+) (\S+) s", text)]
    return min(sorted(found), sorted((column, turned.get(o, o)) for column, o in found))


def _canonical(text: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Read `{2,3} : 5<= ~ 4<=` or `{2,3} : [] -> 5<=`, columns counted from one: sort, context, columns from zero."""
    context_text, _, law = text.partition(" : ")
    context = tuple(sorted(int(column) - 1 for column in re.findall(r"\d+", context_text)))
    columns = tuple(sorted(int(column) - 1 for column in re.findall(r"\d+", law)))
    return "fd" if "->" in law else "desc" if ">=" in law else "asc", context, columns


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
