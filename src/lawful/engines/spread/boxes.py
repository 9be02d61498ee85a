"""Where the rows of a bucket lie: the extremes of what a law compares, which tell whom they cannot break it with.

A law that compares no column by `=` compares *keys* of two rows: columns, or for a list-based order the two lists. A
box has the least and the greatest of each key among some rows, of those that may be t and of those that may be s. Two
boxes whose extremes rule out one of the comparisons either way round have no two rows that break the law. A single row
is a box too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.checks.denials.pair_judge import PairJudge, list_ranks
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.meanings import ColumnType, Direction, NullPolicy
from lawful.dependencies import Constant, Law, ListOD
from lawful.dependencies.as_denials import denial_of
from lawful.dependencies.laws import Operator
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.met_rows import Cells
from lawful.tables.living.text_rows import text_rows

Marked = tuple[tuple[int, Direction], ...]
Ends = tuple[tuple[Cells, Cells], ...]
"""The least and the greatest of each key, as texts."""
_T, _S = 0, 1


@dataclass(frozen=True)
class Comparisons:
    """The keys that a law compares, and how: a key of t, an operator and a key of s each."""

    keys: tuple[Marked, ...]
    compared: tuple[tuple[int, Operator, int], ...]

    @property
    def cut_by(self) -> tuple[int, ...]:
        """The keys by which rows are put into buckets: what is only asked to differ rules out little."""
        useful = {key for left, operator, right in self.compared if operator != "!=" for key in (left, right)}
        return tuple(sorted(useful)) or tuple(range(len(self.keys)))


def comparisons_of(law: Law) -> Comparisons:
    """What a law compares; without comparisons of two rows, its columns are its keys all the same."""
    if isinstance(law, ListOD):
        return Comparisons((law.lhs, law.rhs), ((0, "<=", 0), (1, ">", 1)))
    columns: dict[int, int] = {}
    compared, others = [], []
    for predicate in denial_of(law).predicates:
        left, right = predicate.left, predicate.right
        if isinstance(right, Constant) or left.row == right.row:
            others += [left.column] if isinstance(right, Constant) else [left.column, right.column]
            continue
        places = (columns.setdefault(column, len(columns)) for column in (left.column, right.column))
        compared.append((next(places), predicate.operator, next(places)))
    keys = tuple(((column, "asc"),) for column in columns or dict.fromkeys(others))
    return Comparisons(keys, tuple(compared))  # type: ignore[arg-type]  # "asc" is a direction


@dataclass(frozen=True)
class Box:
    """How many rows there are, and the ends of those that may be t and of those that may be s, where there are such."""

    rows: int
    t: Ends | None
    s: Ends | None

    def to_list(self) -> list[Any]:
        """Plain JSON values; most laws ask t and s for the same."""
        t, s = (None if ends is None else [list(map(list, pair)) for pair in ends] for ends in (self.t, self.s))
        return [self.rows, t] if t == s else [self.rows, t, s]

    @staticmethod
    def from_list(entry: Sequence[Any]) -> Box:
        """Read what `to_list` wrote."""

        def ends(told: Any) -> Ends | None:
            return None if told is None else tuple((tuple(low), tuple(high)) for low, high in told)

        return Box(int(entry[0]), ends(entry[1]), ends(entry[-1]))


@dataclass(frozen=True)
class Ranking:
    """How the rows of a law are compared: their columns, their types, and what null means."""

    kept: KeptLaw
    types: tuple[ColumnType, ...]
    null: NullPolicy

    @cached_property
    def comparisons(self) -> Comparisons:
        """What the law compares."""
        return comparisons_of(self.kept.law)

    def ranked(self, cells: pa.Array, ends: Sequence[tuple[int, Cells]] = ()) -> RankedRows:
        """Rows by their cells (`KeptLaw.columns`), and behind them some values of keys, as ranks of one table."""
        rows, width = len(cells), len(self.kept.columns)
        texts = cells.flatten()
        behind: dict[int, list[str | None]] = {column: [None] * len(ends) for column in self.kept.columns}
        for place, (key, values) in enumerate(ends):
            for (column, _), value in zip(self.comparisons.keys[key], values, strict=True):
                behind[column][place] = value
        columns = {
            column: pa.concat_arrays(
                [
                    texts.take(pa.array(np.arange(place, rows * width, width))).cast(pa.string()),
                    pa.array(behind[column], pa.string()),
                ]
            )
            for place, column in enumerate(self.kept.columns)
        }
        return RankedRows(self, columns, rows, len(ends))


class RankedRows:
    """Rows of a law as ranks, and behind them values of keys; of these only the key that they are of is there."""

    def __init__(self, ranking: Ranking, columns: Mapping[int, pa.Array], rows: int, ends: int) -> None:
        self.rows = rows
        self._comparisons = ranking.comparisons
        view = text_rows(columns, ranking.types, rows + ends)
        self.judge = PairJudge(ranking.kept.law, view, ranking.null)
        self._workspace = Workspace(view, ranking.null)

    def fits(self) -> tuple[Flags, Flags]:
        """Which rows may be t, and which may be s."""
        t_fits, s_fits = self.judge.fits()
        return t_fits[: self.rows], s_fits[: self.rows]

    def key(self, key: int) -> Int32s:
        """The ranks of a key."""
        return list_ranks(self._comparisons.keys[key], self._workspace)

    def compared(self) -> list[tuple[Int32s, Int32s]]:
        """For each comparison the ranks of t's key and of s's, which compare with each other."""
        found = []
        for left, _, right in self._comparisons.compared:
            if left == right:
                found.append((self.key(left), self.key(left)))
            else:
                (one,), (other,) = (self._comparisons.keys[key] for key in (left, right))
                found.append(self._workspace.shared(one[0], other[0]))
        return found


def boxes_of(ranking: Ranking, cells: pa.Array, buckets: Int64s) -> dict[int, Box]:
    """The boxes of rows that are in some buckets."""
    ranked, comparisons = ranking.ranked(cells), ranking.comparisons
    place_of = {column: place for place, column in enumerate(ranking.kept.columns)}
    numbers, counts = np.unique(buckets, return_counts=True)
    roles: list[dict[int, list[tuple[Cells, Cells]]]] = []
    for fits in ranked.fits():
        own: dict[int, list[tuple[Cells, Cells]]] = {}
        for key, marked in enumerate(comparisons.keys):
            places = [place_of[column] for column, _ in marked]
            for bucket, low, high in _extremes(np.flatnonzero(fits), ranked.key(key), buckets):
                ends = (tuple(texts[place] for place in places) for texts in (cells[low].as_py(), cells[high].as_py()))
                own.setdefault(bucket, []).append((next(ends), next(ends)))
        if not comparisons.keys:
            own = {bucket: [] for bucket in np.unique(buckets[fits]).tolist()}
        roles.append(own)
    return {
        bucket: Box(rows, *(tuple(own[bucket]) if bucket in own else None for own in roles))
        for bucket, rows in zip(numbers.tolist(), counts.tolist(), strict=True)
    }


def _extremes(rows: Int64s, ranks: Int32s, buckets: Int64s) -> Iterable[tuple[int, int, int]]:
    """For each bucket a row with the least rank and one with the greatest."""
    if not len(rows):
        return
    order = rows[np.lexsort((ranks[rows], buckets[rows]))]
    starts = np.flatnonzero(np.diff(buckets[order], prepend=buckets[order[0]] - 1))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        yield int(buckets[order[start]]), int(order[start]), int(order[end - 1])


def joined_boxes(ranking: Ranking, boxes: Iterable[tuple[int, Box]]) -> dict[int, Box]:
    """For each bucket the box around all of its boxes."""
    together: dict[int, list[Box]] = {}
    for bucket, box in boxes:
        together.setdefault(bucket, []).append(box)
    several = {bucket: own for bucket, own in together.items() if len(own) > 1}
    ends = [each for own in several.values() for box in own for each in _values(box)]
    ranked = ranking.ranked(pa.array([], pa.list_(pa.string())), ends)
    ranks = [ranked.key(key) for key in range(len(ranking.comparisons.keys))]
    found, first = {bucket: own[0] for bucket, own in together.items()}, 0
    for bucket, own in several.items():
        places = []
        for box in own:
            places.append(range(first, first + len(_values(box))))
            first += len(places[-1])
        found[bucket] = _around(own, [[int(ranks[ends[n][0]][n]) for n in each] for each in places])
    return found


def _values(box: Box) -> list[tuple[int, Cells]]:
    """The ends of a box with their keys: low and high of each, for t and then for s."""
    return [
        (key, value) for ends in (box.t, box.s) if ends is not None for key, pair in enumerate(ends) for value in pair
    ]


def _around(boxes: Sequence[Box], ranks: Sequence[Sequence[int]]) -> Box:
    """The box around some, whose ends have ranks in the order of `_values`."""
    roles: list[list[tuple[Ends, Sequence[int]]]] = [[], []]
    for box, own in zip(boxes, ranks, strict=True):
        start = 0
        for role, ends in enumerate((box.t, box.s)):
            if ends is not None:
                roles[role].append((ends, own[start : start + 2 * len(ends)]))
                start += 2 * len(ends)
    joined: list[Ends | None] = []
    for told in roles:
        pairs = [
            (
                min(told, key=lambda each: each[1][2 * key])[0][key][0],
                max(told, key=lambda each: each[1][2 * key + 1])[0][key][1],
            )
            for key in range(len(told[0][0]) if told else 0)
        ]
        joined.append(tuple(pairs) if told else None)
    return Box(sum(box.rows for box in boxes), joined[_T], joined[_S])


class Meeting:
    """Who may break a law with whom: some rows, and behind them some boxes, by their numbers."""

    def __init__(self, ranking: Ranking, cells: pa.Array, boxes: Sequence[Box]) -> None:
        comparisons, rows, keys = ranking.comparisons, len(cells), len(ranking.comparisons.keys)
        ends: list[tuple[int, Cells]] = []
        places = np.zeros((2, 2, keys, len(boxes)), np.int64)  # role, end, key and box
        for number, box in enumerate(boxes):
            for role, own in enumerate((box.t, box.s)):
                for key, pair in enumerate(own or ()):
                    for end, value in enumerate(pair):
                        places[role, end, key, number] = rows + len(ends)
                        ends.append((key, value))
        ranked = ranking.ranked(cells, ends)
        self._operators = [operator for _, operator, _ in comparisons.compared]
        self._fits = [
            np.concatenate([fits, [own is not None for own in of_boxes]]).astype(np.bool_)
            for fits, of_boxes in zip(ranked.fits(), ([box.t for box in boxes], [box.s for box in boxes]), strict=True)
        ]
        self._spans: list[list[tuple[Int32s, Int32s]]] = []
        for (left, _, right), ranks in zip(comparisons.compared, ranked.compared(), strict=True):
            self._spans.append(
                [
                    (_with(ranks[role], rows, places[role, 0, key]), _with(ranks[role], rows, places[role, 1, key]))
                    for role, key in ((_T, left), (_S, right))
                ]
            )

    def meets(self, one: int, others: slice | Int64s) -> Flags:
        """Which of some may have a row that breaks the law with a row of one."""
        as_t = self._fits[_S][others] & self._fits[_T][one]
        as_s = self._fits[_T][others] & self._fits[_S][one]
        for operator, (t, s) in zip(self._operators, self._spans, strict=True):
            as_t &= _possible(operator, t[0][one], t[1][one], s[0][others], s[1][others])
            as_s &= _possible(operator, t[0][others], t[1][others], s[0][one], s[1][one])
        return np.asarray(as_t | as_s)


def _with(ranks: Int32s, rows: int, places: Int64s) -> Int32s:
    return np.concatenate([ranks[:rows], ranks[places] if len(ranks) else np.zeros(len(places), np.int32)])


def _possible(operator: Operator, low: Any, high: Any, other_low: Any, other_high: Any) -> Flags:
    """Whether something between two ends can compare with something between two others."""
    match operator:
        case "<":
            found = low < other_high
        case "<=":
            found = low <= other_high
        case ">":
            found = high > other_low
        case ">=":
            found = high >= other_low
        case "=":
            found = (low <= other_high) & (other_low <= high)
        case _:
            found = (low < high) | (other_low < other_high) | (low != other_low)
    return np.asarray(found)
