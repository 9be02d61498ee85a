"""Cases of tables that no node holds: growing ones, beside the same rows on every node, and many FDs in one call."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.harness import Case, Measurement, Settings, in_turn, run_program
from bench.memory_over_time import MemoryWatch, draw_memory

_MILLION = 1_000_000
_CANDIDATES = 1_000
SCRATCH = "LAWFUL_BENCHSCRATCH"
"""The folder for generated rows and datasets: 100 million rows take about 25 GB with what Spark spills."""
_BOTH_FIT = 10
"""Millions of rows up to which the same question is put to rows on every node too."""


def shuffle_growing(settings: Settings) -> Iterator[Measurement]:
    """Encode generated rows x 10 and find keys, FDs and canonical ODs up to size 2, with 2 GB for each process."""
    drawn: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get(SCRATCH)) as folder:
        for millions in (1, 10, 30, 100):
            if millions * _MILLION > settings.most_rows:
                continue
            path = Path(folder) / f"rows-{millions}"
            write_rows(path, millions * _MILLION)
            for placement in ("shuffle", "replicate"):
                if placement == "replicate" and millions > _BOTH_FIT:
                    continue
                watches: list[MemoryWatch] = []

                def watched(session: int, watches: list[MemoryWatch] = watches) -> MemoryWatch:
                    watches.append(MemoryWatch(session))
                    return watches[0]

                cache = Path(folder) / f"cache-{placement}"
                ran = run_program(
                    [sys.executable, "-m", "bench.shuffle_program", str(path), placement],
                    {"LAWFUL_CACHE": str(cache)},
                    limit=8 * 3600.0,
                    watched=watched,
                )
                watch = watches[0]
                drawn[f"{millions} million rows, {placement}"] = watch.points
                draw_memory(drawn, settings.folder, "shuffle-memory")  # at once: a later run may be broken off
                told = {**ran.answer, "cpu_seconds": watch.cpu_seconds, "peaks_mb": watch.peaks}
                told["dataset_mb"] = _size_of(cache) >> 20
                shutil.rmtree(cache, ignore_errors=True)
                seconds = (float(ran.answer.get("total_seconds", ran.seconds)),)
                yield Measurement("shuffle-growing", placement, seconds, millions * _MILLION, ran.peak_mb, told)
            shutil.rmtree(path)


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def shuffle_fds(settings: Settings) -> Iterator[Measurement]:
    """Check 1,000 FDs of a generated table in one call, beside 1,000 queries of Spark with GROUP BY; same answers."""
    from lawful.checks import CheckTask
    from lawful.common.meanings import NullPolicy
    from lawful.dependencies import FD
    from lawful.engines.session import spark_session
    from lawful.engines.shuffle.engine import ShuffleEngine
    from lawful.tables.options import ReadOptions
    from lawful.tables.shuffled.encode import encode_by_shuffles

    chance = random.Random(3)
    laws = []
    while len(laws) < _CANDIDATES:
        columns = chance.sample(range(10), chance.randint(2, 5))
        laws.append(FD(tuple(columns[1:]), columns[0]))
    with tempfile.TemporaryDirectory() as folder, spark_session("local[2]") as handle:
        path = Path(folder) / "rows"
        write_rows(path, min(_MILLION, settings.most_rows))
        table = encode_by_shuffles(handle.spark, str(path), ReadOptions(), reuse=False)
        ranks = table.dataset.ranks.cache()
        ranks.count()

        def in_one_call() -> Mapping[str, Any]:
            engine = ShuffleEngine(handle.spark)
            engine.open(table, NullPolicy.EQUAL)
            verdicts = engine.check([CheckTask(number, law) for number, law in enumerate(laws)])
            return {"hold": sum(verdict.holds for verdict in verdicts)}

        def one_by_one() -> Mapping[str, Any]:
            held = 0
            for law in laws:
                expr = table.dataset.expr
                extremes = [expr(f"min(c{law.rhs}) as low"), expr(f"max(c{law.rhs}) as high")]
                groups = ranks.groupBy(*(f"c{column}" for column in law.lhs)).agg(*extremes)
                held += groups.where("low < high").limit(1).count() == 0
            return {"hold": held}

        in_one_call()
        yield from in_turn("shuffle-fds", {"spark group by": one_by_one, "lawful in one call": in_one_call}, 1)


def write_rows(folder: Path, rows: int) -> None:
    """Ten columns: an id, customers and cities that depend on them, days, amounts and what rises with them, texts."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for part, first in enumerate(range(0, rows, _MILLION)):
        count = min(_MILLION, rows - first)
        random_ = np.random.default_rng([7, part])
        ids = np.arange(first, first + count)
        customer = random_.integers(0, max(1, rows // 20), count)
        zip_ = (customer * 7_919) % 9_973
        amount = random_.integers(1, 100_000, count)
        table = pa.table(
            {
                "id": ids * 1_000_003 + 10**12,
                "customer": customer,
                "zip": zip_,
                "city": pa.array([f"city {number}" for number in range(500)]).take(pa.array(zip_ % 500)),
                "day": pa.array((ids * 3_650 // rows).astype(np.int32)).cast(pa.date32()),
                "amount": amount,
                "rate": amount // 5_000,
                "tax": amount * 0.01 * (amount // 5_000),
                "kind": random_.integers(0, 12, count),
                "code": pa.array([f"k{number:09d}" for number in random_.integers(0, max(1, rows // 5), count)]),
            }
        )
        pq.write_table(table, folder / f"part-{part:05d}.parquet")


CASES: dict[str, Case] = {"shuffle-growing": shuffle_growing, "shuffle-fds": shuffle_fds}
