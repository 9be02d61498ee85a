"""What all targets share: laws that could be said and those that could not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lawful.common.meanings import NullPolicy
from lawful.dependencies import ListOD, NamedLaw
from lawful.exports.result import Export, Query, Unsaid
from lawful.exports.settings import Order
from lawful.results import FoundLaw

NO_QUERY = "no query can say it"
LIST_NULLS = "list-based order dependencies know nulls only as values, and these laws ignore them"


@dataclass
class Said:
    """Gathers an export."""

    target: str
    order: Order
    files: dict[str, str] = field(default_factory=dict)
    said: int = 0
    unsaid: list[Unsaid] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def cannot(self, law: NamedLaw, reason: str = NO_QUERY) -> None:
        """Remember a law that the tool cannot be told."""
        is_list = isinstance(law.positional, ListOD) and self.order.chosen.null is NullPolicy.IGNORE
        self.unsaid.append(Unsaid(law.text, LIST_NULLS if is_list and reason == NO_QUERY else reason))

    def laws(self) -> Iterator[FoundLaw]:
        """The laws, one after the other."""
        yield from self.order.chosen.laws

    def export(self, *notes: str) -> Export:
        """All that was gathered."""
        told = (*self.order.notes(), *self.notes, *notes)
        return Export(self.target, self.files, self.said, tuple(self.unsaid), told, tuple(self.queries))

    def comments(self) -> list[str]:
        """What a file says of itself."""
        chosen = self.order.chosen
        lines = [f"Laws of {self.order.table_word}, exported by lawful; null: {chosen.null.value}"]
        return lines + [f"not here, because {each.reason}: {each.law}" for each in self.unsaid]


def one_line(text: str) -> str:
    """A text for a comment: nothing in it ends the line."""
    return "".join(character if character.isprintable() else " " for character in text)


def description(found: FoundLaw) -> str:
    """A law in a line, and how many rows broke it when it was found."""
    broken = f" ({found.violating:,} rows broke it when it was found)" if found.violating else ""
    return one_line(f"{found.text}{broken}")
