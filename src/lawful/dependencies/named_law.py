"""A law bound to the names of its columns: what leaves this package, and what may come back to it.

A law over positions means something else in every other table. Bound to names it means the same in all of them, or is
refused where a name is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from lawful.common.errors import UsageError
from lawful.dependencies.documents import from_document, to_document
from lawful.dependencies.forms import Document, columns_of, format_law, kind_of
from lawful.dependencies.laws import Law, LawKind
from lawful.dependencies.notation import unknown_columns

_MOST_OF_A_LAW = 200


@dataclass(frozen=True, eq=False)
class NamedLaw:
    """A law and the names of its table's columns.

    Two of them are equal if they say the same of columns of the same names, wherever these stand in their tables.

    Parameters
    ----------
    positional
        The law over positions.
    names
        `names[i]` is the name of column i.
    """

    positional: Law
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        kind_of(self.positional)  # refuses what is no law
        if not isinstance(self.names, tuple):
            object.__setattr__(self, "names", _names(self.names))
        last = max(columns_of(self.positional), default=-1)
        if last >= len(self.names):
            raise UsageError(f"A law speaks of column {last}, but there are only {len(self.names)} names.")

    @property
    def kind(self) -> LawKind:
        """The family of the law: `key`, `fd`, `canonical-od`, `list-od`, `pod` or `dc`."""
        return kind_of(self.positional)

    @property
    def text(self) -> str:
        """The law in its notation."""
        return format_law(self.positional, self.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the law speaks of, in the order of its table."""
        return tuple(self.names[column] for column in columns_of(self.positional))

    def to_dict(self) -> Document:
        """Return the law as a JSON object."""
        return to_document(self.positional, self.names)

    def on(self, names: Sequence[str]) -> Law:
        """Return the law over the positions of another table's columns.

        Raises
        ------
        UsageError
            Where the other table lacks a column; it names the columns, and others that are spelled alike.
        """
        if tuple(names) == self.names:
            return self.positional
        positions = _positions(tuple(names))
        missing = [name for name in self.columns if name not in positions]
        if missing:
            message, hint = unknown_columns(missing, names)
            raise UsageError(f"{_beginning(self.text)}: {message}", hint)
        return from_document(self.to_dict(), names)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"NamedLaw({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return self._meaning == other._meaning if isinstance(other, NamedLaw) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._meaning)

    @cached_property
    def _meaning(self) -> tuple[Law, tuple[str, ...]]:
        """The law over its own columns alone, in the order of their names: the same wherever they stand."""
        own = tuple(sorted(self.columns))
        return self.on(own), own


@lru_cache(maxsize=8)
def _positions(names: tuple[str, ...]) -> dict[str, int]:
    return {name: position for position, name in enumerate(names)}


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):  # a text is a sequence of characters too
        raise UsageError(f"The names of a law's columns must be a list, not {names!r}.", f"Write [{names!r}].")
    return tuple(names)


def _beginning(text: str) -> str:
    return text if len(text) <= _MOST_OF_A_LAW else f"{text[: _MOST_OF_A_LAW - 1]}…"
