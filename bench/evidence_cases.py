"""Cases of evidence: all pairs of real tables, by threads and on Spark; FD discovery over rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.fd_cases import described
from bench.harness import Case, Measurement, Settings, in_turn, run_program
from bench.peer import lawful_python

_ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
_COLUMNS = (10, 20, 40, 80, 109)


def _all_pairs(name: str) -> Case:
    """A case: the counted agree sets of all pairs, with two threads beside Spark with two workers."""

    def case(settings: Settings) -> Iterator[Measurement]:
        from lawful.common.meanings import NullPolicy
        from lawful.engines.local import LocalEngine
        from lawful.engines.session import spark_session
        from lawful.engines.spark import SparkEngine
        from lawful.tables.local_pipeline import encode_in_process
        from lawful.tables.options import CsvDialect, ReadOptions

        file, separator, header, _ = described(settings, name)
        dialect = CsvDialect(separator=separator, header=header == "1")
        table = encode_in_process(file, ReadOptions(dialect=dialect))
        with spark_session("local[2]") as handle:
            contestants: dict[str, Callable[[], Mapping[str, Any]]] = {}
            for contestant, engine in (("two threads", LocalEngine(2)), ("local[2]", SparkEngine(handle.spark))):
                engine.open(table, NullPolicy.EQUAL)
                engine.agree_sets(range(3), lambda: False, counted=True)  # workers started, kernels loaded
                contestants[contestant] = _compared(engine, table)
            yield from in_turn(f"all pairs of {name}", contestants, settings.repetitions)

    case.__doc__ = f"The counted agree sets of all pairs of rows of {name}, with threads and on Spark."
    return case


def _compared(engine: Any, table: Any) -> Callable[[], Mapping[str, Any]]:
    def compare() -> Mapping[str, Any]:
        found = engine.agree_sets(range(table.width), lambda: False, counted=True)
        return {"agree_sets": len(found.agree), "pairs": int(found.counts.sum())}

    return compare


def growing_rows(settings: Settings) -> Iterator[Measurement]:
    """FDs of a generated table of ten columns, 10,000 to 10 million rows; no load."""
    for rows in _ROWS:
        ran = run_program([lawful_python(), "-m", "bench.growing_program", str(rows), str(settings.repetitions)])
        answers = {key: ran.answer[key] for key in ("count", "table_mb", "used_mb", "checks")}
        yield Measurement("fds-rows", "lawful", tuple(ran.answer["seconds"]), rows, ran.peak_mb, answers)


def growing_columns(settings: Settings) -> Iterator[Measurement]:
    """FDs of the first columns of flight_1k, 10 to 109 of them, read included."""
    file, separator, header, _ = described(settings, "flight_1k")
    for columns in _COLUMNS:
        program = [lawful_python(), "-m", "bench.lawful_program", "fd", str(file), separator, header, str(columns)]
        ran = run_program([*program, str(settings.repetitions), "0"])
        answers = {"count": ran.answer["count"]}
        yield Measurement("fds-columns", "lawful", tuple(ran.answer["seconds"]), columns, ran.peak_mb, answers)


CASES: dict[str, Case] = {
    "pairs-adult": _all_pairs("adult"),
    "pairs-claims": _all_pairs("claims_coded_102k"),
    "fds-rows": growing_rows,
    "fds-columns": growing_columns,
}
