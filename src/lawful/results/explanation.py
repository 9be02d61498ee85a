"""Why a law holds or is broken: all violating rows by group, or the smaller laws that were refuted and by what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from lawful.checks import Violations, Workspace, checks_of, find_violations
from lawful.checks.summaries import parts_of
from lawful.dependencies import Law, NamedLaw
from lawful.results.check_report import CheckReport, Outcome, RowView
from lawful.results.documents import html_table
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place

_ROWS_AT_ONCE = 50_000
_ROWS_IN_A_NOTEBOOK = 100


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
        return 0 if self.holds else len(self._violations().offsets) - 1

    def groups(self, most: int | None = None) -> Iterator[ViolationGroup]:
        """The groups of violating rows with all their rows, or the first ones."""
        if self.holds:
            return
        waiting: list[np.ndarray] = []
        size = 0
        for members in islice(self._violations(), most):
            waiting.append(members)
            size += len(members)
            if size >= _ROWS_AT_ONCE:
                yield from self._shown(waiting)
                waiting, size = [], 0
        yield from self._shown(waiting)

    def _violations(self) -> Violations:
        return find_violations(self.positional, self.table, Workspace(self.table, self.report.null_policy))

    def _shown(self, groups: list[np.ndarray]) -> Iterator[ViolationGroup]:
        if not groups:
            return
        rows = np.concatenate(groups)
        names = self.table.names
        shared, conflicting = parts_of(self.positional)
        texts = {column: self.table.texts(rows.tolist(), column).to_pylist() for column in (*shared, *conflicting)}
        first = 0
        for members in groups:
            views = tuple(
                RowView(row, self.table.place(row), {names[c]: texts[c][first + place] for c in conflicting})
                for place, row in enumerate(members.tolist())
            )
            yield ViolationGroup({names[column]: texts[column][first] for column in shared}, views)
            first += len(members)

    def summary(
        self, most_groups: int | None, most_variants: int | None = 10, most_places: int | None = 5
    ) -> Iterator[GroupSummary]:
        """The first groups in short, however many rows they have; None stands for all."""
        if self.holds:
            return
        for members in islice(self._violations(), most_groups):
            yield self._summary(members, most_variants, most_places)

    def _summary(self, members: np.ndarray, most_variants: int | None, most_places: int | None) -> GroupSummary:
        shared, conflicting = parts_of(self.positional)
        if conflicting:
            ranks = np.stack([self.table.column(column)[members] for column in conflicting])
            _, first, variant, counts = np.unique(
                ranks, axis=1, return_index=True, return_inverse=True, return_counts=True
            )
            in_order = (
                np.arange(len(counts)) if checks_of(self.positional).lists_in_order else np.lexsort((first, -counts))
            )
            chosen = [members[variant.ravel() == number] for number in in_order[:most_variants]]
        else:
            counts, chosen = np.array([len(members)]), [members]
        variants = tuple(
            Variant(
                self._values(int(rows[0]), conflicting),
                len(rows),
                tuple(self.table.place(int(row)) for row in rows[:most_places]),
            )
            for rows in chosen
        )
        return GroupSummary(self._values(int(members[0]), shared), len(members), variants, len(counts) - len(variants))

    def _values(self, row: int, columns: tuple[int, ...]) -> dict[str, str | None]:
        return {self.table.names[column]: self.table.value(row, column) for column in columns}

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
