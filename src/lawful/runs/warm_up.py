"""Rehearsing what lawful does on generated tables, so that everything it compiles is compiled and kept.

Numba compiles a kernel for the types of the arrays that it is given. So no kernel is listed here: whatever a rehearsal
calls is compiled as a real table would have it. The tables differ in what leads to other kernels: few rows and many,
nulls, more columns than a word has bits, texts and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.common import small_work
from lawful.common.compiled import compiled_here, kept_in
from lawful.common.compiling import compiling_seconds
from lawful.common.errors import UsageError
from lawful.discovery.families import FamilySearch, discoverable, family_named
from lawful.results.texts.shown_text import counted
from lawful.runs.open_table import OpenTable
from lawful.runs.opened import open_source
from lawful.runs.request import families_of
from lawful.runs.run import Progress, Where, silent
from lawful.tables.options import ReadOptions

_SEED = 1
_SECONDS = 3.0
"""The most that one rehearsal may take, without compiling."""
_CSV_BYTES = 9 << 20
"""A file that is large enough to go straight from its bytes to ranks."""
_ALMOST = 0.05
_LAWS = {
    "key": ("key(a, b)", "key(id)"),
    "fd": ("a -> b", "group -> town", "a, b -> id", "{} -> a"),
    "canonical-od": ("{}: a asc ~ b asc", "{group}: id asc ~ x asc", "{a}: x asc ~ id desc", "{}: id asc ~ day asc"),
    "list-od": ("[id] -> [day]", "[a, b] -> [x]", "[group] -> [town]"),
    "pod": ("{id<} -> {day<=}", "{a<, x>} -> {b<=}", "{group=, id<} -> {day<}"),
    "dc": (
        "not(t.a = s.a and t.b != s.b)",
        "not(t.group = s.group and t.id < s.id and t.x > s.x)",
        "not(t.id < s.id and t.day > s.day)",
        "not(t.a < s.b and t.b > s.a and t.x = s.x)",
    ),
}


@dataclass(frozen=True)
class WarmUp:
    """What a warm-up has done.

    Attributes
    ----------
    compiled
        How many kernels were compiled, each once for every combination of types that it is used with.
    seconds
        The time that this took.
    folder
        Where they are kept; None if there is no place that can be written to, so that every process compiles.
    """

    compiled: int
    seconds: float
    folder: Path | None

    def to_dict(self) -> dict[str, Any]:
        """The same as a document."""
        folder = None if self.folder is None else str(self.folder)
        return {"compiled": self.compiled, "seconds": round(self.seconds, 1), "folder": folder}


def warm_up(find: str | Iterable[str] | None = None, progress: Progress = silent) -> WarmUp:
    """Compile what it takes to read tables and to find and check laws of some kinds, of all unless some are named."""
    kinds = discoverable() if find is None else families_of(find)
    searches = [family_named(kind).search for kind in kinds]  # a name that is none is told before work is spent
    before, seconds = compiled_here(), compiling_seconds()
    with small_work.of(0, 0, runs_in_python=False):
        for words, source, fits in _tables():
            opened = open_source(source, ReadOptions(), Where("local"), reuse=False)
            with opened, OpenTable(opened) as table:
                for kind, search in zip(kinds, searches, strict=True):
                    if search is not None and (fits is None or kind in fits):
                        progress(f"{kind}, {words}: {counted(compiled_here() - before, 'kernel')} compiled")
                        _rehearse(table, kind, search)
                if fits is None:
                    _rehearse_strongest(table, kinds)
                    table.errors(time_limit=_SECONDS).to_dict()
    return WarmUp(compiled_here() - before, compiling_seconds() - seconds, kept_in())


def _rehearse(table: OpenTable, kind: str, search: FamilySearch) -> None:
    """Find laws of a kind in every way that there is, and check and explain some."""
    limits: dict[str, Any] = {"time_limit": _SECONDS, "max_size": 2}
    ways: list[dict[str, Any]] = [{"strategy": strategy} for strategy in ("auto", *search.strategies)]
    ways += [{"error": _ALMOST, "measure": measure} for measure in search.measures]
    for null in ("equal", "ignore"):
        for way in ways:
            with suppress(UsageError):  # not every kind knows every meaning of null
                table.discover(kind, null=null, **way, **limits).to_dict()
        for law in _LAWS.get(kind, ()):
            with suppress(UsageError):
                table.check(law, null=null).to_dict()
                table.explain(law, null=null).to_dict()


def _rehearse_strongest(table: OpenTable, kinds: Iterable[str]) -> None:
    """Find the strongest laws of those kinds that are searched for by strength."""
    from lawful.discovery.strongest.discover import FAMILIES

    some = [kind for kind in kinds if kind in FAMILIES]
    for null in ("equal", "ignore") if some else ():
        table.strongest(some, null=null, time_limit=_SECONDS).to_dict()


def _tables() -> Iterator[tuple[str, pa.Table | Path, tuple[str, ...] | None]]:
    """Tables in words, themselves, and the kinds of laws to look for where not all fit."""
    keys_and_fds = ("key", "fd")
    yield "a small table", _table(60), None
    yield "a larger table", _table(3_000), None
    yield "a wide table", _wide_table(200, 70), keys_and_fds
    with TemporaryDirectory(prefix="lawful-warm-up-") as folder:
        yield "a file", _file(Path(folder) / "table.csv"), keys_and_fds


def _table(rows: int) -> pa.Table:
    """Columns that determine and order each other, and some that do not."""
    random = np.random.default_rng(_SEED)
    group = random.integers(0, 1 + rows // 12, rows)
    numbers = np.arange(rows)
    nulls = random.random(rows) < 0.1
    return pa.table(
        {
            "id": pa.array(numbers),
            "group": pa.array(group),
            "town": pa.array([f"town {each % 23}" for each in group.tolist()]),
            "a": pa.array(random.integers(0, 5, rows), mask=nulls),
            "b": pa.array(random.integers(0, 9, rows)),
            "x": pa.array(random.normal(size=rows).round(1)),
            "day": pa.array(numbers // 3),
        }
    )


def _wide_table(rows: int, more: int) -> pa.Table:
    """The same with more columns, of few and of many values."""
    random = np.random.default_rng(_SEED)
    table = _table(rows)
    for number in range(more):
        table = table.append_column(f"c{number}", pa.array(random.integers(0, 2 + number % 40, rows)))
    return table


def _file(path: Path) -> Path:
    """Write a CSV file; numbers, texts, empty cells."""
    table = _table(3_000)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    lines = "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
    times = 1 + _CSV_BYTES // len(lines)
    path.write_text(",".join(table.column_names) + "\n" + lines * times)
    return path
