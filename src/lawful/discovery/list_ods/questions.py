"""What is asked of a discovery of list-based order dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lawful.common.errors import UsageError
from lawful.common.meanings import MEASURES, Measure, NullPolicy
from lawful.search.list_ods.minimality import ForwardRule

ListStrategy = Literal["auto", "findod", "canonical"]
_STRATEGIES = ("auto", "findod", "canonical")


@dataclass(frozen=True)
class ListQuestion:
    """Which list-based order dependencies are wanted, and how to look for them.

    Attributes
    ----------
    bidirectional
        Whether columns may also fall; otherwise all rise.
    forward_rule
        Which lists are minimal: "fd" as defined (BOD*), "od" as older systems have it (BOD), for comparison.
    with_implied
        State every minimal law. Otherwise constants, and columns that order rows alike, are stated once.
    max_size
        The most columns that each of the two lists may have; of all minimal laws, longer ones are left out.
    error
        The share of pairs (g1) or of rows (g3) that may break a law; 0 asks for laws that hold.
    """

    null_policy: NullPolicy = NullPolicy.EQUAL
    bidirectional: bool = True
    forward_rule: ForwardRule = "fd"
    with_implied: bool = False
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g1"
    seed: int = 0
    strategy: ListStrategy = "auto"

    def __post_init__(self) -> None:
        if self.null_policy is not NullPolicy.EQUAL:
            raise UsageError(
                "List-based order dependencies know nulls only as values, as ORDER BY does.",
                "Where rows with nulls were ignored, a longer list could mend a broken one. Use the null policy equal.",
            )
        if self.forward_rule not in ("fd", "od"):
            raise UsageError(f"unknown forward rule {self.forward_rule!r}", "Use fd or od.")
        if self.max_size is not None and self.max_size < 0:
            raise UsageError(f"the largest size must not be negative, and is {self.max_size}")
        if not 0.0 <= self.error < 1.0:
            raise UsageError(f"the error must lie in [0, 1), and is {self.error}", "0.01 allows one in a hundred.")
        if self.measure not in MEASURES:
            raise UsageError(f"unknown measure {self.measure!r}", "Use g1 (share of pairs) or g3 (share of rows).")
        if self.strategy not in _STRATEGIES:
            raise UsageError(f"unknown strategy {self.strategy!r}", "Use auto, findod or canonical.")
        if self.strategy == "canonical" and (self.error or self.forward_rule == "od"):
            raise UsageError("the canonical strategy finds laws that hold, with the forward rule fd")
