"""Documents and tables that pages are made of in tests."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOSTILE = [
    "{{program}}",
    "</script><script>document.title='ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    "<!--<script>",
    "]]>",
    "javascript:document.title='ran'",
    "\u202eabc",
    "\u2028\u2029\x00\x1b[31m",
    "'\"`${document.title='ran'}",
    "&lt;b&gt; &amp;",
]
"""Texts that would run or mislead somewhere else."""


def hostile_table(folder: Path) -> Path:
    """A table whose names and cells are hostile, and whose first column does not quite determine the second."""
    path = folder / "hostile.csv"
    names = ["</script><script>document.title='ran'</script>", "<b onclick=alert(1)>", "a\"b'c", "plain"]
    rows = [[HOSTILE[n % 10], HOSTILE[(n // 10) % 10 if n != 3 else 7], str(n), str(n)] for n in range(40)]
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([names, *([cell.replace("\x00", "") for cell in row] for row in rows)])
    return path


def many_laws(number: int, columns: int = 40, seed: int = 5) -> dict[str, Any]:
    """A document of so many keys and FDs, three of ten almost holding."""
    rnd = random.Random(seed)
    names = [f"column_{place:02}" for place in range(columns)]
    entries: list[dict[str, Any]] = []
    for _ in range(number):
        right, *left = rnd.sample(names, rnd.randint(2, 6))
        strength = rnd.random()
        is_almost = strength < 0.3
        law = {"kind": "key", "columns": left} if rnd.random() < 0.1 else {"kind": "fd", "lhs": left, "rhs": right}
        entries.append(
            law
            | {
                "strength": round(strength, 6) if is_almost else 1.0,
                "interest": round(rnd.random(), 4),
                "error": round(0.01 * strength, 5) if is_almost else 0.0,
                "tested": rnd.randrange(10**6),
                "violating": rnd.randrange(1, 999) if is_almost else 0,
            }
        )
    return document(names, entries)


def document(names: Sequence[str], entries: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A document of laws."""
    columns = [{"name": name, "type": "integer", "distinct": 9, "nulls": 0, "min": "1", "max": "9"} for name in names]
    return {
        "format": "lawful/1",
        "complete": True,
        "table": {"name": "generated", "rows": 100_000, "columns": columns},
        "settings": {"null": "equal"},
        "dependencies": list(entries),
        "stats": {"seconds": {"total": 1.5}, "counts": {}},
        **more,
    }
