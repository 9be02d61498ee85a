"""How much of a result is shown as text: a page that one reads, or all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lawful.cli.shown_text import shortened, shown_name, shown_value, visible

_LONGEST_LINE, _LONGEST_NAME, _LONGEST_VALUE = 500, 40, 40
WAYS_TO_ALL = "see them all with --all, --json or --out."


@dataclass(frozen=True)
class Page:
    """A page, the same on a terminal and in a pipe: long lists, laws, names and values are cut, or all is whole."""

    shows_all: bool = False

    def most(self, number: int) -> int | None:
        """Return a limit, if there is one."""
        return None if self.shows_all else number

    def law(self, text: str) -> str:
        """Return a law as the reader can take it in."""
        return self.line(visible(text))

    def line(self, text: str) -> str:
        """Return a line as the reader can take it in."""
        return shortened(text, self.most(_LONGEST_LINE))

    def name(self, name: str) -> str:
        """Return a column's name."""
        return shown_name(name, self.most(_LONGEST_NAME))

    def cells(self, values: Mapping[str, str | None]) -> str:
        """Columns and their values in one line."""
        longest = self.most(_LONGEST_VALUE)
        shown = (f"{self.name(name)} = {shown_value(value, longest)}" for name, value in values.items())
        return self.line(", ".join(shown))

    def names(self, names: Iterable[str]) -> str:
        """Columns in one line."""
        return self.line(", ".join(map(self.name, names)))
