"""What a batch did to a state."""

from __future__ import annotations

from dataclasses import dataclass, field

from lawful.dependencies import Law
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import LawsChange
from lawful.maintenance.pins.outcomes import PinnedLaw, PutAside
from lawful.results.check_report import RowView
from lawful.tables.living.incoming import Misfit

__all__ = ["Applied", "PinnedLaw", "PutAside"]


@dataclass(frozen=True)
class Applied:
    """What a batch did.

    Attributes
    ----------
    batch, version
        The id of the batch, and the version that it made.
    was_known
        The batch had been applied before, and changed nothing now.
    rows, inserted, deleted, missing
        Rows that are there now, that came, that left, and that were to leave but were not there.
    misfits
        Values that did not fit, whose rows were left out.
    put_aside
        Rows of the batch that would have broken a pinned law, and were left out because that was asked for.
    pins
        How the pinned laws fare, in the order in which they were pinned.
    changes
        The laws that came and went.
    witnesses
        For some of the laws that went, the two rows that broke each.
    shown
        The same as people see them, where rows are not in this process.
    """

    batch: str
    version: int
    rows: int
    inserted: int = 0
    deleted: int = 0
    missing: int = 0
    was_known: bool = False
    misfits: list[Misfit] = field(default_factory=list)
    changes: LawsChange = field(default_factory=lambda: LawsChange([], [], 0))
    witnesses: dict[Law, Pair] = field(default_factory=dict)
    shown: dict[Law, tuple[RowView, RowView]] = field(default_factory=dict)
    pins: list[PinnedLaw] = field(default_factory=list)
    put_aside: list[PutAside] = field(default_factory=list)
    seconds: float = 0.0
