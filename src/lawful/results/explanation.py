"""Why a law holds or is broken: all violating rows by group, or the smaller laws that were refuted and by what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from lawful.checks import GroupRows, Most
from lawful.checks.summaries import parts_of
from lawful.dependencies import Law, NamedLaw, columns_of
from lawful.results.check_report import CheckReport, Outcome, RowView
from lawful.results.documents import html_table
from lawful.results.texts.explanation_text import explanation_lines
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import counted, shortened, visible
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place
from lawful.tables.shown_rows import Shown

_ROWS_IN_A_NOTEBOOK = 100
_LONGEST_LAW = 80


@dataclass(frozen=True)
class ViolationGroup:
    """Rows that break a law together: what they agree on, and each row with the values that are in conflict."""

    values: Mapping[str, str | None]
    rows: tuple[RowView, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"values": dict(self.values), "rows": [view.to_dict() for view in self.rows]}


@dataclass(frozen=True)
class Variant:
    """The rows of a group that have the same values in conflict: how many, and where the first ones are."""

    values: Mapping[str, str | None]
    rows: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class GroupSummary:
    """A group in short: of its variants the ones with most rows (for an order: in the order), the rest counted."""

    values: Mapping[str, str | None]
    rows: int
    variants: tuple[Variant, ...]
    more_variants: int


@dataclass(frozen=True)
class Explanation:
    """Why one law holds, or what breaks it.

    Attributes
    ----------
    report
        The check of the law itself, with its witness and numbers where it is broken.
    coverage
        The chance that two rows drawn at random, with replacement, agree on the columns, left side or context.
    agreeing_rows
        How many rows agree on them with some other row: the rows that the law says something about.
    stronger
        For a law that holds: the laws with one column less and, for an order dependency, the FDs that would make
        it trivial. Each of them would imply the law; it is minimal if all of them are broken.
    minimal_laws
        For a law that holds and is not minimal: the minimal laws of its own columns that imply it. None where there
        are too many candidates to look at.
    determines
        For an FD that holds: what else its left side determines; None for laws of other kinds.
    complete
        False where the work was stopped before all of this was known.
    tells_minimality
        Whether a law of this kind is minimal if no smaller one holds.
    """

    report: CheckReport
    coverage: float
    agreeing_rows: int
    stronger: tuple[Outcome, ...] = ()
    minimal_laws: tuple[str, ...] | None = ()
    determines: tuple[str, ...] | None = None
    complete: bool = True
    tells_minimality: bool = True

    @property
    def outcome(self) -> Outcome:
        """The verdict on the law."""
        return self.report.outcomes[0]

    @property
    def law(self) -> NamedLaw:
        """The law, bound to the names of its columns."""
        return self.outcome.law

    @property
    def positional(self) -> Law:
        """The law over the positions of the table's columns."""
        return self.law.on(self.table.names)

    @property
    def text(self) -> str:
        """The law in its notation."""
        return self.outcome.text

    @property
    def holds(self) -> bool:
        """Whether the law holds."""
        return self.outcome.holds

    @property
    def table(self) -> EncodedTable:
        """The table that the law was checked on."""
        return self.report.table

    @property
    def minimal(self) -> bool | None:
        """Whether the law holds and no smaller one implies it; None where that is not known."""
        if not self.holds:
            return False
        if any(outcome.holds for outcome in self.stronger):
            return False
        if not self.tells_minimality:
            return None
        return True if self.complete else None

    def group_count(self) -> int:
        """How many groups of rows break the law."""
        return self.outcome.groups

    def groups(self, most: int | None = None) -> Iterator[ViolationGroup]:
        """The groups of violating rows with all their rows, or the first ones."""
        if self.holds:
            return
        rows = groupby(self._rows(), key=itemgetter(0))
        for _, members in islice(rows, most):
            (shared, first), *others = ((values, view) for _, values, view in members)
            yield ViolationGroup(shared, (first, *(view for _, view in others)))

    def _rows(self) -> Iterator[tuple[int, dict[str, str | None], RowView]]:
        """The number of the group of each violating row, what the group agrees on, and the row."""
        shared, conflicting = (
            [self.table.names[column] for column in columns] for columns in parts_of(self.positional)
        )
        columns = columns_of(self.positional)
        names, unit = [self.table.names[column] for column in columns], self.table.origins.unit
        with self.report.rows_of_laws.engine() as engine:
            for batch in engine.violations(self.positional, Shown(columns, as_text=True)):
                for group, row, file, number, *values in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                    of = dict(zip(names, values, strict=True))
                    view = RowView(row, Place(file, number, unit), {name: of[name] for name in conflicting})
                    yield group, {name: of[name] for name in shared}, view

    def summary(
        self, most_groups: int | None, most_variants: int | None = 10, most_places: int | None = 5
    ) -> Iterator[GroupSummary]:
        """The first groups in short, however many rows they have; None stands for all."""
        if self.holds:
            return
        with self.report.rows_of_laws.engine() as engine:
            told = engine.violating_groups(self.positional, Most(most_groups, most_variants, most_places))
        yield from (summary_of(group, self.positional, self.table) for group in told)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of the check, with what explains its verdict and all violating rows."""
        document = self.report.to_dict() | {"complete": self.complete}
        entry = document["dependencies"][0] | {"coverage": self.coverage, "agreeing_rows": self.agreeing_rows}
        if self.holds:
            entry["minimal"] = self.minimal
            entry["stronger"] = [self.report.entry(outcome) for outcome in self.stronger]
            entry["minimal_laws"] = None if self.minimal_laws is None else list(self.minimal_laws)
            if self.determines is not None:
                entry["determines"] = list(self.determines)
        else:
            entry["groups"] = [group.to_dict() for group in self.groups()]
        return document | {"dependencies": [entry]}

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else f"broken by {counted(self.outcome.rows, 'row')}"
        return f"<Explanation {shortened(visible(self.text), _LONGEST_LAW)}: {verdict}>"

    def __str__(self) -> str:
        """What `lawful explain` prints, a page at most."""
        return plain_text(explanation_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        title = f"{self.table.name}: {self.text} {'holds' if self.holds else 'is broken'}"
        if self.holds:
            title += {True: ", and is minimal", False: ", and is not minimal", None: ""}[self.minimal]
            records = [{"smaller law": outcome.text, "holds": outcome.holds} for outcome in self.stronger]
            return html_table(title, records)
        rows = (
            {"group": number, "place": view.place, **group.values, **view.values}
            for number, group in enumerate(self.groups(_ROWS_IN_A_NOTEBOOK))
            for view in group.rows
        )
        title += f" by {self.outcome.rows:,} rows"
        if self.outcome.removals is not None:
            title += f"; removing {self.outcome.removals:,} would mend it"
        return html_table(title, list(islice(rows, _ROWS_IN_A_NOTEBOOK)))


def summary_of(group: GroupRows, law: Law, table: EncodedTable) -> GroupSummary:
    """A group of violating rows with the values and places of its rows."""

    def values(row: int, columns: tuple[int, ...]) -> dict[str, str | None]:
        return {table.names[column]: table.value(row, column) for column in columns}

    shared, conflicting = parts_of(law)
    variants = tuple(
        Variant(values(rows[0], conflicting), size, tuple(map(table.place, rows))) for size, rows in group.variants
    )
    return GroupSummary(values(group.variants[0].first[0], shared), group.size, variants, group.more_variants)
