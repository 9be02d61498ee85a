"""Laws of the kinds beside keys and FDs: as searches list them, and ranked, as results hold them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lawful.dependencies import Law, LawKind

RankedLaw = tuple[Law, float, float | None, str | None]
"""A law with its interest, its error and its reading."""

_AT_ONCE = 4_096


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
    Either way the listings stay as they are: millions of laws are not copied to be put in order.
    """

    kind: LawKind
    listings: tuple[Listing, ...]
    orders: tuple[npt.NDArray[np.int64], ...] | None = None

    @staticmethod
    def of(kind: LawKind, listings: Sequence[Listing]) -> RankedLaws:
        """Rank some listings, each by interest and what it ranks ties by."""
        some = tuple(listing for listing in listings if len(listing))
        orders = (np.lexsort((*listing.ties(), -listing.interests)) for listing in some)
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
        each = (_rows(listing, order) for listing, order in zip(self.listings, self.orders, strict=True))
        yield from heapq.merge(*each, key=lambda row: -row[1])


def _rows(listing: Listing, order: npt.NDArray[np.int64]) -> Iterator[RankedLaw]:
    for first in range(0, len(order), _AT_ONCE):
        some = listing.chosen(order[first : first + _AT_ONCE])
        errors = repeat(None) if some.errors is None else iter(some.errors.tolist())
        yield from zip(some.laws(), some.interests.tolist(), errors, some.readings(), strict=False)
