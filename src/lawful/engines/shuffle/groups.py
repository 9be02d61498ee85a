"""Keys and FDs by hash aggregation, many in one job and without a self-join.

Every row gives a line for each left side: which it is, the row's ranks in it, and the ranks of the right sides. Lines
of one left side and key are aggregated to the least and the greatest of each right side; where they differ, the FD is
broken. A key is the FD that determines the row id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lawful.checks import CheckTask
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key
from lawful.engines.shuffle.keys import PackedKey, exploded, key_names, without_nulls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_RIGHT_SIDES = 4
_NO_COLUMN = -1


@dataclass(frozen=True)
class GroupedLaws:
    """Laws of one left side that are checked together; the right side of a key is the row."""

    lhs: tuple[int, ...]
    tasks: tuple[CheckTask, ...]

    def right_side(self, place: int) -> int:
        """The column that a law of these determines."""
        law = self.tasks[place].law
        return law.rhs if isinstance(law, FD) else _NO_COLUMN


def grouped_jobs(tasks: Sequence[CheckTask], policy: NullPolicy, lines: int) -> Iterator[list[GroupedLaws]]:
    """Put laws of one left side together, and so many left sides into each job.

    Where nulls are ignored, those of the right side decide which rows are judged, so each law stands alone.
    """
    together: dict[tuple[int, ...], list[CheckTask]] = {}
    for task in tasks:
        assert isinstance(task.law, Key | FD)
        together.setdefault(task.law.lhs if isinstance(task.law, FD) else task.law.columns, []).append(task)
    at_once = 1 if policy is NullPolicy.IGNORE else _RIGHT_SIDES
    laws = [
        GroupedLaws(lhs, tuple(some[first : first + at_once]))
        for lhs, some in together.items()
        for first in range(0, len(some), at_once)
    ]
    for first in range(0, len(laws), lines):
        yield laws[first : first + lines]


@dataclass(frozen=True)
class Broken:
    """A law that is broken, and two rows that break it: by their ids, or by ranks that each of them has."""

    id: int
    rows: tuple[int, int] | None
    wanted: tuple[dict[int, int], dict[int, int]] | None


class GroupedCheck:
    """One job for some left sides."""

    def __init__(self, data: ShuffledData, laws: Sequence[GroupedLaws], policy: NullPolicy) -> None:
        self._data, self._laws = data, laws
        self._ignores = policy is NullPolicy.IGNORE
        self._keys = [PackedKey.of(one.lhs, data.codings) for one in laws]
        self._words = max(1, *(len(key.words) for key in self._keys))
        self._sides = max(len(one.tasks) for one in laws)

    def frame(self) -> DataFrame:
        """One line at most for each law: where its left side first meets two values of the right side."""
        names, expr = key_names(self._words), self._data.expr
        extremes = [expr(f"{what}(a{side}) as {what}{side}") for side in range(self._sides) for what in ("min", "max")]
        lines = self._data.ranks.selectExpr(exploded(self._entries())).where("t is not null")
        differing = " or ".join(f"min{side} < max{side}" for side in range(self._sides))
        groups = lines.groupBy("t", *names).agg(*extremes).where(differing)
        sides = [
            f"if(min{side} < max{side}, struct({', '.join(names)}, min{side} as low, max{side} as high), null)"
            for side in range(self._sides)
        ]
        first = [expr(f"min({text}) as first{side}") for side, text in enumerate(sides)]
        return groups.groupBy("t").agg(*first)

    def broken(self, found: list[dict[str, Any]]) -> Iterator[Broken]:
        """Read the lines."""
        for line in found:
            laws, key = self._laws[line["t"]], self._keys[line["t"]]
            for side, task in enumerate(laws.tasks):
                first = line[f"first{side}"]
                if first is None:
                    continue
                if isinstance(task.law, Key):
                    yield Broken(task.id, (first["low"], first["high"]), None)
                    continue
                ranks = key.ranks([first[name] for name in key_names(self._words)])
                rhs = laws.right_side(side)
                yield Broken(task.id, None, (ranks | {rhs: first["low"]}, ranks | {rhs: first["high"]}))

    def _entries(self) -> list[tuple[str, dict[str, str]]]:
        entries = []
        for number, (laws, key) in enumerate(zip(self._laws, self._keys, strict=True)):
            sides = [laws.right_side(place) for place in range(len(laws.tasks))]
            values = {"t": str(number)} | dict(zip(key_names(self._words), key.texts(self._words), strict=True))
            for place in range(self._sides):
                column = sides[place] if place < len(sides) else None
                text = "0L" if column is None else "row" if column == _NO_COLUMN else f"cast(c{column} as bigint)"
                values[f"a{place}"] = text
            judged = [*laws.lhs, *(side for side in sides if side != _NO_COLUMN)]
            entries.append((without_nulls(judged) if self._ignores else "", values))
        return entries
