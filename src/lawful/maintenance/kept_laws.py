"""What keeps the keys and FDs of a living table, exact or within an error: one shape for both, and what all need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lawful.checks import CheckTask
from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, LawKind
from lawful.discovery.findings import Block, Findings
from lawful.discovery.questions import Watch
from lawful.engines import Engine
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.engine_pairs import EnginePairs
from lawful.maintenance.evidence import Pair
from lawful.search.kernels.extensions import find_supersets
from lawful.search.sets import sets_without
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable


class LawBlock(Protocol):
    """Laws of one kind that have something in common, a right side for instance, packed: each a line of words."""

    @property
    def kind(self) -> LawKind:
        """The kind of the laws."""

    @property
    def sets(self) -> Words:
        """The laws, `uint64[laws, words]`."""

    def laws(self) -> Iterator[Law]:
        """The laws as values."""


class Checker:
    """An engine that is opened on the table as it is now when the first check needs it.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    engine
        Makes an engine.
    watch
        Ends checks at its limits.
    ordered
        Whether values are compared by their order; equality is all that keys and FDs ask for.
    """

    def __init__(
        self,
        table: LivingTable,
        policy: NullPolicy,
        engine: Callable[[], Engine],
        watch: Watch,
        *,
        ordered: bool = False,
    ) -> None:
        self._table, self._policy, self._make, self._ordered = table, policy, engine, ordered
        self._watch = watch
        self._view: LiveView | None = None
        self._opened: tuple[Engine, LiveView] | None = None
        self.checks = 0

    @property
    def view(self) -> LiveView:
        """The table as it is now."""
        if self._view is None:
            self._view = LiveView.of(self._table, ordered=self._ordered)
        return self._view

    def opened(self) -> tuple[Engine, LiveView]:
        """The engine, and the view that it is open on."""
        if self._opened is None:
            engine = self._make()
            engine.open(self.view, self._policy)
            self._opened = engine, self.view
        return self._opened

    @property
    def pairs(self) -> EnginePairs:
        """The pairs of the batch that was taken in last, for whoever lets the engine compare them."""
        return EnginePairs(self._table, self._policy, self._make, self.opened)

    def refuted(self, laws: Iterable[Law]) -> Int32s:
        """Check laws; return a witness pair, as rows of the living table, against each that is wrong."""
        engine, view = self.opened()
        tasks = [CheckTask(n, law) for n, law in enumerate(laws)]
        witnesses = []
        for verdict in engine.check(tasks):
            self._watch.look()
            if verdict.witness is not None:
                witnesses.append(verdict.witness)
        self.checks += len(tasks)
        return view.numbers[np.array(witnesses, np.int64).reshape(-1, 2)].astype(np.int32)

    def close(self) -> None:
        """Let go of the engine."""
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None


@dataclass(frozen=True)
class LawsChange:
    """The minimal laws that a batch took and those that it brought, goal by goal; with what that took.

    `implied` says of each law that went, block by block, whether it holds all the same: it follows from one that came.
    """

    removed: Sequence[LawBlock]
    added: Sequence[LawBlock]
    checks: int
    implied: list[Flags] = field(default_factory=list)


class KeptLaws(Protocol):
    """Keeps the keys and FDs of a living table."""

    @property
    def agree_sets(self) -> int:
        """How many agree sets are kept to keep the laws; 0 if none are."""

    def blocks(self) -> Iterator[Block]:
        """All laws, goal by goal, without their errors."""

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Block], added: Sequence[Block]
    ) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""

    def logged(self) -> Arrays:
        """What has to be known of the last batch to follow it without looking at rows again."""

    def arrays(self) -> Arrays:
        """Everything but the laws, to be saved."""

    def refuting(self, columns: Words, goal: int) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken, if one is known."""

    def implies(self, columns: Words, goal: int) -> bool:
        """Whether a key (goal -1) or an FD is known to hold on all rows."""

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say, in words."""


def difference(held: dict[int, Words], now: dict[int, Words], checks: int) -> LawsChange:
    """The laws that went and those that came."""
    removed: list[Block] = []
    added: list[Block] = []
    implied: list[Flags] = []
    for goal, before in held.items():
        after = now[goal]
        if after is before or np.array_equal(before, after):
            continue
        went, came = sets_without(before, after), sets_without(after, before)
        if len(went):
            removed.append(Block(goal, went))
            implied.append(find_supersets(went, came))
        if len(came):
            added.append(Block(goal, came))
    return LawsChange(removed, added, checks, implied)
