"""Laws within an error whose errors only the engine knows: the border between sets that are too wrong and right enough.

A law is a set of literals, and one more literal breaks no further pair of rows. So what is too wrong is closed under
leaving out, and the minimal sets that are right enough are the minimal ones that lie in no set known to be too wrong,
once all of these are right enough (Gunopulos et al., "Discovering all most specific sentences", 2003). Until then every
one that is too wrong is grown, as long as it stays so, and what it has grown to rules out all sets within it. Which
literals to add first, pairs of rows of a sample say; how far, the engine does, by halving.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np

from lawful.common.arrays import Flags, Int64s, Words
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.loop import Answer, Pace
from lawful.discovery.search import Search
from lawful.evidence.denials.pool import DenialPool
from lawful.evidence.signs import SignVectors
from lawful.search import pack_sets
from lawful.search.sets import set_sizes, unpack_sets

Numbers = tuple[int, ...]
"""A set of literals, ascending."""
Candidate = tuple[Hashable, Numbers]
State = Callable[[Hashable, Words, Sequence[int]], None]
"""Is given minimal sets that are right enough, and how many pairs break each, or how many rows would have to go."""

_PAIRS = 2_000
"""Pairs of rows that tell which literals often hold together."""
_AT_ONCE = 512
"""Sets that are measured before those that are too wrong among them are grown: they rule out many others."""


class Border(ABC):
    """What sets of literals stand for, for one kind of law.

    Parameters
    ----------
    satisfied
        Which literals some pairs of rows of a sample satisfy, a line per pair.
    conflicts
        For each literal those that no set has next to it; itself if none has it at all.
    """

    def __init__(self, satisfied: Flags, conflicts: Sequence[set[int]]) -> None:
        self._satisfied, self._conflicts = satisfied, conflicts
        self._usual = satisfied.sum(axis=0)

    @property
    def literals(self) -> int:
        """How many literals there are."""
        return len(self._conflicts)

    @abstractmethod
    def minimal(self, wrong: Words, size: int | None) -> Words:
        """The minimal sets up to a size that lie in none of some sets."""

    @abstractmethod
    def law(self, literals: Numbers) -> Law | None:
        """The law that a set stands for; None if no pair of rows can break it."""

    @abstractmethod
    def image(self, literal: int) -> int:
        """The literal that takes the place of another in the set that as many pairs break; itself if there is none."""

    def brought(self, literal: int) -> set[int]:
        """What comes into a set with a literal: itself, and what it implies."""
        return {literal}

    def chain(self, literals: Numbers) -> list[Numbers]:
        """A set, and larger ones until nothing fits any more; what most pairs of the sample satisfy comes first."""
        members: set[int] = set().union(*map(self.brought, literals))
        found = [tuple(sorted(members))]
        here = self._satisfied[self._satisfied[:, sorted(members)].all(axis=1)]
        while True:
            free = [n for n in range(self.literals) if n not in members and not {*members, n} & self._conflicts[n]]
            if not free:
                return found
            counts = here[:, free].sum(axis=0)
            best = free[max(range(len(free)), key=lambda place: (counts[place], self._usual[free[place]], -place))]
            brought = self.brought(best)
            here = here[here[:, sorted(brought)].all(axis=1)]
            members |= brought
            found.append(tuple(sorted(members)))


class MeasuredBorders:
    """The sets known to be too wrong, for each goal, and what was measured.

    Parameters
    ----------
    search
        The search.
    borders
        What sets stand for, for each goal.
    allowed
        How many pairs of rows may break a law, or how many rows may have to go.
    state
        Is given what is right enough.
    measure
        What is counted: pairs of rows, or the fewest rows to remove.
    known
        What needs not be measured.
    """

    pace = Pace()
    wants_to_think = False

    def __init__(
        self,
        search: Search,
        borders: Mapping[Hashable, Border],
        allowed: int,
        state: State,
        measure: Measure = "g1",
        known: Mapping[Candidate, int] | None = None,
    ) -> None:
        self.is_done = False
        self.measure: Measure | None = measure
        self._search, self._borders, self._allowed, self._state = search, borders, allowed, state
        self._size: int | None = None
        self._broken: dict[Candidate, int] = dict(known or {})
        self._right: set[Candidate] = set()
        self._open = list(borders)
        self._wrong = {goal: pack_sets([], border.literals) for goal, border in borders.items()}

    def wrong(self, goal: Hashable) -> Words:
        """The sets of a goal that are known to be too wrong; in the end all others of the size lie within these."""
        return self._wrong[goal]

    def up_to(self, size: int | None) -> MeasuredBorders:
        """Look for sets up to a size, without those that were found already."""
        self._size, self._open, self.is_done = size, list(self._borders), False
        return self

    def sample(self) -> None:
        """Compare nothing: no sample bounds an error from above."""

    def think(self) -> Iterator[list[Candidate]]:
        """Measure the minimal sets that nothing rules out, state those that are right enough, grow the others."""
        fresh: list[Candidate] = []
        for goal in self._open:
            self._search.look()
            sets = self._borders[goal].minimal(self._wrong[goal], self._size)
            sets = sets[np.argsort(set_sizes(sets), kind="stable")]
            fresh += [(goal, literals) for literals in unpack_sets(sets) if (goal, literals) not in self._right]
        fresh.sort(key=lambda candidate: len(candidate[1]))
        asked, rest = fresh[:_AT_ONCE], fresh[_AT_ONCE:]
        yield from self._measured(asked)
        self._take_right([candidate for candidate in asked if self._is_right(candidate)])
        too_wrong = [candidate for candidate in asked if not self._is_right(candidate)]
        yield from self._grow(too_wrong)
        undecided = {goal for goal, _ in (*too_wrong, *rest)}
        self._open = [goal for goal in self._open if goal in undecided]
        self.is_done = not self._open

    def law(self, candidate: Candidate) -> Law:
        """The law that a candidate stands for."""
        goal, literals = candidate
        law = self._borders[goal].law(literals)
        assert law is not None  # who cannot be broken is not measured
        return law

    def learn(self, answers: Sequence[Answer]) -> None:
        """Note what was counted."""
        for candidate, verdict in answers:
            assert verdict.violations is not None
            self._broken[candidate] = verdict.violations

    def _is_right(self, candidate: Candidate) -> bool:
        return self._count(candidate) <= self._allowed

    def _count(self, candidate: Candidate) -> int:
        return self._broken[self._told(candidate)]

    def _told(self, candidate: Candidate) -> Candidate:
        """The one of a set and its image that is measured for both."""
        goal, literals = candidate
        return goal, min(literals, self._image(goal, literals))

    def _image(self, goal: Hashable, literals: Numbers) -> Numbers:
        return tuple(sorted(map(self._borders[goal].image, literals)))

    def _measured(self, candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
        """Measure what was not measured before, and wait for it."""
        unknown = [told for told in dict.fromkeys(map(self._told, candidates)) if told not in self._broken]
        impossible = [told for told in unknown if self._borders[told[0]].law(told[1]) is None]
        self._broken.update(dict.fromkeys(impossible, 0))
        asked = [told for told in unknown if told not in self._broken]
        if asked:
            yield asked
            yield []

    def _grow(self, too_wrong: Sequence[Candidate]) -> Iterator[list[Candidate]]:
        """Grow each set along its chain to the last one that is too wrong, all sets together."""
        chains = [(goal, self._borders[goal].chain(literals)) for goal, literals in too_wrong]
        last, first_right = [0] * len(chains), [len(chain) for _, chain in chains]
        while True:
            self._search.look()
            middles = {
                place: (last[place] + first_right[place]) // 2
                for place in range(len(chains))
                if first_right[place] - last[place] > 1
            }
            if not middles:
                break
            asked = {place: (chains[place][0], chains[place][1][middle]) for place, middle in middles.items()}
            yield from self._measured(list(asked.values()))
            for place, middle in middles.items():
                if self._is_right(asked[place]):
                    first_right[place] = middle
                else:
                    last[place] = middle
        for (goal, chain), place in zip(chains, last, strict=True):
            grown = {chain[place], self._image(goal, chain[place])}
            self._wrong[goal] = np.concatenate([self._wrong[goal], pack_sets(grown, self._borders[goal].literals)])

    def _take_right(self, right: Sequence[Candidate]) -> None:
        self._right.update(right)
        for goal in dict.fromkeys(goal for goal, _ in right):
            sets = [literals for other, literals in right if other == goal]
            counts = [self._count((goal, literals)) for literals in sets]
            self._state(goal, pack_sets(sets, self._borders[goal].literals), counts)


def unpacked(edges: Words, literals: int) -> Flags:
    """Which literals sets have, a line per set."""
    bits = np.unpackbits(np.ascontiguousarray(edges).view(np.uint8), axis=1, bitorder="little")
    return bits[:, :literals].astype(np.bool_)


def random_signs(pool: DenialPool) -> SignVectors:
    """What some random pairs of rows of a sample are in every group."""
    return pool.compare(*random_rows(pool.rows))


def random_rows(rows: int) -> tuple[Int64s, Int64s]:
    """Some random pairs of rows, always the same."""
    random = np.random.default_rng(0)
    left = random.integers(0, max(1, rows), _PAIRS if rows > 1 else 0)
    return left, (left + random.integers(1, max(2, rows), left.size)) % max(1, rows)
