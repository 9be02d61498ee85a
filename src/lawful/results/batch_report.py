"""What a batch of changes gives back: which laws came and went, by which rows, and how the pinned ones fare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lawful.dependencies import NamedLaw
from lawful.results.check_report import RowView
from lawful.results.documents import FORMAT, html_table, to_pandas
from lawful.results.texts.batch_text import batch_lines, batch_summary
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import visible

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_IN_A_NOTEBOOK = 100
_RECORD_FIELDS = ("change", "law", "kind")


@dataclass(frozen=True)
class ChangedLaw:
    """A minimal law that came or went.

    One that went is broken, maybe with two rows that broke it; or it is `implied`: it holds, and a smaller one that
    came says more.
    """

    law: NamedLaw
    witness: tuple[RowView, RowView] | None = None
    error: float | None = None
    is_implied: bool = False

    @property
    def text(self) -> str:
        """The law in its notation."""
        return self.law.text

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        entry: dict[str, Any] = dict(self.law.to_dict())
        if self.error is not None:
            entry["error"] = self.error
        if self.is_implied:
            entry["implied"] = True
        if self.witness is not None:
            entry["witness"] = [view.to_dict() for view in self.witness]
        return entry


@dataclass(frozen=True)
class PinOutcome:
    """A pinned law: whether it holds now, how many rows break it in how many pairs, and two of them."""

    law: NamedLaw
    holds: bool
    violating: int
    witness: tuple[RowView, RowView] | None = None
    pairs: int = 0

    @property
    def text(self) -> str:
        """The law in its notation."""
        return self.law.text

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        entry = {"text": self.text, "holds": self.holds, "violating": self.violating, "pairs": self.pairs}
        return entry if self.witness is None else entry | {"witness": [view.to_dict() for view in self.witness]}


@dataclass(frozen=True)
class QuarantinedRow:
    """A row that was left out of a batch: where it is, the column, the value, and the type that it does not fit."""

    place: str
    column: str
    value: str
    type: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"place": self.place, "column": self.column, "value": self.value, "type": self.type}


@dataclass(frozen=True)
class BatchReport:
    """What a batch did to a state.

    Attributes
    ----------
    state, batch, version
        The name of the table, the id of the batch, and the version of the table that it made; the id is None if there
        was no batch, and this tells how things are.
    was_known
        The batch had been applied before: nothing was changed now.
    rows, inserted, deleted, missing
        Rows that are there now, that came, that left; and that were to leave but were not there.
    added, removed
        The minimal laws that came, and those that went: most are broken, some follow from a smaller one that came.
    pins
        How the pinned laws fare.
    quarantined
        Values that did not fit, whose rows were left out.
    laws, folder
        How many laws of each kind are kept now, and where.
    """

    state: str
    batch: str | None
    version: int
    rows: int
    inserted: int = 0
    deleted: int = 0
    missing: int = 0
    was_known: bool = False
    added: Sequence[ChangedLaw] = ()
    removed: Sequence[ChangedLaw] = ()
    pins: Sequence[PinOutcome] = ()
    quarantined: Sequence[QuarantinedRow] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    laws: Mapping[str, int] = field(default_factory=dict)
    folder: str = ""

    @property
    def holds(self) -> bool:
        """Whether all pinned laws hold."""
        return all(pin.holds for pin in self.pins)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful maintain --json` prints."""
        return {
            "format": FORMAT,
            "state": self.folder,
            "batch": self.batch,
            "version": self.version,
            **({"applied_before": True} if self.was_known else {}),
            "rows": self.rows,
            "inserted": self.inserted,
            "deleted": self.deleted,
            "missing": self.missing,
            "laws": dict(self.laws),
            "added": [law.to_dict() for law in self.added],
            "removed": [law.to_dict() for law in self.removed],
            "pins": [pin.to_dict() for pin in self.pins],
            "quarantined": [row.to_dict() for row in self.quarantined],
            "stats": {"seconds": dict(self.seconds)},
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each law that came or went."""
        return to_pandas(list(self._records()), _RECORD_FIELDS)

    def _records(self) -> Iterator[dict[str, Any]]:
        for change, laws in (("removed", self.removed), ("added", self.added)):
            for law in laws:
                yield {"change": change, "law": law.text, "kind": law.law.kind}

    def __repr__(self) -> str:
        return f"<BatchReport {visible(self.state)}: {batch_summary(self)}>"

    def __str__(self) -> str:
        """What `lawful maintain` prints, a page at most."""
        return plain_text(batch_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        records = list(self._records())[:_SHOWN_IN_A_NOTEBOOK]
        return html_table(f"{self.state}: {batch_summary(self)}", records)
