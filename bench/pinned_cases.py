"""Cases of pinned laws: what a batch costs twenty of them, and the same twenty as SQL on the whole table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bench.harness import Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python

LIMIT = 3600.0
_BATCH = 1_000
_BATCHES_PER_REPETITION = 10
_MOST_SECONDS = 0.05
_LEAST_RATIO = 50
ROWS = (100_000, 1_000_000, 10_000_000)


def _program(what: str, **arguments: Any) -> Ran | None:
    try:
        ran = run_program([lawful_python(), "-m", "bench.pinned_program", what, json.dumps(arguments)], limit=LIMIT)
    except Missing as missing:
        print(f"  pinned {what}: {missing}")
        return None
    if "stopped_after" in ran.answer:
        print(f"  pinned {what}: not done in {LIMIT:.0f} s")
        return None
    return ran


def batches(settings: Settings) -> Iterator[Measurement]:
    """Batches of 1,000 rows into tables with twenty pinned laws, beside the same laws as SQL on the whole table."""
    for rows in ROWS:
        if rows > settings.most_rows:
            continue
        case = "batches of 1,000 into twenty pinned laws"
        rounds = _BATCHES_PER_REPETITION * settings.repetitions
        ran = _program("state", rows=rows, size=_BATCH, rounds=rounds)
        peer = _program("sql", rows=rows, rounds=1 + (rows < ROWS[-1]))
        if ran is None:
            continue
        told = {
            "cpu_ms": {what: round(1000 * min(ran.answer[f"{what} cpu"]), 2) for what in ("insert", "change")},
            "make_s": round(ran.answer["make"][0], 1),
            "open_s": round(ran.answer["open"][0] + ran.answer["build"][0], 1),
            "index_mb": round(ran.answer["index_memory"] / 1e6),
            "broken": ran.answer["broken"],
        }
        yield Measurement(case, "lawful, 1,000 new", tuple(ran.answer["insert"]), rows, ran.peak_mb, told)
        yield Measurement(case, "lawful, 500 new, 500 gone", tuple(ran.answer["change"]), rows, ran.peak_mb)
        if peer is not None:
            yield Measurement(case, "SQL on all rows", tuple(peer.answer["sql"]), rows, peer.peak_mb)
            _judge(f"{rows:,} rows", sorted(ran.answer["insert"])[rounds // 2], min(peer.answer["sql"]))


def _judge(table: str, batch: float, sql: float) -> None:
    """Say whether the goals are met."""
    ratio = sql / batch
    is_quick, is_ahead = batch <= _MOST_SECONDS, ratio >= _LEAST_RATIO
    print(f"  {table}: {1000 * batch:.1f} ms a batch ({'' if is_quick else 'NOT '}at most {1000 * _MOST_SECONDS:.0f})")
    print(f"  {table}: SQL takes {ratio:,.0f} times as long ({'' if is_ahead else 'NOT '}at least {_LEAST_RATIO})")


CASES: dict[str, Case] = {"pinned-batches": batches}
