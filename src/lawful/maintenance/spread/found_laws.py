"""The laws that a spread state has found, as its manifest has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from lawful.dependencies import FD, Law
from lawful.dependencies.documents import from_documents, to_document
from lawful.engines.spread.kept_laws import SharedLines
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
    shared
        The lines that some of them share, by their numbers: functional dependencies of one left side.
    next
        The number of the next law to be checked. None is given twice, so lines of laws that went are never read again.
    rows
        The segment with the rows that decide the laws (`DecidingRows`).
    """

    told: tuple[Law, ...] = ()
    checked: Mapping[int, Law] = field(default_factory=dict)
    shared: Mapping[int, SharedLines] = field(default_factory=dict)
    next: int = FIRST_NUMBER
    rows: Segment | None = None

    def with_more(self, laws: Sequence[Law]) -> FoundLaws:
        """With more laws to be checked, which get the next numbers."""
        numbers = range(self.next, self.next + len(laws))
        right_sides: dict[tuple[int, ...], dict[int, int]] = {}
        for number, law in zip(numbers, laws, strict=True):
            if isinstance(law, FD):
                right_sides.setdefault(law.lhs, {})[number] = law.rhs
        shared = {
            number: SharedLines(min(own), tuple(own.values()))
            for own in right_sides.values()
            if len(own) > 1
            for number in own
        }
        checked = {**self.checked, **dict(zip(numbers, laws, strict=True))}
        return replace(self, checked=checked, shared={**self.shared, **shared}, next=numbers.stop)

    def without(self, gone: Set[int]) -> FoundLaws:
        """Without some of the laws that are checked."""
        return replace(
            self,
            checked={number: law for number, law in self.checked.items() if number not in gone},
            shared={number: lines for number, lines in self.shared.items() if number not in gone},
        )

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "told": [to_document(law, names) for law in self.told],
            "checked": [[number, to_document(law, names)] for number, law in self.checked.items()],
            "shared": [[number, lines.number, list(lines.others)] for number, lines in self.shared.items()],
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
            {number: SharedLines(first, tuple(others)) for number, first, others in document.get("shared", ())},
            document["next"],
            None if document["rows"] is None else Segment.from_dict(document["rows"]),
        )
