"""Laws of the kinds beside keys and FDs: as searches list them, and ranked, as results hold them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Floats
from lawful.dependencies import Law, LawKind
from lawful.results.packed_laws import Fared


class RankedLaw(NamedTuple):
    """A law, and what is known of it."""

    law: Law
    interest: float
    error: float | None
    reading: str | None
    strength: float | None = None
    tested: int | None = None
    violating: int | None = None


_AT_ONCE = 4_096
_UNKNOWN = 1e-12


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

    def ties(self) -> tuple[npt.NDArray[Any], ...]:
        """What ranks laws of the same interest, the decisive keys last, as `np.lexsort` takes them."""

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

    def ties(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Laws of the same interest stay in their order."""
        return ()

    def chosen(self, places: npt.NDArray[np.int64]) -> ListedLaws:
        """Some of the laws, in that order."""
        return ListedLaws(
            self.kind,
            tuple(self.values[place] for place in places),
            self.interests[places],
            None if self.errors is None else self.errors[places],
            None if self.meanings is None else tuple(self.meanings[place] for place in places),
        )


@dataclass(frozen=True, eq=False)
class RankedLaws:
    """Laws of one kind, from one or several listings, the most interesting first.

    `orders` has the places of each listing's laws in their order; it is None where the laws are as they were found.
    `fared` has how the laws of each listing fare, where that was counted; then the strongest come first.
    Either way the listings stay as they are: millions of laws are not copied to be put in order.
    """

    kind: LawKind
    listings: tuple[Listing, ...]
    orders: tuple[npt.NDArray[np.int64], ...] | None = None
    fared: tuple[Fared, ...] | None = None

    @staticmethod
    def of(
        kind: LawKind, listings: Sequence[Listing], count: Callable[[Listing], Fared | None] = lambda _: None
    ) -> RankedLaws:
        """Rank some listings, each by strength where `count` gives it, by interest and what it ranks ties by."""
        some = tuple(listing for listing in listings if len(listing))
        fared = tuple(known for listing in some if (known := count(listing)) is not None)
        if len(fared) == len(some):
            each = zip(some, fared, strict=True)
            orders = [np.lexsort((*one.ties(), -one.interests, weakness(known.strengths))) for one, known in each]
            return RankedLaws(kind, some, tuple(orders), fared)
        orders = [np.lexsort((*listing.ties(), -listing.interests)) for listing in some]
        return RankedLaws(kind, some, tuple(orders))

    @staticmethod
    def as_found(kind: LawKind, listings: Sequence[Listing]) -> RankedLaws:
        """Leave some listings as they are."""
        return RankedLaws(kind, tuple(listing for listing in listings if len(listing)))

    def __len__(self) -> int:
        return sum(map(len, self.listings))

    @property
    def has_errors(self) -> bool:
        """Whether errors were allowed, so that each law has one."""
        return any(listing.errors is not None for listing in self.listings)

    def __iter__(self) -> Iterator[RankedLaw]:
        """Each law with its interest, its error and its reading."""
        if self.orders is None:
            for listing in self.listings:
                yield from _rows(listing, np.arange(len(listing)))
            return
        fared: Iterable[Fared | None] = repeat(None) if self.fared is None else self.fared
        each = (_rows(*one) for one in zip(self.listings, self.orders, fared, strict=False))
        yield from heapq.merge(*each, key=lambda row: (_weakness(row.strength), -row.interest))


def weakness(strengths: Floats) -> Floats:
    """What puts the strongest first; unknown strengths come before those that are no better than chance."""
    return np.where(np.isnan(strengths), -_UNKNOWN, -strengths)


def _weakness(strength: float | None) -> float:
    return -_UNKNOWN if strength is None else -strength


def _rows(listing: Listing, order: npt.NDArray[np.int64], fared: Fared | None = None) -> Iterator[RankedLaw]:
    for first in range(0, len(order), _AT_ONCE):
        places = order[first : first + _AT_ONCE]
        some = listing.chosen(places)
        errors = repeat(None) if some.errors is None else iter(some.errors.tolist())
        known: Iterable[tuple[Any, ...]] = repeat(()) if fared is None else fared.at(places).rows()
        for *law, counted in zip(some.laws(), some.interests.tolist(), errors, some.readings(), known, strict=False):
            yield RankedLaw(*law, *counted)
