"""The engine for tables that no node holds: checks first within what each task reads, then by shuffles.

A law is first checked on every chunk of rows as a task reads them. What no chunk refutes is decided by grouping
or sorting all rows. Only verdicts, witnesses and a few numbers of each partition come back: nothing that grows with
the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Damage, GroupRows, Most, Verdict, Workspace, checks_of
from lawful.checks.denials.tree import Path
from lawful.checks.fitting import require_columns, require_policy
from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.opinions import Opinion
from lawful.common.arrays import Int32s, Int64s, Ints
from lawful.common.errors import TooLargeError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.engines.payloads import read_summary
from lawful.engines.protocol import ShouldStop
from lawful.engines.shuffle.chunks import chunk_rows
from lawful.engines.shuffle.counts import counted, counting_jobs
from lawful.engines.shuffle.deciding import Deciding
from lawful.engines.shuffle.keys import lines_a_row
from lawful.engines.shuffle.large import LargeRows
from lawful.engines.shuffle.large_summaries import summarized_by_spark
from lawful.engines.shuffle.listing import (
    listed_rows,
    listed_schema,
    numbered_batches,
    pieces_in_order,
    simplest,
    summarized,
)
from lawful.engines.shuffle.measured import coarse_classes, fine_classes, measure_together, measuring_jobs
from lawful.engines.shuffle.opinions import Asking, Told
from lawful.engines.shuffle.partners import first_partners
from lawful.engines.shuffle.sampling import draw_sample
from lawful.engines.shuffle.sequences import Damaged, too_long
from lawful.engines.shuffle.strength import Trying
from lawful.engines.shuffle.value_facts import ValueFacts
from lawful.engines.shuffle.values import ValuedChunk, prepared, rows_with_values
from lawful.engines.spark_jobs import Call, SparkJobs
from lawful.evidence import AgreeSets, Pool, Rows, SwapSets
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.search.pods.kept_left_sides import LeftSides
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.sample import SampleTable
from lawful.tables.shown_rows import Shown
from lawful.tables.shuffled.column_values import ColumnValues
from lawful.tables.shuffled.table import ShuffledTable
from lawful.tables.spark_errors import translated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ShuffleEngine:
    """Checks of a shuffled table on Spark, through the DataFrame API only.

    Parameters
    ----------
    spark
        A session, classic or Connect. No setting of it is changed, and it is not stopped.
    most_rows
        How many rows a task checks at once; None takes what fits its memory. No verdict depends on it.
    """

    name = "spark"
    is_elsewhere = True
    most_cache_bytes = 0
    placement = "shuffle"

    def __init__(self, spark: SparkSession, most_rows: int | None = None) -> None:
        self.spark = spark
        self._jobs = SparkJobs(spark, shares_files=False)
        self._most_rows = most_rows
        self._opened_on: tuple[ShuffledTable, NullPolicy] | None = None
        self._should_stop: ShouldStop | None = None
        self._facts: ValueFacts | None = None
        self._told: dict[VotingLaw, Told] = {}

    @contextmanager
    def stopping(self, should_stop: ShouldStop) -> Iterator[None]:
        """End jobs within this context when a limit says so: one may take longer than the limit allows."""
        self._should_stop = should_stop
        try:
            yield
        finally:
            self._should_stop = None

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Take a table, which is where Spark reads it already."""
        if not isinstance(table, ShuffledTable):
            raise UsageError(f"{table.name} was not encoded to be shuffled", "Use --placement replicate.")
        self._opened_on, self._facts = (table, null_policy), None
        self._told.clear()
        self._jobs.begin()

    def tune(self, *, cache_bytes: int | None = None, longest_chain: int | None = None) -> None:
        """Do nothing: a task keeps what a chunk of rows needs, and no longer."""

    def relieve(self) -> None:
        """Do nothing: nothing is kept in this process."""

    def cancel(self) -> None:
        """Interrupt all jobs of this engine on the cluster."""
        self._jobs.cancel()

    def close(self) -> None:
        """Let go of the table; the session stays as it is."""
        self._opened_on = None

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check all tasks in a few jobs; yield what chunks refute first."""
        table, _ = self._opened()
        given = list(tasks)
        for task in given:
            self._require(task, table)
        given = [replace(task, law=prepared(task.law, table)) for task in given]
        tried = [task for task in given if task.trial]
        given = [task for task in given if not task.trial]
        measured = [task for task in given if task.measure is not None and not isinstance(task.law, Key | FD)]
        known = {task.id for task in measured}
        yield from self._verdicts([task for task in given if task.measure is None and not task.damage])
        yield from self._counted([t for t in given if (t.measure is not None or t.damage) and t.id not in known])
        yield from self._measured(measured)
        trying = Trying(*self._opened(), self._chunk_rows, self._gathered, self._large(), self._damage, self._holding)
        yield from trying.verdicts(tried)

    def _require(self, task: CheckTask, table: ShuffledTable) -> None:
        require_columns(task.law, table)
        require_policy(task.law, self._opened()[1])
        if task.measure == "g3" and not checks_of(task.law).counts_removals(task.law):
            raise UsageError("the fewest removals that mend a denial constraint are too hard to find", "Use g1.")

    def _verdicts(self, tasks: Sequence[CheckTask]) -> Iterator[Verdict]:
        table, _ = self._opened()
        deciding = self._deciding()
        certain = {task.id for task in tasks if deciding.holds_by_counts(task.law)}
        yield from (Verdict(id_, True, None) for id_ in certain)
        remaining = [task for task in tasks if task.id not in certain]
        refuted = deciding.refuted_by_chunks(remaining) if remaining and table.rows else {}
        yield from (Verdict(id_, False, rows) for id_, rows in refuted.items())
        remaining = [task for task in remaining if task.id not in refuted]
        if remaining and table.rows and not deciding.is_one_chunk:
            broken = deciding.broken(remaining)
            yield from (Verdict(id_, False, rows) for id_, rows in broken.items())
            remaining = [task for task in remaining if task.id not in broken]
        yield from (Verdict(task.id, True, None) for task in remaining)

    def _measured(self, tasks: Sequence[CheckTask]) -> Iterator[Verdict]:
        """Count what breaks laws within an error, those with the same classes together."""
        table, policy = self._opened()
        certain = {task.id for task in tasks if not table.rows or self._deciding().holds_by_counts(task.law)}
        yield from (Verdict(id_, True, None, 0) for id_ in certain)
        remaining = [task for task in tasks if task.id not in certain]
        for classes in (coarse_classes(table, self._chunk_rows), fine_classes):
            too_large: list[CheckTask] = []
            for job in measuring_jobs(remaining, classes):
                try:
                    counts = measure_together(table.dataset, job, policy, self._chunk_rows, self._gathered)
                except TooLargeError:
                    too_large += job.tasks
                else:
                    yield from (Verdict(id_, not count, None, count) for id_, count in counts.items())
            remaining = too_large
        yield from self._counted(remaining)  # each law by itself may have a way around, or says what is too large

    def _counted(self, tasks: Sequence[CheckTask]) -> Iterator[Verdict]:
        """Check, then count what is broken: keys and FDs by aggregation, other laws class by class."""
        plain = [CheckTask(number, task.law) for number, task in enumerate(tasks)]
        # What aggregation counts, it decides too: only who wants to see two rows needs a verdict before.
        aggregated = [one for one in plain if tasks[one.id].measure is not None and isinstance(one.law, Key | FD)]
        known = {task.id for task in aggregated}
        witnesses = {verdict.id: verdict.witness for verdict in self._verdicts([t for t in plain if t.id not in known])}
        damages = self._damages([*aggregated, *(task for task in plain if witnesses.get(task.id) is not None)])
        witnesses |= self._first_pairs({task.id: task.law for task in plain if tasks[task.id].damage}, damages)
        for number, task in enumerate(tasks):
            witness, (damage, _) = witnesses.get(number), damages.get(number, (None, None))
            if task.measure is not None:
                violations = 0 if damage is None else damage.pairs if task.measure == "g1" else damage.removals
                if violations is None:
                    raise TooLargeError(too_long())
                yield Verdict(task.id, damage is None, None, violations)
            elif witness is None:
                yield Verdict(task.id, True, None)
            else:
                yield Verdict(task.id, False, self._oriented(task.law, witness), damage=damage)

    def _first_pairs(self, laws: dict[int, Law], damages: dict[int, Damaged]) -> dict[int, tuple[int, int]]:
        """The two rows that are shown of each broken law; see `first_pair`."""
        table, policy = self._opened()
        firsts = {id_: (laws[id_], first) for id_, (_, first) in damages.items() if id_ in laws and first is not None}
        partners = first_partners(table.dataset, firsts, policy, self._chunk_rows, self._gathered_table)
        return {id_: (firsts[id_][1], partner) for id_, partner in partners.items()}

    def _damages(self, tasks: Sequence[CheckTask]) -> dict[int, Damaged]:
        table, policy = self._opened()
        tasks = [replace(task, law=simplest(task.law)) for task in tasks]
        found: dict[int, Damaged] = {}
        for job in counting_jobs(tasks, lines_a_row(table.dataset)):
            for line in self._gathered(counted(table.dataset, job, policy)):
                numbers = (int(line[name]) for name in ("rows", "groups", "pairs", "removals"))
                found[job[line["t"]].id] = Damage(*numbers), int(line["first"])
        for task in tasks:
            if not isinstance(task.law, Key | FD):
                found[task.id] = self._deciding().damage(task.law)
        return found

    def _damage(self, law: Law) -> Damage:
        """How badly a law is broken, class by class."""
        return self._deciding().damage(law)[0]

    def _oriented(self, law: Law, rows: tuple[int, int]) -> tuple[int, int]:
        """Two rows in the order in which they are shown."""
        table, policy = self._opened()
        chunk = ValuedChunk(rows_with_values(table.dataset, law, rows, self._gathered_table), table.dataset.types)
        first, second = checks_of(law).oriented(law, (0, 1), Workspace(chunk, policy))
        return rows[first], rows[second]

    def violating_frame(self, law: Law) -> DataFrame:
        """The violating rows (`lawful_row`) of a law with the first ones of their groups (`lawful_group`), lazily."""
        return self._listed(law).select("lawful_group", "lawful_row")

    def violations(self, law: Law, shown: Shown | None = None, *, in_pairs: bool = False) -> Iterator[pa.RecordBatch]:
        """Let Spark find and sort the rows, and fetch them piece by piece; groups come in the order of first rows."""
        table, _ = self._opened()
        pieces = pieces_in_order(table.dataset, self._listed(law, in_pairs=in_pairs), shown)
        lines = Call(self._jobs, self._should_stop).streamed(pieces)
        return numbered_batches((line["piece"] for line in lines), table, shown, self._listed_schema(shown))

    def shown_schema(self, shown: Shown) -> pa.Schema:
        """Ask Spark for the types of the values."""
        return self._listed_schema(shown)

    def violating_groups(self, law: Law, most: Most) -> list[GroupRows]:
        """Let tasks tell the groups with the least first rows in short; what is asked for comes here, and no more."""
        table, policy = self._opened()
        law = self._required_for_listing(law)
        if self._large().classes(simplest(law)):
            groups = summarized_by_spark(table.dataset, law, self._listed(law), most, self._gathered)
        else:
            told = self._gathered(summarized(table.dataset, law, policy, self._chunk_rows, most))
            groups = [read_summary(json.loads(line["summary"])) for line in told]
        firsts = [variant.first[0] for group in groups for variant in group.variants]
        table.dataset.know(firsts, table.dataset.ranks_of(np.array(firsts, np.int64)).tolist())  # they will be shown
        return groups

    def _listed_schema(self, shown: Shown | None) -> pa.Schema:
        with translated():
            return listed_schema(self._opened()[0].dataset, shown)

    def _listed(self, law: Law, *, in_pairs: bool = False) -> DataFrame:
        table, policy = self._opened()
        law = self._required_for_listing(law)
        return listed_rows(table.dataset, law, policy, self._chunk_rows, self._large(), in_pairs=in_pairs)

    def _required_for_listing(self, law: Law) -> Law:
        """The law as tasks read it, once it is certain that its violating rows can be listed."""
        table, policy = self._opened()
        require_columns(law, table)
        require_policy(law, policy)
        return prepared(law, table)

    def sample(self, seed: int = 0) -> SampleTable:
        """Draw the rows that a search looks at; what it asks of all rows, it asks of this engine."""
        table, _ = self._opened()
        whole = _AllRows(self, table)
        ids, ranks = draw_sample(table, seed, self._gathered_table)
        return SampleTable(whole, ids, ranks, seed)

    def holds(self, law: Law, policy: NullPolicy) -> bool:
        """Whether one law holds, whatever null means elsewhere."""
        other = ShuffleEngine(self.spark, self._most_rows)
        other._jobs, other._opened_on = self._jobs, (self._opened()[0], policy)
        other._should_stop = self._should_stop
        return bool(other._holding([law]))

    def _holding(self, laws: Sequence[Law]) -> frozenset[Law]:
        """The laws that hold, of some."""
        tasks = [CheckTask(number, law) for number, law in enumerate(laws)]
        return frozenset(laws[verdict.id] for verdict in self._verdicts(tasks) if verdict.holds)

    @property
    def _chunk_rows(self) -> int:
        return self._most_rows or chunk_rows(self._opened()[0].width)

    def _deciding(self) -> Deciding:
        return Deciding(*self._opened(), self._chunk_rows, self._gathered, self._large())

    def _large(self) -> LargeRows:
        return LargeRows(*self._opened(), self._chunk_rows, self._gathered_table)

    def _gathered(self, frame: DataFrame) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = self._gathered_table(frame).to_pylist()
        return lines

    def _gathered_table(self, frame: DataFrame) -> pa.Table:
        return Call(self._jobs, self._should_stop).gathered(frame)

    def _opened(self) -> tuple[ShuffledTable, NullPolicy]:
        if self._opened_on is None:
            raise UsageError("the engine was not opened for a table")
        return self._opened_on

    def _refuse(self, what: str) -> NoReturn:
        raise self._opened()[0].needs_all_rows(what)

    def agree_sets(
        self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False, rows: Rows | None = None
    ) -> AgreeSets:
        """Refuse: nobody compares all pairs of so many rows."""
        self._refuse("comparing all pairs of rows")

    def violating_pairs(self, space: PredicateSpace, paths: Sequence[Path], should_stop: ShouldStop) -> Int32s:
        """Refuse."""
        self._refuse("a search for denial constraints")

    def refuting_pairs(self, laws: LeftSides, rows: Rows, should_stop: ShouldStop) -> Int32s:
        """Refuse."""
        self._refuse("a search for pointwise order dependencies")

    def denial_evidence(
        self, space: PredicateSpace, should_stop: ShouldStop, *, counted: bool = False
    ) -> DenialEvidence:
        """Refuse."""
        self._refuse("a search for denial constraints")

    def swap_evidence(self, columns: Sequence[int], should_stop: ShouldStop) -> SwapSets:
        """Refuse: nobody compares all pairs of so many rows."""
        self._refuse("comparing all pairs of rows")

    def pairs_of_classes(
        self, pool: Pool, sets: Sequence[tuple[int, ...]], most: Sequence[float], should_stop: ShouldStop
    ) -> list[Pool | int]:
        """Refuse: nobody compares all pairs of so many rows."""
        self._refuse("comparing all pairs of rows")

    def opinions(self, laws: Sequence[VotingLaw], should_stop: ShouldStop, rows: Ints | None = None) -> list[Opinion]:
        """Let rows vote by shuffles; the rows that a law finds wrong come here, and no others."""
        table, policy = self._opened()

        def gathered(frame: DataFrame) -> pa.Table:
            return Call(self._jobs, should_stop).gathered(frame)

        asking = Asking(table, policy, self._chunk_rows, self.value_facts, gathered, self._told)
        return asking.opinions(laws, None if rows is None else rows.astype(np.int64))

    @property
    def value_facts(self) -> ValueFacts:
        """How often values of the table occur, and their texts."""
        if self._facts is None:
            self._facts = ValueFacts(self._opened()[0], self._gathered_table)
        return self._facts


class _AllRows:
    """What a sample asks of all rows, through the engine."""

    def __init__(self, engine: ShuffleEngine, table: ShuffledTable) -> None:
        self._engine, self._table = engine, table
        self.rows, self.width = table.rows, table.width
        self.distinct: Callable[[int], int] = table.distinct
        self.nulls: Callable[[int], int] = table.nulls
        self.names, self.type = table.names, table.type
        self.values = ColumnValues(table, engine._gathered_table)

    def ranks_of(self, ids: Int64s) -> Int64s:
        """The ranks of some rows."""
        return self._table.dataset.ranks_of(np.asarray(ids, np.int64))

    def are_twins(self, first: int, second: int) -> bool:
        """Whether two columns agree and differ together in all rows."""
        values = [self._table.distinct(column) + (self._table.nulls(column) > 0) for column in (first, second)]
        return values[0] == values[1] and self._table.dataset.are_twins(first, second, values[0])

    def are_ordered_alike(self, first: int, second: int, *, turned: bool) -> bool:
        """Whether two columns order all rows alike, null first; or the second one turned around."""
        laws = FD((first,), second), FD((second,), first), CanonicalOD((), first, second, "desc" if turned else "asc")
        return all(self._engine.holds(law, NullPolicy.EQUAL) for law in laws)

    def is_turned(self, first: int, second: int, policy: NullPolicy) -> bool | None:
        """Whether the second of two twins is the first one turned around; None if it orders rows in another way."""
        if self._engine.holds(CanonicalOD((), first, second, "asc"), NullPolicy.EQUAL):
            return False
        if policy is NullPolicy.EQUAL and self._table.nulls(first):
            return None  # null comes first in both
        return True if self._engine.holds(CanonicalOD((), first, second, "desc"), NullPolicy.IGNORE) else None
