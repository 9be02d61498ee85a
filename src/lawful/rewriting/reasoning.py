"""What follows from laws about the order of rows, with the laws that it follows from.

Every rule is sound: what is concluded holds on each table on which the laws hold, and so on every selection of
its rows, with or without repeated ones. Agreement is followed completely (Armstrong's rules), order is not: what
cannot be shown is taken for unknown, and nothing rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from lawful.common.meanings import Direction
from lawful.dependencies import FD, CanonicalOD, Key, Law, ListOD, canonical_parts

_DEEPEST_CASE: Final = 3
"""How many columns a proof by cases may fix; each one multiplies the cases."""

_MOST_LOOKS: Final = 1_000_000
"""How often rules are looked at for proofs by cases, before only what laws state is concluded: about a second."""


@dataclass(frozen=True, slots=True)
class Given:
    """A fact that the query itself states, such as `a = 5` in its WHERE clause."""

    text: str


Ground: TypeAlias = Law | Given
Proof: TypeAlias = tuple[Ground, ...]
"""The laws and facts that a conclusion rests on, each once; empty where it always holds."""


@dataclass(frozen=True, slots=True)
class AgreementRule:
    """Rows that agree on all of `lhs` agree on `rhs`; on every column if `rhs` is None, since they are one row."""

    lhs: frozenset[int]
    rhs: int | None
    ground: Ground


@dataclass(frozen=True, slots=True)
class OrderRule:
    """Among rows that agree on the context, the two columns do not disagree about the order."""

    od: CanonicalOD
    ground: Ground


Rule: TypeAlias = AgreementRule | OrderRule


def rules_of(law: Law) -> list[Rule]:
    """Take a law apart into rules; pointwise order dependencies and denial constraints give none."""
    match law:
        case Key(columns):
            return [AgreementRule(frozenset(columns), None, law)]
        case FD(lhs, rhs):
            return [AgreementRule(frozenset(lhs), rhs, law)]
        case CanonicalOD():
            return [OrderRule(law, law)]
        case ListOD():
            fds, ods = canonical_parts(law)
            agreements = [AgreementRule(frozenset(fd.lhs), fd.rhs, law) for fd in fds]
            return [*agreements, *(OrderRule(od, law) for od in ods)]
    return []


@dataclass(frozen=True)
class _Reach:
    """The columns on which rows agree if they agree on some, each with the rule that added it (None: given).

    `bits` are the same as a number with a bit for each column; all bits, where such rows are one row.
    """

    by: Mapping[int, AgreementRule | None]
    one_row: AgreementRule | None
    bits: int

    def __contains__(self, column: int) -> bool:
        return self.one_row is not None or column in self.by

    def covers(self, columns: Iterable[int]) -> bool:
        return all(column in self for column in columns)

    def why(self, columns: Iterable[int]) -> Proof:
        """The grounds on which rows agree on these columns."""
        grounds: dict[Ground, None] = {}
        asked = set(columns)
        pending = list(asked)
        while pending:
            column = pending.pop()
            rule = self.by.get(column, self.one_row)
            if rule is not None:
                grounds[rule.ground] = None
                pending += [other for other in rule.lhs if other not in asked]
                asked |= rule.lhs
        return tuple(grounds)


_Found: TypeAlias = dict[tuple[int, Direction], Proof]


@dataclass
class Reasoner:
    """Answers what rows agree on and how columns order them, from a fixed set of rules."""

    rules: Sequence[Rule]
    _keys: list[tuple[int, AgreementRule]] = field(default_factory=list)
    _agreements: dict[int, list[tuple[int, AgreementRule]]] = field(default_factory=dict)
    _orders: dict[int, dict[int, list[tuple[int, OrderRule]]]] = field(default_factory=dict)
    _reaches: dict[frozenset[int], _Reach] = field(default_factory=dict)
    _followed: dict[tuple[frozenset[int], int, int], _Found] = field(default_factory=dict)
    _looks: int = 0

    def __post_init__(self) -> None:
        for rule in self.rules:
            if isinstance(rule, OrderRule):
                entry = (_bits(rule.od.context), rule)
                for one, other in ((rule.od.left, rule.od.right), (rule.od.right, rule.od.left)):
                    self._orders.setdefault(one, {}).setdefault(other, []).append(entry)
            elif rule.rhs is None:
                self._keys.append((_bits(rule.lhs), rule))
            else:
                self._agreements.setdefault(rule.rhs, []).append((_bits(rule.lhs), rule))

    def fewest(self, proof: Proof, prove: Callable[[Reasoner], Proof | None]) -> Proof:
        """Leave out of a proof what it can do without."""
        for ground in proof:
            others = {kept for kept in proof if kept != ground}
            shorter = prove(Reasoner([rule for rule in self.rules if rule.ground in others]))
            if shorter is not None:
                proof = tuple(kept for kept in proof if kept in shorter)
        return proof

    def determined(self, columns: Iterable[int], targets: Iterable[int]) -> Proof | None:
        """Show that rows which agree on `columns` agree on all `targets`, if they do."""
        wanted = tuple(targets)
        reach = self._reach(frozenset(columns))
        return reach.why(wanted) if reach.covers(wanted) else None

    def _reach(self, columns: frozenset[int]) -> _Reach:
        """Compute the closure of some columns in rounds, each from what the ones before reached: short proofs first."""
        if columns in self._reaches:
            return self._reaches[columns]
        by: dict[int, AgreementRule | None] = dict.fromkeys(sorted(columns))
        reached, before = _bits(columns), -1
        one_row: AgreementRule | None = None
        while reached != before and one_row is None:
            before = reached
            one_row = next((rule for lhs, rule in self._keys if not lhs & ~before), None)
            for column, rules in self._agreements.items():
                if column not in by:
                    found = next((rule for lhs, rule in rules if not lhs & ~before), None)
                    if found is not None:
                        by[column] = found
                        reached |= 1 << column
        self._reaches[columns] = reach = _Reach(by, one_row, reached if one_row is None else -1)
        return reach

    def compatible(
        self, context: Iterable[int], left: int, right: int, direction: Direction, cases: int = _DEEPEST_CASE
    ) -> Proof | None:
        """Show that rows which agree on `context` are never ordered one way by `left` and against it by `right`.

        They cannot be if they agree on one of the two; else a law may say so, or it is shown by cases.
        """
        fixed = frozenset(context)
        reach = self._reach(fixed)
        for column in (left, right):
            if column in reach:
                return reach.why((column,))
        direct = self._stated(reach, left, right, direction)
        if direct is not None or cases == 0 or self._looks > _MOST_LOOKS:
            return direct
        return self._follow(fixed, left, cases).get((right, direction))

    def _stated(self, reach: _Reach, left: int, right: int, direction: Direction) -> Proof | None:
        for context, rule in self._orders.get(left, {}).get(right, ()):
            if rule.od.direction == direction and not context & ~reach.bits:
                return joined((rule.ground,), reach.why(rule.od.context))
        return None

    def _follow(self, context: frozenset[int], start: int, cases: int) -> _Found:
        """Find the columns that never disagree with `start` where rows agree on the context.

        By cases: let B never disagree with A, nor C with B, and let A and C not disagree where B too is the same.
        Of two rows with A rising, B rises or stays. If it rises C does not fall; if it stays C does not either.
        """
        key = (context, start, cases)
        if key in self._followed:
            return self._followed[key]
        reach = self._reach(context)
        found = self._neighbours(reach, start)
        pending = list(found)
        while pending and self._looks <= _MOST_LOOKS:
            middle, first = pending.pop(0)
            for (end, second), proof in self._neighbours(reach, middle).items():
                direction: Direction = "asc" if first == second else "desc"
                if end == start or (end, direction) in found:
                    continue
                same = self.compatible(context | {middle}, start, end, direction, cases - 1)
                if same is not None:
                    found[end, direction] = joined(found[middle, first], proof, same)
                    pending.append((end, direction))
        self._followed[key] = found
        return found

    def _neighbours(self, reach: _Reach, column: int) -> _Found:
        found: _Found = {}
        for other, rules in self._orders.get(column, {}).items():
            self._looks += len(rules)
            if other in reach:
                continue
            for direction in ("asc", "desc"):
                proof = self._stated(reach, column, other, direction)
                if proof is not None:
                    found[other, direction] = proof
        return found


def _bits(columns: Iterable[int]) -> int:
    return sum(1 << column for column in set(columns))


def joined(*proofs: Proof) -> Proof:
    """Join proofs; what several rest on is named once."""
    return tuple(dict.fromkeys(ground for proof in proofs for ground in proof))
