"""What it will cost to keep the laws of a family, measured on samples of a table before all of it is searched.

Laws are found and a small batch is followed on samples that grow fourfold. What both took on the last two gives the
exponent of growth, and with it what the whole table will take. A family that is cheap on all rows shows this on a small
sample, and costs no more than that; one that is dear uses up the seconds that it is given, and is stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lawful.common.compiling import working_seconds
from lawful.common.errors import StoppedError
from lawful.discovery.questions import Watch
from lawful.engines import Engine
from lawful.maintenance.kept_laws import Checker
from lawful.maintenance.restoring import discovered_laws
from lawful.maintenance.settings import PACKED_KINDS, StateSettings
from lawful.tables.living.codes import Codes
from lawful.tables.living.living_table import LivingTable

CHANGES = 10
"""So many rows come, and as many leave, with the batch that is tried."""
_FIRST, _GROWTH = 250, 4
_STEEPEST = 3.0
_SEED = 17
_LEAST_SECONDS = 0.001


class Cost(NamedTuple):
    """Seconds to find the laws, seconds that a small batch takes, and bytes that have to be kept beside the rows."""

    find: float
    batch: float
    bytes: float


class Estimate(NamedTuple):
    """What keeping a kind of laws will cost, as `rows` rows have shown; the least that it will, if it was stopped."""

    kind: str
    rows: int
    cost: Cost
    is_stopped: bool


class _ProbeWatch(Watch):
    """Ends what is tried on samples after some seconds, or at the limits of the user."""

    def __init__(self, seconds: float, users: Watch) -> None:
        super().__init__(seconds)
        self.seconds, self.users = seconds, users

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        return self.users.reason() or super().reason()


def probe(
    table: LivingTable,
    settings: StateSettings,
    engine: Callable[[], Engine],
    seconds: float,
    is_cheap: Callable[[Cost], bool],
    users: Watch,
) -> Iterator[Estimate]:
    """Estimate what each kind of laws will cost, within so many seconds for each; nothing where that is cheap.

    Keys and FDs are one kind here, since they are found together. The user's own limits end it at any time.
    """
    order = np.random.default_rng(_SEED).permutation(table.end)
    kinds = [(kind,) for kind in settings.find if kind not in PACKED_KINDS]
    packed = tuple(kind for kind in settings.find if kind in PACKED_KINDS)
    for find in [*([packed] if packed else []), *kinds]:
        users.look()
        asked = replace(settings, find=find, way="auto")  # pairs are counted for keys and FDs, and what builds on them
        asked = replace(asked, way=settings.way) if asked.has_packed else asked
        estimate = _estimate(table, order, asked, engine, _ProbeWatch(seconds, users), is_cheap)
        if estimate is not None:
            yield estimate


def _estimate(
    table: LivingTable,
    order: np.ndarray,
    settings: StateSettings,
    engine: Callable[[], Engine],
    watch: _ProbeWatch,
    is_cheap: Callable[[Cost], bool],
) -> Estimate | None:
    began = working_seconds()
    kind, rows, before = " and ".join(settings.find), _FIRST, None
    while rows + CHANGES <= table.end:
        try:
            cost = _tried(table, order[: rows + CHANGES], settings, engine, watch)
        except StoppedError:
            watch.users.look()  # which may be why it was stopped
            spent = working_seconds() - began
            return Estimate(kind, rows, _grown(Cost(spent, 0.0, 0.0), None, table.rows / rows), True)
        whole = _grown(cost, before, table.rows / rows)
        if before is not None and is_cheap(whole):
            return None
        if working_seconds() - began > watch.seconds / 2 or rows * _GROWTH + CHANGES > table.end:
            return None if is_cheap(whole) else Estimate(kind, rows, whole, False)
        before, rows = cost, rows * _GROWTH
    return None


def _tried(
    table: LivingTable, rows: np.ndarray, settings: StateSettings, engine: Callable[[], Engine], watch: Watch
) -> Cost:
    """Find the laws of all but the last of some rows, let these come, and as many others leave."""
    codes = table.codes.of_rows(np.sort(rows))
    sample = LivingTable(table.name, table.columns, Codes(np.ascontiguousarray(codes[:, :-CHANGES])))
    checker = Checker(sample, settings.null, engine, watch, ordered=settings.has_orders)
    begin = working_seconds()
    try:
        laws = discovered_laws(sample, settings, checker, watch)
    finally:
        checker.close()
    found = working_seconds()
    gone = np.arange(CHANGES, dtype=np.int64)
    new = sample.change(gone, codes[:, -CHANGES:])
    checker = Checker(sample, settings.null, engine, watch, ordered=settings.has_orders)
    try:
        laws.apply(gone, new, checker, watch)
    finally:
        checker.close()
    size = sum(array.nbytes for array in laws.arrays().values())
    return Cost(found - begin, working_seconds() - found, size)


def _grown(cost: Cost, before: Cost | None, times: float) -> Cost:
    """The cost of so many times as many rows: it grows as it did before, at most with their cube; or with them."""

    def grown(now: float, then: float | None) -> float:
        exponent = 1.0
        if then is not None:
            exponent = math.log(max(now, _LEAST_SECONDS) / max(then, _LEAST_SECONDS)) / math.log(_GROWTH)
        return now * float(times ** min(max(exponent, 0.0), _STEEPEST))

    then = before or (None, None, None)
    return Cost(*(grown(*each) for each in zip(cost, then, strict=True)))
