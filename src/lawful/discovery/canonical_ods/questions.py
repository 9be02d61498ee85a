"""What is asked of a discovery of canonical order dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lawful.common.errors import UsageError
from lawful.common.meanings import MEASURES, Measure, NullPolicy

CanonicalStrategy = Literal["auto", "lattice", "evidence"]
_STRATEGIES = ("auto", "lattice", "evidence")


@dataclass(frozen=True)
class CanonicalQuestion:
    """Which canonical order dependencies, with their FDs, are wanted, and how to look for them.

    Attributes
    ----------
    max_size
        The most columns of a context and of a left side.
    min_interest
        Laws whose context (or left side) covers less than this share of the pairs of rows are left out.
    error, measure
        The share of pairs (g1) or of rows (g3) that may break a law; 0 asks for laws that hold.
    partition_chain
        The most products in a row by which a worker makes the partition of a context and keeps those on the way; of
        a longer way it keeps only the end. None keeps all, as far as the cache has room.
    """

    null_policy: NullPolicy = NullPolicy.EQUAL
    max_size: int | None = None
    min_interest: float = 0.0
    seed: int = 0
    strategy: CanonicalStrategy = "auto"
    partition_chain: int | None = None
    error: float = 0.0
    measure: Measure = "g1"

    @property
    def taken_strategy(self) -> Literal["lattice", "evidence"]:
        """The strategy that searches: by evidence, which is quicker on every table measured, if none is asked for."""
        return "lattice" if self.strategy == "lattice" else "evidence"

    def __post_init__(self) -> None:
        if self.max_size is not None and self.max_size < 0:
            raise UsageError(f"the largest size must not be negative, and is {self.max_size}")
        if not 0.0 <= self.min_interest <= 1.0:
            raise UsageError(
                f"the least interest must lie in [0, 1], and is {self.min_interest}", "0 leaves nothing out."
            )
        if not 0.0 <= self.error < 1.0:
            raise UsageError(f"the error must lie in [0, 1), and is {self.error}", "0.01 allows one in a hundred.")
        if self.measure not in MEASURES:
            raise UsageError(f"unknown measure {self.measure!r}", "Use g1 (share of pairs) or g3 (share of rows).")
        if self.strategy not in _STRATEGIES:
            raise UsageError(f"unknown strategy {self.strategy!r}", "Use auto, lattice or evidence.")
        if self.partition_chain is not None and self.partition_chain < 1:
            raise UsageError(f"the partition chain must be at least 1, and is {self.partition_chain}")
