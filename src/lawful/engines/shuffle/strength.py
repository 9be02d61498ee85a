"""How strong laws are, exactly: keys and FDs by aggregation, orders and denial constraints class by class.

What is counted of a class adds up over classes, so a task sends one line of sums. A list-based order dependency has the
whole table for its class. What is counted of a class that is too large for a task is put together from the sizes of its
values and from what breaks the law in it (`large`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lawful.checks import CheckTask, Damage, Trial, Verdict, Workspace, checks_of
from lawful.checks.canonical_ods.checks import rows_in_order
from lawful.checks.law_checks import shares_of_all
from lawful.checks.strength.class_sizes import ClassSizes
from lawful.checks.strength.denials import Predicates, count_satisfying, trial_of_denial
from lawful.checks.strength.fd_measures import FDClasses, measures_of_classes
from lawful.checks.strength.judged import judged_rows
from lawful.checks.strength.keys_and_fds import (
    Agreements,
    RightSide,
    expected_agreements,
    expected_repeats,
    trial_of_counts,
    trial_of_splits,
)
from lawful.checks.strength.orders import (
    OrderCounts,
    count_by_sizes,
    count_in_classes,
    trial_of_lists,
    trial_of_orders,
)
from lawful.common.errors import LawfulError, TooLargeError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Key, Law, ListOD, Predicate
from lawful.dependencies.pointwise import as_denial
from lawful.engines.shuffle.chunks import Chunk, Runner
from lawful.engines.shuffle.classes import (
    CACHE_BYTES,
    by_classes,
    chunks_of_classes,
    law_columns,
    raise_told,
    too_large,
)
from lawful.engines.shuffle.large import LargeClasses, LargeRows
from lawful.engines.shuffle.listing import simplest
from lawful.engines.shuffle.splits import Grouping, class_sizes, count_splits
from lawful.tables.shuffled.table import ShuffledTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LINE = "sums array<string>, error string"
"""Numbers that add up, as texts: pairs of rows are more than 64 bits count."""

Sums = Callable[[Chunk, Workspace], Sequence[int | float]]


class Trying:
    """Tries laws of one table.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    chunk_rows
        How many rows a task looks at at once.
    gathered
        Runs a job and gives its few lines.
    large
        Answers for classes that no task takes.
    damage_of, holding
        Counts how badly a law is broken, and says which of some hold, in a few jobs for all of them.
    """

    def __init__(
        self,
        table: ShuffledTable,
        policy: NullPolicy,
        chunk_rows: int,
        gathered: Callable[[DataFrame], list[dict[str, Any]]],
        large: LargeRows,
        damage_of: Callable[[Law], Damage],
        holding: Callable[[Sequence[Law]], frozenset[Law]],
    ) -> None:
        self._table, self._policy, self._chunk_rows = table, policy, chunk_rows
        self._data, self._gathered = table.dataset, gathered
        self._large, self._damage_of, self._holding = large, damage_of, holding
        self._sizes: dict[Grouping, ClassSizes] = {}
        self._held: frozenset[Law] = frozenset()
        """The laws with large classes that hold: what breaks a law in these takes many jobs to count."""

    def verdicts(self, tasks: Sequence[CheckTask]) -> Iterator[Verdict]:
        """Try all laws, what is aggregated in a few jobs for all of them."""
        laws = {task.id: simplest(task.law) for task in tasks}
        of_trials = (grouping for law in laws.values() for grouping in self._groupings(law))
        of_measures = (grouping for task in tasks if task.measures for grouping in self._measured(task.law))
        self._know_sizes([*of_trials, *of_measures])
        by_classes_alone = [law for law in laws.values() if not isinstance(law, Key | FD)]
        self._held = self._holding([law for law in by_classes_alone if self._large.classes(law)])
        fds = [law for law in laws.values() if isinstance(law, FD)]
        splits = count_splits(self._data, fds, self._policy, self._gathered)
        for task in tasks:
            law = laws[task.id]
            if isinstance(law, FD):
                trial: Trial | None = trial_of_splits(splits[law], RightSide.of(self._by((law.rhs,), law)))
            elif isinstance(law, Key):
                trial = self._key_trial(law)
            else:
                trial = self._trial_by_classes(law)
            measures = self._measures(task.law, trial) if task.measures and trial is not None else None
            holds = bool(self._holding([law])) if trial is None else trial.pairs == 0
            yield Verdict(task.id, holds, None, trial=trial, measures=measures)

    def _trial_by_classes(self, law: Law) -> Trial | None:
        """The trial of a law whose classes are looked at one by one; None where too many rows have to meet."""
        try:
            if isinstance(law, CanonicalOD):
                return self._order_trial(law)
            if isinstance(law, DC | POD):
                return self._denial_trial(law)
            if isinstance(law, ListOD) and (large := self._large.classes(law)):
                return self._list_trial(law, large)
            return self._trial_in_one_task(law)
        except TooLargeError:
            return None

    def _groupings(self, law: Law) -> Iterator[Grouping]:
        """The groupings that the trial of a law needs."""
        if isinstance(law, FD):
            yield self._grouping((law.rhs,), law)
        elif isinstance(law, Key):
            yield self._grouping(law.columns, law)
            if len(law.columns) > 1:
                yield from (self._grouping((column,), law) for column in law.columns)
                yield from (self._grouping(_without(column, law), law) for column in law.columns)
        elif isinstance(law, DC | POD):
            columns = law_columns(law)
            yield from (self._grouping((column,), law) for column in columns)
            yield self._grouping(columns[:1], law)
        elif isinstance(law, CanonicalOD | ListOD) and self._large.classes(law).are_all:
            left, right = _sides(law)
            yield from (self._grouping(columns, law) for columns in (left, right, (*left, *right)))

    def _measured(self, law: Law) -> Iterator[Grouping]:
        """The groupings that the measures of a law need."""
        if isinstance(law, FD):
            yield from (self._grouping(columns, law) for columns in (law.lhs, (law.rhs,), (*law.lhs, law.rhs)))

    def _know_sizes(self, groupings: Iterable[Grouping]) -> None:
        missing = [grouping for grouping in groupings if grouping not in self._sizes]
        self._sizes |= class_sizes(self._data, missing, self._gathered)

    def _grouping(self, columns: Sequence[int], law: Law) -> Grouping:
        return Grouping.of(columns, law_columns(law), self._policy)

    def _by(self, columns: Sequence[int], law: Law) -> ClassSizes:
        """The classes of the rows that a law is judged on, by some of its columns."""
        return self._sizes[self._grouping(columns, law)]

    def _key_trial(self, law: Key) -> Trial:
        own = self._by(law.columns, law)
        pairs = own.rows * (own.rows - 1) // 2
        if len(law.columns) < 2 or not pairs:
            tested, expected = expected_repeats(pairs, own.classes if law.columns else 0)
        else:
            parts = [(self._by(_without(c, law), law).pairs, self._by((c,), law).pairs) for c in law.columns]
            tested, expected = expected_agreements(pairs, parts)
        return trial_of_counts(Agreements(own.pairs, own.agreeing, own.removals), own.rows, tested, expected)

    def _order_trial(self, law: CanonicalOD) -> Trial:
        def counted(_: Chunk, workspace: Workspace) -> OrderCounts:
            rows, labels, b = rows_in_order(law, workspace)
            return count_in_classes(rows, labels, workspace.column(law.left), b)

        large = self._large.classes(law)
        total = self._summed(law, law, counted, large)
        if large:
            damage = self._damage_in(large, law)
            of_sizes = self._counted_by_sizes(law, large)
            of_damage = OrderCounts(0, damage.pairs, damage.removals or 0, 0, 0.0, 0.0, damage.rows)
            for numbers in (of_sizes, of_damage):
                total = _added(total, numbers)
            if damage.removals is None:
                return replace(trial_of_orders(OrderCounts(*total)), removals=None)
        return trial_of_orders(OrderCounts(*total) if total else OrderCounts(0, 0, 0, 0, 0.0, 0.0, 0))

    def _damage_in(self, large: LargeClasses, law: Law) -> Damage:
        return _no_damage(law) if law in self._held else self._large.damage(law, large)[0]

    def _counted_by_sizes(self, law: CanonicalOD | ListOD, large: LargeClasses) -> Sequence[Any]:
        """What the sizes of values tell of the order of two lists of columns in large classes."""
        left, right = _sides(law)
        sides = (self._sizes_within(columns, law, large) for columns in (left, right, (*left, *right)))
        total: list[Any] = []
        for a, b, both in zip(*sides, strict=True):
            total = _added(total, count_by_sizes(a, b, both))
        return total

    def _sizes_within(self, columns: Sequence[int], law: Law, large: LargeClasses) -> list[ClassSizes]:
        return [self._by(columns, law)] if large.are_all else self._large.sizes_within(columns, large)

    def _list_trial(self, law: ListOD, large: LargeClasses) -> Trial:
        """The trial of an order dependency of so many rows that no task takes them; see `list_order_trial`."""
        x, y = (self._by(columns, law) for columns in _sides(law))
        counts = OrderCounts(*self._counted_by_sizes(law, large))
        swaps = 0 if law in self._held else self._large.swaps(law, large)
        order = trial_of_orders(counts._replace(swaps=swaps))
        damage = self._damage_in(large, law)
        return trial_of_lists(order, x, y, damage.pairs, damage.rows, damage.removals)

    def _denial_trial(self, stated: DC | POD) -> Trial:
        law = as_denial(stated) if isinstance(stated, POD) else stated
        size = self._by(law_columns(law)[:1], law).rows

        def count(predicates: Predicates) -> int:
            if predicates == law.predicates and stated in self._held:
                return 0
            if len(predicates) == 1 and _is_of_one_column(predicates[0]):
                return self._count_alone(predicates[0], law)
            return self._count_in_classes(predicates, law)

        damage = _no_damage(law) if stated in self._held else self._damage_of(law)
        return trial_of_denial(law, damage, size, count)

    def _count_alone(self, predicate: Predicate, law: DC) -> int:
        """The ordered pairs of rows that satisfy one comparison of a column with itself: the sizes of values tell."""
        by_value = self._by((predicate.left.column,), law)
        equal = 2 * by_value.pairs
        unequal = by_value.rows * (by_value.rows - 1) - equal
        if predicate.operator in ("=", "!="):
            return equal if predicate.operator == "=" else unequal
        return unequal // 2 + (equal if predicate.operator in ("<=", ">=") else 0)

    def _count_in_classes(self, predicates: Predicates, law: DC) -> int:
        """The ordered pairs of the rows that a constraint is judged on which satisfy some of its predicates."""
        columns, some = law_columns(law), DC(predicates)

        def counted(_: Chunk, workspace: Workspace) -> tuple[int]:
            return (count_satisfying(predicates, judged_rows(columns, workspace), workspace),)

        large = self._large.classes(some, law)
        found = int(sum(self._summed(some, law, counted, large)))
        return found + self._large.ordered_pairs(some, large) if large else found

    def _summed(self, law: Law, whole: Law, sums: Sums, large: LargeClasses) -> list[Any]:
        """Sum what is counted in classes of a law that are not large, over rows with the columns of another law.

        Nothing is summed without rows.
        """
        if large.are_all:
            return []
        rows, words = by_classes(self._data, law, columns=law_columns(whole), where=large.others)
        runner = _sum_runner(sums, self._policy, words, tuple(self._data.types), self._chunk_rows)
        total: list[Any] = []
        for line in self._gathered(rows.mapInArrow(runner, _LINE)):
            raise_told(line["error"])
            numbers = [json.loads(text) for text in line["sums"]]
            total = _added(total, numbers)
        return total

    def _trial_in_one_task(self, law: Law) -> Trial:
        """Let one task have the whole table."""

        def tried(_: Chunk, workspace: Workspace) -> tuple[Any, ...]:
            return astuple(checks_of(law).trial(law, workspace))

        if self._large.classes(law):
            raise TooLargeError(too_large())
        found = self._summed(law, law, tried, LargeClasses())
        return Trial(*found) if found else Trial(0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)

    def _measures(self, law: Law, trial: Trial) -> dict[str, float | None]:
        if not isinstance(law, FD):
            return shares_of_all(trial, self._table.rows)
        sides = (law.lhs, (law.rhs,), (*law.lhs, law.rhs))
        classes = FDClasses(*(self._by(columns, law) for columns in sides))
        return asdict(measures_of_classes(trial, classes, self._table.rows))


def _sides(law: CanonicalOD | ListOD) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns that a law orders by, and those that follow."""
    if isinstance(law, CanonicalOD):
        return (law.left,), (law.right,)
    return tuple(column for column, _ in law.lhs), tuple(column for column, _ in law.rhs)


def _no_damage(law: Law) -> Damage:
    return Damage(0, 0, 0, 0 if checks_of(law).counts_removals(law) else None)


def _without(column: int, law: Key) -> tuple[int, ...]:
    return tuple(other for other in law.columns if other != column)


def _is_of_one_column(predicate: Predicate) -> bool:
    """Whether one column of both rows is compared."""
    left, right = predicate.left, predicate.right
    return isinstance(right, Cell) and left.row != right.row and left.column == right.column


def _plain(number: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return number.item()


def _added(total: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
    return [one + other for one, other in zip(total, numbers, strict=True)] if total else list(numbers)


def _sum_runner(sums: Sums, policy: NullPolicy, words: int, types: Sequence[ColumnType], most: int) -> Runner:
    """A task that sums up what is counted in its classes: a line at most."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total: list[int | float] = []
        error = None
        try:
            for chunk in chunks_of_classes(batches, words, types, most):
                numbers = sums(chunk, Workspace(chunk, policy, CACHE_BYTES))
                total = _added(total, numbers)
        except LawfulError as wrong:
            error = wrong.typed_message
        if total or error:
            texts = [json.dumps(number, default=_plain) for number in total]
            told = pa.array([texts], pa.list_(pa.string()))
            yield pa.RecordBatch.from_arrays([told, pa.array([error], pa.string())], names=["sums", "error"])

    return run
