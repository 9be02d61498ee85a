"""The case of a spread state that finds its laws: what batches cost it, beside finding the laws anew after each."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import Case, Measurement, Settings
from bench.shuffle_cases import write_rows

_SIZES = (100_000, 1_000_000, 10_000_000)
_BATCH = 1_000
_ASKED: dict[str, Any] = {"find": ("key", "fd"), "max_size": 1}


def spread_batches(settings: Settings) -> Iterator[Measurement]:
    """Batches of 1,000 rows into spread states that find keys and FDs up to size 1, beside a search by shuffles."""
    import pyarrow.parquet as pq

    import lawful
    from lawful.engines.session import spark_session

    with tempfile.TemporaryDirectory() as name, spark_session("local[2]", driver_memory="4g") as handle:
        spread = lawful.SparkSettings(session=handle.spark, placement="shuffle")
        for rows in (size for size in _SIZES if size <= settings.most_rows):
            folder = Path(name) / str(rows)
            write_rows(folder / "first", rows)
            write_rows(folder / "more", rows + 10 * _BATCH)
            more = pq.read_table(folder / "more" / f"part-{rows // 1_000_000:05d}.parquet").slice(rows % 1_000_000)
            new = [more.slice(n * _BATCH, _BATCH) for n in range(1 + settings.repetitions)]
            wrong = new[0].slice(0, 1).set_column(3, "city", [["nowhere"]])
            begin = time.perf_counter()
            with lawful.make_state(folder / "state", str(folder / "first"), **_ASKED, spark=spread) as state:
                making = time.perf_counter() - begin
                laws = {law.text for law in state.laws}
                times: dict[str, list[float]] = {"1,000 new": [], "one breaks a law": [], "it leaves": []}

                def timed(what: str, *batch: Any, state: Any = state, times: dict[str, list[float]] = times) -> None:
                    begin = time.perf_counter()
                    state.apply(*batch)
                    times[what].append(time.perf_counter() - begin)

                for batch in new[1:]:
                    timed("1,000 new", batch)
                timed("one breaks a law", wrong)
                assert "zip -> city" not in {law.text for law in state.laws}
                timed("it leaves", None, wrong)
                assert {law.text for law in state.laws} == laws
                size = state.described().bytes
            begin = time.perf_counter()
            found = lawful.discover(str(folder / "first"), **_ASKED, spark=spread)
            anew = time.perf_counter() - begin
            assert {law.text for law in found} == laws
            told = {"laws": len(laws), "mb": size >> 20}
            yield Measurement("spread-batches", "make the state", (making,), rows, answers=told)
            for what, seconds in times.items():
                yield Measurement("spread-batches", what, tuple(seconds), rows)
            yield Measurement("spread-batches", "laws found anew", (anew,), rows)


CASES: dict[str, Case] = {"spread-batches": spread_batches}
