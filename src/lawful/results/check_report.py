"""What checking laws gives back: a verdict for each, two rows that refute it, and all violating rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.checks import Violations, Workspace, find_violations
from lawful.checks.denials.pairs import as_t_and_s, violating_pairs
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, Law, columns_of, parse_laws, to_document
from lawful.dependencies.denial_readings import plain_law
from lawful.results.documents import FORMAT, html_table, to_pandas
from lawful.results.violation_files import file_name, require_empty, write_rows
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place

if TYPE_CHECKING:
    import pandas as pd

_ROWS_AT_ONCE = 50_000
_MOST_LISTED = 20
_OWN_COLUMNS = ("group", "row", "file", "number")
_RECORD_FIELDS = ("law", "holds", "violating_rows", "violating_pairs", "removals")


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
            "unit": self.place.unit,
            "number": self.place.number,
            "values": dict(self.values),
        }


@dataclass(frozen=True)
class Outcome:
    """One law and its verdict.

    Where the law is broken, `witness` holds two rows that refute it, `rows` counts the rows that take part in
    a violation, `pairs` the refuting pairs, and `removals` the fewest rows whose removal would mend it, where
    that can be counted.
    """

    law: Law
    text: str
    holds: bool
    witness: tuple[RowView, RowView] | None = None
    rows: int = 0
    pairs: int = 0
    removals: int | None = 0


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
            "dependencies": [self.entry(outcome) for outcome in self.outcomes],
            "stats": {
                "seconds": dict(self.seconds),
                "counts": {"asked": self.asked, "checked": len(self.outcomes), "broken": len(self.broken)},
            },
        }

    def entry(self, outcome: Outcome) -> dict[str, Any]:
        """Return what the JSON document says of one law on this table."""
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
        return to_pandas(self._records(), _RECORD_FIELDS)

    def _records(self) -> list[dict[str, Any]]:
        return [
            dict(
                zip(
                    _RECORD_FIELDS,
                    (outcome.text, outcome.holds, outcome.rows, outcome.pairs, outcome.removals),
                    strict=True,
                )
            )
            for outcome in self.outcomes
        ]

    def _repr_html_(self) -> str:
        title = f"{self.table.name}: {len(self.outcomes) - len(self.broken)} of {len(self.outcomes)} laws hold"
        if not self.complete:
            title += f"; incomplete: {self.asked} were asked for"
        return html_table(title, self._records())

    def violations(self, law: str | int) -> pa.Table:
        """Return all violating rows of one law, given by its text or its place, with every original value.

        The columns of the table, as texts, come after four of lawful's own: `_group` (rows of one group break
        the law together: they agree on the key, on the left side, or on the context), `_row` (the row's id, from
        0), `_file` and `_number` (the line or row in that file, from 1). Where the table has such a column
        itself, lawful's have more underscores.
        """
        parts = list(self._violating_rows(self._outcome(law)))
        return pa.concat_tables(parts) if parts else self._show([], [])

    def violating_row_ids(self, law: str | int) -> npt.NDArray[np.int32]:
        """Return the ids of all violating rows of one law, without their values."""
        outcome = self._outcome(law)
        return np.zeros(0, np.int32) if outcome.holds else self._find(outcome.law).rows

    def _outcome(self, law: str | int) -> Outcome:
        if isinstance(law, int) and 0 <= law < len(self.outcomes):
            return self.outcomes[law]
        if isinstance(law, str):
            wanted = parse_laws(law, self.table.names)  # there are many spellings of one law
            for outcome in self.outcomes:
                if wanted == [outcome.law]:
                    return outcome
        checked = ", ".join(outcome.text for outcome in self.outcomes[:_MOST_LISTED])
        more = ", …" if len(self.outcomes) > _MOST_LISTED else ""
        raise UsageError(f"no law {law!r} was checked", f"Checked: {checked}{more}.")

    def _violating_rows(self, outcome: Outcome) -> Iterator[pa.Table]:
        if outcome.holds:
            return
        groups: list[int] = []
        rows: list[int] = []
        for group, members in enumerate(self._find(outcome.law)):
            groups.extend([group] * len(members))
            rows.extend(members.tolist())
            if len(rows) >= _ROWS_AT_ONCE:
                yield self._show(groups, rows)
                groups, rows = [], []
        if rows:
            yield self._show(groups, rows)

    def _violating_pairs(self, outcome: Outcome) -> Iterator[pa.Table]:
        """Two rows a group, t before s: there may be more pairs than memory holds."""
        assert isinstance(outcome.law, DC)
        before = 0
        for t, s in violating_pairs(outcome.law, Workspace(self.table, self.null_policy)):
            rows = np.stack((t, s), axis=1).ravel()
            groups = before + np.repeat(np.arange(t.size), 2)
            before += t.size
            for first in range(0, rows.size, _ROWS_AT_ONCE):
                some = slice(first, first + _ROWS_AT_ONCE)
                yield self._show(groups[some].tolist(), rows[some].tolist())

    def _find(self, law: Law) -> Violations:
        return find_violations(law, self.table, Workspace(self.table, self.null_policy))

    def _show(self, groups: Sequence[int], rows: Sequence[int]) -> pa.Table:
        places = [self.table.place(row) for row in rows]
        own = (
            pa.array(groups, pa.int64()),
            pa.array(rows, pa.int64()),
            pa.array([place.file for place in places], pa.string()),
            pa.array([place.number for place in places], pa.int64()),
        )
        texts = (self.table.texts(rows, position) for position in range(self.table.width))
        return pa.Table.from_arrays([*own, *texts], names=self._violation_columns())

    def _violation_columns(self) -> list[str]:
        taken = set(self.table.names)
        underscores = "_"
        while taken & {underscores + name for name in _OWN_COLUMNS}:
            underscores += "_"
        return [*(underscores + name for name in _OWN_COLUMNS), *self.table.names]

    def write_violations(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write a CSV file for each broken law with all rows that violate it, into a new or empty folder.

        For a denial constraint that is no simpler law in disguise, all violating pairs: two rows a group, t first.
        """
        target = Path(folder)
        require_empty(target)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{target}: {error.strerror}") from None
        written = []
        for number, outcome in enumerate(self.outcomes, 1):
            if not outcome.holds:
                written.append(target / file_name(number, outcome.text))
                in_pairs = isinstance(outcome.law, DC) and plain_law(outcome.law) is None
                parts = self._violating_pairs(outcome) if in_pairs else self._violating_rows(outcome)
                write_rows(written[-1], self._violation_columns(), parts)
        return written


def describe_outcome(
    law: Law, text: str, witness: tuple[int, int] | None, table: EncodedTable, workspace: Workspace
) -> Outcome:
    """Turn a verdict into what people read: the rows of the witness, and how many rows and pairs violate."""
    if witness is None:
        return Outcome(law, text, holds=True)
    found = find_violations(law, table, workspace)
    if isinstance(law, DC):
        witness = as_t_and_s(law, witness, workspace)
    views = tuple(view_row(table, row, columns_of(law)) for row in witness)
    return Outcome(law, text, False, (views[0], views[1]), len(found.rows), found.pairs, found.removals)


def view_row(table: EncodedTable, row: int, columns: tuple[int, ...]) -> RowView:
    """Return the place of a row and its values in some columns."""
    values = {table.names[column]: table.value(row, column) for column in columns}
    return RowView(row, table.place(row), values)
