"""What a discovery gives back: the laws, ranked, with everything that is needed to read and to repeat it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.common.meanings import Allowance, NullPolicy
from lawful.dependencies import (
    FD,
    Key,
    LawKind,
    NamedLaw,
    candidate_keys,
    canonical_cover,
    closure,
    format_law,
)
from lawful.dependencies.notation import unknown_column
from lawful.results.all_fds import refuse_some_fds
from lawful.results.documents import FORMAT, html_table, table_document, to_pandas
from lawful.results.exporting import Exportable
from lawful.results.json_files import write_document
from lawful.results.law_entries import LawEntries, Told
from lawful.results.law_listings import RankedLaws
from lawful.results.packed_laws import NO_RIGHT_SIDE, LawWriter, PackedLaws
from lawful.results.ranking import Ranking
from lawful.results.texts.discovery_text import discovery_lines, discovery_summary
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import visible
from lawful.tables.encoded_table import EncodedTable

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_IN_A_NOTEBOOK = 100
_RECORD_FIELDS = ("law", "kind", "strength", "interest")


@dataclass(frozen=True)
class FoundLaw:
    """A law, bound to the names of its columns, and what is known of it.

    Attributes
    ----------
    law, text
        The law, and its notation.
    interest
        How interesting it is; None where a document does not say.
    error, allowed
        Where errors were allowed: the error of the law, and what it was allowed to be.
    reading
        What it says in plain words, if that helps.
    null
        What null meant when it was found; None where a document does not say.
    strength, tested, violating
        How strong it is, how many pairs of rows put it to the test, and how many rows break it; None where that was not
        counted. See `lawful.checks.Trial`.
    folded
        Whether it follows from laws that stand before it.
    exceptions
        Whether rows that break it do so in groups that agree among themselves: exceptions rather than mistakes.
    """

    law: NamedLaw
    text: str
    interest: float | None
    error: float | None = None
    reading: str | None = None
    allowed: Allowance | None = None
    null: NullPolicy | None = None
    strength: float | None = None
    tested: int | None = None
    violating: int | None = None
    folded: bool = False
    exceptions: bool = False


@dataclass(frozen=True)
class FoundFamily:
    """How many laws of one kind were found, and whether these are all within the limits that were asked for."""

    found: int
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"found": self.found, "complete": self.complete}


@dataclass(frozen=True)
class DiscoveryReport(Exportable):
    """The laws that a discovery found, kind by kind, keys and FDs first, of each kind the strongest first.

    `stopped_because` says what ended the search where it did not come to its end; `complete` is then false, and
    the laws are those that were certain by then. A complete answer has all laws within the limits of `limited_to`.
    `families` says the same of each kind of laws that was asked for.
    """

    table: EncodedTable
    settings: Mapping[str, Any]
    laws: Ranking
    complete: bool
    stopped_because: str | None
    seconds: Mapping[str, float]
    counts: Mapping[str, int]
    families: Mapping[str, FoundFamily]

    def __len__(self) -> int:
        return len(self.laws)

    def __iter__(self) -> Iterator[FoundLaw]:
        """The laws: keys, then FDs, then the other kinds; each by strength, interest and size, if they are ranked."""
        yield from self._found(self.laws.keys)
        yield from self._found(self.laws.fds)
        for laws in self.laws.listed:
            yield from self._found_in(laws)

    @property
    def ranked(self) -> bool:
        """Whether all laws are in the order of their interest; if not, some are as they were found."""
        return self.laws.unranked_because is None

    def of_kind(self, kind: LawKind) -> list[FoundLaw]:
        """The laws of one kind alone."""
        if kind in ("key", "fd"):
            return self.keys() if kind == "key" else self.fds()
        return [found for laws in self.laws.listed if laws.kind == kind for found in self._found_in(laws)]

    def _found_in(self, laws: RankedLaws) -> Iterator[FoundLaw]:
        names, allowed, null = tuple(self.table.names), self.allowed, self.null_policy
        for law, interest, error, reading, strength, tested, violating in laws:
            text, within = format_law(law, names), None if error is None else allowed
            named = NamedLaw(law, names)
            yield FoundLaw(named, text, interest, error, reading, within, null, strength, tested, violating)

    def _found(self, laws: PackedLaws) -> Iterator[FoundLaw]:
        names, null = tuple(self.table.names), self.null_policy
        writer, allowed = LawWriter(names), self.allowed if laws.has_errors else None
        for columns, right_side, interest, error, strength, tested, violating in laws.rows():
            law = Key(columns) if right_side == NO_RIGHT_SIDE else FD(columns, right_side)
            text = writer.text(columns, right_side)
            named = NamedLaw(law, names)
            yield FoundLaw(named, text, interest, error, None, allowed, null, strength, tested, violating)

    def keys(self) -> list[FoundLaw]:
        """The keys alone."""
        return list(self._found(self.laws.keys))

    def fds(self) -> list[FoundLaw]:
        """The functional dependencies alone."""
        return list(self._found(self.laws.fds))

    @property
    def null_policy(self) -> NullPolicy:
        """What null meant."""
        return NullPolicy(self.settings["null"])

    @property
    def allowed(self) -> Allowance | None:
        """The error that laws were allowed to have, if any."""
        error, measure = self.settings.get("error"), self.settings.get("measure")
        return Allowance(error, measure) if error and measure else None

    @property
    def limited_to(self) -> dict[str, Any]:
        """The largest size and the least interest that were asked for; empty if all laws were."""
        size, interest = self.settings.get("max_size"), self.settings.get("min_interest")
        return ({} if size is None else {"max_size": size}) | ({"min_interest": interest} if interest else {})

    def limits_in_words(self) -> str | None:
        """Say which laws alone were looked for, if there was a limit; what is beyond it is not in the list."""
        limits = self.limited_to
        within = [f"of size at most {limits['max_size']}"] if "max_size" in limits else []
        within += [f"with an interest of at least {limits['min_interest']:g}"] if "min_interest" in limits else []
        if not within:
            return None
        verb = "are listed" if "left_out" in self.counts else "were looked for"
        return f"only laws {' and '.join(within)} {verb}: beyond that the list is incomplete"

    def closure(self, names: Iterable[str]) -> list[str]:
        """Return the names of all columns that some columns determine, themselves included."""
        if isinstance(names, str):  # a text is an iterable of characters too
            raise UsageError(f"closure takes a list of column names, not {names!r}", f"Write [{names!r}].")
        ours = self.table.names
        fds = self._all_fds("the closure")
        wanted = list(names)
        for name in wanted:
            if name not in ours:
                raise UsageError(*unknown_column(name, ours))
        return [ours[column] for column in sorted(closure((ours.index(name) for name in wanted), fds))]

    def candidate_keys(self, most: int | None = None) -> list[str]:
        """Return the minimal sets of columns that determine all others, in their notation; at most `most`.

        They follow from the FDs alone, so they are the keys of the table as it is without repeated rows.
        """
        fds = self._all_fds("candidate keys")
        keys = candidate_keys(range(self.table.width), fds, most)
        return [format_law(key, self.table.names) for key in keys[:most]]

    def canonical_cover(self) -> list[str]:
        """Return FDs that say the same as all that were found, none of them needless, in their notation."""
        return [format_law(fd, self.table.names) for fd in canonical_cover(self._all_fds("a canonical cover"))]

    def _all_fds(self, what: str) -> list[FD]:
        """The FDs, if they are all that there are and follow the rules that theory takes for granted."""
        found = self.families.get("fd")
        stopped = None if found is None or found.complete else str(self.stopped_because)
        refuse_some_fds(what, self.settings, self.table.width, stopped)
        return [law for law in self.laws.fds.laws() if isinstance(law, FD)]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful discover` writes."""
        document = self.streamed()
        return document | {"dependencies": list(document["dependencies"])}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON document to a file, whole or not at all; `lawful.load` reads it back."""
        write_document(self.streamed(), Path(path))

    def streamed(self, told: Told | None = None) -> dict[str, Any]:
        """Return the same document with its laws to be iterated over: a million of them are better written one by one.

        `told` is told how many were written so far.
        """
        unranked = self.laws.unranked_because
        return {
            "format": FORMAT,
            "complete": self.complete,
            **({} if self.stopped_because is None else {"stopped": self.stopped_because}),
            "ranked": unranked is None,
            **({} if unranked is None else {"unranked_because": unranked}),
            **({"limited_to": self.limited_to} if self.limited_to else {}),
            "table": table_document(self.table.name, self.table.rows, self.table.columns, self.table.names),
            "settings": {**self.table.settings, **self.settings},
            "dependencies": LawEntries(self.laws, self.table.names, told),
            "stats": {
                "seconds": dict(self.seconds),
                "counts": dict(self.counts),
                "families": {name: family.to_dict() for name, family in self.families.items()},
            },
        }

    def _records(self, most: int | None = None) -> list[dict[str, Any]]:
        return [
            {"law": found.text, "kind": found.law.kind, "strength": found.strength, "interest": found.interest}
            | ({} if found.error is None else {"error": found.error})
            for found in islice(self, most)
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each law."""
        return to_pandas(self._records(), (*_RECORD_FIELDS, "error") if self.laws.has_errors else _RECORD_FIELDS)

    def __repr__(self) -> str:
        return f"<DiscoveryReport {visible(self.table.name)}: {discovery_summary(self)}>"

    def __str__(self) -> str:
        """What `lawful discover` prints, a page at most."""
        return plain_text(discovery_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        marked = "" if self.complete else f", incomplete: {self.stopped_because}"
        marked += "" if self.ranked else f", not ranked: {self.laws.unranked_because}"
        limited = "" if (words := self.limits_in_words()) is None else f"; {words}"
        shown = f", the first {_SHOWN_IN_A_NOTEBOOK} here" if len(self) > _SHOWN_IN_A_NOTEBOOK else ""
        title = f"{self.table.name}: {len(self):,} laws{shown}{marked}{limited}"
        return html_table(title, self._records(_SHOWN_IN_A_NOTEBOOK))
