"""Soaks a stream: files of single-row changes arrive at a steady rate, and what the stream does is drawn over time.

python -m bench.stream_program ARGUMENTS, as JSON: `table` (for `TableFile`), `seconds`, `a_minute`, `find`, `folder`

Prints one JSON line, and writes `stream.png` (lag, memory, seconds a batch, over time) and `stream.json` to the folder.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import threading
import time
from itertools import zip_longest
from pathlib import Path
from typing import Any

import lawful
from bench.living_tables import TableFile
from lawful.common.memory import resident_bytes
from lawful.engines.session import spark_session
from lawful.runs.following import follow
from lawful.runs.stream_batches import BatchTold
from lawful.runs.streams import StreamSettings, start, stream_of
from lawful.tables.options import CsvDialect

_FILES_A_MINUTE = 60
_MB = 1 << 20
_SQL_ROUNDS, _SQL_LAWS = 3, 20
"""How often so many of the laws are asked for by SQL."""


class Feeder(threading.Thread):
    """Lets files of changes arrive: rows leave, others with a changed cell come, and the table keeps its size."""

    def __init__(self, folder: Path, header: list[str], rows: list[list[str]], seconds: float, a_minute: int) -> None:
        super().__init__(daemon=True)
        self._folder, self._header, self._rows = folder, header, rows
        self._seconds, self._per_file = seconds, max(2, a_minute // _FILES_A_MINUTE)
        self.changes = 0

    def run(self) -> None:
        chance, begin, number = random.Random(1), time.monotonic(), 0
        next_key = len(self._rows)
        while time.monotonic() - begin < self._seconds:
            lines = [",".join(["_op", *self._header])]
            for _ in range(self._per_file // 2):
                place = chance.randrange(len(self._rows))
                old = self._rows[place]
                new = list(old)
                column = chance.randrange(1, len(new))
                new[column] = chance.choice(self._rows)[column]
                new[0], next_key = str(next_key), next_key + 1
                self._rows[place] = new
                lines += [",".join(["-", *old]), ",".join(["+", *new])]
            fresh = self._folder / f".{number}.new"
            fresh.write_text("\n".join(lines) + "\n")
            fresh.rename(self._folder / f"{number:06d}.csv")
            self.changes += len(lines) - 1
            number += 1
            time.sleep(max(0.0, begin + number * 60 / _FILES_A_MINUTE - time.monotonic()))


def table_of(table: list[str], scratch: Path) -> tuple[Path, list[str], list[list[str]]]:
    """The table as a CSV file with a key in front, its header and its rows, without commas in cells."""
    _, lines = TableFile(*table).lines()
    header = ["row_id", *(f"c{position}" for position in range(len(lines[0])))]
    rows = [
        [str(number), *(cell.strip().replace(",", ";").replace('"', "") for cell in line)]
        for number, line in enumerate(lines)
    ]
    path = scratch / "first.csv"
    path.write_text("\n".join([",".join(header), *map(",".join, rows)]) + "\n")
    return path, header, rows


def soak(table: list[str], seconds: float, a_minute: int, find: str, folder: str) -> dict[str, Any]:
    """Follow the stream for so many seconds; what each batch took, its lag, and the memory after it."""
    points: list[dict[str, float]] = []
    begin = time.monotonic()

    def told(batch: BatchTold) -> None:
        cpu = resource.getrusage(resource.RUSAGE_SELF)
        points.append(
            {
                "at": time.monotonic() - begin,
                "lag": batch.lag,
                "seconds": batch.seconds,
                "cpu": cpu.ru_utime + cpu.ru_stime,
                "memory_mb": resident_bytes() / _MB,
                "state_mb": batch.bytes / _MB,
                "changes": batch.report.inserted + batch.report.deleted,
            }
        )

    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "in").mkdir()
        first, header, rows = table_of(table, scratch)
        state = scratch / "adult.state"
        with lawful.make_state(state, first, find, row_key=["row_id"], evidence="witnesses", engine="local"):
            pass
        queries = _queries(state, find.split(","))
        handle = spark_session("local[2]")
        with handle:
            feeder = Feeder(scratch / "in", header, rows, seconds, a_minute)

            def started() -> Any:
                named = stream_of(
                    handle.spark, str(scratch / "in"), state, format_="csv", dialect=CsvDialect(), options={}
                )
                query = start(named, state, _settings(state), None, StreamSettings(events=scratch / "events.jsonl"))
                feeder.start()
                return query

            begin = time.monotonic()
            followed = follow(started, state, StreamSettings().checkpoint_of(state), told, seconds + 10)
            sql = _sql_seconds(handle.spark, first, queries)
        draw(points, Path(folder))
        assert followed.inserted == followed.deleted, "every change is a row that leaves and one that comes"
        with lawful.open_state(state, writes=False) as opened:
            assert opened.described(verify=True).differences == [], "the laws are those of the rows"
    half = len(points) // 2
    return {
        "batches": followed.batches,
        "changes": followed.inserted + followed.deleted,
        "seconds": [point["seconds"] for point in points],
        "sql": sql,
        "sql_laws": len(queries),
        "lag_first_half": round(max(point["lag"] for point in points[1:half] or points), 2),
        "lag_second_half": round(max(point["lag"] for point in points[half:]), 2),
        "memory_start_mb": round(points[min(2, len(points) - 1)]["memory_mb"]),
        "memory_end_mb": round(points[-1]["memory_mb"]),
        "cpu_seconds": round(points[-1]["cpu"] - points[0]["cpu"], 1),
    }


def _settings(state: Path) -> Any:
    from lawful.maintenance.living_state import LivingState

    return LivingState.open(state).settings


def _queries(state: Path, kinds: list[Any]) -> list[str]:
    """Some of the laws that a state keeps, of the kinds in turn, as the queries that one would ask after each batch."""
    drawn = random.Random(1)
    with lawful.open_state(state, writes=False) as opened:
        texts = [[law.text for law in opened.laws.of_kind(kind)] for kind in kinds]
    in_turn = zip_longest(*(drawn.sample(of_kind, len(of_kind)) for of_kind in texts))
    chosen = [text for turn in in_turn for text in turn if text is not None][:_SQL_LAWS]
    return [each.query for each in lawful.export(state, table="soaked", cast=False, select=chosen).queries]


def _sql_seconds(spark: Any, first: Path, queries: list[str]) -> list[float]:
    """What these queries take on the whole table, once for each batch."""
    frame = spark.read.option("header", True).option("inferSchema", True).csv(str(first)).cache()
    frame.createOrReplaceTempView("soaked")
    frame.count()
    seconds = []
    for _ in range(_SQL_ROUNDS):
        begin = time.perf_counter()
        for query in queries:
            assert not spark.sql(query).count(), "the laws held when the state was made"
        seconds.append(time.perf_counter() - begin)
    return seconds


def draw(points: list[dict[str, float]], folder: Path) -> None:
    """Draw what happened over time."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stream.json").write_text(json.dumps(points))
    try:
        import altair as alt
    except ImportError:
        return
    titles = {
        "lag": "lag (s)",
        "seconds": "a batch (s)",
        "memory_mb": "driver's Python (MB)",
        "state_mb": "state (MB)",
    }
    charts = [
        alt.Chart(alt.Data(values=points), width=560, height=120)
        .mark_line(point=len(points) < 200)
        .encode(x=alt.X("at:Q", title="seconds"), y=alt.Y(f"{name}:Q", title=title, scale=alt.Scale(zero=True)))
        for name, title in titles.items()
    ]
    alt.vconcat(*charts).save(str(folder / "stream.png"), scale_factor=1.5)


if __name__ == "__main__":
    print(json.dumps(soak(**json.loads(sys.argv[1]))))
