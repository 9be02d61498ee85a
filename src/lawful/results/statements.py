"""Laws as people state them: columns that determine each other once, left sides with all that they determine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lawful.dependencies import FD, format_law
from lawful.dependencies.notation import format_name
from lawful.results.discovery_report import FoundLaw

ENTITY = "entity"
_BALANCED = 2.0
"""A law is stated together with another if it loses no more than so many times as much."""
_OF_ONE_ENTITY = 0.1
"""What two columns may lose at most, of what chance would lose, in determining each other."""

Entity = tuple[int, ...]
"""Columns that determine each other."""


@dataclass(frozen=True)
class Statement:
    """One line of a page: a law, or several that are said in one breath.

    Attributes
    ----------
    kind
        The kind of its laws, or `entity` for columns that determine each other.
    text
        What it says: a law in its notation, `zip -> city, state`, or `provider_number = name = phone`.
    laws
        The laws that it states.
    strength, tested, violating
        Those of the weakest of its laws.
    """

    kind: str
    text: str
    laws: tuple[FoundLaw, ...]

    @property
    def weakest(self) -> FoundLaw:
        """The weakest of its laws."""
        return min(self.laws, key=lambda found: found.strength or 0.0)

    @property
    def strength(self) -> float:
        """How strong the weakest of its laws is."""
        return self.weakest.strength or 0.0

    @property
    def tested(self) -> int:
        """How many pairs of rows put the weakest of its laws to the test."""
        return self.weakest.tested or 0

    @property
    def violating(self) -> int:
        """How many rows break the weakest of its laws."""
        return self.weakest.violating or 0

    @property
    def has_exceptions(self) -> bool:
        """Whether its laws are broken by exceptions rather than by mistakes."""
        return self.laws[0].exceptions

    @property
    def error(self) -> float:
        """The share of rows to remove so that the weakest of its laws holds."""
        return self.weakest.error or 0.0


def entities_of(fds: Mapping[FD, float]) -> list[Entity]:
    """The sets of columns that determine each other, given FDs and what each loses.

    Two columns are of one entity if each determines the other and loses at most a tenth of what chance would lose: a
    city that nearly determines its only hospital is no name of it. The one with the smallest column comes first.
    """
    entity_of: dict[int, set[int]] = {}
    for fd, loss in fds.items():
        back = fds.get(FD((fd.rhs,), fd.lhs[0])) if len(fd.lhs) == 1 else None
        if back is not None and max(loss, back) <= _OF_ONE_ENTITY:
            joined = entity_of.get(fd.rhs, {fd.rhs}) | entity_of.get(fd.lhs[0], set(fd.lhs))
            entity_of |= dict.fromkeys(joined, joined)
    return sorted({tuple(sorted(members)) for members in entity_of.values()})


def statements_of(laws: Iterable[FoundLaw], entities: Sequence[Entity], names: Sequence[str]) -> list[Statement]:
    """State laws in their order: entities where the first of their laws stands, FDs grouped by their left sides.

    An FD that loses more than twice as much as the first of its group begins another one: a strong law is not stated
    together with a weak one, nor one that is broken by mistakes with one that has exceptions.
    """
    open_groups: dict[tuple[object, bool], list[FoundLaw]] = {}
    groups: list[tuple[object, list[FoundLaw]]] = []
    for found in laws:
        group = _group(found, entities)
        members = open_groups.get((group, found.exceptions))
        is_entity = isinstance(group, tuple) and group[0] == ENTITY
        if members is None or not (is_entity or _loss(found) <= _BALANCED * _loss(members[0])):
            members = open_groups[group, found.exceptions] = []
            groups.append((group, members))
        members.append(found)
    return [_statement(group, tuple(members), names) for group, members in groups]


def _loss(found: FoundLaw) -> float:
    return 1.0 - (found.strength or 0.0)


def _group(found: FoundLaw, entities: Sequence[Entity]) -> object:
    """What tells statements apart."""
    law = found.law.positional
    if not isinstance(law, FD):
        return law
    if len(law.lhs) == 1:
        for entity in entities:
            if law.lhs[0] in entity:
                return (ENTITY, entity) if law.rhs in entity else ("fd", entity[:1])
    return ("fd", law.lhs)


def _statement(group: object, laws: tuple[FoundLaw, ...], names: Sequence[str]) -> Statement:
    match group:
        case ("entity", tuple() as columns):
            return Statement(ENTITY, " = ".join(format_name(column, names) for column in columns), laws)
        case ("fd", tuple()) if len(laws) > 1:
            first = laws[0].law.positional
            assert isinstance(first, FD)
            right = ", ".join(
                dict.fromkeys(
                    format_name(f.law.positional.rhs, names) for f in laws if isinstance(f.law.positional, FD)
                )
            )
            left = format_law(FD(first.lhs, first.rhs), names).rpartition(" -> ")[0]
            return Statement("fd", f"{left} -> {right}", laws)
    return Statement(laws[0].law.kind, laws[0].text, laws)
