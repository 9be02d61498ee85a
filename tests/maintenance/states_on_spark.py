"""A script, and what it shares with tests of this process: states on the Spark that it was started for."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pod_oracle
import pyarrow as pa
from clusters import answer, executor_pids, open_session

import lawful
from lawful.common.meanings import null_policy
from lawful.dependencies import POD
from lawful.engines.spark import SparkEngine
from lawful.maintenance import engine_pairs

NAMES = ["a", "b", "c", "d"]
Row = tuple[int | None, ...]


def rows_of_numbers(seed: int, count: int) -> list[Row]:
    """Rows of small numbers and nulls; the last column tells most rows apart."""
    chance = random.Random(seed)
    return [
        tuple(None if chance.random() < 0.08 else chance.randrange(most) for most in (2, 3, 6, 400))
        for _ in range(count)
    ]


def table_of(rows: list[Row]) -> pa.Table:
    return pa.table({name: pa.array([row[n] for row in rows], pa.int64()) for n, name in enumerate(NAMES)})


def same_states(one: lawful.OpenState, other: lawful.OpenState) -> None:
    """The same rows and laws, and whatever one of them keeps is what its rows say."""
    assert (one.rows, one.version) == (other.rows, other.version)
    assert {str(law) for law in one.laws} == {str(law) for law in other.laws}
    assert one._state.laws.differences() == []
    if one.settings["way"] == other.settings["way"] == "counted":
        kept, expected = (sorted_counts(state) for state in (one, other))
        assert kept == expected


def sorted_counts(state: lawful.OpenState) -> list[tuple[object, ...]]:
    arrays = state._state.laws.arrays()
    return sorted(zip(map(tuple, arrays["evidence-keys"].tolist()), arrays["evidence-counts"].tolist(), strict=True))


def compared_batches(spark: Any, folder: Path, evidence: str, null: str, find: tuple[str, ...] = ("key", "fd")) -> None:
    """Apply the same batches to a state on Spark and to one of this process, and hold one against the other."""
    first = rows_of_numbers(7, 50)
    asked = {"evidence": evidence, "null": null, "find": find}
    with (
        lawful.make_state(folder / "there", table_of(first), **asked, engine="spark", spark=spark) as there,
        lawful.make_state(folder / "here", table_of(first), **asked, engine="local") as here,
    ):
        rows = list(first)
        for number, (come, leave) in enumerate(((20, 0), (0, 9), (12, 12), (1, 1), (0, len(rows)), (6, 0))):
            inserts, deletes = rows_of_numbers(100 + number, come), rows[3:][:leave]
            rows = rows[:3] + rows[3 + leave :] + inserts
            reports = [
                state.apply(table_of(inserts) if come else None, table_of(deletes) if deletes else None)
                for state in (there, here)
            ]
            same_states(there, here)
            same_changes(there, *reports, null)
        there.compact()
    with lawful.open_state(folder / "there", writes=False) as again:
        assert again._state.laws.differences() == []


def same_changes(state: lawful.OpenState, one: Any, other: Any, null: str) -> None:
    """The same laws went and came, and the rows that are shown for one that went are there and refute it."""
    for ours, theirs in ((one.added, other.added), (one.removed, other.removed)):
        assert {str(change.law) for change in ours} == {str(change.law) for change in theirs}
    for change in one.removed:
        if change.witness is None:  # a smaller law holds now, and says more
            continue
        assert all(view.row in ids_of(state) for view in change.witness)
        codes = [tuple(_code(view.values.get(name)) for name in NAMES) for view in change.witness]
        law = change.law.positional
        if isinstance(law, POD):
            assert pod_oracle.violates((law.lhs, law.rhs), *_with_nulls(codes), null)
        else:
            assert not oracle.holds(law, codes, null_policy(null))


def _with_nulls(codes: list[tuple[int, ...]]) -> Iterator[Row]:
    for row in codes:
        yield tuple(code or None for code in row)


def _code(value: str | None) -> int:
    return 0 if value is None else int(value) + 1


def ids_of(state: lawful.OpenState) -> set[int]:
    table = state._state.table
    return set(table.ids_of(table.live_rows()).tolist())


def survives_a_lost_executor(spark: Any, folder: Path) -> dict[str, object]:
    """Kill an executor while it compares the rows of a batch with all rows: the laws of a search from scratch."""
    generator = np.random.default_rng(5)
    columns = {f"c{n}": generator.integers(0, values, 120_000) for n, values in enumerate((30, 200, 4, 17, 90, 9))}
    # It takes two columns to tell the last: one old row then does not speak for all, and pairs have to be compared.
    table = pa.table({**columns, "of_both": (columns["c5"] + columns["c2"]) % 7})
    killed: dict[str, float] = {}

    def kill() -> None:
        time.sleep(0.5)
        killed["pid"] = executor_pids()[0]
        os.kill(int(killed["pid"]), signal.SIGKILL)
        killed["at"] = time.monotonic()

    def compared(engine: SparkEngine, *asked: Any, **named: Any) -> Any:
        thread = threading.Thread(target=kill)
        thread.start()
        found = compare(engine, *asked, **named)
        killed["ended"] = time.monotonic()
        thread.join()
        return found

    compare = SparkEngine.agree_sets
    SparkEngine.agree_sets = compared  # type: ignore[method-assign]  # watched from here on
    kept = {"evidence": "witnesses", "max_size": 2}
    with lawful.make_state(folder / "killed", table.slice(0, 60_000), **kept, engine="local"):
        pass
    with lawful.open_state(folder / "killed", engine="spark", spark=spark) as state:
        state.apply(table.slice(60_000))
        return {
            "still_running_when_killed": killed["ended"] > killed["at"],
            "gone": killed["pid"] not in executor_pids(),
            "differences": state.described(verify=True).differences,
        }


def found_laws_are_the_same(spark: Any, folder: Path) -> None:
    """Laws that a spread state finds and keeps on this Spark are those of a state in this process."""
    generator = np.random.default_rng(7)
    rows = {f"c{n}": generator.integers(0, values, 600) for n, values in enumerate((5, 40, 300))}
    table = pa.table({**rows, "of_one": rows["c1"] // 3, "of_both": (rows["c0"] + rows["c1"]) % 7})
    first = table.slice(0, 500)
    asked: dict[str, Any] = {"find": ("key", "fd", "canonical-od"), "max_size": 2}
    spread = lawful.SparkSettings(session=spark, placement="shuffle")
    with (
        lawful.make_state(folder / "one", first, **asked, engine="local") as one,
        lawful.make_state(folder / "spread", spark.createDataFrame(first), **asked, spark=spread) as other,
    ):
        for batch in ((table.slice(500), None), (None, table.slice(300, 250))):
            one.apply(*batch)
            other.apply(*batch)
            assert {law.text for law in one.laws} == {law.text for law in other.laws}
        assert other.described(verify=True).differences == []


def main(parts: list[str]) -> None:
    done: dict[str, object] = {}
    engine_pairs.WORTH_THE_ENGINE = 0
    with tempfile.TemporaryDirectory() as name, open_session() as spark:
        os.environ["LAWFUL_CACHE"] = f"{name}/cache"
        if "batches" in parts:
            compared_batches(spark, Path(name), "counted", "equal")
            compared_batches(spark, Path(name) / "ignored", "witnesses", "ignore")
            compared_batches(spark, Path(name) / "pods", "witnesses", "equal", ("key", "fd", "pod"))
            done["batches"] = "the same"
        if "spread" in parts:
            found_laws_are_the_same(spark, Path(name))
            done["spread"] = "the same"
        if "kill" in parts:
            done["kill"] = survives_a_lost_executor(spark, Path(name))
    answer(done)


if __name__ == "__main__":
    main(sys.argv[1:])
