"""Which laws are worth listing, and which of them come first.

A law is listed if

- it is *sure* to lose at most half of what chance would lose,
- it is sure to lose at most half of what each smaller law loses that it contains: else it is the smaller law in a
  costume, and its further columns are not worth their place,
- it is no accident, for as many candidates as its family has of its size.

Losses are shares of what chance would lose: one less strength. Sure means with a confidence of 95 % for all
candidates of a size together, see `Trial.surely_lost`. An exact law makes every larger one needless. Listed laws are
ranked by strength, then by size, then by their columns.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lawful.checks import Trial
from lawful.dependencies import FD, CanonicalOD, Key, Law

WORTH = 0.5
"""The share of a loss that may be left where something is to be worth its place."""
ORDERED = 0.1
"""The share of what chance would lose that an order may lose."""
BROKEN = 0.1
"""The share of the rows that may have to go to make a set of columns a key."""
LEAST_LOST = -math.log(0.05)
"""What a law is sure to lose at most if it lost nothing: `most_lost(0)`."""

Rank = tuple[float, int, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Tried:
    """A law and how it fared."""

    law: Law
    trial: Trial

    @cached_property
    def rank(self) -> Rank:
        """What it is ranked by: smaller comes first."""
        return (-self.trial.strength, *place_of(self.law))


def place_of(law: Law) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The size of a law, and its columns."""
    if isinstance(law, Key):
        return len(law.columns), law.columns, ()
    if isinstance(law, FD):
        return len(law.lhs), law.lhs, (law.rhs,)
    assert isinstance(law, CanonicalOD), "only keys, FDs and canonical orders are searched for by strength"
    return len(law.context), law.context, (law.left, law.right, int(law.direction == "desc"))


def loss_of(trial: Trial) -> float:
    """The share of what chance would lose that is lost, at most 1; 1 where nothing tests the law."""
    return 1.0 - trial.strength


@dataclass(frozen=True)
class Standard:
    """What a law has to be to be listed.

    `sure_of_all` asks for a confidence of 95 % for all candidates of a size together, so that what is listed holds on
    other rows too; without it each law by itself is that sure, and some of many are listed by luck.
    """

    sure_of_all: bool = True

    def surely_lost(self, trial: Trial, tried: float) -> float:
        """The share of what chance would lose that a law, of so many candidates, is sure to lose at most."""
        return trial.surely_lost(tried if self.sure_of_all else 1.0)

    def is_worth(self, trial: Trial, smaller_losses: Iterable[float], tried: float, most: float = WORTH) -> bool:
        """Whether a law is listed, given the losses of the smaller laws in it and how many candidates were tried.

        `most` is the share of what chance would lose that it may surely lose.
        """
        surely_lost = self.surely_lost(trial, tried)
        return (
            surely_lost <= WORTH * min(smaller_losses, default=1.0)
            and surely_lost <= most
            and not trial.is_accidental(tried)
        )


class Best:
    """The first laws by rank, of each size at most so many: the simplest laws are not crowded out by their variants."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[int, list[tuple[tuple[float, ...], int, Tried]]] = {}
        self._count = 0

    def add(self, tried: Tried) -> None:
        """Take a law that is worth listing."""
        self._count += 1
        kept = self._kept.setdefault(tried.rank[1], [])
        heapq.heappush(kept, (_turned(tried.rank), self._count, tried))
        if len(kept) > self._most:
            heapq.heappop(kept)

    def weakest(self, size: int) -> float:
        """The strength that a law of a size needs at least to be among them: 0 as long as there is room."""
        kept = self._kept.get(size, [])
        return kept[0][2].trial.strength if len(kept) >= self._most else 0.0

    def ranked(self) -> list[Tried]:
        """The laws, the strongest first."""
        return sorted((tried for kept in self._kept.values() for _, _, tried in kept), key=lambda tried: tried.rank)


def _turned(rank: Rank) -> tuple[float, ...]:
    """A key that is smaller for what comes later; tuples of one size have columns in as many places."""
    strength, size, columns, rest = rank
    return (-strength, -size, *(-column for column in columns), *(-column for column in rest))
