"""What a discovery found, packed: a table can obey a million laws, and most are only counted or written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.dependencies import FD, Key, Law, LawKind
from lawful.results.law_listings import ListedLaws, Listing
from lawful.search import KEY, unpack_sets

__all__ = ["KEY", "Block", "Candidate", "Emit", "Findings", "ListedLaws", "Listing", "candidate_of", "law_of"]

Candidate = tuple[int, tuple[int, ...]]
"""A goal and a set of columns, by their places among the columns that are searched."""


def law_of(candidate: Candidate, columns: tuple[int, ...]) -> Law:
    """The law that a candidate stands for."""
    goal, places = candidate
    named = tuple(columns[place] for place in places)
    return Key(named) if goal == KEY else FD(named, columns[goal])


def candidate_of(law: Law) -> Candidate:
    """The candidate that a key or an FD over all columns stands for."""
    if isinstance(law, Key):
        return KEY, law.columns
    assert isinstance(law, FD), "only keys and FDs have a goal and a set of columns"
    return law.rhs, law.lhs


class Block(NamedTuple):
    """Laws with one goal: the columns of keys, or the left sides of FDs with that right side, packed."""

    goal: int
    sets: Words
    errors: npt.NDArray[np.float64] | None = None

    @property
    def kind(self) -> LawKind:
        """The kind of the laws."""
        return "key" if self.goal == KEY else "fd"

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        for columns in unpack_sets(self.sets):
            yield Key(columns) if self.goal == KEY else FD(columns, self.goal)


@dataclass
class Findings:
    """What was found so far: keys and FDs in blocks, laws of other kinds in listings; and what it cost."""

    blocks: list[Block] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    complete: bool = False
    stopped_because: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    finished: set[LawKind] = field(default_factory=set)
    """The kinds of which all laws were found, even if the search ended before its end."""

    def fds(self) -> list[Block]:
        """The blocks of FDs."""
        return [block for block in self.blocks if block.goal != KEY]

    def count(self, goal_is_key: bool) -> int:
        """How many keys or FDs were found."""
        return sum(len(block.sets) for block in self.blocks if (block.goal == KEY) == goal_is_key)


Emit = Callable[[Block | Listing], None]
"""Is given every block or listing as soon as its laws are certain: valid, and minimal whatever is found later."""
