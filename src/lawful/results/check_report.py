"""What checking laws gives back: a verdict for each, two rows that refute it, and all violating rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.checks import Trial, Verdict
from lawful.common.errors import UsageError
from lawful.common.meanings import Allowance, Measure, NullPolicy
from lawful.dependencies import Law, NamedLaw, columns_of, parse_laws
from lawful.results.documents import FORMAT, html_table, table_document, to_pandas
from lawful.results.exporting import Exportable
from lawful.results.json_files import write_document
from lawful.results.texts.check_text import check_lines, check_summary
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import visible
from lawful.results.violating_rows import RowsHere, ViolatingRows
from lawful.results.violation_files import file_name, require_empty, write_rows
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place
from lawful.tables.shown_rows import Shown, with_own_names

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from lawful.engines import Engine

_MOST_LISTED = 20
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
    that can be counted; `groups` counts the groups of rows that break it together. A law that was judged within an
    error, `allowed`, has the `error` that was measured, and holds if that is no larger. `null` is what null meant.
    `trial` and `measures` are there where strength was asked for.
    """

    law: NamedLaw
    text: str
    holds: bool
    witness: tuple[RowView, RowView] | None = None
    rows: int = 0
    pairs: int = 0
    removals: int | None = 0
    groups: int = 0
    error: float | None = None
    allowed: Allowance | None = None
    null: NullPolicy = NullPolicy.EQUAL
    trial: Trial | None = None
    measures: Mapping[str, float | None] | None = None

    @staticmethod
    def of(law: Law, text: str, verdict: Verdict, table: EncodedTable) -> Outcome:
        """Turn a verdict into what people read; its damage must have been asked for."""
        named = NamedLaw(law, tuple(table.names))
        if verdict.witness is None:
            return Outcome(named, text, holds=True)
        views = tuple(view_row(table, row, columns_of(law)) for row in verdict.witness)
        damage = verdict.damage
        assert damage is not None, "the damage was not asked for"
        return Outcome(
            named, text, False, (views[0], views[1]), damage.rows, damage.pairs, damage.removals, damage.groups
        )

    @property
    def has_violations(self) -> bool:
        """Whether any two rows break the law, even if it holds within the error that is allowed."""
        return self.witness is not None


@dataclass(frozen=True)
class CheckReport(Exportable):
    """The verdicts on all laws; incomplete where the work was stopped before the end."""

    table: EncodedTable
    null_policy: NullPolicy
    outcomes: tuple[Outcome, ...]
    asked: int
    engine: str
    seconds: Mapping[str, float]
    violating: ViolatingRows | None = field(default=None, compare=False)
    """Where violating rows come from; None: this process finds them."""

    @property
    def rows_of_laws(self) -> ViolatingRows:
        """What gives the violating rows of laws."""
        return self.violating or RowsHere(self.table, self.null_policy)

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
            "table": table_document(self.table.name, self.table.rows, self.table.columns, self.table.names),
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
        if outcome.trial is not None:
            entry |= {"strength": outcome.trial.strength, "tested": outcome.trial.tested} | dict(outcome.measures or {})
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

    def __repr__(self) -> str:
        return f"<CheckReport {visible(self.table.name)}: {check_summary(self)}>"

    def __str__(self) -> str:
        """What `lawful check` prints, a page at most."""
        return plain_text(check_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        title = f"{self.table.name}: {len(self.outcomes) - len(self.broken)} of {len(self.outcomes)} laws hold"
        if not self.complete:
            title += f"; incomplete: {self.asked} were asked for"
        return html_table(title, self._records())

    def violations(self, law: str | int | NamedLaw | Outcome) -> pa.Table | DataFrame:
        """Return all violating rows of one law, given by its text, its place or itself, with all their values.

        A Spark DataFrame, lazy and with all columns of the source, where the source is a DataFrame, a table or a query
        of Spark, or a file that a Spark session of yours was to read; else an Arrow table. Spark finds the rows when
        the frame is used, in no order.

        The columns of the table come after lawful's own: `_group` (rows of one group break the law together: they
        agree on the key, on the left side, or on the context), `_row` (the row's id, from 0) and, unless the source is
        Spark's, `_file` and `_number` (the line or row in that file, from 1). Where the table has such a column itself,
        lawful's have more underscores.

        Raises
        ------
        UsageError
            If the law was not checked.
        """
        outcome = self._outcome(law)
        frame = self.rows_of_laws.frame(self._positional(outcome), outcome.rows)
        return self._table_of(outcome) if frame is None else frame

    def _table_of(self, outcome: Outcome) -> pa.Table:
        everything = Shown(tuple(range(self.table.width)))
        with self.rows_of_laws.engine() as engine:
            batches = list(self._batches(engine, outcome, everything))
            schema = batches[0].schema if batches else engine.shown_schema(everything)
        return pa.Table.from_batches(batches, schema).rename_columns(with_own_names(self.table.names))

    def violating_row_ids(self, law: str | int | NamedLaw | Outcome) -> npt.NDArray[np.int64]:
        """Return the ids of all violating rows of one law, without their values."""
        found = [batch["row"].to_numpy() for batch in self._ids(self._outcome(law))]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def _ids(self, outcome: Outcome) -> Iterator[pa.RecordBatch]:
        with self.rows_of_laws.engine() as engine:
            yield from self._batches(engine, outcome)

    def _batches(
        self, engine: Engine, outcome: Outcome, shown: Shown | None = None, *, in_pairs: bool = False
    ) -> Iterator[pa.RecordBatch]:
        if outcome.has_violations:
            yield from engine.violations(self._positional(outcome), shown, in_pairs=in_pairs)

    def _positional(self, outcome: Outcome) -> Law:
        return outcome.law.on(self.table.names)

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

    def _shown(self, outcome: Outcome) -> Iterator[pa.RecordBatch]:
        """The rows as the source writes them; pairs of a denial constraint, of which memory need not hold all."""
        with self.rows_of_laws.engine() as engine:
            everything = Shown(tuple(range(self.table.width)), as_text=True)
            yield from self._batches(engine, outcome, everything, in_pairs=True)

    def write_violations(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write a CSV file for each law that rows break, with all of these rows, into a new or empty folder.

        For a denial constraint that is no simpler law in disguise, all violating pairs: two rows per group, t first.
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
                write_rows(written[-1], with_own_names(self.table.names), self._shown(outcome))
        return written


def _record(outcome: Outcome) -> tuple[Any, ...]:
    """The values of `_RECORD_FIELDS` and `_ERROR_FIELDS`."""
    judged = (outcome.text, outcome.holds, outcome.rows, outcome.pairs, outcome.removals)
    allowed = outcome.allowed
    return (*judged, outcome.error, *((None, None) if allowed is None else (allowed.error, allowed.measure)))


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
