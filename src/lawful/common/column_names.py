"""The names of a table's columns, and of those that its source has but laws cannot speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_MOST_NAMED = 20
_LONGEST_TEXT = 80


class ColumnNames(list[str]):
    """Names by position; `left_out` has the types of the columns that were left out, by name."""

    def __init__(self, names: Iterable[str] = (), left_out: Mapping[str, str] | None = None) -> None:
        super().__init__(names)
        self.left_out = dict(left_out or {})

    def told(self) -> str | None:
        """Say which columns were left out, if any."""
        if not self.left_out:
            return None
        columns = "1 column is" if len(self.left_out) == 1 else f"{len(self.left_out)} columns are"
        return f"{columns} left out, since laws are about single values: {listed_types(self.left_out)}"


def listed_names(names: Sequence[str]) -> str:
    """Name columns, the first of them."""
    shown = ", ".join(map(repr, names[:_MOST_NAMED]))
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"


def listed_types(types: Mapping[str, str]) -> str:
    """Name columns with their types, the first of them."""
    shown = ", ".join(f"{name!r} ({short_text(types[name])})" for name in list(types)[:_MOST_NAMED])
    return shown if len(types) <= _MOST_NAMED else f"{shown} and {len(types) - _MOST_NAMED} more"


def short_text(text: str) -> str:
    """Cut what is long: the type of a structure names all of its members, and a value may be a book."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
