"""Which rows of a batch are let into a spread table where those that would break a pinned law are put aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from lawful.checks.denials.pair_judge import PairJudge
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.discovery.questions import Watch
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.met_rows import Cells, MetRow
from lawful.maintenance.pins.outcomes import PutAside
from lawful.tables.living.text_rows import text_rows

_ROWS_A_LOOK = 512

Met = Mapping[Cells, Sequence[MetRow]]
Partners = tuple[int, int]
"""A row of the table by its id, and a row of the batch by its place; -1 where there is none, or it is not known."""


class Judge(Protocol):
    """Holds the rows of a batch against those of the table, and those that were let through, for one law."""

    def partners(self, row: int) -> Partners | None:
        """What a row breaks the law with, None if it does not."""

    def let_through(self, row: int) -> None:
        """Take a row in."""


def put_aside(judges: Sequence[Judge], rows: int, watch: Watch) -> list[PutAside]:
    """The rows of a batch, by their places, that break a law with rows that stay or were let through before them."""
    found = []
    for row in range(rows):
        if row % _ROWS_A_LOOK == 0:
            watch.look()
        broken = ((pin, partners) for pin, judge in enumerate(judges) if (partners := judge.partners(row)) is not None)
        first = next(broken, None)
        if first is not None:
            found.append(PutAside(row, first[0], *first[1]))
            continue
        for judge in judges:
            judge.let_through(row)
    return found


def judge_of(kept: KeptLaw, come: pa.Table, met: Met, types: Sequence[ColumnType], null: NullPolicy) -> Judge:
    """What judges the rows of a batch (`c0`, `c1`, …) by a law."""
    groups, others = (_cells(come, columns) for columns in (kept.group, kept.others))
    judged = [True] * come.num_rows
    if null is NullPolicy.IGNORE:
        judged = [None not in cells for cells in _cells(come, kept.judged)]
    keys = [group if is_judged else None for group, is_judged in zip(groups, judged, strict=True)]
    if kept.shape == "classes":
        return _Compared(kept, keys, groups, others, met, types, null)
    return _Counted(keys, others, met, is_key=kept.shape == "agree")


def _cells(come: pa.Table, columns: Sequence[int]) -> list[Cells]:
    texts = [come.column(f"c{column}").to_pylist() for column in columns]
    return list(zip(*texts, strict=True)) if texts else [()] * come.num_rows


def ranged_judge(
    kept: KeptLaw, come: pa.Table, partners: Mapping[int, int], types: Sequence[ColumnType], null: NullPolicy
) -> Judge:
    """What judges the rows of a batch by a law without classes; `partners` are rows that stay, by place."""
    return _Ranged(kept, come, partners, types, null)


class _Ranged:
    """Judges by a row of the table that breaks the law with a row, and by comparing it with those let through."""

    def __init__(
        self,
        kept: KeptLaw,
        come: pa.Table,
        partners: Mapping[int, int],
        types: Sequence[ColumnType],
        null: NullPolicy,
    ) -> None:
        self._partners = partners
        columns = {column: come.column(f"c{column}").combine_chunks() for column in kept.columns}
        self._judge = PairJudge(kept.law, text_rows(columns, types, come.num_rows), null)
        every = np.ones(come.num_rows, np.bool_)
        self._may_break = self._judge.degrees(every, every) > 0
        self._through: list[int] = []

    def partners(self, row: int) -> Partners | None:
        if row in self._partners:
            return self._partners[row], -1
        if not self._may_break[row]:
            return None
        broken = np.flatnonzero(self._judge.partners(row, np.array(self._through, np.int64)))
        return (-1, self._through[int(broken[0])]) if len(broken) else None

    def let_through(self, row: int) -> None:
        if self._may_break[row]:
            self._through.append(row)


class _Counted:
    """Judges by a key or a functional dependency; a row that the law does not judge has no key."""

    def __init__(self, keys: Sequence[Cells | None], rests: Sequence[Cells], met: Met, *, is_key: bool) -> None:
        self._keys, self._rests, self._met, self._is_key = keys, rests, met, is_key
        self._through: dict[Cells, int] = {}

    def partners(self, row: int) -> Partners | None:
        if (key := self._keys[row]) is None:
            return None
        for other in self._met.get(key, ()):
            if self._is_key or other.rest != self._rests[row]:
                return other.id, -1
        # All rows of a class that were let through agree, so one of them tells.
        through = self._through.get(key)
        if through is not None and (self._is_key or self._rests[through] != self._rests[row]):
            return -1, through
        return None

    def let_through(self, row: int) -> None:
        if (key := self._keys[row]) is not None:
            self._through.setdefault(key, row)


class _Compared:
    """Judges by comparing a row with all others of its class."""

    def __init__(
        self,
        kept: KeptLaw,
        keys: Sequence[Cells | None],
        groups: Sequence[Cells],
        others: Sequence[Cells],
        met: Met,
        types: Sequence[ColumnType],
        null: NullPolicy,
    ) -> None:
        self._keys = keys
        staying = [(key, row) for key, rows in met.items() for row in rows]
        self._ids = [row.id for _, row in staying]
        self._known: dict[Cells, list[int]] = {}
        for place, (key, _) in enumerate(staying):
            self._known.setdefault(key, []).append(place)
        every = [*((*key, *row.rest) for key, row in staying)]
        every += [(*group, *other) for group, other in zip(groups, others, strict=True)]
        columns = {
            column: pa.array([cells[place] for cells in every], pa.string())
            for place, column in enumerate(kept.columns)
        }
        self._judge = PairJudge(kept.law, text_rows(columns, types, len(every)), null)

    def partners(self, row: int) -> Partners | None:
        if (key := self._keys[row]) is None or key not in self._known:
            return None
        among = np.array(self._known[key], np.int64)
        broken = np.flatnonzero(self._judge.partners(len(self._ids) + row, among))
        if not len(broken):
            return None
        other = int(among[broken[0]])
        return (self._ids[other], -1) if other < len(self._ids) else (-1, other - len(self._ids))

    def let_through(self, row: int) -> None:
        if (key := self._keys[row]) is not None:
            self._known.setdefault(key, []).append(len(self._ids) + row)
