"""What every search is given, and what becomes of it: a table, an engine, limits, and what its run knows already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lawful.common.errors import StoppedError
from lawful.discovery.findings import Block, Emit, Findings, Listing
from lawful.discovery.questions import Progress, Watch
from lawful.search import set_sizes
from lawful.tables.ranked_table import some_rows

if TYPE_CHECKING:
    from lawful.checks import RankedTable
    from lawful.common.arrays import Int32s
    from lawful.common.meanings import NullPolicy
    from lawful.discovery.keys_and_fds.approximate import AlmostKeysAndFds
    from lawful.discovery.order_classes import Orders
    from lawful.discovery.peeling import Peeled
    from lawful.engines import Engine
    from lawful.engines.protocol import Checks
    from lawful.evidence import Pool, WindowSampler

Pair = tuple[int, int]

_LONGEST_STATEMENT = 0.2
"""Seconds that are waited for laws to be written that are being stated; they are among what was found already."""


class Asked(Protocol):
    """What the questions of all families say."""

    @property
    def null_policy(self) -> NullPolicy:
        """What null means."""

    @property
    def seed(self) -> int:
        """Where random numbers start."""


class Shared:
    """What the searches of one run share: the pool of pairs of rows, and what is certain by now.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    seed
        Where random numbers start.
    swaps
        Whether any search of the run asks which columns pairs swap: then pairs are compared for that from the start.
    """

    def __init__(self, table: RankedTable, policy: NullPolicy, seed: int = 0, *, swaps: bool = False) -> None:
        self.fds: list[Block] | None = None
        """All minimal FDs, once they are known."""
        self.almost: AlmostKeysAndFds | None = None
        """The same within the error that the run asks for."""
        self._untaken: list[Pair] = []
        """Witnesses that came before anybody needed the pool."""
        self._table, self._policy, self._seed, self._swaps = table, policy, seed, swaps

    @cached_property
    def peeled(self) -> Peeled:
        """The columns to search on, and what was set aside."""
        from lawful.discovery.peeling import peel

        return peel(self._table, self._policy)

    @cached_property
    def orders(self) -> Orders:
        """The columns to search on by their order; the first of them are those of `peeled`."""
        from lawful.discovery.order_classes import order_classes

        return order_classes(self.peeled, self._table, self._policy)

    @cached_property
    def sampled(self) -> RankedTable:
        """The rows of which pairs are sampled: all, or of a large table many."""
        return some_rows(self._table, self._seed)

    @cached_property
    def pool(self) -> Pool:
        """The pool, made at first use."""
        from lawful.evidence import Pool

        columns = self.orders.columns if self._swaps else self.peeled.columns
        pool = Pool(self.sampled, self._policy, columns, swaps=self._swaps)
        if self._untaken:
            pool.add_pairs_of(self._table, *np.array(self._untaken, np.int32).T)
        return pool

    @cached_property
    def windows(self) -> WindowSampler:
        """The sampler that fills the pool; what one search has sampled, the next does not sample again."""
        from lawful.evidence import WindowSampler

        return WindowSampler(self.pool, self.sampled, self._seed)

    def learn(self, witnesses: list[Pair]) -> None:
        """Let the witnesses against one family's candidates refute those of the others too."""
        if not witnesses:
            return
        if "pool" in vars(self):
            self.pool.add_pairs_of(self._table, *np.array(witnesses, np.int32).T)
        else:
            self._untaken += witnesses

    @property
    def known_pairs(self) -> Int32s:
        """The pairs of rows that told something so far, `int32[pairs, 2]`, the latest last."""
        if "pool" in vars(self):
            return self.pool.pairs
        return np.array(self._untaken, np.int32).reshape(-1, 2)

    @property
    def compared(self) -> int:
        """How many pairs were compared for the pool."""
        return self.pool.compared if "pool" in vars(self) else 0


def _of_several_columns(block: Block) -> Block:
    is_large = set_sizes(block.sets) > 1
    if is_large.all():
        return block
    return Block(block.goal, block.sets[is_large], None if block.errors is None else block.errors[is_large])


def _nowhere(_: Block | Listing) -> None:
    """Emit to nobody."""


def _untold(_: str) -> None:
    """Show no progress."""


class Search:
    """One search of one family: where it looks, its limits, and its findings.

    Parameters
    ----------
    table, engine
        The table, and an engine that is open on it.
    watch
        Ends the search at its limits.
    emit
        Is given every law as soon as it is certain.
    progress
        Is told what the search is doing.
    checks
        What checks candidates, if that is not the engine itself.
    shared
        What the searches of the run share; a search alone has a pool of its own.
    """

    def __init__(
        self,
        table: RankedTable,
        engine: Engine,
        watch: Watch | None = None,
        *,
        emit: Emit = _nowhere,
        progress: Progress = _untold,
        checks: Checks | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.table, self.engine = table, engine
        self.watch = watch or Watch()
        self.progress = progress
        self.checks: Checks = checks or engine
        self.findings = Findings()
        self.batch = 0
        """How many candidates to send at once, so that the engine is busy for a while; the loop knows."""
        self.has_single_columns = False
        """Whether all keys and FDs of at most one column are stated; then they are not stated again."""
        self.last_words: Callable[[bool], Listing] | None = None
        """Gives what is certain and not yet stated, where a family states everything in the end; sorted out or not."""
        self.emit, self._shared = emit, shared
        self._stating, self._is_closed = Lock(), False

    def shared(self, question: Asked, *, swaps: bool = False) -> Shared:
        """What the run shares; made here if the search is alone."""
        if self._shared is None:
            self._shared = Shared(self.table, question.null_policy, question.seed, swaps=swaps)
        return self._shared

    @property
    def counts(self) -> dict[str, int]:
        """What the search costs, by name."""
        return self.findings.counts

    def look(self) -> None:
        """Raise `StoppedError` if a limit is reached."""
        self.watch.look()

    def state(self, found: Block | Listing) -> None:
        """Give laws out: valid, and minimal whatever is found later."""
        if isinstance(found, Block) and self.has_single_columns:
            found = _of_several_columns(found)
            if not len(found.sets):
                return
        with self._stating:
            if self._is_closed:
                raise StoppedError("the search was left behind")
            if isinstance(found, Block):
                self.findings.blocks.append(found)
            else:
                self.findings.listings.append(found)
            self.emit(found)

    def leave_behind(self) -> Findings:
        """What was stated so far, and nothing that is stated from now on, by a search that does not come back."""
        in_turn = self._stating.acquire(timeout=_LONGEST_STATEMENT)
        self._is_closed = True
        if in_turn:
            self._stating.release()
        found = self.findings
        self.findings = replace(
            found, blocks=list(found.blocks), listings=list(found.listings), counts=dict(found.counts)
        )
        return self.findings

    @contextmanager
    def to_the_end(self) -> Iterator[None]:
        """Around a search: it is complete unless a limit stops it, which leaves it with what it has stated by then."""
        try:
            yield
            self.findings.complete = True
        except StoppedError as stop:
            self.findings.stopped_because = self.watch.reason() or self.watch.reached or stop.typed_message
