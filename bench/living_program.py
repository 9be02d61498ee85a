"""What batches cost a table's agree sets, or a state of its laws, as one JSON line.

python -m bench.living_program WHAT ARGUMENTS, where ARGUMENTS are those of the function of that name, as JSON
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lawful
from bench.living_tables import TableFile, generated
from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.questions import Question, resident_bytes
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.evidence.exact import all_agree_sets
from lawful.evidence.living.agree_multiset import AgreeMultiset, BatchStrategy
from lawful.evidence.living.agree_set_tree import AgreeSetTree
from lawful.evidence.living.numbered_vectors import Multiset
from lawful.evidence.living.packed_agree_sets import MOST_TABLED_COLUMNS, PackedAgreeSets, SubsetCounts
from lawful.evidence.living.violation_masks import ViolationCounts
from lawful.evidence.signs import words_for
from lawful.runs.maintain import OpenState
from lawful.search import pack_sets
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

Times = dict[str, list[float]]
_WARM_UP_ROWS = 300
_CODE_BYTES = 4


class CodeTable:
    """Codes as the table that a count from scratch takes."""

    def __init__(self, codes: Int32s) -> None:
        self.matrix = np.ascontiguousarray(codes)
        self.width, self.rows = codes.shape

    def column(self, position: int, /) -> Int32s:
        column: Int32s = self.matrix[position]
        return column

    def distinct(self, position: int, /) -> int:
        return int(np.count_nonzero(np.unique(self.matrix[position])))


def timed(times: Times, name: str, work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Call something and note how long it took."""
    begin = time.perf_counter()
    done = work(*given, **named)
    times[name].append(time.perf_counter() - begin)
    return done


def last_or_drawn(rows: int, size: int, rounds: int) -> Iterator[Int64s]:
    """Batches: the last rows first, then others that are drawn."""
    yield np.arange(rows - size, rows)
    for seed in range(1, rounds):
        yield np.random.default_rng(seed).choice(rows, size, replace=False)


def warmed(multiset: AgreeMultiset, codes: Int32s) -> AgreeMultiset:
    """Let a row leave and come back."""
    last = np.array([codes.shape[1] - 1])
    multiset.delete(last)
    multiset.insert(codes[:, last], last)
    return multiset


def multiset(
    table: list[str], strategies: list[BatchStrategy], sizes: list[int], rounds: int, rows: int = 0, scratch: int = 0
) -> Times:
    """Batches out of a table (of its first rows, 0 for all) and back into it, and counts from scratch beside them."""
    codes = TableFile(*table).codes()
    codes = np.ascontiguousarray(codes[:, : rows or None])
    times: Times = defaultdict(list)
    all_agree_sets(CodeTable(codes[:, :_WARM_UP_ROWS]), NullPolicy.EQUAL)
    for _ in range(scratch):
        timed(times, "scratch", all_agree_sets, CodeTable(codes), NullPolicy.EQUAL)
    whole = AgreeMultiset.of(codes, np.arange(codes.shape[1]), NullPolicy.EQUAL).arrays()
    for strategy in strategies:
        ids = np.arange(codes.shape[1])
        followed = AgreeMultiset.from_arrays(whole, codes, ids, NullPolicy.EQUAL, strategy=strategy)
        warmed(followed, codes)
        for size in sizes:
            if size >= codes.shape[1]:
                continue
            for batch in last_or_drawn(codes.shape[1], size, rounds):
                timed(times, f"{strategy} delete {size}", followed.delete, batch)
                timed(times, f"{strategy} insert {size}", followed.insert, codes[:, batch], batch)
    return times


def by_batches(table: list[str], batches: int) -> dict[str, Any]:
    """The agree sets of a table that comes in batches, and again after a quarter of its rows has left and come back."""
    codes = TableFile(*table).codes()
    rows = codes.shape[1]
    times: Times = defaultdict(list)
    followed = AgreeMultiset(len(codes), NullPolicy.EQUAL)
    for batch in np.array_split(np.arange(rows), batches):
        timed(times, "batch", followed.insert, codes[:, batch], batch)
    came = len(followed)
    quarter = np.random.default_rng(0).choice(rows, rows // 4, replace=False)
    timed(times, "quarter", followed.delete, quarter)
    timed(times, "quarter", followed.insert, codes[:, quarter], quarter)
    assert int(followed.sets().counts.sum()) == rows * (rows - 1) // 2, "some pair is counted twice, or not at all"
    return {**times, "agree_sets": came, "after a quarter": len(followed), "rows": rows}


def share(table: list[str], kind: str, percent: int, rounds: int) -> dict[str, Any]:
    """A batch of so many percent of the rows before it, and a count of the resulting table from scratch."""
    codes = TableFile(*table).codes()
    times: Times = defaultdict(list)
    rows = codes.shape[1]
    if kind == "insert":
        before, after = max(2, round(rows * 100 / (100 + percent))), rows
    else:
        before, after = rows, rows - round(rows * percent / 100)
    first = np.ascontiguousarray(codes[:, :before])
    start = AgreeMultiset.of(first, np.arange(before), NullPolicy.EQUAL).arrays()
    result = CodeTable(codes[:, :after])
    for _ in range(rounds):
        followed = AgreeMultiset.from_arrays(start, first, np.arange(before), NullPolicy.EQUAL)
        warmed(followed, first)
        if kind == "insert":
            timed(times, "batch", followed.insert, codes[:, before:], np.arange(before, rows))
        else:
            timed(times, "batch", followed.delete, np.arange(after, rows))
        found = timed(times, "scratch", all_agree_sets, result, NullPolicy.EQUAL)
        assert len(found.agree) == len(followed), "the batch and the count from scratch differ"
    return {**times, "rows": after, "agree_sets": len(followed)}


def state(
    table: list[str], size: int, rounds: int, evidence: str, find: list[str], max_size: int | None, scratch: int
) -> dict[str, Any]:
    """Batches out of a state on disk and back into it, all laws kept; and discovery from scratch beside them."""
    source = TableFile(*table)
    times: Times = defaultdict(list)
    header, rows = source.lines()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = source.written(folder / "whole.csv", header, rows)
        few = source.written(folder / "few.csv", header, rows[:_WARM_UP_ROWS])
        for file in (few, *[whole] * scratch):
            _discover(file, source, find, max_size, times if file is whole else defaultdict(list))
        options = {"find": find, "max_size": max_size, "evidence": evidence, "dialect": source.dialect}
        kept = timed(times, "make", lawful.make_state, folder / "state", whole, engine="local", **options)
        ids, end = np.arange(len(rows)), len(rows)
        with kept:
            for number, places in enumerate([np.arange(2), *last_or_drawn(len(rows), size, rounds)]):
                coming = source.written(folder / f"{number}.csv", header, [rows[place] for place in places])
                noted = times if number else defaultdict(list)  # the first one only warms up
                for what, batch in (("delete", {"delete_ids": ids[places].tolist()}), ("insert", {"inserts": coming})):
                    report = timed(noted, what, kept.apply, **batch, dialect=source.dialect)
                    noted[f"{what} within"].append(report.seconds["total"])
                ids[places] = np.arange(end, end + len(places))
                end += len(places)
            described = kept.described()
            return {**times, "laws": sum(described.laws.values()), "agree_sets": described.agree_sets}


def _discover(file: Path, source: TableFile, find: list[str], max_size: int | None, times: Times) -> None:
    if not {"key", "fd"}.issuperset(find):
        asked = {"engine": "local", "dialect": source.dialect, "max_size": max_size}
        timed(times, "scratch", lawful.discover, str(file), find, **asked)
        return
    table = encode_in_process(str(file), ReadOptions(dialect=source.dialect), reuse=False)
    engine = LocalEngine()
    engine.open(table, NullPolicy.EQUAL)
    question = Question(keys="key" in find, fds="fd" in find, max_size=max_size)
    timed(times, "scratch", discover_keys_and_fds, Search(table, engine), question)
    engine.close()


def tree(table: list[str], size: int, rounds: int, questions: int, tree_questions: int) -> dict[str, Any]:
    """Agree sets in the paper's tree, in our hash table and summed over subsets: batches in and out, and questions."""
    codes = TableFile(*table).codes()
    times: Times = defaultdict(list)
    width, rows = codes.shape
    before = rows - size * rounds
    followed = AgreeMultiset.of(codes[:, :before], np.arange(before), NullPolicy.EQUAL)
    paper, ours = AgreeSetTree(width, NullPolicy.EQUAL), Multiset(words_for(width))
    sets = followed.sets()
    for holder in (paper, ours):
        holder.change(sets.agree, sets.counts)
    starts = range(before, rows, size)
    batches = [followed.insert(codes[:, at : at + size], np.arange(at, at + size)) for at in starts]
    for what, sign, changes in (("insert", 1, batches), ("delete", -1, batches[::-1])):
        for change in changes:
            timed(times, f"tree {what}", paper.change, change.agree, sign * change.counts)
            timed(times, f"hash table {what}", ours.change, change.agree, sign * change.counts)
    ours_asked: dict[str, ViolationCounts] = {"packed": PackedAgreeSets(*ours.arrays, NullPolicy.EQUAL)}
    if width <= MOST_TABLED_COLUMNS:
        for _ in range(rounds):
            made = timed(times, "subset counts made", SubsetCounts, *ours.arrays, width, NullPolicy.EQUAL)
            ours_asked["subset counts"] = made
    left, right = _candidates(width, questions)
    asked = {"tree": _ask({"tree": paper, **ours_asked}, left[:tree_questions], right[:tree_questions])["tree"]}
    asked |= _ask(ours_asked, left, right)
    sizes = {"nodes": paper.nodes, "agree_sets": len(paper)}
    new_sets = int(np.median([change.is_new.sum() for change in batches]))
    return {**times, **sizes, "new_sets": new_sets, "seconds_per_question": asked}


def _ask(answering: dict[str, ViolationCounts], left: Words, right: Int64s) -> dict[str, float]:
    """Ask all the same, which all have to answer alike; return the seconds that a question took."""
    times: Times = defaultdict(list)
    answers = []
    for name, answerer in answering.items():
        answerer.violations(left[:1], right[:1])
        answers.append(timed(times, name, answerer.violations, left, right))
    assert all(np.array_equal(each, answers[0]) for each in answers), "the answers differ"
    return {name: seconds[0] / len(left) for name, seconds in times.items()}


def _candidates(width: int, count: int) -> tuple[Words, Int64s]:
    """Left sides of one to four columns, with a column on the right or, for every fifth, a key."""
    chance = np.random.default_rng(1)
    drawn = [chance.permutation(width)[: 2 + number % min(4, width - 1)].tolist() for number in range(count)]
    right = np.array([columns[0] if number % 5 else -1 for number, columns in enumerate(drawn)], np.int64)
    return pack_sets([sorted(columns[1:]) for columns in drawn], width), right


def growth(rows: int, size: int, rounds: int) -> dict[str, Any]:
    """Batches into a generated table whose keys and FDs are kept by witnesses: insertions, deletions by key, both."""
    times: Times = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        options: dict[str, Any] = {"row_key": ["id"], "evidence": "witnesses", "engine": "local"}
        kept = timed(times, "make", lawful.make_state, Path(name) / "state", generated(rows), **options)
        on_disk = kept.described().bytes
        with kept:
            for number in range(rounds + 1):  # the first one makes indexes and loads kernels
                _three_batches(kept, rows, number, size, times if number else defaultdict(list))
            laws = sum(kept.described().laws.values())
            width = len(kept.table.names)
    sizes = {"disk_over_codes": round(on_disk / (_CODE_BYTES * rows * width), 2), "resident_mb": resident_bytes() >> 20}
    return {**times, "laws": laws, **sizes}


def _three_batches(kept: OpenState, rows: int, number: int, size: int, times: Times) -> None:
    """One batch of each kind; of the mixed one, half comes and half leaves."""
    half, first = size // 2, rows + 2 * number * size
    drawn = np.random.default_rng(1).permutation(rows).astype(np.int32)
    leaving = drawn[number * (size + half) : (number + 1) * (size + half)]
    batches = {
        "insert": {"inserts": generated(size, first)},
        "delete": {"deletes": pa.table({"id": leaving[:size]})},
        "mixed": {"inserts": generated(size - half, first + size), "deletes": pa.table({"id": leaving[size:]})},
    }
    for what, batch in batches.items():
        report = timed(times, what, kept.apply, **batch)
        times[f"{what} within"].append(report.seconds["total"])


PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {
    "multiset": multiset,
    "by-batches": by_batches,
    "share": share,
    "state": state,
    "tree": tree,
    "growth": growth,
}


def main(what: str, arguments: str) -> None:
    print(json.dumps(PROGRAMS[what](**json.loads(arguments))))


if __name__ == "__main__":
    main(*sys.argv[1:])
