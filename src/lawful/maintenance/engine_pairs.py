"""Who compares the pairs of a batch: this process or, where they are many, an engine whose workers are elsewhere.

An engine has to be brought the whole table, and a job of Spark takes 0.15 s whatever is in it. So it is asked only for
what takes this process longer than all of that. A local engine is never asked: what this process keeps of the rows
between batches, byte planes and indices, serves it better than a table that is laid out anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Int64s
from lawful.common.meanings import NullPolicy
from lawful.engines import Engine
from lawful.evidence import AgreeSets, Rows
from lawful.search.pods.kept_left_sides import LeftSides
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable

WORTH_THE_ENGINE = 1e10
"""Pairs times columns from which on an engine compares. Such a batch, 1,000 rows against a million of ten columns, took
one core of this process 2 s, or 2 to 5 s where values are compared by their order; writing the million rows for workers
0.7 s."""

ShouldStop = Callable[[], bool]


class ComparedPairs(NamedTuple):
    """The distinct agree sets of the pairs of a batch, and one pair of rows of the living table for each."""

    sets: AgreeSets
    pairs: Int64s


class EnginePairs:
    """The pairs of one batch, which the table has taken in.

    Parameters
    ----------
    make
        Makes an engine.
    opened
        Gives the engine that is open on the table as it is now, and the view that it is open on.
    """

    def __init__(
        self,
        table: LivingTable,
        null_policy: NullPolicy,
        make: Callable[[], Engine],
        opened: Callable[[], tuple[Engine, LiveView]],
    ) -> None:
        self._table, self._null_policy = table, null_policy
        self._make, self._opened = make, opened

    def is_worth(self, pairs: float) -> bool:
        """Whether an engine is there that compares so many pairs sooner than this process."""
        is_much = pairs > 0 and pairs * self._table.width >= WORTH_THE_ENGINE
        return is_much and self._make().is_elsewhere

    def of_new(self, new: range, should_stop: ShouldStop, *, counted: bool) -> ComparedPairs:
        """Compare the rows that came with all rows that are there now."""
        engine, view = self._opened()
        rows = range(view.rows - len(new), view.rows)  # the newest rows have the highest numbers
        return self._compared(engine, view, rows, should_stop, counted)

    def of_gone(self, gone: Int64s, should_stop: ShouldStop, *, counted: bool) -> ComparedPairs:
        """Compare the rows that left with all rows that were there before the batch."""
        view = LiveView.of(self._table, self._table.version - 1, ordered=False)
        engine = self._make()
        engine.open(view, self._null_policy)
        try:
            return self._compared(engine, view, np.searchsorted(view.numbers, gone), should_stop, counted)
        finally:
            engine.close()

    def refuting(self, new: range, laws: LeftSides, should_stop: ShouldStop) -> Int64s:
        """Compare the rows that came with all rows, for pairs that refute pointwise order dependencies."""
        engine, view = self._opened()
        rows = range(view.rows - len(new), view.rows)
        return view.numbers[engine.refuting_pairs(laws, rows, should_stop)]

    def _compared(
        self, engine: Engine, view: LiveView, rows: Rows, should_stop: ShouldStop, counted: bool
    ) -> ComparedPairs:
        sets = engine.agree_sets(tuple(range(view.width)), should_stop, counted=counted, rows=rows)
        return ComparedPairs(sets, view.numbers[sets.witnesses])
