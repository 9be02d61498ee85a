"""The parts of the shuffle engine that need no Spark: packed keys, chunks of rows, sweeps over sorted lines."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask, Workspace, check
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Key, Law, ListOD, Predicate
from lawful.engines.shuffle.chunks import Chunk, chunk_checker, row_finder
from lawful.engines.shuffle.implied import KnownToHold, least_of
from lawful.engines.shuffle.keys import PackedKey
from lawful.engines.shuffle.parts import parts_of, strict_orders
from lawful.engines.shuffle.sweeps import _swaps_between, _swaps_within, sweeper
from lawful.engines.shuffle.tiles import cell_runner, strip_runner, strips_of
from lawful.tables.sample import SampleTable, dense
from lawful.tables.shuffled.data import Coding


@given(
    st.lists(
        st.integers(0, 2**33).flatmap(lambda highest: st.tuples(st.just(highest), st.integers(0, highest))),
        max_size=9,
    )
)
def test_a_packed_key_loses_nothing(columns: list[tuple[int, int]]) -> None:
    codings = [Coding(highest) for highest, _ in columns]
    key = PackedKey.of(range(len(columns)), codings)
    ranks = {f"c{place}": rank for place, (_, rank) in enumerate(columns)}
    words = [_evaluated(text, ranks) for text in key.texts(len(key.words))]
    assert all(0 <= word < 2**63 for word in words)
    assert key.ranks(words) == {place: rank for place, (_, rank) in enumerate(columns)}


def _evaluated(text: str, ranks: dict[str, int]) -> int:
    """What Spark makes of an expression of sums and products."""
    python = text.replace("cast(", "(").replace(" as bigint)", ")").replace("L", "")
    for name in sorted(ranks, key=len, reverse=True):
        python = python.replace(name, str(ranks[name]))
    total = 0
    for token in python.replace("(", " ").replace(")", " ").split():
        if token in "*+":
            operator = token
        elif total == 0 and "operator" not in locals():
            total, operator = int(token), "+"
        else:
            total = total * int(token) if operator == "*" else total + int(token)
    return total


_LINES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 6), st.integers(-4, 4)), max_size=24)


@given(_LINES, st.data())
def test_a_sweep_over_partitions_finds_a_swap_wherever_there_is_one(lines: list[Any], data: st.DataObject) -> None:
    points: dict[tuple[int, int, int], tuple[int, int]] = {}
    for law, key, a, b in lines:
        low, high = points.get((law, key, a), (b, b))
        points[law, key, a] = min(low, b), max(high, b)
    ordered = [(*place, *extremes) for place, extremes in sorted(points.items())]
    told: list[dict[str, Any]] = []
    for partition in _cut(ordered, data):
        batches = [_batch(some) for some in _cut(partition, data)]
        for batch in sweeper(1)(iter(batches)):
            told += batch.to_pylist()
    found = {}
    for group, *swap in (*_swaps_within(told, 1), *_swaps_between(told, 1)):
        found.setdefault(group[0], (group, *swap))
    assert found.keys() == {
        law
        for law, key, a, b in lines
        if any(law == l2 and key == k2 and a < a2 and b > b2 for l2, k2, a2, b2 in lines)
    }
    for law, (group, first_a, first_b, second_a, second_b) in found.items():
        assert (law, group[1], first_a, first_b) in lines
        assert (law, group[1], second_a, second_b) in lines
        assert first_a < second_a
        assert first_b > second_b


def _cut(items: list[Any], data: st.DataObject) -> list[list[Any]]:
    """Cut a list in random places; some parts are empty."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4)))
    return [items[first:last] for first, last in pairwise([0, *cuts, len(items)])]


def _batch(lines: list[Any]) -> pa.RecordBatch:
    columns = list(zip(*lines, strict=True)) if lines else [()] * 5
    names = ["t", "k0", "a", "low", "high"]
    return pa.RecordBatch.from_arrays([pa.array(column, pa.int64()) for column in columns], names=names)


def _rows(ranks: np.ndarray) -> pa.RecordBatch:
    ids = pa.array(np.arange(len(ranks), dtype=np.int64)[::-1] + 2**40)
    columns = {f"c{column}": pa.array(ranks[:, column]) for column in range(ranks.shape[1])}
    return pa.record_batch({"row": ids, **columns})


def test_chunks_refute_what_two_of_their_rows_refute() -> None:
    random = np.random.default_rng(1)
    ranks = random.integers(0, 4, (60, 4)).astype(np.int64) * 3 * 10**9
    laws = [FD((0, 1), 2), FD((0, 1, 2), 3), Key((0, 1, 2, 3)), Key((0,)), CanonicalOD((0,), 1, 2, "desc")]
    tasks = [CheckTask(number, law) for number, law in enumerate(laws)]
    whole = _rows(ranks)
    for policy in NullPolicy:
        for most in (1, 7, 100):
            batches = [whole.slice(first, most) for first in range(0, 60, most)]
            found = {}
            for batch in chunk_checker(tasks, policy, most)(iter(batches)):
                found |= {line["id"]: line for line in batch.to_pylist()}
            for task in tasks:
                chunks = [Chunk(pa.Table.from_batches([batch])) for batch in batches]
                wanted = any(not check(task, chunk, Workspace(chunk, policy)).holds for chunk in chunks)
                assert wanted == (task.id in found)
            for line in found.values():
                assert line["first"] < line["second"]
                for side in ("first", "second"):
                    assert line[f"{side}_ranks"] == ranks[59 - (line[side] - 2**40)].tolist()


def test_a_row_is_found_by_its_ranks() -> None:
    ranks = np.array([[1, 2], [3, 4], [1, 5], [3, 4]], np.int32)
    wanted = [{0: 3, 1: 4}, {0: 1}, {1: 9}]
    (found,) = row_finder(wanted, 2)(iter([_rows(ranks)]))
    assert found.to_pylist() == [
        {"want": 0, "row": 2**40, "ranks": [3, 4]},
        {"want": 1, "row": 2**40 + 1, "ranks": [1, 5]},
    ]


_RANKS = st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=12).map(
    lambda rows: np.array(rows, np.int64)
)
_OPERATORS = st.sampled_from(["=", "<", ">", "<=", ">=", "!="])
_COLUMNS = st.lists(st.integers(0, 3), max_size=4, unique=True)
_MARKED = _COLUMNS.flatmap(
    lambda columns: st.tuples(*(st.tuples(st.just(c), st.sampled_from(["asc", "desc"])) for c in columns))
)


def _same(column: int, operator: Any) -> Predicate:
    return Predicate(Cell("t", column), operator, Cell("s", column))


_DENIALS = st.lists(st.builds(_same, st.integers(0, 3), _OPERATORS), max_size=5).map(lambda some: DC(tuple(some)))
_POINTWISE = st.permutations(range(4)).flatmap(
    lambda columns: st.builds(
        lambda left, right: POD(tuple(zip(columns[1:], left, strict=False)), (columns[0], right)),
        st.lists(st.sampled_from(["=", "<", "<=", ">", ">="]), max_size=3),
        st.sampled_from(["=", "<", "<="]),
    )
)


def _broken_by(law: Law, ranks: np.ndarray, policy: NullPolicy) -> tuple[int, int] | None:
    chunk = Chunk(pa.Table.from_batches([_rows(ranks)]))
    return check(CheckTask(0, law), chunk, Workspace(chunk, policy)).witness


@given(_RANKS, _DENIALS | _POINTWISE | st.builds(ListOD, _MARKED, _MARKED), st.sampled_from(NullPolicy))
def test_a_law_holds_if_all_its_parts_do(ranks: np.ndarray, law: Law, policy: NullPolicy) -> None:
    if isinstance(law, ListOD):
        policy = NullPolicy.EQUAL  # the only one that lists know
    pairs = [_broken_by(part, ranks, policy) for part in parts_of(law)]
    assert (_broken_by(law, ranks, policy) is None) == all(pair is None for pair in pairs)
    for pair in pairs:
        assert pair is None or _broken_by(law, ranks[list(pair)], policy) is not None


_SIMPLE = st.builds(Key, _COLUMNS) | st.builds(
    lambda columns: FD(tuple(columns[1:]), columns[0]), st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True)
)


@given(_RANKS, st.lists(_SIMPLE, max_size=12, unique=True), st.sampled_from(NullPolicy))
def test_what_follows_from_smaller_laws_is_not_asked(ranks: np.ndarray, laws: list[Law], policy: NullPolicy) -> None:
    pending = [CheckTask(number, law) for number, law in enumerate(laws)]
    known, found = KnownToHold(), {}
    while pending:
        asked, pending = least_of(pending)
        assert asked
        found |= {task.law: _broken_by(task.law, ranks, policy) is None for task in asked}
        known.learn(task.law for task in asked if found[task.law])
        found |= {task.law: True for task in pending if known.implies(task.law)}
        pending = [task for task in pending if not known.implies(task.law)]
    assert found == {law: _broken_by(law, ranks, policy) is None for law in laws}


@given(
    st.lists(st.tuples(*[st.integers(1, 9)] * 4), min_size=1, max_size=40),
    st.lists(st.sampled_from("<>"), min_size=3, max_size=4),
    st.data(),
)
def test_tiles_find_two_rows_wherever_a_table_has_them(rows: list[Any], operators: list[Any], data: Any) -> None:
    ranks = np.array(rows, np.int64)
    law = DC(tuple(_same(column, operator) for column, operator in enumerate(operators)))
    ordered = strict_orders(law)
    assert ordered is not None
    assert sorted(ordered) == list(range(len(operators)))
    *first, last = ordered
    quantiles = st.lists(st.integers(1, 9), min_size=1, max_size=4)
    strips = [strips_of(sorted(data.draw(quantiles)), column) for column in first]
    whole = _rows(ranks)
    batches = [whole.slice(start, 7) for start in range(0, len(ranks), 7)]
    places = dict(zip(whole.column("row").to_pylist(), range(len(ranks)), strict=True))

    def is_broken(ids: list[int]) -> bool:
        return bool(ids) and _broken_by(law, ranks[[places[id_] for id_ in ids]], NullPolicy.EQUAL) is not None

    found = is_broken(
        [id_ for batch in cell_runner(strips, last, 0)(iter(batches)) for id_ in batch["row"].to_pylist()]
    )
    for one in strips:
        cut: dict[int, list[int]] = {}
        for batch in strip_runner(one, 0)(iter(batches)):
            for strip, id_ in zip(batch["k0"].to_pylist(), batch["row"].to_pylist(), strict=True):
                cut.setdefault(strip, []).append(id_)
        found |= any(map(is_broken, cut.values()))
    assert found == (_broken_by(law, ranks, NullPolicy.EQUAL) is not None)


class _Whole:
    """All rows of a small table."""

    def __init__(self, ranks: np.ndarray) -> None:
        self.rows, self.width = ranks.shape
        self.names = [f"c{column}" for column in range(self.width)]
        self._ranks = ranks

    def distinct(self, position: int) -> int:
        return int(self._ranks[:, position].max())

    def type(self, position: int) -> ColumnType:
        raise AssertionError

    def nulls(self, position: int) -> int:
        return int((self._ranks[:, position] == 0).sum())

    def ranks_of(self, ids: np.ndarray) -> np.ndarray:
        return self._ranks[ids]

    def are_twins(self, first: int, second: int) -> bool:
        raise AssertionError

    def are_ordered_alike(self, first: int, second: int, *, turned: bool) -> bool:
        raise AssertionError

    def is_turned(self, first: int, second: int, policy: NullPolicy) -> None:
        raise AssertionError


def test_a_sample_grows_and_keeps_the_order_of_ranks_beyond_32_bits() -> None:
    ranks = np.random.default_rng(0).integers(0, 2**40, (500, 2))
    ranks[3] = 0
    sample = SampleTable(_Whole(ranks), np.arange(4), ranks[:4])
    assert sample.places([2, 400, 2, 77]) == [2, 4, 2, 5]
    assert sample.places([77, 3]) == [5, 3]
    assert sample.ids.tolist() == [0, 1, 2, 3, 400, 77]
    for column in range(2):
        seen = ranks[[0, 1, 2, 3, 400, 77], column]
        assert sample.column(column).dtype == np.int32
        assert np.array_equal(np.argsort(sample.column(column)), np.argsort(seen))
        assert (sample.column(column)[3] == 0) == (seen[3] == 0)
        assert sample.drawn.rows == 4
        assert np.array_equal(sample.drawn.column(column), dense(ranks[:4, column]))
    assert sample.distinct(0) == ranks[:, 0].max()
