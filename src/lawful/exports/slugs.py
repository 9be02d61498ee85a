"""Names for laws that every tool, file system and database takes."""

from __future__ import annotations

import re
import unicodedata

from lawful.dependencies import NamedLaw

_LONGEST = 55


class Slugs:
    """Gives each law a name of its own: the table, the kind and the columns, in letters that every tool takes."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._taken: set[str] = set()

    def of(self, law: NamedLaw) -> str:
        """A new name for a law."""
        kind = law.kind.replace("-", "_")
        name = plain_word("_".join([self._table, kind, *law.columns]))[:_LONGEST].rstrip("_")
        number, wanted = 2, name
        while wanted in self._taken:
            wanted, number = f"{name}_{number}", number + 1
        self._taken.add(wanted)
        return wanted


def plain_word(text: str) -> str:
    """A text in small ASCII letters, digits and underscores, beginning with a letter."""
    ascii_ = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    word = re.sub(r"[^a-z0-9]+", "_", ascii_.lower()).strip("_")
    return word if word[:1].isalpha() else f"law_{word}".rstrip("_")
