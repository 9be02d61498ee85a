"""Pointwise order dependencies with one right side, packed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lawful.common.arrays import Words
from lawful.dependencies import POD, LawKind
from lawful.search.pods.left_sides import Goal, pointwise_laws


class PodBlock(NamedTuple):
    """The left sides of laws with one right side, as sets of literals."""

    goal: Goal
    sets: Words

    @property
    def kind(self) -> LawKind:
        """The kind of the laws."""
        return "pod"

    def laws(self) -> Iterator[POD]:
        """The laws as values."""
        return pointwise_laws(self.goal, self.sets)
