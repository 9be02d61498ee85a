"""What checking laws gives back: a verdict for each, two rows that refute it, and all violating rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.checks import Violations, Workspace, find_violations
from lawful.checks.denials.pairs import as_t_and_s, violating_pairs
from lawful.common.errors import UsageError
from lawful.common.meanings import Allowance, Measure, NullPolicy
from lawful.dependencies import DC, Law, NamedLaw, columns_of, parse_laws
from lawful.dependencies.denial_readings import plain_law
from lawful.results.documents import FORMAT, html_table, to_pandas
from lawful.results.json_files import write_document
from lawful.results.violation_files import file_name, require_empty, write_rows
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place

if TYPE_CHECKING:
    import pandas as pd

_ROWS_AT_ONCE = 50_000
_MOST_LISTED = 20
_OWN_COLUMNS = ("group", "row", "file", "number")
_RECORD_FIELDS = ("law", "holds", "violating_rows", "violating_pairs", "removals")
_ERROR_FIELDS = ("error", "allowed_error", "measure")


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
    """One law and its verdict, bound to the names of its columns.

    Where some rows break the law, `witness` holds two of them that refute it, `rows` counts the rows that take part in
    a violation, `pairs` the refuting pairs, and `removals` the fewest rows whose removal would mend it, where
    that can be counted. A law that was judged within an error, `allowed`, has the `error` that was measured, and holds
    if that is no larger. `null` is what null meant.
    """

    law: NamedLaw
    text: str
    holds: bool
    witness: tuple[RowView, RowView] | None = None
    rows: int = 0
    pairs: int = 0
    removals: int | None = 0
    error: float | None = None
    allowed: Allowance | None = None
    null: NullPolicy = NullPolicy.EQUAL

    @property
    def has_violations(self) -> bool:
        """Whether any two rows break the law, even if it holds within the error that is allowed."""
        return self.witness is not None


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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON document to a file, whole or not at all; `lawful.load` reads it back."""
        write_document(self.to_dict(), Path(path))

    def entry(self, outcome: Outcome) -> dict[str, Any]:
        """Return what the JSON document says of one law on this table."""
        entry = outcome.law.to_dict()
        entry["holds"] = outcome.holds
        if outcome.allowed is not None:
            entry |= {
                "error": outcome.error,
                "allowed_error": outcome.allowed.error,
                "measure": outcome.allowed.measure,
            }
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
        return to_pandas(self._records(), self._record_fields())

    def _record_fields(self) -> tuple[str, ...]:
        within_errors = any(outcome.allowed is not None for outcome in self.outcomes)
        return (*_RECORD_FIELDS, *_ERROR_FIELDS) if within_errors else _RECORD_FIELDS

    def _records(self) -> list[dict[str, Any]]:
        fields = self._record_fields()
        return [dict(zip(fields, _record(outcome), strict=False)) for outcome in self.outcomes]

    def _repr_html_(self) -> str:
        title = f"{self.table.name}: {len(self.outcomes) - len(self.broken)} of {len(self.outcomes)} laws hold"
        if not self.complete:
            title += f"; incomplete: {self.asked} were asked for"
        return html_table(title, self._records())

    def violations(self, law: str | int | NamedLaw | Outcome) -> pa.Table:
        """Return all violating rows of one law, given by its text, its place or itself, with every original value.

        The columns of the table, as texts, come after four of lawful's own: `_group` (rows of one group break
        the law together: they agree on the key, on the left side, or on the context), `_row` (the row's id, from
        0), `_file` and `_number` (the line or row in that file, from 1). Where the table has such a column
        itself, lawful's have more underscores.
        """
        parts = list(self._violating_rows(self._outcome(law)))
        return pa.concat_tables(parts) if parts else self._show([], [])

    def violating_row_ids(self, law: str | int | NamedLaw | Outcome) -> npt.NDArray[np.int32]:
        """Return the ids of all violating rows of one law, without their values."""
        outcome = self._outcome(law)
        return self._find(outcome).rows if outcome.has_violations else np.zeros(0, np.int32)

    def _outcome(self, law: str | int | NamedLaw | Outcome) -> Outcome:
        if isinstance(law, int) and 0 <= law < len(self.outcomes):
            return self.outcomes[law]
        wanted = law.law if isinstance(law, Outcome) else law
        if isinstance(law, str):  # there are many spellings of one law
            parsed = parse_laws(law, self.table.names)
            wanted = NamedLaw(parsed[0], tuple(self.table.names)) if len(parsed) == 1 else law
        for outcome in self.outcomes:
            if wanted == outcome.law:
                return outcome
        checked = ", ".join(outcome.text for outcome in self.outcomes[:_MOST_LISTED])
        more = ", …" if len(self.outcomes) > _MOST_LISTED else ""
        raise UsageError(f"no law {law!r} was checked", f"Checked: {checked}{more}.")

    def _violating_rows(self, outcome: Outcome) -> Iterator[pa.Table]:
        if not outcome.has_violations:
            return
        groups: list[int] = []
        rows: list[int] = []
        for group, members in enumerate(self._find(outcome)):
            groups.extend([group] * len(members))
            rows.extend(members.tolist())
            if len(rows) >= _ROWS_AT_ONCE:
                yield self._show(groups, rows)
                groups, rows = [], []
        if rows:
            yield self._show(groups, rows)

    def _violating_pairs(self, outcome: Outcome) -> Iterator[pa.Table]:
        """Two rows a group, t before s: there may be more pairs than memory holds."""
        law = self._positional(outcome)
        assert isinstance(law, DC)
        before = 0
        for t, s in violating_pairs(law, Workspace(self.table, self.null_policy)):
            rows = np.stack((t, s), axis=1).ravel()
            groups = before + np.repeat(np.arange(t.size), 2)
            before += t.size
            for first in range(0, rows.size, _ROWS_AT_ONCE):
                some = slice(first, first + _ROWS_AT_ONCE)
                yield self._show(groups[some].tolist(), rows[some].tolist())

    def _find(self, outcome: Outcome) -> Violations:
        return find_violations(self._positional(outcome), self.table, Workspace(self.table, self.null_policy))

    def _positional(self, outcome: Outcome) -> Law:
        return outcome.law.on(self.table.names)

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
        """Write a CSV file for each law that rows break, with all of these rows, into a new or empty folder.

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
            if outcome.has_violations:
                written.append(target / file_name(number, outcome.text))
                law = self._positional(outcome)
                in_pairs = isinstance(law, DC) and plain_law(law) is None
                parts = self._violating_pairs(outcome) if in_pairs else self._violating_rows(outcome)
                write_rows(written[-1], self._violation_columns(), parts)
        return written


def _record(outcome: Outcome) -> tuple[Any, ...]:
    """The values of `_RECORD_FIELDS` and `_ERROR_FIELDS`."""
    judged = (outcome.text, outcome.holds, outcome.rows, outcome.pairs, outcome.removals)
    allowed = outcome.allowed
    return (*judged, outcome.error, *((None, None) if allowed is None else (allowed.error, allowed.measure)))


def describe_outcome(
    law: Law, text: str, witness: tuple[int, int] | None, table: EncodedTable, workspace: Workspace
) -> Outcome:
    """Turn a verdict into what people read: the rows of the witness, and how many rows and pairs violate."""
    named = NamedLaw(law, tuple(table.names))
    if witness is None:
        return Outcome(named, text, holds=True)
    found = find_violations(law, table, workspace)
    if isinstance(law, DC):
        witness = as_t_and_s(law, witness, workspace)
    views = tuple(view_row(table, row, columns_of(law)) for row in witness)
    return Outcome(named, text, False, (views[0], views[1]), len(found.rows), found.pairs, found.removals)


def judged(outcome: Outcome, null: NullPolicy, allowed: Allowance | None, rows: int) -> Outcome:
    """Say what null meant, and measure the error of a law against what is allowed of it on a table of so many rows."""
    if allowed is None:
        return replace(outcome, null=null)
    error = measured_error(outcome, allowed.measure, rows)
    holds = not outcome.has_violations or error <= allowed.error
    return replace(outcome, null=null, allowed=allowed, error=error, holds=holds)


def measured_error(outcome: Outcome, measure: Measure, rows: int) -> float:
    """The share of the pairs or rows that break a law, by the very division of a discovery: no rounding apart."""
    if measure == "g1":
        return outcome.pairs / max(1, rows * (rows - 1) // 2)
    if outcome.removals is None:
        raise no_removals(f"Use --measure g1 for {outcome.text}.")
    return outcome.removals / max(1, rows)


def no_removals(hint: str) -> UsageError:
    """Refuse to measure g3 where nobody can."""
    return UsageError(
        "the fewest rows whose removal mends a denial constraint (g3) are too hard to find",
        hint,
    )


def view_row(table: EncodedTable, row: int, columns: tuple[int, ...]) -> RowView:
    """Return the place of a row and its values in some columns."""
    values = {table.names[column]: table.value(row, column) for column in columns}
    return RowView(row, table.place(row), values)
