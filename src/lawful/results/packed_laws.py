"""Keys and FDs by the million, in arrays: most of them are only counted or written, never looked at one by one.

The sets stay where the search has put them. What ranks them is a list of places beside them, and interests are worked
out a chunk at a time, when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common import small_work
from lawful.common.arrays import Floats, Int64s, Words
from lawful.dependencies import FD, Key, Law
from lawful.dependencies.notation import format_name
from lawful.search import unpack_sets

NO_RIGHT_SIDE = -1
"""Stands in the place of a right side where the law is a key."""

AT_ONCE = 1 << 14

Places = npt.NDArray[np.integer[Any]]


class PackedPart(NamedTuple):
    """Laws of one right side: their left sides, or the columns of keys; with their errors where errors were allowed."""

    right_side: int
    sets: Words
    errors: Floats | None = None


class Fared(NamedTuple):
    """How laws fare, as far as that was counted: their strengths, the pairs that test them, the rows that break them.

    A strength that is not known is NaN; a number of pairs or rows, below 0.
    """

    strengths: Floats
    tested: Int64s | None = None
    violating: Int64s | None = None

    def at(self, places: Places) -> Fared:
        """The same of some laws."""
        return Fared(*(None if each is None else each[places] for each in self))  # type: ignore[arg-type]  # field by field

    def rows(self) -> Iterator[tuple[float | None, int | None, int | None]]:
        """The strength, the pairs and the rows of each law; None where that is not known."""
        counts = (repeat(-1) if each is None else each.tolist() for each in (self.tested, self.violating))
        for strength, tested, violating in zip(self.strengths.tolist(), *counts, strict=False):
            yield (
                None if strength != strength else strength,
                None if tested < 0 else tested,
                None if violating < 0 else violating,
            )


class Chunk(NamedTuple):
    """Some laws, and what is known of them."""

    sets: Words
    right_sides: Int64s
    interests: Floats
    errors: Floats | None
    fared: Fared | None = None


class LawRow(NamedTuple):
    """One law, and what is known of it."""

    columns: tuple[int, ...]
    right_side: int
    interest: float
    error: float | None
    strength: float | None = None
    tested: int | None = None
    violating: int | None = None


Weigh = Callable[[Words, Int64s, Floats], Floats]
"""How strong laws that hold are, by their sets, right sides and interests."""


@dataclass(frozen=True, eq=False)
class PackedLaws:
    """Laws of one family in the order in which people want them.

    Attributes
    ----------
    parts
        The laws as they were found; none is empty.
    rate
        How interesting each of some sets is.
    order
        The places of the laws that are meant, in their order; None for all as they stand.
    weigh
        How strong laws that hold are.
    fared
        How each of the laws in `parts` fares, where that was counted.
    """

    parts: tuple[PackedPart, ...]
    rate: Callable[[Words], Floats]
    order: Places | None = None
    weigh: Weigh | None = None
    fared: Fared | None = None

    def __len__(self) -> int:
        return len(self.order) if self.order is not None else self.found

    @property
    def found(self) -> int:
        """How many laws there are in all parts."""
        return int(self._ends[-1]) if self.parts else 0

    @property
    def has_errors(self) -> bool:
        """Whether errors were allowed, so that each law has one."""
        return any(part.errors is not None for part in self.parts)

    def chunks(self) -> Iterator[Chunk]:
        """The laws, some at a time."""
        done = 0
        for sets, right_sides, errors in self._taken():
            with small_work.of(len(sets), sets.shape[1], runs_in_python=True):
                interests = self.rate(sets)
                fared = self._fared(sets, right_sides, interests, done)
            yield Chunk(sets, right_sides, interests, errors, fared)
            done += len(sets)

    def _fared(self, sets: Words, right_sides: Int64s, interests: Floats, done: int) -> Fared | None:
        """How the laws of a chunk fared, of which so many come before it; None where nobody knows."""
        if self.fared is not None:
            places = np.arange(done, done + len(sets))
            return self.fared.at(places if self.order is None else self.order[places])
        return None if self.weigh is None else Fared(self.weigh(sets, right_sides, interests))

    def rows(self) -> Iterator[LawRow]:
        """The laws one by one."""
        for sets, right_sides, interests, errors, fared in self.chunks():
            each = repeat(None) if errors is None else errors.tolist()
            known: Iterable[tuple[Any, ...]] = repeat(()) if fared is None else fared.rows()
            for *law, counted in zip(
                unpack_sets(sets), right_sides.tolist(), interests.tolist(), each, known, strict=False
            ):
                yield LawRow(*law, *counted)

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        for sets, right_sides, _ in self._taken():
            for columns, right_side in zip(unpack_sets(sets), right_sides.tolist(), strict=True):
                yield Key(columns) if right_side == NO_RIGHT_SIDE else FD(columns, right_side)

    @cached_property
    def _ends(self) -> Int64s:
        return np.cumsum([len(part.sets) for part in self.parts], dtype=np.int64)

    def _taken(self) -> Iterator[tuple[Words, Int64s, Floats | None]]:
        if self.order is not None:
            for first in range(0, len(self.order), AT_ONCE):
                yield self._at(self.order[first : first + AT_ONCE])
            return
        for part in self.parts:
            for first in range(0, len(part.sets), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                sets = part.sets[some]
                right_sides = np.full(len(sets), part.right_side, np.int64)
                yield sets, right_sides, None if part.errors is None else part.errors[some]

    def _at(self, places: Places) -> tuple[Words, Int64s, Floats | None]:
        """The laws of some places, wherever their parts are."""
        part_of = np.searchsorted(self._ends, places, side="right")
        sets = np.empty((len(places), self.parts[0].sets.shape[1]), np.uint64)
        right_sides, errors = np.empty(len(places), np.int64), np.zeros(len(places))
        for number in np.unique(part_of).tolist():
            part, here = self.parts[number], np.flatnonzero(part_of == number)
            there = places[here] - (self._ends[number] - len(part.sets))
            sets[here], right_sides[here] = part.sets[there], part.right_side
            if part.errors is not None:
                errors[here] = part.errors[there]
        return sets, right_sides, errors if self.has_errors else None


class LawWriter:
    """Writes many laws in their notation: the names of the columns, which may need quotes, are formatted once."""

    def __init__(self, names: Sequence[str]) -> None:
        self._written = [format_name(column, names) for column in range(len(names))]

    def text(self, columns: Sequence[int], right_side: int) -> str:
        """Write a key or an FD as `format_law` does."""
        written = self._written
        listed = ", ".join([written[column] for column in columns])
        return f"key({listed})" if right_side == NO_RIGHT_SIDE else f"{listed or '{}'} -> {written[right_side]}"
