"""Whether laws hold: first within what each task reads, then by shuffles, for every family the ones that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lawful.checks import CheckTask, Damage, checks_of
from lawful.common.errors import TooLargeError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, CanonicalOD, Key, Law
from lawful.engines.shuffle.chunks import FOUND, REFUTED, Runner, chunk_checker, row_finder
from lawful.engines.shuffle.classes import (
    DAMAGES,
    by_classes,
    class_columns,
    damage_runner,
    equal_columns,
    raise_told,
)
from lawful.engines.shuffle.groups import Broken, GroupedCheck, grouped_jobs
from lawful.engines.shuffle.implied import KnownToHold, least_of
from lawful.engines.shuffle.keys import lines_a_row
from lawful.engines.shuffle.large import LargeClasses, LargeRows
from lawful.engines.shuffle.parts import parts_of, strict_orders
from lawful.engines.shuffle.pruning import can_prune, pruner
from lawful.engines.shuffle.sequences import Damaged
from lawful.engines.shuffle.sweeps import SweptCheck
from lawful.engines.shuffle.tiles import TiledCheck
from lawful.engines.shuffle.values import ValuedChunk, with_values_of
from lawful.tables.shuffled.table import ShuffledTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WANTS_AT_ONCE = 500
_NUMBERS = ("rows", "groups", "pairs", "removals")

Pair = tuple[int, int]
Lines = list[dict[str, Any]]


class Deciding:
    """Decides laws of one table.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    chunk_rows
        How many rows a task checks at once.
    gathered
        Runs a job and gives its few lines.
    large
        Answers for classes that no task takes.
    """

    def __init__(
        self,
        table: ShuffledTable,
        policy: NullPolicy,
        chunk_rows: int,
        gathered: Callable[[DataFrame], Lines],
        large: LargeRows,
    ) -> None:
        self._table, self._policy, self._chunk_rows, self._gathered = table, policy, chunk_rows, gathered
        self._data, self._large = table.dataset, large

    @property
    def is_one_chunk(self) -> bool:
        """Whether one task checks all rows at once, so that nothing is left to shuffle."""
        return self._table.rows <= self._chunk_rows

    def refuted_by_chunks(self, tasks: Sequence[CheckTask]) -> dict[int, Pair]:
        """Let each task check the rows that it reads; one witness for each law comes back."""
        data = self._data
        numbered = [CheckTask(number, task.law) for number, task in enumerate(tasks)]
        as_chunk = partial(ValuedChunk, types=tuple(data.types))
        runner = chunk_checker(numbered, self._policy, self._chunk_rows, as_chunk)
        ranks = with_values_of(data, (task.law for task in tasks))
        if self.is_one_chunk:
            ranks = ranks.coalesce(1)
        members = [part.split()[0] for part in REFUTED.split(", ")][1:]
        least = data.expr(f"min(struct({', '.join(members)})) as found")
        frame = ranks.mapInArrow(runner, REFUTED).groupBy("id").agg(least).selectExpr("id", "found.*")
        found: dict[int, Pair] = {}
        for line in self._gathered(frame):
            rows = line["first"], line["second"]
            data.know(rows, (line["first_ranks"], line["second_ranks"]))
            found[tasks[line["id"]].id] = rows
        return found

    def broken(self, tasks: Sequence[CheckTask]) -> dict[int, Pair]:
        """Decide by shuffles what no chunk refutes: the laws that are broken, each with two rows that break it."""
        parts: dict[Law, int] = {}
        needed = {task.id: [parts.setdefault(part, len(parts)) for part in parts_of(task.law)] for task in tasks}
        found = self._witnesses(list(self._broken_parts([CheckTask(number, part) for part, number in parts.items()])))
        wrong = {id_: [found[number] for number in numbers if number in found] for id_, numbers in needed.items()}
        return {id_: pairs[0] for id_, pairs in wrong.items() if pairs}

    def holds_by_counts(self, law: Law) -> bool:
        """Whether a law speaks of rows that agree on a column of which no two rows have the same value."""
        return any(self._is_unique(column) for column in equal_columns(law))

    def _is_unique(self, column: int) -> bool:
        nulls = self._table.nulls(column)
        return nulls <= 1 and self._table.distinct(column) + nulls == self._table.rows

    def _broken_parts(self, parts: Sequence[CheckTask]) -> Iterator[Broken]:
        known, lines = KnownToHold(), lines_a_row(self._data)
        pending = [part for part in parts if isinstance(part.law, Key | FD) and not self.holds_by_counts(part.law)]
        while pending:
            asked, pending = least_of(pending)
            refuted = set()
            for laws in grouped_jobs(asked, self._policy, lines):
                grouped = GroupedCheck(self._data, laws, self._policy)
                for broken in grouped.broken(self._gathered(grouped.frame())):
                    refuted.add(broken.id)
                    yield broken
            known.learn(part.law for part in asked if part.id not in refuted)
            pending = [part for part in pending if not known.implies(part.law)]
        parts = [part for part in parts if not self.holds_by_counts(part.law)]
        swept = [part for part in parts if isinstance(part.law, CanonicalOD)]
        for first in range(0, len(swept), lines):
            sweep = SweptCheck(self._data, swept[first : first + lines], self._policy)
            yield from sweep.broken(self._gathered(sweep.frame()))
        for part in parts:
            if not isinstance(part.law, Key | FD | CanonicalOD):
                witness = self._broken_in_classes(part.law)
                if witness is not None:
                    yield Broken(part.id, witness, None)

    def _broken_in_classes(self, law: Law) -> Pair | None:
        """Two rows that break a law, looked for in whole classes; where these are too large, in tiles of them."""
        large = self._large.classes(law)
        if not large.are_all:
            classes = by_classes(self._data, law, prune=self._pruner(law), where=large.others)
            found = _pair(self._classes_checked(law, *classes, counts=False)["witness"])
            if found is not None or not large:
                return found
        for looked in (self._broken_in_strips, self._broken_in_what_is_left):
            try:
                if (told := looked(law, large)) is not None:
                    return told[0]
            except TooLargeError:  # strips of frequent values, and most rows decide
                continue
        return self._large.witness(law, large)

    def _broken_in_strips(self, law: Law, large: LargeClasses) -> tuple[Pair | None] | None:
        """What strips tell of a law of strict orders; None of another."""
        ordered = strict_orders(law)
        if ordered is None:
            return None
        tiles = TiledCheck(self._data, law, self._policy, class_columns(law), ordered, self._chunk_rows)
        (quantiles,) = self._gathered(tiles.quantiles())
        tiles.take_quantiles(quantiles)
        for rows, words in tiles.frames():
            line = self._classes_checked(law, rows, words, counts=False)
            if line["witness"] is not None:
                return (_pair(line["witness"]),)
        return (None,)

    def _broken_in_what_is_left(self, law: Law, large: LargeClasses) -> tuple[Pair | None] | None:
        """What the rows tell that are left of the whole table once those are gone that do not decide."""
        if not large.are_all or not isinstance(law, DC) or not can_prune(law):
            return None
        classes = by_classes(self._data, law, prune=self._pruner(law))
        return (_pair(self._classes_checked(law, *classes, counts=False)["witness"]),)

    def _pruner(self, law: Law) -> Runner | None:
        if not isinstance(law, DC):
            return None
        return pruner(law, self._policy, tuple(self._data.types), self._chunk_rows)

    def damage(self, law: Law) -> Damaged:
        """How badly a law is broken: what tasks count in whole classes, and what is counted in large ones."""
        large = self._large.classes(law)
        line: dict[str, Any] = dict.fromkeys((*_NUMBERS, "witness"))
        if not large.are_all:
            line = self._classes_checked(law, *by_classes(self._data, law, where=large.others), counts=True)
        rows, groups, pairs, removals = (int(line[name] or 0) for name in _NUMBERS)
        found = Damage(rows, groups, pairs, removals if checks_of(law).counts_removals(law) else None)
        first = None if line["witness"] is None else int(line["witness"]["first"])
        return _added((found, first), self._large.damage(law, large)) if large else (found, first)

    def _classes_checked(self, law: Law, rows: DataFrame, words: int, *, counts: bool) -> dict[str, Any]:
        runner = damage_runner(law, self._policy, words, tuple(self._data.types), self._chunk_rows, counts=counts)
        sums = [f"sum({name}) as {name}" for name in _NUMBERS]
        sums.append("max(error) as error")
        witness = "min(if(holds is null, null, struct(first, second))) as witness"
        expr = self._data.expr
        (line,) = self._gathered(rows.mapInArrow(runner, DAMAGES).agg(*map(expr, (*sums, witness))))
        raise_told(line["error"])
        return line

    def _witnesses(self, broken: Sequence[Broken]) -> dict[int, Pair]:
        """The rows that break laws; those that are known by their ranks are looked up, all at once."""
        wanted = [ranks for one in broken if one.wanted is not None for ranks in one.wanted]
        rows: list[int] = []
        for first in range(0, len(wanted), _WANTS_AT_ONCE):
            rows += self._rows_with(wanted[first : first + _WANTS_AT_ONCE])
        in_turn = iter(rows)
        found = {}
        for one in broken:
            pair = one.rows if one.rows is not None else (next(in_turn), next(in_turn))
            found[one.id] = (min(pair), max(pair))
        return found

    def _rows_with(self, wanted: Sequence[dict[int, int]]) -> list[int]:
        data = self._data
        runner = row_finder(wanted, data.width)
        in_order = data.ranks.select("row", *(f"c{column}" for column in range(data.width)))
        least = data.expr("min(struct(row, ranks)) as found")
        frame = in_order.mapInArrow(runner, FOUND).groupBy("want").agg(least).selectExpr("want", "found.*")
        lines = {line["want"]: line for line in self._gathered(frame)}
        data.know([line["row"] for line in lines.values()], [line["ranks"] for line in lines.values()])
        return [lines[want]["row"] for want in range(len(wanted))]


def _added(found: Damaged, more: Damaged) -> Damaged:
    (one, _), (other, _) = found, more
    removals = None if one.removals is None or other.removals is None else one.removals + other.removals
    firsts = [first for _, first in (found, more) if first is not None]
    total = Damage(one.rows + other.rows, one.groups + other.groups, one.pairs + other.pairs, removals)
    return total, min(firsts, default=None)


def _pair(witness: dict[str, int] | None) -> Pair | None:
    return None if witness is None else (witness["first"], witness["second"])
