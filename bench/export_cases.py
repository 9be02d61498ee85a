"""Violation queries beside lawful's check: the same laws, on the same Spark, with the same verdicts."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping

from bench.harness import Case, Measurement, Settings

_COUNTS = {"key": 20, "fd": 35, "canonical-od": 25, "list-od": 10, "pod": 10}
"""How many laws of each family: 100 in all. None is a self-join as a query, so Spark's joins are no part of it."""

_FEWEST_ASKED, _LONGEST = 20, 600.0
"""Queries, and seconds, after which the rest is extrapolated."""


def violation_queries(settings: Settings) -> Iterator[Measurement]:
    """100 laws of five families on nycflights13: one check on Spark beside their 100 queries, one after another."""
    import lawful
    from lawful.engines.session import spark_session

    path = str(settings.table("nycflights13.csv"))
    with spark_session("local[2]") as handle:
        spark = handle.spark
        frame = spark.read.csv(path, header=True, inferSchema=True, nullValue="NA").cache()
        rows = frame.count()
        laws = _laws(frame.columns)
        frame.createOrReplaceTempView("flights")
        types = {name: _TYPES[kind] for name, kind in frame.dtypes}
        exported = lawful.export(laws, "sql", dialect="spark", table="flights", types=types).queries
        queries = {law: query.query for law, query in zip(laws, exported, strict=True)}
        asked, seconds = _asked(queries, lambda query: bool(spark.sql(query).isEmpty()))
        whole = seconds * len(queries) / len(asked)
        part = "" if len(asked) == len(queries) else f", extrapolated from {len(asked)} at random"
        about = {"laws": len(queries), "asked": len(asked), "asked_seconds": seconds, "cores": os.cpu_count()}
        yield Measurement("violation-queries", f"100 queries on Spark{part}", (whole,), answers=about)
        begin = time.perf_counter()
        report = lawful.check(frame, laws, engine="spark", spark=spark)
        told = {law: outcome.holds for law, outcome in zip(laws, report.outcomes, strict=True)}
        answers = {"laws": len(told), "hold": sum(told.values()), "rows": rows}
        taken = time.perf_counter() - begin
        yield Measurement("violation-queries", "lawful check on Spark", (taken,), answers=answers)
        if differ := [law for law, holds in asked.items() if told[law] != holds]:
            raise AssertionError(f"verdicts differ: {differ[:5]}")


def _asked(queries: Mapping[str, str], holds: Callable[[str], bool]) -> tuple[dict[str, bool], float]:
    """Verdicts of all queries if that takes ten minutes at most, else of those asked by then; and the seconds it took.

    They are asked in random order, from a seed, so that those asked stand for all.
    """
    begin, told = time.perf_counter(), {}
    for law in random.Random(11).sample(list(queries), len(queries)):
        if len(told) >= _FEWEST_ASKED and time.perf_counter() - begin > _LONGEST:
            break
        told[law] = holds(queries[law])
    return told, time.perf_counter() - begin


_TYPES = {"int": "integer", "bigint": "integer", "double": "float", "string": "string", "timestamp": "timestamp"}


def _laws(names: list[str]) -> list[str]:
    """Laws at random, from a seed: some hold, most are broken."""
    chance = random.Random(7)
    made: dict[str, None] = {}
    for kind, count in _COUNTS.items():
        wanted = len(made) + count
        while len(made) < wanted:
            made[_law(kind, chance.sample(names, 4), chance)] = None
    return list(made)


def _law(kind: str, columns: list[str], chance: random.Random) -> str:
    a, b, c, d = columns
    way = chance.choice(["asc", "desc"])
    if kind == "key":
        return f"key({', '.join(columns[: chance.randint(2, 4)])})"
    if kind == "fd":
        return f"{', '.join(columns[: chance.randint(1, 3)])} -> {d}"
    if kind == "canonical-od":
        return f"{{{', '.join(columns[: chance.randint(0, 2)])}}}: {c} asc ~ {d} {way}"
    if kind == "list-od":
        return f"[{a}, {b} {way}] -> [{c}]"
    return f"{{{a}=, {b}{chance.choice(['<', '<=', '>'])}}} -> {{{c}{chance.choice(['<=', '<'])}}}"


CASES: dict[str, Case] = {"violation-queries": violation_queries}
