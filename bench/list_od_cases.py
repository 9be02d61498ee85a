"""Cases of list-based order dependencies: real tables beside the peer's Order, and curves over rows and columns.

Order knows rising columns only and does not always give the right laws, so the counts are shown and not compared:
ours are valid nodes of the tree, as the papers count.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.fd_cases import described, measured
from bench.harness import ROOT, Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python, peer_python

BESIDE_THE_PEER = ("ncv_1k_19", "fli_1k_14", "wp_20k_7", "atom_32k_25", "flights_10k", "nycflights13@100000")
_PEER_LIMIT = 200.0
_LIMIT = 60.0
"""Seconds of one search of a generated table."""
_SHOWN = ("search", "complete", "stated", "minimal", "lists_complete_to", "checks", "sample_rows")


def _beside_the_peer(name: str) -> Case:
    """A case: lawful and the peer's Order in turn on one table, each with its own load."""
    short, _, rows = name.partition("@")

    def case(settings: Settings) -> Iterator[Measurement]:
        title = f"list ODs of {name}"
        path, separator, header, _ = described(settings, short)
        with tempfile.TemporaryDirectory() as folder:
            if rows:
                path = _first_rows(path, separator, int(rows) + (header == "1"), Path(folder))
            yield _measured(title, "lawful", _lawful(path, separator, header, "--runs", str(settings.repetitions)))
            both_ways = _lawful(path, separator, header, "--bidirectional", "--runs", str(settings.repetitions))
            yield _measured(title, "lawful, bidirectional", both_ways)
            program = [peer_python(), str(ROOT / "bench" / "peer_program.py"), "list", "Order"]
            try:
                theirs = run_program([*program, str(path), separator, header, "0", "1", "0"], limit=_PEER_LIMIT)
            except Missing as missing:
                print(f"  {title}, desbordante Order: {missing}")
                return
        yield measured(title, "desbordante Order", theirs)

    case.__doc__ = f"All minimal list-based order dependencies of {name}, beside Desbordante's Order."
    return case


def _first_rows(path: Path, separator: str, count: int, folder: Path) -> Path:
    target = folder / path.name
    with path.open(encoding="utf-8", newline="") as source, target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=separator)
        for _, row in zip(range(count), csv.reader(source, delimiter=separator), strict=False):
            writer.writerow(row)
    return target


def _lawful(path: Path, separator: str, header: str, *options: str) -> Ran:
    program = [lawful_python(), "-m", "bench.list_od_program", str(path), "--separator", separator]
    return run_program([*program, *([] if header == "1" else ["--no-header"]), *options])


def _measured(case: str, contestant: str, ran: Ran) -> Measurement:
    plain = measured(case, contestant, ran)
    answers = {"count": ran.answer["count"]} | {key: ran.answer[key] for key in _SHOWN if key in ran.answer}
    return Measurement(case, contestant, plain.seconds, peak_mb=plain.peak_mb, answers=answers)


def whole_flights(settings: Settings) -> Iterator[Measurement]:
    """Bidirectional list-based order dependencies of all of nycflights13."""
    path, separator, header, _ = described(settings, "nycflights13")
    ran = _lawful(path, separator, header, "--bidirectional", "--runs", str(settings.repetitions))
    yield _measured("list ODs of nycflights13", "lawful", ran)


def growing_rows(settings: Settings) -> Iterator[Measurement]:
    """Bidirectional list-based order dependencies of generated orders, 10,000 to 10 million rows; no load."""
    for rows in (10_000, 100_000, 1_000_000, 10_000_000):
        yield _generated("list-rows", "orders", rows, rows, "--runs", "3")


def exploding_columns(settings: Settings) -> Iterator[Measurement]:
    """Bidirectional list-based order dependencies of generated flights, the last 6 to 21 columns, 227,496 rows.

    Columns with nulls in common, and flags that are seldom set: what is long is not the list of laws but its search.
    """
    for columns in (6, 8, 10, 12, 15, 18, 21):
        yield _generated("list-columns", "flights", 227_496, columns, "--columns", str(columns))


def many_laws(settings: Settings) -> Iterator[Measurement]:
    """Bidirectional list-based order dependencies of generated steps, the last 4 to 9 columns, 26,115 rows."""
    for columns in range(4, 10):
        yield _generated("list-many", "steps", 26_115, columns, "--columns", str(columns))


def _generated(case: str, table: str, rows: int, size: int, *options: str) -> Measurement:
    program = [lawful_python(), "-m", "bench.list_od_program", "--generated", table, "--bidirectional"]
    ran = run_program([*program, "--rows", str(rows), "--time-limit", str(_LIMIT), *options])
    plain = _measured(case, "lawful", ran)
    return Measurement(case, "lawful", (min(plain.seconds),), size, plain.peak_mb, plain.answers)


CASES: dict[str, Case] = {
    **{f"lists-{name.partition('@')[0]}": _beside_the_peer(name) for name in BESIDE_THE_PEER},
    "lists-nycflights13-whole": whole_flights,
    "lists-rows": growing_rows,
    "lists-columns": exploding_columns,
    "lists-many": many_laws,
}
