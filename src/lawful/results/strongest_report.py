"""What a search for the strongest laws gives back: the laws, the strongest first, and what they say together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.meanings import NullPolicy
from lawful.dependencies import LawKind
from lawful.results.check_report import Outcome
from lawful.results.discovery_report import FoundFamily, FoundLaw
from lawful.results.documents import FORMAT, html_table, table_document, to_pandas
from lawful.results.exporting import Exportable
from lawful.results.json_files import write_document
from lawful.results.law_lines import ENTRY_DIGITS
from lawful.results.statements import Entity, Statement, statements_of
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import visible
from lawful.results.texts.strongest_text import strongest_lines, strongest_summary
from lawful.tables.encoded_table import EncodedTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Statement", "StrongestReport"]

_FIELDS = ("law", "kind", "strength", "tested", "violating", "error", "interest", "folded")


@dataclass(frozen=True)
class StrongestReport(Exportable):
    """The strongest laws of a table, holding or almost holding.

    `laws` are all that were found, keys before FDs before orders, of each kind the strongest first, and after these the
    ones with exceptions; those that follow from others are marked as folded. `entities` are the columns that determine
    each other, and `examples` have two rows that break a law, for the first broken law of each kind.
    `stopped_because` says what ended the search where it did not come to its end; `complete` is then false, and the
    laws are the strongest of those that were tried by then.
    """

    table: EncodedTable
    settings: Mapping[str, Any]
    laws: tuple[FoundLaw, ...]
    entities: tuple[Entity, ...]
    constants: tuple[int, ...]
    complete: bool
    stopped_because: str | None
    seconds: Mapping[str, float]
    counts: Mapping[str, int]
    families: Mapping[str, FoundFamily]
    examples: tuple[Outcome, ...] = ()

    def __len__(self) -> int:
        return len(self.laws)

    def __iter__(self) -> Iterator[FoundLaw]:
        return iter(self.laws)

    def of_kind(self, kind: LawKind) -> list[FoundLaw]:
        """The laws of one kind alone."""
        return [found for found in self.laws if found.law.kind == kind]

    def keys(self) -> list[FoundLaw]:
        """The keys alone."""
        return self.of_kind("key")

    def fds(self) -> list[FoundLaw]:
        """The functional dependencies alone."""
        return self.of_kind("fd")

    def stated(self) -> list[FoundLaw]:
        """The laws that do not follow from others before them."""
        return [found for found in self.laws if not found.folded]

    @cached_property
    def statements(self) -> list[Statement]:
        """What the laws say together: each entity once, each left side once, nothing that follows."""
        return statements_of(self.stated(), self.entities, self.table.names)

    @property
    def null_policy(self) -> NullPolicy:
        """What null meant."""
        return NullPolicy(self.settings["null"])

    @property
    def left_out_sizes(self) -> str | None:
        """Say which laws were not looked for, if there are too many sets of columns."""
        sizes, wanted = self.settings["sizes"], self.settings["max_size"]
        if not self.complete or sizes >= min(wanted, self.table.width - len(self.constants)):
            return None
        columns = "one column" if sizes == 1 else f"up to {sizes} columns"
        return f"laws by {columns} alone were looked for: there are too many sets of more. --columns narrows the table."

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful discover` writes."""
        names = self.table.names
        return {
            "format": FORMAT,
            "complete": self.complete,
            **({} if self.stopped_because is None else {"stopped": self.stopped_because}),
            "ranked": True,
            "table": table_document(self.table.name, self.table.rows, self.table.columns, names),
            "settings": {**self.table.settings, **self.settings},
            "constants": [names[column] for column in self.constants],
            "entities": [[names[column] for column in entity] for entity in self.entities],
            "dependencies": [_entry(found) for found in self._by_strength()],
            "stats": {
                "seconds": dict(self.seconds),
                "counts": dict(self.counts),
                "families": {name: family.to_dict() for name, family in self.families.items()},
            },
        }

    def _by_strength(self) -> list[FoundLaw]:
        """All laws, whatever their kind: those that are stated before those that follow, the strongest first.

        Of those that are stated, laws with exceptions come last.
        """
        return sorted(self.laws, key=lambda found: (found.folded, found.exceptions, -(found.strength or 0.0)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON document to a file, whole or not at all; `lawful.load` reads it back."""
        write_document(self.to_dict(), Path(path))

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each law."""
        return to_pandas([_record(found) for found in self.laws], _FIELDS)

    def __repr__(self) -> str:
        return f"<StrongestReport {visible(self.table.name)}: {strongest_summary(self)}>"

    def __str__(self) -> str:
        """What `lawful discover` prints, a page at most."""
        return plain_text(strongest_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        records = [
            {
                "law": each.text,
                "kind": each.kind,
                "strength": round(each.strength, 4),
                "tested": each.tested,
                "wrong rows": round(each.error * self.table.rows),
            }
            for each in self.statements
        ]
        return html_table(f"{self.table.name}: {strongest_summary(self)}", records)


def _record(found: FoundLaw) -> dict[str, Any]:
    return {"law": found.text, "kind": found.law.kind} | {name: getattr(found, name) for name in _FIELDS[2:]}


def _entry(found: FoundLaw) -> dict[str, Any]:
    entry = found.law.to_dict()
    for name in ("strength", "interest", "error"):
        value = getattr(found, name)
        entry[name] = None if value is None else round(value, ENTRY_DIGITS)
    return entry | {
        "tested": found.tested,
        "violating": found.violating,
        "folded": found.folded,
        **({"exceptions": True} if found.exceptions else {}),
        **({} if found.allowed is None else {"allowed_error": found.allowed.error, "measure": found.allowed.measure}),
    }
