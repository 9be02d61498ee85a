"""A script: encodes, checks and discovers by shuffles on the Spark that it was started for, as this process does."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from clusters import answer, executor_pids, open_session
from damaged_tables import arrow, damaged, orders, typo
from pyarrow import csv
from shuffled_tables import mixed_table, refutes, write_parts

import lawful
from engines.contract.tables import reference
from lawful.checks import CheckTask, Verdict
from lawful.common.meanings import NullPolicy
from lawful.dependencies import parse_laws
from lawful.engines.shuffle import classes
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shuffled.encode import encode_by_shuffles

LAWS = "key(id); key(half); a -> b; b -> a; {c}: a asc ~ skew asc; {}: half asc ~ id asc"


def shuffles(spark: object, folder: Path, *, loses_an_executor: bool) -> dict[str, int]:
    source = write_parts(mixed_table(1_500), folder / "mixed")
    whole, shuffled = encode_in_process(source, ReadOptions()), encode_by_shuffles(spark, str(source), ReadOptions())
    csv.write_csv(mixed_table(300).select(["id", "a", "f", "s"]), folder / "mixed.csv")
    of_text = encode_by_shuffles(spark, str(folder / "mixed.csv"), ReadOptions())
    assert of_text.columns == encode_in_process(folder / "mixed.csv", ReadOptions()).columns
    laws = parse_laws(LAWS, whole.names)
    tasks = [CheckTask(number, law, damage=True) for number, law in enumerate(laws)]
    engine = ShuffleEngine(spark, 200)
    engine.open(shuffled, NullPolicy.EQUAL)
    found: list[Verdict] = []
    for task in tasks:  # several jobs, so that the loss comes in their midst
        found += engine.check([task])
        if loses_an_executor and len(found) == 2:
            os.kill(executor_pids()[0], signal.SIGKILL)
    for verdict, expected in zip(found, reference(whole, tasks, NullPolicy.EQUAL), strict=True):
        assert (verdict.holds, verdict.damage, verdict.witness) == (expected.holds, expected.damage, expected.witness)
        assert (verdict.witness is None) == verdict.holds
        assert verdict.holds or refutes(laws[verdict.id], whole, NullPolicy.EQUAL, verdict.witness)
    broken = next(verdict for verdict in found if not verdict.holds)
    assert sum(batch.num_rows for batch in engine.violations(laws[broken.id])) == broken.damage.rows
    (tried,) = engine.check([CheckTask(0, laws[broken.id], trial=True)])
    assert tried.trial.pairs == broken.damage.pairs
    cut_classes(engine, whole)
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    asked = {"find": ("key", "fd"), "max_size": 1}
    report, expected = lawful.discover(source, spark=where, **asked), lawful.discover(source, engine="local", **asked)
    texts = [sorted(entry["text"] for entry in some.to_dict()["dependencies"]) for some in (report, expected)]
    assert texts[0] == texts[1]
    wrong = wrong_cells(spark, folder)
    return {"verdicts": len(found), "laws": len(report), "wrong": wrong}


def wrong_cells(spark: object, folder: Path) -> int:
    """Find and mend them in Parquet files, as in one place."""
    table = arrow(damaged(orders(200), range(2, 5), 0.03, typo)).select(["name", "city", "zip"])
    source = write_parts(table, folder / "wrong")
    there = lawful.errors(source, spark=lawful.SparkSettings(session=spark, placement="shuffle"), max_size=1)
    here = lawful.errors(table, engine="local", max_size=1)
    assert [(c.row, c.column, c.suggested) for c in there] == [(c.row, c.column, c.suggested) for c in here]
    mended = sorted(tuple(row) for row in there.repaired().collect())
    assert mended == sorted(tuple(row.values()) for row in here.repaired().to_pylist())
    assert there.suspicious_rows().count() == len(here.rows)
    return len(there)


def cut_classes(engine: ShuffleEngine, whole: EncodedTable) -> None:
    """Laws of classes that no task is to take."""
    laws = parse_laws("{}: a asc ~ skew asc; not(t.a < s.b and t.half > s.a)", whole.names)
    tasks = [CheckTask(number, law, damage=True) for number, law in enumerate(laws)]
    with patch.object(classes, "LARGEST_CLASS", 600):
        found = sorted(engine.check(tasks), key=lambda verdict: verdict.id)
        listed = [sum(batch.num_rows for batch in engine.violations(law)) for law in laws]
    expected = reference(whole, tasks, NullPolicy.EQUAL)
    assert [(each.damage, each.witness) for each in found] == [(each.damage, each.witness) for each in expected]
    assert listed == [verdict.damage.rows for verdict in expected]


def main(kind: str) -> None:
    with tempfile.TemporaryDirectory() as name, open_session() as spark:
        answer(shuffles(spark, Path(name), loses_an_executor=kind in ("local-cluster", "standalone")))


if __name__ == "__main__":
    main(*sys.argv[1:])
