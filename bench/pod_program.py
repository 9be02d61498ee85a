"""What pointwise order dependencies cost, kept or found, as one JSON line.

python -m bench.pod_program WHAT ARGUMENTS, where ARGUMENTS are those of the function of that name, as JSON
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lawful
from bench.living_program import Times, timed
from bench.living_tables import TableFile
from bench.pod_tables import letters, tax_returns
from lawful.common.arrays import Flags, Int64s
from lawful.common.meanings import NullPolicy
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.pods.questions import PointwiseQuestion
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.evidence.living.orders import ChainIndex, Fetch, IndexPlan, TableKeys, violating_candidates
from lawful.runs.maintain import OpenState
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.living_table import LivingTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

_MOST_LISTED = 500
"""Of so many new rows the candidates are listed, to tell what indexes skip."""
_NEW_ROWS_A_CALL = 1024
_PAIRS_A_CALL = 1 << 20


def share(table: list[str], percent: int, max_size: int | None, rounds: int) -> dict[str, Any]:
    """A batch of so many percent of the rows before it, and a discovery on the table that it makes, in turn.

    As in the paper's experiments: the rows before are drawn, and indexes are there before the batch comes.
    """
    source = TableFile(*table)
    times: Times = defaultdict(list)
    header, rows = source.lines()
    rows = [rows[place] for place in np.random.default_rng(5).permutation(len(rows))]
    before = round(len(rows) * 100 / (100 + percent))
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = source.written(folder / "whole.csv", header, rows)
        first = source.written(folder / "first.csv", header, rows[:before])
        batch = source.written(folder / "batch.csv", header, rows[before:])
        again = source.written(folder / "again.csv", header, rows[:2])
        options: dict[str, Any] = {"find": "pod", "max_size": max_size, "dialect": source.dialect, "engine": "local"}
        lawful.make_state(folder / "state", first, **options).close()
        for number in range(rounds):
            copy = folder / f"state {number}"
            shutil.copytree(folder / "state", copy)
            with lawful.open_state(copy, engine="local") as kept:  # what comes first loads kernels and makes indexes
                kept.apply(delete_ids=[0, 1], dialect=source.dialect)
                kept.apply(inserts=again, dialect=source.dialect)
                told = {"sigma": sum(kept.described().laws.values())} | _indexes(kept)
                report = _timed_twice(times, "batch", kept.apply, inserts=batch, dialect=source.dialect)
                told |= {"delta_minus": len(report.removed), "delta_plus": len(report.added)}
                told["skipped"] = _skipped(_plan(kept), len(rows) - before)
                laws = sum(kept.described().laws.values())
            shutil.rmtree(copy)
            encoded = encode_in_process(str(whole), ReadOptions(dialect=source.dialect), reuse=False)
            found = _discovered(encoded, max_size, times)
            assert found == laws, f"the batch leaves {laws} laws, and a discovery finds {found}"
    return {**times, "rows": len(rows), **told}


def _timed_twice(times: Times, name: str, work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Note the seconds that something took, and those of the processor: a machine may have other things to do."""
    begin = time.process_time()
    done = timed(times, name, work, *given, **named)
    times[f"{name} processor"].append(time.process_time() - begin)
    return done


def _plan(kept: OpenState) -> IndexPlan:
    pods = kept._state.laws.pods
    assert pods is not None
    return pods.plan


def _indexes(kept: OpenState) -> dict[str, Any]:
    """The indexes of a state: how many there are, and the mean rank of those that are of order."""
    plan = _plan(kept)
    ranks = [each.rank for each in plan.indexes if not each.fetches[0].is_equality]
    return {"indexes": len(plan.indexes), "mean_rank": round(float(np.mean(ranks)), 1) if ranks else 0}


def _skipped(plan: IndexPlan, new: int) -> float:
    """The share of the rows before a new row that indexes do not list for it, of the newest rows."""
    plan.catch_up()
    live = plan.table.live_rows()
    newest = live[-min(new, _MOST_LISTED) :]
    listed = sum(len(chunk.left) for chunk in violating_candidates(plan, newest))
    before = np.arange(len(live) - len(newest), len(live)).sum()
    return round(1 - listed / float(before), 4)


def _discovered(table: EncodedTable, max_size: int | None, times: Times) -> int:
    engine = LocalEngine()
    engine.open(table, NullPolicy.EQUAL)
    question = PointwiseQuestion(max_size=max_size)
    found = _timed_twice(times, "scratch", discover_pointwise, Search(table, engine), question)
    engine.close()
    return sum(map(len, found.listings))


def growth(rows: int, size: int, rounds: int) -> dict[str, Any]:
    """Batches into a generated table whose pointwise order dependencies are kept: insertions, deletions, both."""
    times: Times = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        options: dict[str, Any] = {"row_key": ["number"], "find": "pod", "engine": "local"}
        kept = timed(times, "make", lawful.make_state, Path(name) / "state", tax_returns(rows), **options)
        with kept:
            for number in range(rounds + 1):  # the first one makes indexes and loads kernels
                noted = times if number else defaultdict(list)
                come = tax_returns(size, rows + number * size)
                leave = pa.table({"number": np.random.default_rng(number).choice(rows // 2, size, replace=False)})
                _timed_twice(noted, "insert", kept.apply, inserts=come)
                _timed_twice(noted, "delete", kept.apply, deletes=leave, missing="skip")
            return {**times, "laws": sum(kept.described().laws.values()), **_indexes(kept)}


def fetch(table: list[str], first: str, second: str, percents: list[int], rounds: int) -> dict[str, Any]:
    """Old rows that a new row is below in one column and above in another, or the other way round, for a batch.

    An index beside DuckDB's join; both give all pairs. The index is there before, as it is in a state, and DuckDB has
    its tables in memory.
    """
    source = TableFile(*table)
    options = ReadOptions(dialect=source.dialect, columns=(first, second))
    both = encode_in_process(table[0], options, reuse=False)
    ranks = np.stack([np.asarray(both.column(column)) for column in range(2)])
    ranks = ranks[:, (ranks > 0).all(axis=0)]
    ranks = ranks[:, np.random.default_rng(5).permutation(ranks.shape[1])]
    rows = ranks.shape[1]
    living = LivingTable.of(encode_in_process(pa.table({"a": ranks[0], "b": ranks[1]}), ReadOptions(), reuse=False))
    related = np.corrcoef(ranks)[0, 1]
    index = ChainIndex(TableKeys(living), (0, "<="), (1, "<=" if related > 0 else ">="), NullPolicy.EQUAL)
    whole = pa.table({"id": np.arange(rows), "a": ranks[0], "b": ranks[1]})
    times: Times = defaultdict(list)
    _listed(index, np.arange(2), np.ones(rows, np.bool_))  # which loads kernels
    pairs = {}
    for percent in percents:
        new = rows * percent // 100
        join = _Join(whole, rows - new)
        is_old = np.arange(rows) < rows - new
        for _ in range(rounds):
            ours = _timed_twice(times, f"fetch {percent}", _listed, index, np.arange(rows - new, rows), is_old)
            theirs = _timed_twice(times, f"duckdb {percent}", join.pairs)
            assert ours == theirs, f"the index finds {ours} pairs, and DuckDB {theirs}"
        pairs[str(percent)] = ours
    return {**times, "pairs": pairs, "rank": index.rank, "rows": rows}


def _listed(index: ChainIndex, new: Int64s, is_old: Flags) -> int:
    """List the old rows that new rows ask for; return how many pairs these are."""
    asked, seen = Fetch.of((0, "<"), (1, ">")), np.empty(0, np.uint64)
    found = 0
    for start in range(0, len(new), _NEW_ROWS_A_CALL):
        numbers = new[start : start + _NEW_ROWS_A_CALL]
        for part in index.ranges(numbers, asked):
            found += sum(len(left) for left, _ in part.pairs(numbers, is_old, seen, _PAIRS_A_CALL))
    return found


class _Join:
    """The same as a join of DuckDB, whose tables are in memory."""

    def __init__(self, whole: pa.Table, old: int) -> None:
        import duckdb

        self._connection = duckdb.connect(config={"memory_limit": "4GB"})
        for name, part in (("old", whole.slice(0, old)), ("new", whole.slice(old))):
            self._connection.register("part", part)
            self._connection.execute(f"create table {name} as select * from part")
            self._connection.unregister("part")

    def pairs(self) -> int:
        """Make all pairs, of which only the sum is kept: all of them might not fit in memory."""
        query = """
            select count(*), sum(one + other) from (
                select new.id as one, old.id as other from new join old on new.a < old.a and new.b > old.b
                union all
                select new.id, old.id from new join old on new.a > old.a and new.b < old.b
            )
        """
        return int(self._connection.execute(query).fetchall()[0][0])


def batch(rounds: int, table: list[str] | None = None, rows: int = 0, columns: int = 0) -> dict[str, Any]:
    """A discovery: of a table, of its first rows, or of a generated one of small whole numbers."""
    if table is None:
        encoded = encode_in_process(letters(rows, columns), ReadOptions(), reuse=False)
    else:
        source = TableFile(*table)
        limit = {"limit": rows} if rows else {}
        encoded = encode_in_process(table[0], ReadOptions(dialect=source.dialect, **limit), reuse=False)
    times: Times = defaultdict(list)
    few = encode_in_process(letters(200, 4), ReadOptions(), reuse=False)
    _discovered(few, None, defaultdict(list))
    laws = [_discovered(encoded, None, times) for _ in range(rounds)]
    return {**times, "laws": laws[-1], "rows": encoded.rows, "columns": encoded.width}


PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {"share": share, "growth": growth, "fetch": fetch, "batch": batch}


def main(what: str, arguments: str) -> None:
    print(json.dumps(PROGRAMS[what](**json.loads(arguments))))


if __name__ == "__main__":
    main(*sys.argv[1:])
