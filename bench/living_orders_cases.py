"""Cases of tables that change whose order dependencies and denial constraints are kept, beside discovery from scratch.

Everything is measured: reading the batch from a file, following it, and writing it to the log of a state on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.harness import Case, Measurement, Settings
from bench.living_cases import Kept, as_measured, living, rounds, tables

_MOST_PER_ROW = 0.006
"""The goal behind it: 10,000 changes a minute into adult, batch by batch, with keys, FDs and canonical ODs kept."""
_FIRST = ("key", "fd", "canonical-od")


class Asked(NamedTuple):
    """A table, what is kept of it, and the rows of a batch."""

    table: str
    kept: Kept
    sizes: tuple[int, ...]


_ASKED = (
    Asked("adult", Kept(_FIRST), (50, 100)),
    Asked("adult", Kept(("list-od",)), (100,)),
    Asked("hospital_10k", Kept(("dc",), 3), (50,)),
)


def orders(settings: Settings) -> Iterator[Measurement]:
    """Batches into states that keep orders, or denial constraints, beside a discovery of the whole table."""
    for asked in _ASKED:
        for name, table in tables(settings, (asked.table,)):
            for size in asked.sizes:
                yield from _batches(settings, name, table, asked.kept, size)


def _batches(settings: Settings, name: str, table: Any, kept: Kept, size: int) -> Iterator[Measurement]:
    case = f"{kept.text} of {name}, batches of {size}"
    given: dict[str, Any] = {"table": table, "size": size, "rounds": rounds(settings), "scratch": settings.repetitions}
    ran = living(case, "state", **given, evidence="auto", find=kept.find, max_size=kept.max_size)
    if ran is None:
        return
    yield as_measured(case, "from scratch", ran, "scratch", {"laws": ran.answer["laws"]})
    for what in ("insert", "delete", "make"):
        yield as_measured(case, what, ran, what)
    for what in ("insert", "delete"):
        ratio = min(ran.answer["scratch"]) / min(ran.answer[what])
        print(f"  {case}: in the time of a discovery from scratch {what} is done {ratio:.1f} times")
    if kept.find == _FIRST:
        a_row = max(min(ran.answer[what]) for what in ("insert", "delete")) / size
        is_met = "met" if a_row <= _MOST_PER_ROW else "NOT met"
        print(f"  {case}: at most {1000 * _MOST_PER_ROW:g} ms a change: {1000 * a_row:.1f} ms, {is_met}")


CASES: dict[str, Case] = {"living-orders": orders}
