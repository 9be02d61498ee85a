"""What a discovery found, packed: a table can obey a million laws, and most are only counted or written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lawful.dependencies import FD, Key, Law, LawKind
from lawful.search import unpack_sets
from lawful.search.sets import Words

KEY = -1
"""The goal of a search for keys; any other goal is the right side of FDs."""


Candidate = tuple[int, tuple[int, ...]]
"""A goal and a set of columns, by their places among the columns that are searched."""


def law_of(candidate: Candidate, columns: tuple[int, ...]) -> Law:
    """The law that a candidate stands for."""
    goal, places = candidate
    named = tuple(columns[place] for place in places)
    return Key(named) if goal == KEY else FD(named, columns[goal])


@dataclass(frozen=True)
class Block:
    """Laws with one goal: the columns of keys, or the left sides of FDs with that right side, packed."""

    goal: int
    sets: Words
    errors: npt.NDArray[np.float64] | None = None

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        for columns in unpack_sets(self.sets):
            yield Key(columns) if self.goal == KEY else FD(columns, self.goal)


class Listing(Protocol):
    """Laws of one kind beside keys and FDs, with what is known of each; at least what `ListedLaws` keeps."""

    @property
    def kind(self) -> LawKind:
        """The one kind of all of these laws."""

    @property
    def interests(self) -> npt.NDArray[np.float64]:
        """How interesting each is, from 0 to 1."""

    @property
    def errors(self) -> npt.NDArray[np.float64] | None:
        """The error of each, where one was allowed."""

    def __len__(self) -> int: ...

    def laws(self) -> Iterator[Law]:
        """The laws as values, in the order of the arrays."""

    def readings(self) -> Iterator[str | None]:
        """What each says in plain words, where that differs from its notation."""

    def chosen(self, places: npt.NDArray[np.int64]) -> Listing:
        """Some of the laws, in that order."""


@dataclass(frozen=True)
class ListedLaws:
    """A listing that holds its laws as values."""

    kind: LawKind
    values: tuple[Law, ...]
    interests: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64] | None = None
    meanings: tuple[str | None, ...] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        return iter(self.values)

    def readings(self) -> Iterator[str | None]:
        """What each says in plain words."""
        return iter(self.meanings or (None,) * len(self.values))

    def chosen(self, places: npt.NDArray[np.int64]) -> ListedLaws:
        """Some of the laws, in that order."""
        return ListedLaws(
            self.kind,
            tuple(self.values[place] for place in places),
            self.interests[places],
            None if self.errors is None else self.errors[places],
            None if self.meanings is None else tuple(self.meanings[place] for place in places),
        )


@dataclass
class Findings:
    """What was found so far: keys and FDs in blocks, laws of other kinds in listings; and what it cost."""

    blocks: list[Block] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    complete: bool = False
    stopped_because: str | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, goal_is_key: bool) -> int:
        """How many keys or FDs were found."""
        return sum(len(block.sets) for block in self.blocks if (block.goal == KEY) == goal_is_key)


Emit = Callable[[Block | Listing], None]
"""Is given every block or listing as soon as its laws are certain: valid, and minimal whatever is found later."""
