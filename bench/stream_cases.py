"""Cases of streams: files arrive at a steady rate and are followed; lag and memory over time, beside queries.

The peer is what people do today: after each batch the same laws as queries on the whole table, on the same Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.fd_cases import described
from bench.harness import Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python

_SECONDS = 60.0
_A_MINUTE = 10_000
_LIMIT = 3600.0


def soak(settings: Settings, seconds: float, a_minute: int, find: str) -> Ran:
    """Run the soak program, which draws its curves into the folder of results."""
    file, *rest = described(settings, "adult")
    asked = {
        "table": [str(file), *rest],
        "seconds": seconds,
        "a_minute": a_minute,
        "find": find,
        "folder": str(settings.folder),
    }
    ran = run_program([lawful_python(), "-m", "bench.stream_program", json.dumps(asked)], limit=_LIMIT + seconds)
    if "stopped_after" in ran.answer:
        raise Missing(f"the stream did not end within {_LIMIT + seconds:.0f} s")
    return ran


def files(settings: Settings) -> Iterator[Measurement]:
    """10,000 single-row changes a minute into adult, with keys, FDs and canonical ODs kept, a minute a repetition."""
    ran = soak(settings, _SECONDS * settings.repetitions, _A_MINUTE, "key,fd,canonical-od")
    answer = ran.answer
    told = {
        name: answer[name]
        for name in ("batches", "changes", "lag_first_half", "lag_second_half", "memory_start_mb", "memory_end_mb")
    }
    case = f"{_A_MINUTE:,} changes a minute into adult, as files"
    yield Measurement(case, "a batch, from file to laws", tuple(answer["seconds"]), None, ran.peak_mb, told)
    print(f"  wrote {settings.folder / 'stream.png'}")
    if answer["sql"]:
        yield Measurement(case, f"{answer['sql_laws']} of the laws as SQL on all rows", tuple(answer["sql"]))


CASES: dict[str, Case] = {"stream-files": files}
