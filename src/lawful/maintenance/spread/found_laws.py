"""The laws that a spread state has found, as its manifest has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from lawful.dependencies import FD, Law
from lawful.dependencies.documents import from_documents, to_document
from lawful.engines.spread.kept_laws import SharedLines
from lawful.tables.spread.segments import Segment

FIRST_NUMBER = 1 << 20
"""The number of the first law that is found; those of pinned laws are smaller."""


def by_index(laws: Iterable[Law]) -> list[list[Law]]:
    """Laws that one index can keep, together: functional dependencies of one left side; each other law is alone."""
    found: dict[Law | tuple[int, ...], list[Law]] = {}
    for law in laws:
        found.setdefault(law.lhs if isinstance(law, FD) else law, []).append(law)
    return list(found.values())


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
        checked, shared, number = dict(self.checked), dict(self.shared), self.next
        for own in by_index(laws):
            right_sides = tuple(law.rhs for law in own if isinstance(law, FD))
            lines = SharedLines(number, right_sides)
            for law in own:
                checked[number] = law
                if len(right_sides) > 1:
                    shared[number] = lines
                number += 1
        return replace(self, checked=checked, shared=shared, next=number)

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
