"""Cases of the pipeline and the engines: encoding beside Spark's own work, Spark's checks beside local ones."""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.harness import Case, Measurement, Settings, in_turn, run_program

_CHECKS = 1_000
_MILLION = 1_000_000
_TWO_EXECUTORS = "local-cluster[2,1,2048]"


def encode_flights(settings: Settings) -> Iterator[Measurement]:
    """Read and encode nycflights13 with types inferred, beside Spark reading it with a schema and writing Parquet."""
    from lawful.engines.session import spark_session
    from lawful.tables.options import CsvDialect, ReadOptions
    from lawful.tables.spark_pipeline import encode_on_spark

    path = str(settings.table("nycflights13.csv"))
    options = ReadOptions(dialect=CsvDialect(null_tokens=("NA",)))
    with spark_session("local[2]") as handle, tempfile.TemporaryDirectory() as folder:
        spark = handle.spark
        schema = spark.read.csv(path, header=True, inferSchema=True, nullValue="NA").schema

        def spark_alone() -> Mapping[str, Any]:
            frame = spark.read.schema(schema).csv(path, header=True, nullValue="NA")
            frame.write.mode("overwrite").parquet(f"{folder}/flights.parquet")
            return {}

        def encode() -> Mapping[str, Any]:
            table = encode_on_spark(spark, path, options, reuse=False)
            assert table.folder is not None
            shutil.rmtree(table.folder)
            return {"rows": table.rows, "columns": table.width}

        for warm_up in (spark_alone, encode):
            warm_up()
        yield from in_turn(
            "encode-flights", {"spark csv to parquet": spark_alone, "lawful encode": encode}, settings.repetitions + 2
        )


def encode_growing(settings: Settings) -> Iterator[Measurement]:
    """Encode 1 to 10 million generated rows x 20 columns with a 2 GB driver heap."""
    with tempfile.TemporaryDirectory() as folder:
        for millions in (1, 2, 5, 10):
            path = Path(folder) / f"wide-{millions}.csv"
            _write_wide(path, millions * _MILLION)
            ran = run_program(
                [sys.executable, "-m", "bench.encode_program", str(path), "2g"], {"LAWFUL_CACHE": f"{folder}/cache"}
            )
            yield Measurement(
                "encode-growing",
                "lawful encode",
                (ran.answer["encode_seconds"],),
                millions * _MILLION,
                ran.peak_mb,
                {"rows": ran.answer["rows"], "columns": ran.answer["columns"]},
            )
            path.unlink()
            shutil.rmtree(Path(folder) / "cache", ignore_errors=True)


def _write_wide(path: Path, rows: int) -> None:
    """20 columns: the 15 of the tax table, a unique id, two floats, a date and a text."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    from lawful.demo.tax_table import make_tax_table

    writer = None
    for first in range(0, rows, _MILLION):
        table = make_tax_table(_MILLION, 0, seed=first + 1).table
        chance = np.random.default_rng(first)
        ids = np.arange(first, first + _MILLION)
        table = (
            table.append_column("id", pa.array(ids))
            .append_column("weight", pa.array(np.round(chance.normal(70, 10, _MILLION), 2)))
            .append_column("score", pa.array(np.round(chance.random(_MILLION), 4)))
            .append_column("day", pa.array((chance.integers(0, 8_000, _MILLION)).astype("datetime64[D]")))
            .append_column("code", pa.array(chance.integers(0, 200_000, _MILLION)).cast(pa.string()))
        )
        writer = writer or csv.CSVWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def checks_on_adult(settings: Settings) -> Iterator[Measurement]:
    """1,000 FD checks on adult: Spark with two cores beside the local engine with two threads."""
    from lawful.checks import CheckTask
    from lawful.common.meanings import NullPolicy
    from lawful.dependencies import FD
    from lawful.engines.local import LocalEngine
    from lawful.engines.session import spark_session
    from lawful.engines.spark import SparkEngine
    from lawful.tables.local_pipeline import encode_in_process
    from lawful.tables.options import CsvDialect, ReadOptions

    options = ReadOptions(dialect=CsvDialect(separator=";", header=False))
    table = encode_in_process(settings.table("adult.csv"), options)
    chance = random.Random(1)
    tasks = []
    for number in range(_CHECKS):
        columns = chance.sample(range(table.width), chance.randint(3, 7))
        tasks.append(CheckTask(number, FD(tuple(columns[1:]), columns[0])))

    with spark_session("local[2]") as handle:

        def local() -> Mapping[str, Any]:
            engine = LocalEngine(2)
            engine.open(table, NullPolicy.EQUAL)
            return {"holding": sum(verdict.holds for verdict in engine.check(tasks))}

        on_spark = SparkEngine(handle.spark)
        on_spark.open(table, NullPolicy.EQUAL)

        def spark() -> Mapping[str, Any]:
            return {"holding": sum(verdict.holds for verdict in on_spark.check(tasks))}

        for warm_up in (local, spark):
            warm_up()
        yield from in_turn(
            "checks-adult", {"local, 2 threads": local, "spark local[2]": spark}, settings.repetitions + 4
        )


def violations_growing(settings: Settings) -> Iterator[Measurement]:
    """Ten broken laws on a million and 10 million generated rows, on two executors: time, and the driver's memory."""
    for millions in (1, 10):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "bench.violations_program", str(millions * _MILLION), _TWO_EXECUTORS]
            ran = run_program(command, {"LAWFUL_CACHE": folder})
            told = ran.answer
            yield Measurement(
                "violations-growing",
                "lawful check",
                (told["seconds"]["check"],),
                millions * _MILLION,
                told["driver_peak_mb"],
                {
                    "broken": told["broken"],
                    "encode_seconds": told["seconds"]["encode"],
                    "table_mb": told["table_mb"],
                    "mapped_mb": round(told["mapped_peak_mb"], 1),
                    "frame_seconds": round(told["frame_seconds"], 1),
                },
            )


def demo_warm(settings: Settings) -> Iterator[Measurement]:
    """`lawful demo`: the seconds after Spark is up, and the whole command."""
    command = [sys.executable, "-m", "lawful", "demo", "--json"]
    whole, after = [], []
    for _ in range(settings.repetitions):
        ran = run_program([sys.executable, "-m", "bench.json_line", *command])
        whole.append(ran.seconds)
        after.append(ran.answer["encode"] + ran.answer["check"] + ran.answer["open"])
    yield Measurement("demo", "whole command", tuple(whole))
    yield Measurement("demo", "after Spark is up", tuple(after))


CASES: dict[str, Case] = {
    "encode-flights": encode_flights,
    "encode-growing": encode_growing,
    "checks-adult": checks_on_adult,
    "violations-growing": violations_growing,
    "demo": demo_warm,
}
