"""Cases of pointwise order dependencies: kept while a table changes, looked up in indexes, and found.

Every contestant that is compared runs in one process with what it is compared with. flights_10k and tax_10k have more
laws than anybody waits for: there, left sides of at most two columns are kept, and searched for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bench.fd_cases import described
from bench.harness import Case, Measurement, Missing, Ran, Settings, run_program
from bench.peer import lawful_python

LIMIT = 900.0
"""Seconds that one line may take."""
TABLES: Mapping[str, int | None] = {
    "flights_10k": 2,
    "tax_10k": 2,
    "sp500_stocks_7c_122k": None,
    "nycflights13:9": None,
}
"""Tables whose laws are kept, and the largest left side."""
_GOALS = {1: 50, 10: 10, 30: 3}
"""Percent of the rows that a batch has, and how many times faster than a discovery it should be."""
_LEAST_SKIPPED = 0.8
_TABLE_IV = (
    *(("table", 20), ("rows", 7), ("batch %", 7), ("IncPOD", 9), ("batch alg.", 10), ("times", 6), ("processor", 9)),
    *(("goal", 4), ("indexes", 7), ("mean rank", 9), ("laws", 6), ("went", 5), ("came", 5), ("skipped", 7)),
)
"""The columns of the paper's table IV and more, with their widths; "times" is by the clock."""
_GROWING_ROWS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
_GROWING_BATCH = 100
_MOST_GROWTH = 3.0
_FETCHES = (
    ("sp500_stocks_7c_122k", "Open", "Close", (1, 3, 10)),
    ("tax_10k", "Salary int", "Rate float", (1, 3, 10)),
    ("nycflights13", "sched_dep_time", "sched_arr_time", (1,)),
)
"""Columns that rise together, and percents; of the last table 1 % alone, which makes 95 million pairs."""
_LETTERS = (20_000, 12)
_LETTER_ROWS = (2_500, 5_000, 10_000, 20_000)
_LETTER_COLUMNS = (6, 8, 10, 12)
_STOCK_ROWS = 122_172
_PARTS = (8, 4, 2, 1)
_MOST_SECONDS = 60.0


def _run(case: str, what: str, **arguments: Any) -> Ran | None:
    """Run one of the programs; None, and a word, if it fails or does not end in time."""
    print(f"  ... {case}", flush=True)
    try:
        ran = run_program([lawful_python(), "-m", "bench.pod_program", what, json.dumps(arguments)], limit=LIMIT)
    except Missing as missing:
        print(f"  {case}: {missing}")
        return None
    if "stopped_after" in ran.answer:
        print(f"  {case}: not done in {LIMIT:.0f} s")
        return None
    return ran


def _file(settings: Settings, name: str) -> list[str] | None:
    """How a table of the catalogue is read; None, and a word, if it is not there."""
    try:
        file, *rest = described(settings, name)
    except Missing as missing:
        print(f"  {name} is passed over: {missing}")
        return None
    return [str(file), *rest]


def living(settings: Settings) -> Iterator[Measurement]:
    """Batches of 1, 10 and 30 % beside a discovery on the table that they make; in the form of the paper's table IV.

    A line is printed as soon as it is measured.
    """
    print("  " + " ".join(f"{head:>{width}}" for head, width in _TABLE_IV), flush=True)
    for name, largest in TABLES.items():
        table = _file(settings, name)
        for percent, goal in _GOALS.items() if table else ():
            case = f"PODs of {name}{f' of {largest}' if largest else ''}, a batch of {percent} %"
            asked: dict[str, Any] = {"table": table, "percent": percent, "max_size": largest}
            ran = _run(case, "share", **asked, rounds=settings.repetitions)
            if ran is None:
                continue
            keys = ("sigma", "delta_minus", "delta_plus", "indexes", "mean_rank", "skipped")
            yield _measured(case, "from scratch", ran, "scratch", {key: ran.answer[key] for key in keys})
            yield _measured(case, "batch", ran, "batch")
            print("  " + _line_of_table_iv(f"{name}{f' of {largest}' if largest else ''}", percent, goal, ran.answer))


def _line_of_table_iv(name: str, percent: int, goal: int, answer: Mapping[str, Any]) -> str:
    """What a batch took beside a discovery, by the clock and in processor time, and what it met."""
    ours, scratch = min(answer["batch"]), min(answer["scratch"])
    busy = min(answer["scratch processor"]) / min(answer["batch processor"])
    sizes = (answer["indexes"], answer["mean_rank"], answer["sigma"], answer["delta_minus"], answer["delta_plus"])
    skipped = f"{100 * answer['skipped']:.1f} %" + ("" if answer["skipped"] >= _LEAST_SKIPPED else " (goal 80)")
    cells = (name, f"{answer['rows']:,}", percent, f"{ours:.3f} s", f"{scratch:.2f} s", f"{scratch / ours:.1f}")
    line = (*cells, f"{busy:.1f}", goal, *sizes, skipped)
    return " ".join(f"{cell!s:>{width}}" for cell, (_, width) in zip(line, _TABLE_IV, strict=True))


def growth(settings: Settings) -> Iterator[Measurement]:
    """A batch of 100 rows as a generated table of tax returns grows to a million rows."""
    least: dict[str, dict[int, float]] = {"insert": {}, "delete": {}}
    for rows in [rows for rows in _GROWING_ROWS if rows <= settings.most_rows] or [settings.most_rows]:
        asked: dict[str, Any] = {"rows": rows, "size": _GROWING_BATCH, "rounds": 4 * settings.repetitions}
        ran = _run(f"{rows:,} rows", "growth", **asked)
        if ran is None:
            break
        counts = {key: ran.answer[key] for key in ("laws", "indexes", "mean_rank")}
        for what in ("insert", "delete"):
            case = f"PODs: {what} {_GROWING_BATCH} rows as the table grows"
            yield _measured(case, "lawful", ran, what, counts, rows)
            least[what][rows] = min(ran.answer[f"{what} processor"])
        yield _measured("PODs: making a state", "lawful", ran, "make", counts, rows)
    for what, seconds in least.items():
        if len(seconds) > 1:
            times = max(seconds.values()) / min(seconds.values())
            verdict = "met" if times <= _MOST_GROWTH else "NOT met"
            print(f"  {what}: {times:.1f} times from the shortest to the longest, at most {_MOST_GROWTH:g}: {verdict}")


def fetch(settings: Settings) -> Iterator[Measurement]:
    """The old rows that two comparisons with each row of a batch leave: an index beside DuckDB's inequality join."""
    for name, first, second, percents in _FETCHES:
        table = _file(settings, name)
        if table is None:
            continue
        asked: dict[str, Any] = {"table": table, "first": first, "second": second, "percents": percents}
        ran = _run(f"{first}, {second} of {name}", "fetch", **asked, rounds=settings.repetitions)
        for percent in percents if ran else ():
            assert ran is not None
            case = f"({first} <, {second} >) of {name}, a batch of {percent} %"
            counts = {"pairs": ran.answer["pairs"][str(percent)], "rank": ran.answer["rank"]}
            yield _measured(case, "DuckDB", ran, f"duckdb {percent}", counts)
            yield _measured(case, "index", ran, f"fetch {percent}")


def batch(settings: Settings) -> Iterator[Measurement]:
    """All PODs of sp500_stocks_7c_122k and of small whole numbers like those of letters, over rows and columns."""
    table = _file(settings, "sp500_stocks_7c_122k")
    for part in _PARTS if table else ():
        case = "all PODs of sp500_stocks_7c_122k, over its rows"
        yield from _found(settings, case, table=table, rows=0 if part == 1 else _STOCK_ROWS // part)
    rows, columns = _LETTERS
    for some in _LETTER_ROWS:
        yield from _found(
            settings, f"all PODs of {columns} columns like letters, over rows", rows=some, columns=columns
        )
    for some in _LETTER_COLUMNS:
        case = f"all PODs of {rows:,} rows like letters, over columns"
        yield from _found(settings, case, "columns", rows=rows, columns=some)


def _found(settings: Settings, case: str, over: str = "rows", **arguments: Any) -> Iterator[Measurement]:
    ran = _run(case, "batch", **arguments, rounds=settings.repetitions)
    if ran is not None:
        if (seconds := min(ran.answer["scratch"])) > _MOST_SECONDS:
            print(f"  {case}: {seconds:.0f} s, beyond the goal of {_MOST_SECONDS:.0f} s")
        yield _measured(case, "lawful", ran, "scratch", {"laws": ran.answer["laws"]}, ran.answer[over])


def _measured(
    case: str, contestant: str, ran: Ran, key: str, answers: Mapping[str, Any] | None = None, size: int | None = None
) -> Measurement:
    told = dict(answers or {})
    if processor := ran.answer.get(f"{key} processor"):
        told["processor_s"] = round(min(processor), 4)
    return Measurement(case, contestant, tuple(ran.answer[key]), size, ran.peak_mb, told)


CASES: dict[str, Case] = {"pods-living": living, "pods-growth": growth, "pods-fetch": fetch, "pods-batch": batch}
