"""What is asked of a discovery of pointwise order dependencies, and the comparisons that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Cell, Predicate
from lawful.dependencies.predicate_space import PredicateSpace

PointwiseStrategy = Literal["auto", "full", "hybrid"]

_REMEMBERED = 32


@dataclass(frozen=True)
class PointwiseQuestion:
    """Which pointwise order dependencies are wanted.

    Parameters
    ----------
    null_policy
        What null means.
    max_size
        The most columns of a left side.
    error
        The share of pairs of rows that may break a law (g1); 0 asks for laws that hold.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        `full` compares all pairs, `hybrid` samples and checks; `auto` takes whichever is quicker.
    """

    null_policy: NullPolicy = NullPolicy.EQUAL
    max_size: int | None = None
    error: float = 0.0
    seed: int = 0
    strategy: PointwiseStrategy = "auto"

    def __post_init__(self) -> None:
        if not 0.0 <= self.error < 1.0:
            raise UsageError(f"the error must lie in [0, 1), and is {self.error}", "0.01 allows one in a hundred.")
        if self.max_size is not None and self.max_size < 0:
            raise UsageError(f"the largest size must not be negative, and is {self.max_size}")
        if self.strategy not in get_args(PointwiseStrategy):
            raise UsageError(f"unknown strategy {self.strategy!r}", f"Use {', '.join(get_args(PointwiseStrategy))}.")
        if self.error and self.strategy == "hybrid":
            raise UsageError("laws within an error are counted on all pairs", "Drop --strategy or --error.")

    def largest(self, columns: int) -> int:
        """The most columns that a left side can have in a table."""
        most = max(0, columns - 1)
        return most if self.max_size is None else min(most, self.max_size)


@lru_cache(maxsize=_REMEMBERED)
def order_space(columns: int) -> PredicateSpace:
    """Each column of both rows, compared by order: all that the evidence of a pair needs to tell."""
    return PredicateSpace.of(Predicate(Cell("t", column), "<", Cell("s", column)) for column in range(columns))
