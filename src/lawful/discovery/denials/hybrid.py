"""Denial constraints from some pairs of rows: the thinker of the hybrid strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.denials.preliminary import Numbers, Preliminary
from lawful.discovery.loop import Answer, Pace, Tally
from lawful.discovery.search import Search
from lawful.search import pack_sets, unpack_sets
from lawful.search.sets import by_size, sets_without

_CHECKS_AT_ONCE = 4_000
_TOO_MANY_REFUTED = 0.5


class CheckedConstraints(ABC):
    """A thinker whose candidates are constraints over the predicates of a space, size by size."""

    pace = Pace()
    measure: Measure | None = None

    def __init__(self, search: Search, preliminary: Preliminary, sizes: Iterator[int | None]) -> None:
        self._search, self._preliminary = search, preliminary
        self._sizes = sizes
        self._size: int | None = next(self._sizes, None)
        self._tally = Tally(_TOO_MANY_REFUTED)
        self.is_done = False

    @property
    def wants_to_think(self) -> bool:
        """Whether the last batch has shown that the pool knew too little."""
        return self._tally.knew_too_little

    def law(self, candidate: Numbers) -> Law:
        """The constraint that some predicates are."""
        return self._preliminary.space.dc(candidate)

    def learn(self, answers: Sequence[Answer]) -> None:
        """Note what holds; the witnesses against the rest join the pool, and those of other families."""
        self._tally.note(answers)
        held = [candidate for candidate, verdict in answers if verdict.holds]
        self._confirm(held)
        self._preliminary.confirmed += len(held)
        self._preliminary.learn([verdict.witness for _, verdict in answers if verdict.witness is not None])
        self._preliminary.look()

    @abstractmethod
    def _confirm(self, held: list[Numbers]) -> None:
        """Note constraints that hold."""

    def _batches(self, candidates: Sequence[Numbers], at_once: int) -> Iterator[Sequence[Numbers]]:
        """Send candidates, and wait for the verdicts."""
        for start in range(0, len(candidates), at_once):
            yield self._tally.send(candidates[start : start + at_once])
        yield []

    def _go_on_to_larger_ones(self) -> None:
        try:
            self._size = next(self._sizes)
        except StopIteration:
            self.is_done = True


class DenialConstraints(CheckedConstraints):
    """The preliminary constraints, and which of them are confirmed; under a limit of time the small ones first."""

    def __init__(self, search: Search, preliminary: Preliminary) -> None:
        super().__init__(search, preliminary, preliminary.sizes(len(preliminary.space.groups)))
        self._confirmed = [preliminary.nothing()]

    @property
    def confirmed(self) -> Words:
        """The constraints that were checked and hold."""
        return np.concatenate(self._confirmed)

    def sample(self) -> None:
        """Compare pairs until they yield too little, which is less each time that constraints were refuted."""
        self._preliminary.sample_more(after_refutations=self._tally.refuted > 0)

    def think(self) -> Iterator[Sequence[Numbers]]:
        """Invert what the pool knows, and send what is not confirmed."""
        self._tally.begin_thought()
        self._search.progress(f"thinking about {len(self._preliminary.pool):,} kinds of pairs")
        suggested = self._preliminary.constraints(self._size)
        candidates = list(unpack_sets(by_size(sets_without(suggested, self.confirmed))))
        yield from self._batches(candidates, _CHECKS_AT_ONCE)
        if self._tally.refuted == 0:
            self._go_on_to_larger_ones()

    def _confirm(self, held: list[Numbers]) -> None:
        self._confirmed.append(pack_sets(held, len(self._preliminary.space)))
