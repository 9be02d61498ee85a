"""What is counted of a batch, and what whoever counts must follow of the table."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.evidence.exact import ShouldStop


class Tally(NamedTuple):
    """Distinct agree sets of some pairs of rows.

    Attributes
    ----------
    keys
        The sets, `uint64[sets, words]`: the words of where rows agree, and under `NullPolicy.IGNORE` then those of
        where they are known to differ.
    counts
        The number of pairs with each set.
    witnesses
        The numbers of the rows of one pair with each set, `int32[sets, 2]`.
    """

    keys: Words
    counts: Int64s
    witnesses: Int32s

    @staticmethod
    def empty(words: int) -> Tally:
        """No pair at all."""
        return Tally(np.empty((0, words), np.uint64), np.empty(0, np.int64), np.empty((0, 2), np.int32))


class PairCounter(Protocol):
    """One way to count the pairs of a batch. It reads the live rows, and is told how they change."""

    def appended(self, rows: int) -> None:
        """So many rows were added behind the others."""

    def exchanged(self, one: Int64s, other: Int64s) -> None:
        """The rows of these numbers have changed places, pair by pair."""

    def dropping(self, rows: int) -> None:
        """So many rows, the last ones, are about to be forgotten."""

    def pairs_of_last(self, rows: int, should_stop: ShouldStop | None = None) -> Tally:
        """Count the pairs of the last rows, among themselves and with all rows before, each once.

        Raises
        ------
        StoppedError
            Once `should_stop`, which is asked now and then, says yes.
        """
