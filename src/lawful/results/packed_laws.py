"""Keys and FDs by the million, in arrays: most of them are only counted or written, never looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.dependencies import FD, Key, Law
from lawful.dependencies.notation import format_name
from lawful.search import set_sizes, unpack_sets

NO_RIGHT_SIDE = -1
"""Stands in the place of a right side where the law is a key."""

_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class PackedLaws:
    """Laws in the order in which people want them.

    Attributes
    ----------
    sets
        The columns of each key and the left side of each FD.
    right_sides
        The right side of each FD, and `NO_RIGHT_SIDE` for a key.
    interests
        How interesting each law is.
    errors
        The error of each law, where errors were allowed.
    """

    sets: Words
    right_sides: npt.NDArray[np.int64]
    interests: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.sets)

    def families(self) -> tuple[PackedLaws, PackedLaws]:
        """The keys and the FDs, each in their order."""
        is_key = self.right_sides == NO_RIGHT_SIDE
        return self.chosen(is_key), self.chosen(~is_key)

    def ranked(self) -> PackedLaws:
        """Keys before FDs, then by interest, by size and by error; what is still equal by its columns."""
        errors = np.zeros(len(self)) if self.errors is None else self.errors
        ties = (*self.sets.T, self.right_sides)
        is_fd = self.right_sides != NO_RIGHT_SIDE
        return self.chosen(np.lexsort((*ties, errors, set_sizes(self.sets), -self.interests, is_fd)))

    def chosen(self, places: npt.NDArray[np.bool_] | npt.NDArray[np.int64] | slice) -> PackedLaws:
        """Some of the laws, by their places or by a mask."""
        errors = None if self.errors is None else self.errors[places]
        return PackedLaws(self.sets[places], self.right_sides[places], self.interests[places], errors)

    def parts(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """The columns or left side, and the right side, of each law."""
        for first in range(0, len(self), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            yield from zip(unpack_sets(self.sets[some]), self.right_sides[some].tolist(), strict=True)

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        for columns, right_side in self.parts():
            yield Key(columns) if right_side == NO_RIGHT_SIDE else FD(columns, right_side)


class LawWriter:
    """Writes many laws in their notation: the names of the columns, which may need quotes, are formatted once."""

    def __init__(self, names: Sequence[str]) -> None:
        self._written = [format_name(column, names) for column in range(len(names))]

    def text(self, columns: Sequence[int], right_side: int) -> str:
        """Write a key or an FD as `format_law` does."""
        written = self._written
        listed = ", ".join([written[column] for column in columns])
        return f"key({listed})" if right_side == NO_RIGHT_SIDE else f"{listed or '{}'} -> {written[right_side]}"
