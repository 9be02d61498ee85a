"""The pinned laws of a table, kept batch by batch.

A law that has an index is kept by it (`plan.py` says which have); all others are checked on the whole table by an
engine. Laws that are known to hold, because they follow from one that a state keeps, cost nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lawful.checks import CheckTask, find_violations
from lawful.checks.denials.pair_judge import PairJudge
from lawful.checks.fitting import require_fitting
from lawful.checks.law_checks import checks_of
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, columns_of, format_law
from lawful.discovery.questions import Watch
from lawful.engines import Engine
from lawful.evidence.living.pinned.row_codes import RowCodes
from lawful.maintenance.evidence import Pair
from lawful.maintenance.pins.indexes import NoIndex, PinIndex
from lawful.maintenance.pins.kept_indexes import CountIndex, OrderIndex, Shared
from lawful.maintenance.pins.outcomes import NO_PAIRS, PinnedLaw, PutAside
from lawful.maintenance.pins.plan import Ordered, Plan, plan_of
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.living.loose_rows import LooseRows

MakeEngine = Callable[[], Engine]
_TRIED_AT_ONCE = 512
"""Rows that are held against each other in one go before they join those that were let through."""
_ROWS_A_LOOK = 1 << 15
"""Rows of a batch that indexes follow between two looks at the limits."""


class PinnedLaws:
    """Follows a table for the laws that are pinned.

    Parameters
    ----------
    table
        The table; whoever changes it calls `apply` right after.
    null
        What null means.
    """

    def __init__(self, table: LivingTable, null: NullPolicy) -> None:
        self._table, self._null = table, null
        self._shared = Shared(table, null)
        self._indexes: dict[Law, PinIndex | NoIndex] = {}
        self._by_plan: dict[tuple[Plan, tuple[int, ...]], PinIndex] = {}
        self._held: dict[Law, bool] = {}

    @property
    def table(self) -> LivingTable:
        """The table."""
        return self._table

    @property
    def memory(self) -> int:
        """Bytes that all indexes take."""
        return self._shared.memory + sum(index.memory for index in self._kept())

    def knows(self, laws: Sequence[Law]) -> bool:
        """Whether it is known of each law if it holds now."""
        return all(law in self._held for law in laws)

    def judged(
        self,
        laws: Sequence[Law],
        implied: Sequence[Law],
        engine: MakeEngine,
        watch: Watch,
        new: range | None = None,
    ) -> list[PinnedLaw]:
        """How laws fare now, and which rows of a batch break them.

        Parameters
        ----------
        laws
            The pinned laws.
        implied
            Those that are known to hold.
        new
            The rows that the last batch brought; None if there was no batch.
        """
        rows = np.arange(new.start, new.stop) if new else np.empty(0, np.int64)
        found: dict[Law, PinnedLaw] = {}
        unindexed: list[Law] = []
        offenders: dict[int, Int64s] = {}
        for law in laws:
            if law in implied:
                found[law] = PinnedLaw(format_law(law, self._table.names), True, 0)
            elif isinstance(index := self._index(law), NoIndex):
                unindexed.append(law)
            else:
                watch.look()
                found[law] = self._by_index(law, index, rows, offenders)
        found |= self._by_checks(unindexed, rows, engine, watch)
        held, self._held = self._held, {law: pinned.holds for law, pinned in found.items()}
        return [_since(found[law], held.get(law) if new is not None else None) for law in laws]

    def differences(self, laws: Sequence[Law], engine: MakeEngine, watch: Watch) -> list[str]:
        """What indexes have counted otherwise than checks of the whole table, in words."""
        nothing = np.empty(0, np.int64)
        indexed = {law: index for law in laws if not isinstance(index := self._index(law), NoIndex)}
        told = []
        for law, pinned in self._by_checks(list(indexed), nothing, engine, watch).items():
            counted = indexed[law].tally()
            if counted != (pinned.violating, pinned.pairs):
                told.append(
                    f"pinned {pinned.text}: {counted.rows:,} rows in {counted.pairs:,} pairs were counted, and "
                    f"there are {pinned.violating:,} in {pinned.pairs:,}"
                )
        return told

    def apply(self, gone: Int64s, new: range, watch: Watch) -> None:
        """Follow a batch that the table has taken in."""
        if not self._indexes:
            return
        stale = self._catch_up()
        come = np.arange(new.start, new.stop)
        for start in range(0, max(len(gone), len(come)), _ROWS_A_LOOK):
            watch.look()
            some = slice(start, start + _ROWS_A_LOOK)
            self._follow(gone[some], come[some], stale)

    def _follow(self, gone: Int64s, come: Int64s, stale: Sequence[OrderIndex]) -> None:
        """Let rows go from all indexes and come to them, but for those that were built with these rows."""
        of_gone, of_come = self._table.codes.of_rows(gone), self._table.codes.of_rows(come)
        following = []
        for index in self._kept():
            if isinstance(index, OrderIndex):
                if index not in stale:
                    following.append(index.prepared(gone, of_gone, come, of_come))
                continue
            if len(gone):
                index.delete(gone, of_gone)
            if len(come):
                index.insert(come, of_come)
        _run(following)

    def forget_new_values(self) -> None:
        """Follow a table whose dictionaries have lost the values of a batch that was refused."""
        self._shared.keys.forget_new_values()

    def _kept(self) -> list[PinIndex | NoIndex]:
        """All indexes, once each."""
        return list({id(index): index for index in self._indexes.values()}.values())

    def _catch_up(self) -> list[OrderIndex]:
        """Give labels to new values; return the indexes that had to be built again, for the rows as they are."""
        self._shared.keys.catch_up()
        stale = [index for index in self._kept() if isinstance(index, OrderIndex) and index.is_stale]
        if stale:
            rows, view = self._table.live_rows(), LiveView.of(self._table)
            codes = RowCodes.of_table(self._table, rows)
            for index in stale:
                index.build(rows, codes, view)
        return stale

    def breaking(self, laws: Sequence[Law], gone: Int64s, come: Int32s, watch: Watch) -> list[PutAside]:
        """Which rows would break a law if they came, once others are gone; nothing is changed.

        Rows are looked at in their order. One is put aside if it breaks a law with a row that stays in the table, or
        with one that was let through before it. Rows are told by their places in `come`.
        """
        indexes = [self._index(law) for law in laws]
        self._catch_up()
        self._shared.out = set(gone.tolist())
        try:
            return self._put_aside(indexes, gone, come, watch)
        except BaseException:
            self._indexes.clear()  # they are half way
            self._by_plan.clear()
            raise
        finally:
            self._shared.out = set()

    def _put_aside(
        self, indexes: Sequence[PinIndex | NoIndex], gone: Int64s, come: Int32s, watch: Watch
    ) -> list[PutAside]:
        of_gone, first = self._table.codes.of_rows(gone), self._table.end
        aside: list[PutAside] = []
        let_through: list[int] = []
        kept = self._kept()
        for index in kept:
            index.delete(gone, of_gone)
        for start in range(0, come.shape[1], _TRIED_AT_ONCE):
            watch.look()
            codes = np.ascontiguousarray(come[:, start : start + _TRIED_AT_ONCE])
            is_through = self._tried(indexes, codes, start, let_through, aside)
            passed = np.flatnonzero(is_through)
            numbers = np.arange(first + len(let_through), first + len(let_through) + len(passed))
            for index in kept:
                index.insert(numbers, np.ascontiguousarray(codes[:, passed]))
            let_through += (passed + start).tolist()
        passing, numbers = np.ascontiguousarray(come[:, let_through]), np.arange(first, first + len(let_through))
        for index in kept:
            index.delete(numbers, passing)
            index.insert(gone, of_gone)
        return aside

    def _tried(
        self,
        indexes: Sequence[PinIndex | NoIndex],
        codes: Int32s,
        start: int,
        let_through: list[int],
        aside: list[PutAside],
    ) -> Flags:
        """Which of some rows are let through; notes the others."""
        partners = [index.partners(codes) for index in indexes]
        conflicts = [index.conflicts(codes) for index in indexes]
        is_through = np.zeros(codes.shape[1], np.bool_)
        for row in range(codes.shape[1]):
            for pin, (known, among) in enumerate(zip(partners, conflicts, strict=True)):
                partner, new_partner = int(known[row]), -1
                if partner >= self._table.end:
                    partner, new_partner = -1, let_through[partner - self._table.end]
                elif partner < 0 and (before := np.flatnonzero(among[row, :row] & is_through[:row])).size:
                    new_partner = start + int(before[0])
                if partner >= 0 or new_partner >= 0:
                    aside.append(PutAside(start + row, pin, partner, new_partner))
                    break
            else:
                is_through[row] = True
        return is_through

    def _index(self, law: Law) -> PinIndex | NoIndex:
        if law not in self._indexes:
            self._indexes[law] = self._built(law)
        return self._indexes[law]

    def _built(self, law: Law) -> PinIndex | NoIndex:
        view = LiveView.of(self._table)
        require_fitting(law, view, Workspace(view, self._null))
        plan = plan_of(law)
        if plan is None:
            return NoIndex(self._table, law, self._null)
        # Laws of two kinds that say the same have one index; where nulls are ignored, if they name the same columns.
        asked = plan, columns_of(law) if self._null is NullPolicy.IGNORE else ()
        if asked not in self._by_plan:
            index = (OrderIndex if isinstance(plan.shape, Ordered) else CountIndex)(law, plan, self._shared)
            self._shared.keys.catch_up()
            rows = view.numbers
            index.build(rows, RowCodes.of_table(self._table, rows), view)
            self._by_plan[asked] = index
        return self._by_plan[asked]

    def _by_index(self, law: Law, index: PinIndex, new: Int64s, offenders: dict[int, Int64s]) -> PinnedLaw:
        """How a law fares; `offenders` are known for indexes that another law has asked, and are noted there."""
        text, tally = format_law(law, self._table.names), index.tally()
        if not tally.pairs:
            return PinnedLaw(text, True, 0)
        if id(index) not in offenders:
            partners = index.partners_of(new, self._table.codes.of_rows(new))
            offenders[id(index)] = np.stack([new, partners], axis=1)[partners >= 0]
        pair = index.witness()
        witness = None if pair is None else self._oriented(law, pair)
        return PinnedLaw(text, False, tally.rows, witness, tally.pairs, offenders=offenders[id(index)])

    def _oriented(self, law: Law, pair: Pair) -> Pair:
        """The smaller number first, unless the law tells its two rows apart."""
        rows = np.sort(np.array(pair, np.int64))
        view = LooseRows.among(self._table, rows)
        one, other = checks_of(law).oriented(law, (0, 1), Workspace(view, self._null))
        return int(rows[one]), int(rows[other])

    def _by_checks(self, laws: Sequence[Law], new: Int64s, engine: MakeEngine, watch: Watch) -> Mapping[Law, PinnedLaw]:
        """Check laws on the whole table."""
        if not laws:
            return {}
        found: dict[Law, PinnedLaw] = {}
        view = LiveView.of(self._table)
        opened = engine()
        opened.open(view, self._null)
        try:
            for verdict in opened.check([CheckTask(n, law, damage=True) for n, law in enumerate(laws)]):
                watch.look()
                law, damage = laws[verdict.id], verdict.damage
                text = format_law(law, self._table.names)
                if verdict.witness is None or damage is None:
                    found[law] = PinnedLaw(text, verdict.holds, 0)
                    continue
                one, other = view.numbers[list(verdict.witness)].tolist()
                offenders = self._offenders(law, view, new)
                found[law] = PinnedLaw(text, False, damage.rows, (one, other), damage.pairs, offenders=offenders)
        finally:
            opened.close()
        return found

    def _offenders(self, law: Law, view: LiveView, new: Int64s) -> Int64s:
        """The new rows that break a law, each with a row that it does so with."""
        if not len(new):
            return NO_PAIRS
        rows = np.unique(find_violations(law, view, Workspace(view, self._null)).rows).astype(np.int64)
        judge = PairJudge(law, view, self._null)
        pairs = []
        for row in rows[view.numbers[rows] >= new[0]].tolist():
            others = rows[rows != row]
            partner = others[int(np.argmax(judge.partners(row, others)))]
            pairs.append((view.numbers[row], view.numbers[partner]))
        return np.array(pairs, np.int64).reshape(-1, 2)


def _run(jobs: Sequence[Callable[[], None]]) -> None:
    """Do all jobs, on all cores: nearly all of their time they are in kernels."""
    with ThreadPoolExecutor(max(1, min(len(jobs), os.cpu_count() or 1))) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()


def _since(pinned: PinnedLaw, held: bool | None) -> PinnedLaw:
    return PinnedLaw(
        pinned.text, pinned.holds, pinned.violating, pinned.witness, pinned.pairs, held, pinned.offenders
    )  # fmt: skip
