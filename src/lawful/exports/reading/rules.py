"""Rules of other tools, gathered as the texts of laws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lawful.dependencies import FD, Key, NamedLaw
from lawful.exports.result import Unsaid

NOT_A_LAW = "it speaks of single values, and laws compare rows"
NOT_KNOWN = "it is not known here"
NOT_AS_SUCH = "it is not written as a rule of its kind is"


@dataclass(frozen=True)
class Rule:
    """A law in its notation, the table that it is of, and what null means to it."""

    law: str
    table: str | None = None
    null: str = "ignore"


@dataclass(frozen=True)
class LeftOut:
    """A rule that no law states, and the table that it is of."""

    unsaid: Unsaid
    table: str | None = None


@dataclass
class Rules:
    """What was read."""

    rules: list[Rule] = field(default_factory=list)
    left: list[LeftOut] = field(default_factory=list)

    def key(self, columns: Any, table: str | None, what: str, null: str = "ignore") -> None:
        """Add a key, if these are names of columns."""
        names = names_of(columns)
        if not names:
            self.leave(what, table, NOT_AS_SUCH)
            return
        law = NamedLaw(Key(tuple(range(len(names)))), tuple(names))
        self.rules.append(Rule(law.text, table, null))

    def fd(self, left: Any, right: Any, table: str | None, what: str, null: str) -> None:
        """Add a functional dependency, if these are names of columns."""
        names = names_of(left) if left != [] else []
        if names is None or not isinstance(right, str) or right in names:
            self.leave(what, table, NOT_AS_SUCH)
            return
        law = NamedLaw(FD(tuple(range(len(names))), len(names)), (*names, right))
        self.rules.append(Rule(law.text, table, null))

    def own(self, told: Mapping[str, Any], law: str, null: str, table: str | None) -> bool:
        """Add the law that lawful has written beside a rule of its own; say whether there is one."""
        text, meaning = told.get(law), told.get(null)
        if not isinstance(text, str):
            return False
        self.rules.append(Rule(text, table, "equal" if meaning == "equal" else "ignore"))
        return True

    def leave(self, what: str, table: str | None, reason: str = NOT_KNOWN) -> None:
        """Remember a rule that no law states."""
        self.left.append(LeftOut(Unsaid(what if table is None else f"{table}: {what}", reason), table))


def names_of(columns: Any) -> list[str] | None:
    """Names of columns, each once; None if these are none."""
    if isinstance(columns, str):
        return [columns]
    if not isinstance(columns, Sequence) or not columns or not all(isinstance(name, str) for name in columns):
        return None
    return list(dict.fromkeys(columns))


def mappings(values: Any) -> Iterable[Mapping[str, Any]]:
    """The objects of a list."""
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []
