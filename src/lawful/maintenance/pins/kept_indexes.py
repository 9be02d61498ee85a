"""The indexes of pinned laws on a living table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lawful.checks.denials.denial import satisfying_rows
from lawful.checks.denials.pair_judge import PairJudge
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies import Law, columns_of
from lawful.evidence.living.kernels.partners import rows_by_code
from lawful.evidence.living.orders.order_keys import TableKeys
from lawful.evidence.living.pinned.counted_rows import BOTH, ONLY_S, ONLY_T, UNKNOWN, AgreeingRows, DifferingRows
from lawful.evidence.living.pinned.groups import Groups
from lawful.evidence.living.pinned.ordered_rows import OrderedRows, OrderSpec
from lawful.evidence.living.pinned.row_codes import RowCodes
from lawful.maintenance.evidence import Pair
from lawful.maintenance.pins.indexes import Tally
from lawful.maintenance.pins.plan import Differ, Ordered, Plan
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.living.loose_rows import LooseRows

_NOT_IN = -1


@dataclass
class Shared:
    """What the indexes of a table share.

    Attributes
    ----------
    out
        Rows of the table that are taken for gone while something is tried.
    """

    table: LivingTable
    null: NullPolicy
    groups: Groups = field(default_factory=Groups)
    out: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.keys = TableKeys(self.table)

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return self.groups.memory + self.keys.memory


class _Members:
    """Which rows take part in a law: by its filters, and by what null means."""

    def __init__(self, law: Law, plan: Plan, shared: Shared) -> None:
        self._plan, self._shared = plan, shared
        self._known = columns_of(law) if shared.null is NullPolicy.IGNORE else ()

    def roles(self, codes: RowCodes, view: LiveView | None = None) -> Int32s:
        """For each row what it may be in a pair; -1 if nothing. `view` has the same rows, if there are many."""
        if not self._known and not self._plan.filters:
            return np.full(codes.rows, BOTH, np.int32)
        known: Flags = np.ones(codes.rows, np.bool_)
        for column in self._known:
            known &= codes.column(column) != NULL_RANK
        fits = {"t": known, "s": known.copy()}
        if self._plan.filters:
            table = view or self._loose(codes)
            workspace = Workspace(table, self._shared.null)
            for predicate in self._plan.filters:
                fits[predicate.left.row] &= satisfying_rows(predicate, workspace)
        both = np.where(fits["t"] & fits["s"], BOTH, -1)
        return np.where(fits["t"] & ~fits["s"], ONLY_T, np.where(fits["s"] & ~fits["t"], ONLY_S, both)).astype(np.int32)

    def _loose(self, codes: RowCodes) -> LooseRows:
        table = self._shared.table
        needed = {column for predicate in self._plan.filters for column in _columns(predicate)}
        matrix = np.zeros((table.width, codes.rows), np.int32)
        for column in needed:
            matrix[column] = codes.column(column)
        return LooseRows.among(table, np.empty(0, np.int64), matrix)


def _columns(predicate: object) -> list[int]:
    sides = (predicate.left, predicate.right)  # type: ignore[attr-defined]  # a predicate has two sides
    return [side.column for side in sides if hasattr(side, "column")]


class CountIndex:
    """Keeps a key, a functional dependency, or a constraint that says the same."""

    def __init__(self, law: Law, plan: Plan, shared: Shared) -> None:
        self._law, self._shared = law, shared
        self._members = _Members(law, plan, shared)
        self._group = plan.group
        self._witness: Pair | None = None
        self._counted: AgreeingRows | DifferingRows
        if isinstance(plan.shape, Differ):
            self._counted = DifferingRows(plan.group, plan.shape.right, shared.groups)
        else:
            self._counted = AgreeingRows(plan.group, shared.groups, 1 if plan.alike else 3)

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return self._counted.memory

    def build(self, rows: Int64s, codes: RowCodes, view: LiveView) -> None:
        """Take in the rows that are there."""
        self._counted.change(rows, codes, self._members.roles(codes, view), 1)

    def insert(self, rows: Int64s, codes: Int32s) -> None:
        """Take rows in."""
        given = RowCodes.of_matrix(codes)
        self._counted.change(rows, given, self._members.roles(given), 1)

    def delete(self, rows: Int64s, codes: Int32s) -> None:
        """Let rows go."""
        given = RowCodes.of_matrix(codes)
        self._counted.change(rows, given, self._members.roles(given), -1)

    def tally(self) -> Tally:
        """How badly the law is broken."""
        return Tally(*self._counted.tally)

    def partners(self, codes: Int32s) -> Int64s:
        """For rows that are not taken in, a row that each would break the law with."""
        return self._partners(np.full(codes.shape[1], _NOT_IN, np.int64), codes)

    def partners_of(self, rows: Int64s, codes: Int32s) -> Int64s:
        """For rows that are taken in, another row that each breaks the law with."""
        return self._partners(rows, codes)

    def _partners(self, rows: Int64s, codes: Int32s) -> Int64s:
        given = RowCodes.of_matrix(codes)
        found = self._counted.partners(rows, given, self._members.roles(given))
        for place in np.flatnonzero(found == UNKNOWN).tolist():
            found[place] = self._looked_for(int(rows[place]), codes[:, place : place + 1])
        return found

    def _looked_for(self, row: int, codes: Int32s) -> int:
        """A row of the table that a row breaks the law with: the one that was known has left."""
        numbers = self._rows_of_group(codes)
        judge = PairJudge(self._law, LooseRows.among(self._shared.table, numbers, codes), self._shared.null)
        partners = np.flatnonzero(judge.partners(len(numbers), np.arange(len(numbers))))
        others = [number for number in numbers[partners].tolist() if number != row]
        return int(others[0]) if others else -1

    def _rows_of_group(self, codes: Int32s) -> Int64s:
        table = self._shared.table
        rows = table.live_rows()
        for column in self._group:
            rows = rows[table.codes.column_of_rows(column, rows) == codes[column, 0]]
        return rows[~np.isin(rows, list(self._shared.out))] if self._shared.out else rows

    def conflicts(self, codes: Int32s) -> Flags:
        """Which rows break the law with each other."""
        given = RowCodes.of_matrix(codes)
        return self._counted.conflicts(given, self._members.roles(given))

    def witness(self) -> Pair | None:
        """Two rows that break the law."""
        if not self._counted.tally[1]:
            return None
        is_live = self._shared.table.is_live
        if self._witness is None or not (is_live[self._witness[0]] and is_live[self._witness[1]]):
            self._witness = self._found_witness()
        return self._witness

    def _found_witness(self) -> Pair:
        """Two rows of a group that breaks the law; the table is read for them."""
        group = self._counted.broken_group()
        table = self._shared.table
        rows = table.live_rows()
        ids = self._shared.groups.ids(self._group, RowCodes.of_table(table, rows), add=False)
        rows = rows[ids == group]
        codes = table.codes.of_rows(rows)
        partners = self.partners_of(rows[:_LOOKED_AT], codes[:, :_LOOKED_AT])
        for row, partner in zip(rows.tolist(), partners.tolist(), strict=False):
            if partner >= 0:
                return row, partner
        partners = self.partners_of(rows, codes)
        place = int(np.argmax(partners >= 0))
        return int(rows[place]), int(partners[place])


_LOOKED_AT = 64


class OrderIndex:
    """Keeps a law that wants two orders to agree within the groups of a context."""

    def __init__(self, law: Law, plan: Plan, shared: Shared) -> None:
        assert isinstance(plan.shape, Ordered)
        self._shared, self._group, self._shape = shared, plan.group, plan.shape
        self._members = _Members(law, plan, shared)
        self._signed = (*plan.shape.by, *plan.shape.then)
        self._first = 1 if plan.group else 0
        leading = self._first + len(plan.shape.by)
        by = (*range(self._first), *range(leading, leading + len(plan.shape.then)))
        self._spec = OrderSpec(leading + len(plan.shape.then), leading, plan.shape.turned, by, plan.shape.strict)
        self._ordered: OrderedRows | None = None
        self._labelled: tuple[int, ...] = ()

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return self._rows.memory

    @property
    def _rows(self) -> OrderedRows:
        assert self._ordered is not None, "an index is built before it is used"
        return self._ordered

    @property
    def is_stale(self) -> bool:
        """Whether values have other labels than those in the index, so that it has to be built again."""
        return self._labelled != self._labels_given()

    def _labels_given(self) -> tuple[int, ...]:
        keys = [self._shared.keys.column(column) for column, _ in self._signed]
        return tuple(number for each in keys for number in (each.labelled, each.ordered))

    def build(self, rows: Int64s, codes: RowCodes, view: LiveView) -> None:
        """Take in the rows that are there, and no others."""
        roles = self._members.roles(codes, view)
        if (roles < 0).any():
            rows, codes = rows[roles >= 0], codes.some(roles >= 0)
        self._ordered = OrderedRows(self._spec, self._keys(codes), rows, self._in_order(codes))
        self._labelled = self._labels_given()

    def _keys(self, codes: RowCodes) -> Int64s:
        """The keys of rows, `int64[keys, rows]`."""
        keys = np.empty((self._spec.keys, codes.rows), np.int64)
        if self._first:
            keys[0] = self._shared.groups.ids(self._group, codes)
        for place, (column, sign) in enumerate(self._signed, self._first):
            labels = self._shared.keys.column(column).labels[codes.column(column)]
            keys[place] = labels if sign > 0 else -labels
        return keys

    def _in_order(self, codes: RowCodes) -> Int32s:
        """All rows in their order, by sorting them key by key from the last on; equal ones stay as they are."""
        order: Int32s = np.arange(codes.rows, dtype=np.int32)
        turned = -1 if self._shape.turned else 1
        signed = [*self._shape.by, *((column, turned * sign) for column, sign in self._shape.then)]
        for column, sign in reversed(signed):
            keys = self._shared.keys.column(column)
            ranks = keys.ranks()[codes.column(column)[order]]
            order = order[rows_by_code(ranks if sign > 0 else np.int32(keys.known) - ranks, keys.known)[0]]
        if self._first:
            ids = self._shared.groups.ids(self._group, codes)[order]
            order = order[rows_by_code(ids, int(ids.max(initial=0)))[0]]
        return order

    def _given(self, rows: Int64s, codes: Int32s) -> tuple[Int64s, Int64s]:
        """The keys and numbers of the rows that take part."""
        given = RowCodes.of_matrix(codes)
        takes_part = self._members.roles(given) >= 0
        if not takes_part.all():
            rows, given = rows[takes_part], given.some(takes_part)
        return np.ascontiguousarray(self._keys(given).T), rows

    def insert(self, rows: Int64s, codes: Int32s) -> None:
        """Take rows in."""
        self._rows.insert(*self._given(rows, codes))

    def delete(self, rows: Int64s, codes: Int32s) -> None:
        """Let rows go."""
        self._rows.delete(*self._given(rows, codes))

    def prepared(self, gone: Int64s, of_gone: Int32s, come: Int64s, of_come: Int32s) -> Callable[[], None]:
        """What lets rows go and come in a thread of its own: nothing that indexes share is touched there."""
        before, after = self._given(gone, of_gone), self._given(come, of_come)

        def follow() -> None:
            if len(gone):
                self._rows.delete(*before)
            if len(come):
                self._rows.insert(*after)

        return follow

    def tally(self) -> Tally:
        """How badly the law is broken."""
        return Tally(*self._rows.tally)

    def witness(self) -> Pair | None:
        """Two rows that break the law."""
        return self._rows.witness()

    def partners(self, codes: Int32s) -> Int64s:
        """For rows that are not taken in, a row that each would break the law with."""
        return self._partners(np.full(codes.shape[1], np.iinfo(np.int32).max, np.int64), codes)

    def partners_of(self, rows: Int64s, codes: Int32s) -> Int64s:
        """For rows that are taken in, another row that each breaks the law with."""
        return self._partners(rows, codes)

    def _partners(self, rows: Int64s, codes: Int32s) -> Int64s:
        found = np.full(len(rows), -1, np.int64)
        takes_part = self._members.roles(RowCodes.of_matrix(codes)) >= 0
        keys, asked = self._given(rows, codes)
        found[takes_part] = self._rows.partners(keys, asked)
        return found

    def conflicts(self, codes: Int32s) -> Flags:
        """Which rows break the law with each other."""
        takes_part = np.flatnonzero(self._members.roles(RowCodes.of_matrix(codes)) >= 0)
        keys, _ = self._given(np.arange(codes.shape[1]), codes)
        found = np.zeros((codes.shape[1], codes.shape[1]), np.bool_)
        found[np.ix_(takes_part, takes_part)] = self._rows.conflicts(keys)
        return found
