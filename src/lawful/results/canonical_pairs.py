"""Many order-compatible pairs, packed: a listing that makes laws only when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Words
from lawful.dependencies import CanonicalOD, Law, LawKind
from lawful.search import set_sizes, unpack_sets


@dataclass(frozen=True)
class PackedPairs:
    """Canonical order dependencies as arrays, one entry each.

    Attributes
    ----------
    contexts
        The contexts, packed over the columns of the table.
    left, right
        The two columns.
    is_descending
        Whether they are ordered in opposite directions.
    interests
        How interesting each is: the coverage of its context.
    errors
        How wrong each is, where an error was asked for.
    """

    contexts: Words
    left: Int32s
    right: Int32s
    is_descending: npt.NDArray[np.bool_]
    interests: npt.NDArray[np.float64]

    kind: LawKind = "canonical-od"
    errors: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.contexts)

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        pairs = zip(self.left.tolist(), self.right.tolist(), self.is_descending.tolist(), strict=True)
        for context, (left, right, is_descending) in zip(unpack_sets(self.contexts), pairs, strict=True):
            yield CanonicalOD(context, left, right, "desc" if is_descending else "asc")

    def readings(self) -> Iterator[str | None]:
        """What each says in plain words, which is left to the notation."""
        return iter((None,) * len(self))

    def ties(self) -> tuple[npt.NDArray[Any], ...]:
        """By size, then by context, pair and direction: laws are found in an order that changes from run to run."""
        pairs = (self.left.astype(np.int64) << 32) | (self.right.astype(np.int64) << 1) | self.is_descending
        return pairs, *self.contexts.T, set_sizes(self.contexts)

    def chosen(self, places: npt.NDArray[np.int64]) -> PackedPairs:
        """Some of the laws, in that order."""
        return PackedPairs(
            self.contexts[places],
            self.left[places],
            self.right[places],
            self.is_descending[places],
            self.interests[places],
            errors=None if self.errors is None else self.errors[places],
        )

    def without_error(self) -> PackedPairs:
        """The same laws as ones that were measured, and hold."""
        return replace(self, errors=np.zeros(len(self)))

    @staticmethod
    def joined(parts: Sequence[PackedPairs]) -> PackedPairs:
        """Several of them, of which there must be one at least, as one."""
        return PackedPairs(
            np.concatenate([part.contexts for part in parts]),
            np.concatenate([part.left for part in parts]),
            np.concatenate([part.right for part in parts]),
            np.concatenate([part.is_descending for part in parts]),
            np.concatenate([part.interests for part in parts]),
            errors=None if parts[0].errors is None else np.concatenate([part.errors for part in parts]),
        )
