"""Cases of canonical order dependencies: real tables beside the peer, and curves over rows, columns and executors.

Answers are compared as sets with the peer's wherever it gives one: `same` says so.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.fd_cases import described, measured
from bench.harness import ROOT, Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python, peer_python

BESIDE_THE_PEER = ("iris", "abalone", "bridges", "horse:10", "ncv_1k_19", "flight_1k:30", "hepatitis", "adult")
SMALL_TABLES = (
    *("iris", "abalone", "bridges", "echocardiogram", "horse:10", "chess", "wp_20k_7", "fli_1k_14", "ncv_1k_19"),
    *("ncvoter_1001r_19c", "hospital_raha_clean", "hospital_10k", "tax_10k", "flights_10k", "claims_coded_102k"),
    "sp500_stocks_7c_122k",
)
_PEER_LIMIT = 600.0
_SMALL_LIMIT = 20.0
_QUICK = 2.0
_SHOWN = ("fd", "asc", "desc", "complete", "checks", "rounds", "full_evidence", "same", "cpu_seconds")
_UNKNOWN = "?"
_AFTER_ALL_NUMBERS = "99999999999"


def _beside_the_peer(name: str) -> Case:
    """A case: lawful and the peer's Fastod in turn on one table, each with its own load."""

    def case(settings: Settings) -> Iterator[Measurement]:
        yield from _both(settings, name, _PEER_LIMIT)

    case.__doc__ = f"All minimal canonical order dependencies of {name}, beside Desbordante's Fastod."
    return case


def small_tables(settings: Settings) -> Iterator[Measurement]:
    """Canonical order dependencies of tables that the peer finishes soon, beside it; both warm."""
    for name in SMALL_TABLES:
        yield from _both(settings, name, _SMALL_LIMIT)


def _both(settings: Settings, name: str, limit: float) -> Iterator[Measurement]:
    title = f"canonical ODs of {name}"
    runs = str(settings.repetitions)
    with tempfile.TemporaryDirectory() as folder:
        path, separator, header, _ = described(settings, name)
        prepared = _prepared(path, separator, int(name.partition(":")[2] or 0), header, Path(folder))
        ours = _lawful(prepared, separator, header, "--runs", runs, "--listed")
        yield _measured(title, "lawful", ours)
        program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), "canonical", "Fastod"]
        table = [str(prepared), separator, header, "0"]
        try:
            theirs = run_program([*program, *table, "1", "1"], limit=limit)
            if sum(theirs.answer.get("seconds", [limit])) < _QUICK:  # warm, as lawful is, where that may matter
                theirs = run_program([*program, *table, runs, "1"])
        except Missing as missing:
            print(f"  {title}, desbordante Fastod: {missing}")
            return
    same = {"same": ours.answer["laws"] == theirs.answer["laws"]} if "laws" in theirs.answer else {}
    yield _measured(title, "desbordante Fastod", theirs, same)


def _prepared(path: Path, separator: str, columns: int, header: str, folder: Path) -> Path:
    """A copy with the first columns only that both sides read alike.

    The peer takes a column of numbers and unknown values as numbers, the unknown ones last; lawful would take it as
    text. So there these become a number.
    """
    with path.open(encoding="utf-8", newline="") as source:
        rows = [row[: columns or None] for row in csv.reader(source, delimiter=separator)]
    first = 1 if header == "1" else 0
    for place in range(len(rows[0])):
        values = {row[place] for row in rows[first:]}
        if _UNKNOWN in values and all(map(_is_number, values - {_UNKNOWN})):
            for row in rows[first:]:
                row[place] = _AFTER_ALL_NUMBERS if row[place] == _UNKNOWN else row[place]
    target = folder / path.name
    with target.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, delimiter=separator).writerows(rows)
    return target


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _lawful(path: Path, separator: str, header: str, *options: str) -> Ran:
    program = [lawful_python(), "-m", "bench.canonical_program", str(path), "--separator", separator]
    return run_program([*program, *([] if header == "1" else ["--no-header"]), *options])


def _measured(case: str, contestant: str, ran: Ran, more: Mapping[str, Any] | None = None) -> Measurement:
    plain = measured(case, contestant, ran)
    answers = {key: value for key, value in {**ran.answer, **(more or {})}.items() if key in _SHOWN}
    return Measurement(case, contestant, plain.seconds, peak_mb=plain.peak_mb, answers=answers or plain.answers)


def _alone(name: str, *options: str) -> Case:
    """A case: lawful by itself on a table that the peer does not take or does not finish."""

    def case(settings: Settings) -> Iterator[Measurement]:
        path, separator, header, columns = described(settings, name)
        ran = _lawful(path, separator, header, "--columns", columns, *options)
        yield _measured(f"canonical ODs of {' '.join((name, *options))}", "lawful", ran)

    case.__doc__ = f"All minimal canonical order dependencies of {' '.join((name, *options))}."
    return case


def growing_rows(settings: Settings) -> Iterator[Measurement]:
    """Canonical order dependencies of nycflights13, 20,000 to 320,000 rows."""
    path, separator, header, _ = described(settings, "nycflights13")
    for rows in (20_000, 40_000, 80_000, 160_000, 320_000):
        ran = _lawful(path, separator, header, "--rows", str(rows))
        yield _sized("canonical-rows", "lawful", ran, rows)


def growing_columns(settings: Settings) -> Iterator[Measurement]:
    """Canonical order dependencies of horse, 8 to 24 columns."""
    path, separator, header, _ = described(settings, "horse")
    for columns in (8, 12, 16, 20, 24):
        ran = _lawful(path, separator, header, "--columns", str(columns), "--runs", "2")
        yield _sized("canonical-columns", "lawful", ran, columns)


def almost(settings: Settings) -> Iterator[Measurement]:
    """Canonical order dependencies within an error, contexts up to 2: some tables, then 20,000 to 320,000 rows."""
    for measure, error in (("g1", "0.001"), ("g3", "0.01")):
        asked = ("--max-size", "2", "--error", error, "--measure", measure)
        for name in ("abalone", "adult", "flights_10k", "tax_10k"):
            path, separator, header, _ = described(settings, name)
            yield _measured(f"canonical-almost of {name}", measure, _lawful(path, separator, header, *asked))
        path, separator, header, _ = described(settings, "nycflights13")
        for rows in (20_000, 80_000, 320_000):
            ran = _lawful(path, separator, header, "--columns", "10", "--rows", str(rows), *asked)
            yield _sized("canonical-almost", measure, ran, rows)


_ONE_EXECUTOR, _TWO_EXECUTORS = "local-cluster[1,1,2048]", "local-cluster[2,1,2048]"


def executors(settings: Settings) -> Iterator[Measurement]:
    """Canonical order dependencies of nycflights13: one Spark executor, two, two Spark threads, two local ones."""
    contestants = {
        "one executor": ("--master", _ONE_EXECUTOR),
        "two executors": ("--master", _TWO_EXECUTORS),
        "Spark, 2 threads": ("--master", "local[2]"),
        "local, 2 threads": (),
    }
    yield from _in_turn(settings, "canonical-executors", contestants)


def _check_bound(case: str, strategy: str) -> Case:
    """A case: one Spark executor and two, by turns, where checks are nine tenths of all work.

    What the driver and Java take of two cores is shown beside the time: it bounds what a second executor can give.
    """
    masters = {"one executor": _ONE_EXECUTOR, "two executors": _TWO_EXECUTORS}

    def compared(settings: Settings) -> Iterator[Measurement]:
        ran: dict[str, list[Ran]] = {contestant: [] for contestant in masters}
        options = ("--columns", "14", "--strategy", strategy)
        with tempfile.TemporaryDirectory() as folder:
            path = _eight_years(described(settings, "nycflights13")[0], Path(folder))
            for _ in range(settings.repetitions):
                for contestant, master in masters.items():
                    ran[contestant].append(_lawful(path, ",", "1", *options, "--master", master))
        for contestant, runs in ran.items():
            last = _measured(case, contestant, runs[-1])
            yield replace(last, seconds=tuple(one.answer["search_seconds"] for one in runs))

    compared.__doc__ = f"First 14 columns of eight years of nycflights13 by {strategy}: one Spark executor, and two."
    return compared


def _eight_years(one_year: Path, folder: Path) -> Path:
    """Write nycflights13 eight times over, 2.7 million rows; the flights of each year have numbers of their own."""
    import pyarrow as pa
    from pyarrow import compute, parquet
    from pyarrow import csv as arrow_csv

    nulls = arrow_csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
    flights = arrow_csv.read_csv(one_year, convert_options=nulls)
    years = []
    for year in range(8):
        later = flights
        for name, step in (("year", 1), ("flight", 10_000)):
            place = later.column_names.index(name)
            later = later.set_column(place, name, compute.add(later.column(name), year * step))
        years.append(later)
    path = folder / "eight_years.parquet"
    parquet.write_table(pa.concat_tables(years), path)
    return path


def _in_turn(settings: Settings, case: str, contestants: Mapping[str, tuple[str, ...]]) -> Iterator[Measurement]:
    path, separator, header, _ = described(settings, "nycflights13")
    for contestant, options in contestants.items():
        yield _measured(case, contestant, _lawful(path, separator, header, *options))


def _sized(case: str, contestant: str, ran: Ran, size: int) -> Measurement:
    plain = _measured(case, contestant, ran)
    return Measurement(case, contestant, (min(plain.seconds),), size, plain.peak_mb, plain.answers)


CASES: dict[str, Case] = {
    **{f"canonical-{name}": _beside_the_peer(name) for name in BESIDE_THE_PEER},
    "canonical-nycflights13": _alone("nycflights13"),
    "canonical-plista-size-6": _alone("plista_1k", "--max-size", "6"),
    "canonical-plista-interest": _alone("plista_1k", "--min-interest", "0.3"),
    "canonical-rows": growing_rows,
    "canonical-columns": growing_columns,
    "canonical-almost": almost,
    "canonical-executors": executors,
    "canonical-check-bound": _check_bound("canonical-check-bound", "evidence"),
    "canonical-check-bound-lattice": _check_bound("canonical-check-bound-lattice", "lattice"),
    "canonical-small": small_tables,
}
