"""What is in a state: its table, its laws, its last batches, and whether all of it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawful.results.batch_report import PinOutcome
from lawful.results.documents import FORMAT, table_document
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.state_text import state_lines
from lawful.tables.encoded_table import EncodedTable


@dataclass(frozen=True)
class StateReport:
    """A state as it is now.

    Attributes
    ----------
    folder, bytes
        Where it is, and how large.
    table, version
        The rows as they are, and how many batches made them so.
    settings
        What was settled when it was made.
    laws
        How many laws of each kind are kept.
    agree_sets, sign_vectors
        How many kinds of pairs are kept to keep them: agree sets for keys and FDs, vectors of signs for pointwise ones.
    index_bytes
        The memory of the indexes that keep the pinned laws, once they are built.
    history
        One entry for each batch.
    differences
        What is not as the rows say, in words; None if nobody has looked.
    """

    folder: str
    bytes: int
    table: EncodedTable
    version: int
    settings: Mapping[str, Any]
    laws: Mapping[str, int]
    agree_sets: int
    sign_vectors: int
    pins: Sequence[PinOutcome]
    index_bytes: int
    history: Sequence[Mapping[str, Any]]
    differences: Sequence[str] | None = None

    @property
    def is_right(self) -> bool:
        """Whether nothing was found that is not as the rows say."""
        return not self.differences

    @property
    def holds(self) -> bool:
        """Whether all pinned laws hold."""
        return all(pin.holds for pin in self.pins)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful state --json` prints."""
        verified = (
            {} if self.differences is None else {"verified": self.is_right, "differences": list(self.differences)}
        )
        return {
            "format": FORMAT,
            "state": self.folder,
            "bytes": self.bytes,
            "version": self.version,
            "table": table_document(self.table.name, self.table.rows, self.table.columns, self.table.names),
            "settings": dict(self.settings),
            "laws": dict(self.laws),
            "agree_sets": self.agree_sets,
            "sign_vectors": self.sign_vectors,
            "pins": [pin.to_dict() for pin in self.pins],
            "index_bytes": self.index_bytes,
            "history": [dict(entry) for entry in self.history],
            **verified,
        }

    def pinned_laws(self) -> dict[str, Any]:
        """The pinned laws as a document, such as `lawful check` writes of them."""
        return {
            "format": FORMAT,
            "complete": True,
            "table": table_document(self.table.name, self.table.rows, self.table.columns, self.table.names),
            "settings": {"null": self.settings["null"]},
            "dependencies": [pin_entry(pin) for pin in self.pins],
        }

    def __str__(self) -> str:
        """What `lawful state` prints, a page at most."""
        return plain_text(state_lines(self, A_PAGE))


def pin_entry(pin: PinOutcome) -> dict[str, Any]:
    """What a document says of a pinned law."""
    entry = pin.law.to_dict() | {"holds": pin.holds, "pinned": True}
    if not pin.holds:
        entry["violations"] = {"rows": pin.violating, "pairs": pin.pairs}
    return entry if pin.witness is None else entry | {"witness": [view.to_dict() for view in pin.witness]}
