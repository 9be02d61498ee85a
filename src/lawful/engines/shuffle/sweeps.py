"""Order compatibility by one sort over all rows: what a partition cannot see of the one before it is one maximum.

Every row gives a line for each law: its context, and its ranks in the two columns (A, and B turned around where the
law says so). Lines that agree on context and A become one, with the least and the greatest B. These are partitioned by
range and sorted; then, in each context, no B may lie below a B that belongs to a smaller A. Within a partition one pass
tells. Where a context goes on in the next partition, the greatest B so far is all that matters, and the driver carries
it over: a few numbers from each partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask
from lawful.common.arrays import Int64s
from lawful.common.meanings import NullPolicy
from lawful.dependencies import CanonicalOD
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.groups import Broken
from lawful.engines.shuffle.keys import PackedKey, exploded, key_names, without_nulls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_SWAP, _EDGE = 0, 1
_POINTS = ("first_a", "first_b", "second_a", "second_b")


def sweep_schema(words: int) -> str:
    """The lines that a sweep gives: a swap that was found, or what a partition begins and ends with."""
    keys = ", ".join(f"{name} bigint, last_{name} bigint" for name in key_names(words))
    points = ", ".join(f"{name} bigint" for name in _POINTS)
    return f"kind int, t int, last_t int, {keys}, start bigint, {points}"


@dataclass
class _Edge:
    """A context at one end of a partition, with the line of it that decides about other partitions."""

    group: tuple[int, ...]
    a: int
    b: int


def sweeper(words: int) -> Runner:
    """A task that sweeps over sorted lines: `t`, the words of the context, `a`, `low` and `high`."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sweep = _Sweep(words)
        for batch in batches:
            if batch.num_rows:
                sweep.take(batch)
        yield from sweep.lines()

    return run


class _Sweep:
    """What is known after some sorted lines: swaps, the first context's least B, and the last one's greatest."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._swaps: dict[int, tuple[tuple[int, ...], int, int, int, int]] = {}
        self._start = 0
        self._first: _Edge | None = None
        self._last: _Edge | None = None

    def take(self, batch: pa.RecordBatch) -> None:
        """Go on with a batch."""
        columns = [column.to_numpy().astype(np.int64, copy=False) for column in batch.columns]
        group, (a, low, high) = np.stack(columns[: self._words + 1]), columns[self._words + 1 :]
        if self._last is None:
            self._start = int(a[0])
        elif self._last.group == _column(group, 0):  # the context goes on: its greatest B so far is one more line
            group = np.concatenate([group[:, :1], group], axis=1)
            a, high = np.append(self._last.a, a), np.append(self._last.b, high)
            low = np.append(np.iinfo(np.int64).max, low)
        is_new = np.ones(a.size, np.bool_)
        is_new[1:] = (group[:, 1:] != group[:, :-1]).any(axis=0)
        context = np.cumsum(is_new) - 1
        before = _greatest_before(high, context)
        for found in np.flatnonzero(~is_new & (high[before] > low)).tolist():
            law, place = int(group[0, found]), int(before[found])
            points = int(a[place]), int(high[place]), int(a[found]), int(low[found])
            self._swaps.setdefault(law, (_column(group, found), *points))
        self._note_edges(group, a, low, high, context)

    def _note_edges(self, group: Int64s, a: Int64s, low: Int64s, high: Int64s, context: Int64s) -> None:
        begin, end = _column(group, 0), _column(group, -1)
        if self._first is None or self._first.group == begin:
            least = int(np.argmin(low[context == 0]))
            if self._first is None or low[least] < self._first.b:
                self._first = _Edge(begin, int(a[least]), int(low[least]))
        start = int(np.searchsorted(context, context[-1]))
        greatest = start + int(np.argmax(high[start:]))
        self._last = _Edge(end, int(a[greatest]), int(high[greatest]))

    def lines(self) -> Iterator[pa.RecordBatch]:
        """What to tell of the partition."""
        rows: list[list[int]] = []
        for group, *points in self._swaps.values():
            rows.append(_line(_SWAP, group, group, 0, points))
        if self._first is not None and self._last is not None:
            points = [self._first.a, self._first.b, self._last.a, self._last.b]
            rows.append(_line(_EDGE, self._first.group, self._last.group, self._start, points))
        keys = [type_ for _ in range(self._words) for type_ in (pa.int64(), pa.int64())]
        types = [pa.int32(), pa.int32(), pa.int32(), *keys, pa.int64(), *(pa.int64() for _ in _POINTS)]
        names = [part.split()[0] for part in sweep_schema(self._words).split(", ")]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=names)


def _line(kind: int, first: Sequence[int], last: Sequence[int], start: int, points: Sequence[int]) -> list[int]:
    words = [word for both in zip(first[1:], last[1:], strict=True) for word in both]
    return [kind, first[0], last[0], *words, start, *points]


def _column(group: Int64s, place: int) -> tuple[int, ...]:
    return tuple(group[:, place].tolist())


def _greatest_before(high: Int64s, context: Int64s) -> Int64s:
    """For each line where the greatest B of its context before it is; of a first line, anywhere."""
    values, places = np.unique(high, return_inverse=True)
    lifted = places + context * values.size  # each context above the one before it, so that one pass does for all
    running = np.maximum.accumulate(lifted)
    grows = np.ones(high.size, np.bool_)
    grows[1:] = lifted[1:] > running[:-1]
    greatest = np.maximum.accumulate(np.where(grows, np.arange(high.size), 0))
    return np.concatenate([[0], greatest[:-1]])


@dataclass(frozen=True)
class _Ordered:
    """A law as the sweep takes it: the column with fewer ranks first."""

    task: CheckTask
    law: CanonicalOD
    a: int
    b: int

    @staticmethod
    def of(task: CheckTask, data: ShuffledData) -> _Ordered:
        law = task.law
        assert isinstance(law, CanonicalOD)
        a, b = sorted((law.left, law.right), key=lambda column: data.codings[column].highest)
        return _Ordered(task, law, a, b)

    @property
    def sign(self) -> int:
        """-1 where B is turned around."""
        return 1 if self.law.direction == "asc" else -1


class SweptCheck:
    """One job for some laws."""

    def __init__(self, data: ShuffledData, tasks: Sequence[CheckTask], policy: NullPolicy) -> None:
        self._data = data
        self._laws = [_Ordered.of(task, data) for task in tasks]
        self._ignores = policy is NullPolicy.IGNORE
        self._keys = [PackedKey.of(one.law.context, data.codings) for one in self._laws]
        self.words = max(1, *(len(key.words) for key in self._keys))

    def frame(self) -> DataFrame:
        """The swaps and the edges of all partitions."""
        names = ["t", *key_names(self.words)]
        lines = self._data.ranks.selectExpr(exploded(self._entries())).where("t is not null")
        extremes = [self._data.expr("min(b) as low"), self._data.expr("max(b) as high")]
        points = lines.groupBy(*names, "a").agg(*extremes)
        in_order = points.repartitionByRange(*names, "a").sortWithinPartitions(*names, "a")
        in_order = in_order.select(*names, "a", "low", "high")
        return in_order.mapInArrow(sweeper(self.words), sweep_schema(self.words))

    def broken(self, found: list[dict[str, Any]]) -> Iterator[Broken]:
        """Read the lines: swaps within a partition, and those between partitions."""
        seen: set[int] = set()
        for swap in (*_swaps_within(found, self.words), *_swaps_between(found, self.words)):
            law = swap[0][0]
            if law not in seen:
                seen.add(law)
                yield self._broken(*swap)

    def _broken(self, group: Sequence[int], *points: int) -> Broken:
        one, key = self._laws[group[0]], self._keys[group[0]]
        context = key.ranks(group[1:])
        first, second = (context | {one.a: points[place], one.b: one.sign * points[place + 1]} for place in (0, 2))
        return Broken(one.task.id, None, (first, second))

    def _entries(self) -> list[tuple[str, dict[str, str]]]:
        entries = []
        for number, (one, key) in enumerate(zip(self._laws, self._keys, strict=True)):
            values = {"t": str(number)} | dict(zip(key_names(self.words), key.texts(self.words), strict=True))
            values["a"] = f"cast(c{one.a} as bigint)"
            values["b"] = f"{one.sign}L * cast(c{one.b} as bigint)"
            judged = (*one.law.context, one.a, one.b)
            entries.append((without_nulls(judged) if self._ignores else "", values))
        return entries


def _group(line: dict[str, Any], words: int, prefix: str) -> tuple[int, ...]:
    return (line[f"{prefix}t"], *(line[f"{prefix}{name}"] for name in key_names(words)))


def _swaps_within(found: list[dict[str, Any]], words: int) -> Iterator[tuple[Any, ...]]:
    for line in found:
        if line["kind"] == _SWAP:
            yield (_group(line, words, ""), *(line[name] for name in _POINTS))


def _swaps_between(found: list[dict[str, Any]], words: int) -> Iterator[tuple[Any, ...]]:
    """Carry the greatest B of a context from partition to partition, in the order of the ranges."""
    edges = [line for line in found if line["kind"] == _EDGE]
    edges.sort(key=lambda line: (_group(line, words, ""), line["start"]))
    carried: _Edge | None = None
    for line in edges:
        begin, end = _group(line, words, ""), _group(line, words, "last_")
        if carried is not None and carried.group == begin and carried.b > line["first_b"]:
            yield (begin, carried.a, carried.b, line["first_a"], line["first_b"])
        last = _Edge(end, line["second_a"], line["second_b"])
        if carried is None or carried.group != end or last.b > carried.b:
            carried = last
