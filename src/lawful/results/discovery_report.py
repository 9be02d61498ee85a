"""What a discovery gives back: the laws, ranked, with everything that is needed to read and to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lawful.dependencies import Law, format_law, kind_of, to_document
from lawful.discovery.findings import KEY, Block
from lawful.results.documents import FORMAT, html_table, to_pandas
from lawful.search import set_sizes
from lawful.tables.encoded_table import EncodedTable

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_IN_A_NOTEBOOK = 100


@dataclass(frozen=True)
class FoundLaw:
    """A law with its interest and, where errors were allowed, its error."""

    law: Law
    text: str
    interest: float
    error: float | None = None


@dataclass(frozen=True)
class DiscoveryReport:
    """The laws that a discovery found, the most interesting first."""

    table: EncodedTable
    settings: Mapping[str, Any]
    blocks: tuple[Block, ...]
    interests: tuple[npt.NDArray[np.float64], ...]
    complete: bool
    stopped_because: str | None
    seconds: Mapping[str, float]
    counts: Mapping[str, int]

    def __len__(self) -> int:
        return sum(len(block.sets) for block in self.blocks)

    def __iter__(self) -> Iterator[FoundLaw]:
        """The laws by interest, then size, then error."""
        laws = [list(block.laws()) for block in self.blocks]
        for block_number, place in self._ranking():
            block, law = self.blocks[block_number], laws[block_number][place]
            yield FoundLaw(
                law,
                format_law(law, self.table.names),
                float(self.interests[block_number][place]),
                None if block.errors is None else float(block.errors[place]),
            )

    def _ranking(self) -> list[tuple[int, int]]:
        if not self.blocks:
            return []
        numbers = np.concatenate([np.full(len(block.sets), n) for n, block in enumerate(self.blocks)])
        places = np.concatenate([np.arange(len(block.sets)) for block in self.blocks])
        sizes = np.concatenate([set_sizes(block.sets) for block in self.blocks])
        errors = np.concatenate(
            [np.zeros(len(block.sets)) if block.errors is None else block.errors for block in self.blocks]
        )
        is_key = np.concatenate([np.full(len(block.sets), block.goal != KEY) for block in self.blocks])
        order = np.lexsort((places, numbers, errors, sizes, -np.concatenate(self.interests), is_key))
        return list(zip(numbers[order].tolist(), places[order].tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful discover` writes."""
        return {
            "format": FORMAT,
            "complete": self.complete,
            **({} if self.stopped_because is None else {"stopped": self.stopped_because}),
            "table": {
                "name": self.table.name,
                "rows": self.table.rows,
                "columns": [column.to_dict() for column in self.table.columns],
            },
            "settings": {**self.table.settings, **self.settings},
            "dependencies": [self._entry(found) for found in self],
            "stats": {"seconds": dict(self.seconds), "counts": dict(self.counts)},
        }

    def _entry(self, found: FoundLaw) -> dict[str, Any]:
        entry = to_document(found.law, self.table.names)
        entry["interest"] = round(found.interest, 9)
        if found.error is not None:
            entry["error"] = found.error
        return entry

    def _records(self, most: int | None = None) -> list[dict[str, Any]]:
        records = []
        for found in self:
            record = {"law": found.text, "kind": kind_of(found.law), "interest": found.interest}
            records.append(record if found.error is None else {**record, "error": found.error})
            if most is not None and len(records) >= most:
                break
        return records

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each law."""
        return to_pandas(self._records())

    def _repr_html_(self) -> str:
        marked = "" if self.complete else ", incomplete"
        return html_table(f"{self.table.name}: {len(self):,} laws{marked}", self._records(_SHOWN_IN_A_NOTEBOOK))
