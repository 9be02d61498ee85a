"""Cases of tables that change: what a batch costs beside doing all anew, and how that grows.

Agree sets alone (`AgreeMultiset`), and states on disk whose keys and FDs are kept (`make_state`, `apply`). Every
contestant that is compared runs in one process with what it is compared with; batches of one size are measured several
times, warm. All tables are the whole ones of the catalogue: uniprot has 223 columns, where the paper says 222.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench.fd_cases import described
from bench.harness import Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python

TABLES = ("adult", "claims_coded_102k", "flight_1k", "uniprot")
LIMIT = 1800.0
_SECONDS_LIMIT = 60.0
"""Seconds after which a way that is slow here is given up, with its table."""
BATCHES_PER_REPETITION = 4
_BATCH = 50
_GROWING_BATCH = 100
_GROWING_ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
_MOST_GROWTH = 4.0
"""The goal: a batch takes at most so many times as long at a million rows as at ten thousand."""


class Kept(NamedTuple):
    """The laws that a state of a table keeps: all FDs of the wide ones would be millions."""

    find: tuple[str, ...] = ("key", "fd")
    max_size: int | None = None

    @property
    def text(self) -> str:
        return " and ".join(f"{kind}s" for kind in self.find) + (f" of {self.max_size}" if self.max_size else "")


KEPT = {"flight_1k": Kept(max_size=2), "uniprot": Kept(max_size=1)}
_BATCHES = {"adult": (_BATCH, 326)}
"""Batch sizes; 326 rows are 1 % of adult."""
_PAPER_MOST = {"claims_coded_102k": 1400, "flight_1k": 40, "uniprot": 160}
"""Milliseconds: the longest batch of 50 insertions in figure 4 of the paper."""
_SIZES = {
    "adult": (10, 20, 50, 100, 200, 500, 1000),
    "claims_coded_102k": (10, 20, 50, 100, 200, 500, 1000),
    "flight_1k": (10, 25, 50, 100, 150),
    "uniprot": (10, 25, 50, 100, 150),
}
_COLUMNS = {"flight_1k": (10, 20, 40, 60, 80, 109), "uniprot": (10, 20, 40, 80, 120, 160, 222)}
_ROWS_OF_COLUMNS = 550
"""As in figure 6 of the paper: a batch of 50 into 500 rows."""
_ROWS = {"adult": 32_561, "claims_coded_102k": 101_985}
_PARTS = 8


def living(case: str, what: str, limit: float = LIMIT, **arguments: Any) -> Ran | None:
    """Run one of the programs of living tables; None, and a word, if it fails or does not end in time."""
    try:
        ran = run_program([lawful_python(), "-m", "bench.living_program", what, json.dumps(arguments)], limit=limit)
    except Missing as missing:
        print(f"  {case}: {missing}")
        return None
    if "stopped_after" in ran.answer:
        print(f"  {case}: not done in {limit:.0f} s")
        return None
    return ran


def tables(settings: Settings, names: Sequence[str] = TABLES) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """The tables that are there; the others are passed over."""
    for name in names:
        try:
            file, *rest = described(settings, name)
        except Missing as missing:
            print(f"  {name} is passed over: {missing}")
            continue
        yield name, (str(file), *rest)  # type: ignore[misc]  # described gives three more texts


def batches(settings: Settings) -> Iterator[Measurement]:
    """Batches of 50 rows (and 1 % of adult) into real tables: agree sets alone, and keys and FDs kept on disk."""
    for name, table in tables(settings):
        for size in _BATCHES.get(name, (_BATCH,)):
            yield from _agree_sets(settings, name, table, size)
            for evidence in ("counted", "witnesses"):
                yield from _laws(settings, name, table, size, evidence)


def _agree_sets(settings: Settings, name: str, table: Sequence[str], size: int) -> Iterator[Measurement]:
    """Every way to count a batch beside a count of all pairs; the paper's own way only where it ends soon."""
    case = f"agree sets of {name}, batches of {size}"
    asked: dict[str, Any] = {"table": table, "sizes": [size], "rounds": rounds(settings)}
    ours = living(case, "multiset", **asked, strategies=["auto", "compare", "index"], scratch=settings.repetitions)
    if ours is not None:
        told = {"most_of_the_paper_ms": _PAPER_MOST[name]} if size == _BATCH and name in _PAPER_MOST else None
        yield as_measured(case, "from scratch", ours, "scratch", told)
    paper = living(f"{case}, dynast", "multiset", _SECONDS_LIMIT, **asked, strategies=["dynast"])
    for ran, strategies in ((ours, ("auto", "compare", "index")), (paper, ("dynast",))):
        for strategy in strategies:
            yield from _both_ways(case, ran, strategy, size)


def _laws(settings: Settings, name: str, table: Sequence[str], size: int, evidence: str) -> Iterator[Measurement]:
    """A state of the table beside discovery; all of `apply` is measured, reading a file and writing the log too."""
    kept = KEPT.get(name, Kept())
    case = f"{kept.text} of {name} by {evidence}, batches of {size}"
    asked: dict[str, Any] = {"table": table, "size": size, "rounds": rounds(settings), "scratch": settings.repetitions}
    ran = living(case, "state", **asked, evidence=evidence, find=kept.find, max_size=kept.max_size)
    if ran is None:
        return
    counts = {key: ran.answer[key] for key in ("laws", "agree_sets")}
    yield as_measured(case, "from scratch", ran, "scratch", counts)
    for what in ("insert", "delete", "make"):
        yield as_measured(case, what, ran, what)


def growth(settings: Settings) -> Iterator[Measurement]:
    """A batch of 100 rows as a generated table grows from 10,000 rows on; keys and FDs kept by witnesses."""
    ends: dict[str, dict[int, float]] = {}
    for rows in [rows for rows in _GROWING_ROWS if rows <= settings.most_rows] or [settings.most_rows]:
        ran = living(f"{rows:,} rows", "growth", rows=rows, size=_GROWING_BATCH, rounds=rounds(settings))
        if ran is None:
            break
        counts = {key: ran.answer[key] for key in ("laws", "disk_over_codes", "resident_mb")}
        for what in ("insert", "delete", "mixed", "make"):
            is_made = what == "make"
            case = "making a state of a generated table" if is_made else f"{what} {_GROWING_BATCH} rows as it grows"
            yield as_measured(case, "lawful", ran, what, counts if is_made else None, rows)
            ends.setdefault(what, {})[rows] = min(ran.answer[what])
    for what in ("insert", "delete", "mixed"):
        _judge(what, ends.get(what, {}))


def _judge(what: str, least: Mapping[int, float]) -> None:
    """Say whether the goal is met."""
    few, many = _GROWING_ROWS[0], _GROWING_ROWS[2]
    if few in least and many in least:
        times = least[many] / least[few]
        is_met = "met" if times <= _MOST_GROWTH else "NOT met"
        goal = f"at most {_MOST_GROWTH:g} times as long at {many:,} rows as at {few:,}"
        print(f"  {goal}: {what} {times:.1f} times, {is_met}")


def curves(settings: Settings) -> Iterator[Measurement]:
    """Batches over the rows, the columns and the size of the batch, as in figures 4 to 6 of the paper."""
    for name, table in tables(settings, tuple(_ROWS)):
        for part in range(1, _PARTS + 1):
            yield from _curve(settings, f"50 rows into {name}, over its rows", table, _ROWS[name] * part // _PARTS)
    for name, table in tables(settings, tuple(_COLUMNS)):
        for columns in _COLUMNS[name]:
            case = f"50 rows into 500 of {name}, over its columns"
            yield from _curve(settings, case, (*table[:3], str(columns)), _ROWS_OF_COLUMNS, columns)
    for name, table in tables(settings, tuple(_SIZES)):
        case = f"batches into {name}, over their size"
        ran = living(case, "multiset", table=table, strategies=["auto"], sizes=_SIZES[name], rounds=rounds(settings))
        for size in _SIZES[name]:
            yield from _both_ways(case, ran, "auto", size, size)


def _curve(
    settings: Settings, case: str, table: Sequence[str], rows: int, at: int | None = None
) -> Iterator[Measurement]:
    asked: dict[str, Any] = {"table": table, "strategies": ["auto"], "sizes": [_BATCH], "rows": rows}
    ran = living(case, "multiset", **asked, rounds=rounds(settings))
    yield from _both_ways(case, ran, "auto", _BATCH, at or rows)


def _both_ways(case: str, ran: Ran | None, strategy: str, size: int, at: int | None = None) -> Iterator[Measurement]:
    """Insertions and deletions, if they were measured: a batch may be larger than the table."""
    for what in ("insert", "delete"):
        if ran is not None and f"{strategy} {what} {size}" in ran.answer:
            name = what if at is not None else f"{strategy}, {what}"
            yield as_measured(case, name, ran, f"{strategy} {what} {size}", size=at)


def rounds(settings: Settings) -> int:
    """How many batches of a kind are measured."""
    return BATCHES_PER_REPETITION * settings.repetitions


def as_measured(
    case: str, contestant: str, ran: Ran, key: str, answers: Mapping[str, Any] | None = None, size: int | None = None
) -> Measurement:
    """Times of a program under one of their names."""
    told = dict(answers or {})
    if within := ran.answer.get(f"{key} within"):
        told["least_within_ms"] = round(1000 * min(within), 2)
    return Measurement(case, contestant, tuple(ran.answer[key]), size, ran.peak_mb, told)


CASES: dict[str, Case] = {"living-batch": batches, "living-growth": growth, "living-curves": curves}
