"""Limits kept: by how much each family passes a limit of time or memory on tables that make its phases long.

A limit is a promise of two seconds, or a tenth of huge answers, and of a tenth of the memory. Seconds are those of the
call, without what is compiled and without writing.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Case, Measurement, Missing, Settings, run_program
from bench.peer import lawful_python

FAMILIES = ("key", "key,fd", "canonical-od", "list-od", "pod", "dc")
GENERATED = ("entities", "measurements", "events")
REAL = ("hfi.csv", "lahman_pitching.csv", "uniprot_1001r_223c.csv")
SECONDS = (3, 10)
MEGABYTES = (400, 1000, 2000)
_GIVEN_UP = 120.0


def limits_of_time(settings: Settings) -> Iterator[Measurement]:
    """Seconds beyond --time-limit, by family and table."""
    for table in _tables(settings):
        for family in FAMILIES:
            for seconds in SECONDS:
                yield _measured("limits-time", table, family, seconds, 0)


def limits_of_memory(settings: Settings) -> Iterator[Measurement]:
    """Megabytes beyond --memory-limit, by family and table; a minute at most."""
    for table in _tables(settings):
        for family in FAMILIES:
            for megabytes in MEGABYTES:
                yield _measured("limits-memory", table, family, 60, megabytes)


def _tables(settings: Settings) -> Iterator[str]:
    yield from GENERATED
    for name in REAL:
        try:
            yield str(settings.table(name))
        except Missing as missing:
            print(f"  passed over: {missing}")


def _measured(case: str, table: str, family: str, seconds: int, megabytes: int) -> Measurement:
    command = [lawful_python(), "-m", "bench.limits_program", table, family, str(seconds), str(megabytes)]
    answers = run_program(command, limit=_GIVEN_UP).answer
    taken, peak = answers.get("seconds", _GIVEN_UP), answers.get("peak_mb", 0)
    over = {
        "seconds_over": round(max(0.0, taken - seconds), 2),
        "memory_over": round(max(0.0, peak / megabytes - 1.0), 3) if megabytes else 0.0,
    }
    name = f"{table.rpartition('/')[2]} {family} {f'{megabytes} MB' if megabytes else f'{seconds} s'}"
    print(f"  {name:<48} {taken:6.1f} s  {peak:6} MB  {over}  {answers.get('found')}", flush=True)
    return Measurement(case, name, (taken,), None, peak, {**answers, **over})


CASES: dict[str, Case] = {"limits-time": limits_of_time, "limits-memory": limits_of_memory}
