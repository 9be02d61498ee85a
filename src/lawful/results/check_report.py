"""What checking laws gives back: a verdict for each, two rows that refute it, and all violating rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lawful.checks import Violations, Workspace, find_violations
from lawful.dependencies import Law, columns_of, to_document
from lawful.errors import UsageError
from lawful.meanings import NullPolicy
from lawful.results.documents import FORMAT, html_table, to_pandas
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place

if TYPE_CHECKING:
    import pandas as pd

_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class RowView:
    """A row as people want to see it: where it is from, and its values in the columns that matter."""

    row: int
    place: Place
    values: Mapping[str, str | None]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "row": self.row,
            "file": self.place.file,
            self.place.unit: self.place.number,
            "values": dict(self.values),
        }


@dataclass(frozen=True)
class Outcome:
    """One law and its verdict.

    Where the law is broken, `witness` holds two rows that refute it, `rows` counts the rows that take part in
    a violation, `pairs` the refuting pairs, and `removals` the fewest rows whose removal would mend it.
    """

    law: Law
    text: str
    holds: bool
    witness: tuple[RowView, RowView] | None = None
    rows: int = 0
    pairs: int = 0
    removals: int = 0


@dataclass(frozen=True)
class CheckReport:
    """The verdicts on all laws; incomplete where the work was stopped before the end."""

    table: EncodedTable
    null_policy: NullPolicy
    outcomes: tuple[Outcome, ...]
    asked: int
    engine: str
    seconds: Mapping[str, float]

    @property
    def complete(self) -> bool:
        """Whether every law that was asked for has its verdict."""
        return len(self.outcomes) == self.asked

    @property
    def holds(self) -> bool:
        """Whether every law was checked and holds."""
        return self.complete and all(outcome.holds for outcome in self.outcomes)

    @property
    def broken(self) -> list[Outcome]:
        """The laws that do not hold."""
        return [outcome for outcome in self.outcomes if not outcome.holds]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful check --json` prints."""
        return {
            "format": FORMAT,
            "complete": self.complete,
            "table": {
                "name": self.table.name,
                "rows": self.table.rows,
                "columns": [column.to_dict() for column in self.table.columns],
            },
            "settings": {**self.table.settings, "null": self.null_policy.value, "engine": self.engine},
            "dependencies": [self._entry(outcome) for outcome in self.outcomes],
            "stats": {
                "seconds": dict(self.seconds),
                "counts": {"asked": self.asked, "checked": len(self.outcomes), "broken": len(self.broken)},
            },
        }

    def _entry(self, outcome: Outcome) -> dict[str, Any]:
        entry = to_document(outcome.law, self.table.names)
        entry["holds"] = outcome.holds
        if outcome.witness is not None:
            entry["witness"] = [view.to_dict() for view in outcome.witness]
            entry["violations"] = {
                "rows": outcome.rows,
                "pairs": outcome.pairs,
                "removals": outcome.removals,
            }
        return entry

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each law."""
        return to_pandas(self._records())

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "law": outcome.text,
                "holds": outcome.holds,
                "violating_rows": outcome.rows,
                "violating_pairs": outcome.pairs,
                "removals": outcome.removals,
            }
            for outcome in self.outcomes
        ]

    def _repr_html_(self) -> str:
        title = f"{self.table.name}: {len(self.outcomes) - len(self.broken)} of {len(self.outcomes)} laws hold"
        return html_table(title, self._records())

    def violations(self, law: str | int) -> pa.Table:
        """Return all violating rows of one law, given by its text or its place, with every original value.

        Rows of one `group` break the law together: they agree on the key, on the left side, or on the context.
        """
        outcome = self._outcome(law)
        parts = list(self._violating_rows(outcome))
        return pa.concat_tables(parts) if parts else self._show([], [])

    def _outcome(self, law: str | int) -> Outcome:
        for number, outcome in enumerate(self.outcomes):
            if law in (number, outcome.text):
                return outcome
        raise UsageError(f"no law {law!r} was checked", f"Checked: {', '.join(o.text for o in self.outcomes)}.")

    def _violating_rows(self, outcome: Outcome) -> Iterator[pa.Table]:
        if outcome.holds:
            return
        found = self._find(outcome.law)
        groups, rows = [], []
        for group, members in enumerate(found):
            groups.extend([group] * len(members))
            rows.extend(members.tolist())
            if len(rows) >= _ROWS_AT_ONCE:
                yield self._show(groups, rows)
                groups, rows = [], []
        if rows:
            yield self._show(groups, rows)

    def _find(self, law: Law) -> Violations:
        return find_violations(law, self.table, Workspace(self.table, self.null_policy))

    def _show(self, groups: list[int], rows: list[int]) -> pa.Table:
        places = [self.table.place(row) for row in rows]
        columns = {
            "group": pa.array(groups, pa.int64()),
            "row": pa.array(rows, pa.int64()),
            "file": pa.array([place.file for place in places], pa.string()),
            "number": pa.array([place.number for place in places], pa.int64()),
        }
        names = list(columns) + self.table.names
        return pa.Table.from_arrays(
            [*columns.values(), *(self.table.texts(rows, position) for position in range(self.table.width))],
            names=names,
        )

    def write_violations(self, folder: Path) -> list[Path]:
        """Write a CSV file for each broken law with all rows that violate it."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for number, outcome in enumerate(self.outcomes, 1):
            if outcome.holds:
                continue
            path = folder / f"{number:03d}-{_slug(outcome.text)}.csv"
            with path.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(["group", "row", "file", "number", *self.table.names])
                for part in self._violating_rows(outcome):
                    writer.writerows(zip(*(column.to_pylist() for column in part.columns), strict=True))
            written.append(path)
        return written


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:60] or "law"


def describe_outcome(
    law: Law, text: str, witness: tuple[int, int] | None, table: EncodedTable, workspace: Workspace
) -> Outcome:
    """Turn a verdict into what people read: the rows of the witness, and how many rows and pairs violate."""
    if witness is None:
        return Outcome(law, text, holds=True)
    found = find_violations(law, table, workspace)
    views = tuple(view_row(table, row, columns_of(law)) for row in witness)
    return Outcome(law, text, False, (views[0], views[1]), len(found.rows), found.pairs, found.removals)


def view_row(table: EncodedTable, row: int, columns: tuple[int, ...]) -> RowView:
    """Return the place of a row and its values in some columns."""
    values = {table.names[column]: table.value(row, column) for column in columns}
    return RowView(row, table.place(row), values)
