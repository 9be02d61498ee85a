"""The laws that a spread state has found, as its manifest has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lawful.dependencies import Law
from lawful.dependencies.documents import from_documents, to_document
from lawful.tables.spread.segments import Segment

FIRST_NUMBER = 1 << 20
"""The number of the first law that is found; those of pinned laws are smaller."""


@dataclass(frozen=True)
class FoundLaws:
    """The minimal laws of a spread table.

    Attributes
    ----------
    told
        The laws that people see.
    checked
        The laws that indexes keep, by their numbers. All that is told is among them or follows from them.
    next
        The number of the next law to be checked. None is given twice, so lines of laws that went are never read again.
    rows
        The segment with the rows that decide the laws (`DecidingRows`).
    """

    told: tuple[Law, ...] = ()
    checked: Mapping[int, Law] = field(default_factory=dict)
    next: int = FIRST_NUMBER
    rows: Segment | None = None

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "told": [to_document(law, names) for law in self.told],
            "checked": [[number, to_document(law, names)] for number, law in self.checked.items()],
            "next": self.next,
            "rows": None if self.rows is None else self.rows.to_dict(),
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any] | None, names: Sequence[str]) -> FoundLaws:
        """Read what `to_dict` wrote; states of before have none."""
        if document is None:
            return FoundLaws()
        numbers = [number for number, _ in document["checked"]]
        checked = from_documents([law for _, law in document["checked"]], names)
        return FoundLaws(
            tuple(from_documents(document["told"], names)),
            dict(zip(numbers, checked, strict=True)),
            document["next"],
            None if document["rows"] is None else Segment.from_dict(document["rows"]),
        )
