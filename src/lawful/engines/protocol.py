"""Where checks run: the one small protocol that discovery knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from lawful.checks import CheckTask, GroupRows, Most, Verdict
    from lawful.checks.denials.tree import Path
    from lawful.checks.voting.asking import VotingLaw
    from lawful.checks.voting.opinions import Opinion
    from lawful.common.arrays import Int32s, Ints
    from lawful.common.meanings import NullPolicy
    from lawful.dependencies import Law
    from lawful.dependencies.predicate_space import PredicateSpace
    from lawful.evidence import AgreeSets, Pool, Rows, SwapSets
    from lawful.evidence.denials.evidence import DenialEvidence
    from lawful.search.pods.kept_left_sides import LeftSides
    from lawful.tables.encoded_table import EncodedTable
    from lawful.tables.shown_rows import Shown

ShouldStop = Callable[[], bool]
"""Is asked now and then by long work; once it says yes, the work ends with `StoppedError`."""


class Checks(Protocol):
    """Whatever checks tasks: an engine, or something that stands before one."""

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check every task and yield verdicts as they complete; stopping the iteration stops the work."""


class Engine(Protocol):
    """Runs checks somewhere and streams their verdicts back.

    An engine is opened for one table at a time. Verdicts come in any order, each task's exactly once; a law
    that cannot be checked raises an error of ours. Several `check` calls may run at once from several threads.
    """

    @property
    def name(self) -> str:
        """What people call this engine."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether work is done by other processes, which it takes some time to bring a table and a task to."""

    @property
    def most_cache_bytes(self) -> int:
        """How much memory partitions may take in each process that checks, as long as nobody has set a limit."""

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Make the table available wherever checks will run."""

    def tune(self, *, cache_bytes: int | None = None, longest_chain: int | None = None) -> None:
        """Change how workers keep partitions; what is None stays as it is (see `Workspace`).

        A longest chain of 0 is none. No verdict depends on it. Opening a table does not undo it.
        """

    def relieve(self) -> None:
        """Give back memory of this process that is only kept to save time."""

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check every task and yield verdicts as they complete; stopping the iteration stops the work."""

    def violations(self, law: Law, shown: Shown | None = None, *, in_pairs: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield all violating rows of a law, group by group; stopping the iteration stops the work.

        A batch has the columns `group` and `row` and, if some are to be shown, those of `RowShower`. With `in_pairs` a
        denial constraint has a group for each violating pair; see `violating_rows`.
        """

    def shown_schema(self, shown: Shown) -> pa.Schema:
        """Give the schema of the batches of violating rows with what is shown of them."""

    def violating_groups(self, law: Law, most: Most) -> list[GroupRows]:
        """Give the first groups of violating rows in short; see `summarize`."""

    def agree_sets(
        self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False, rows: Rows | None = None
    ) -> AgreeSets:
        """Compare all pairs of rows on some columns and give their distinct agree sets, counted if asked.

        With `rows` only the pairs that have one of these rows, or two: each of them once.
        """

    def violating_pairs(self, space: PredicateSpace, paths: Sequence[Path], should_stop: ShouldStop) -> Int32s:
        """Give one pair of rows for each distinct evidence among all pairs that violate a denial constraint of `paths`.

        See `checks.denials.tree`; `int32[pairs, 2]`, and the evidence of several pairs may be the same.
        """

    def refuting_pairs(self, laws: LeftSides, rows: Rows, should_stop: ShouldStop) -> Int32s:
        """Compare some rows with all, and give the pairs that tell most about some pointwise order dependencies.

        These are pairs that refute one of the laws, at least one for each distinct vector of signs that does;
        `int32[pairs, 2]`.
        """

    def denial_evidence(
        self, space: PredicateSpace, should_stop: ShouldStop, *, counted: bool = False
    ) -> DenialEvidence:
        """Compare all pairs of rows over a predicate space and give their distinct evidence, counted if asked."""

    def swap_evidence(self, columns: Sequence[int], should_stop: ShouldStop) -> SwapSets:
        """Compare all pairs of rows on some columns and give their agree sets with what is swapped under each."""

    def pairs_of_classes(
        self, pool: Pool, sets: Sequence[tuple[int, ...]], most: Sequence[float], should_stop: ShouldStop
    ) -> list[Pool | int]:
        """Compare all pairs of rows that agree on a set of columns, for each of some sets.

        `pool` must be one of all rows of the table; it says which columns are compared. The result of each set is a
        pool of the same rows with what its pairs show; only how many pairs there are, where that is more than `most`
        has for the set.
        """

    def opinions(self, laws: Sequence[VotingLaw], should_stop: ShouldStop, rows: Ints | None = None) -> list[Opinion]:
        """Give what each of some almost-laws thinks of some rows; without any, of those that it finds wrong.

        See `checks.voting.opinions`.
        """

    def cancel(self) -> None:
        """Stop all work under way: its calls end with `StoppedError`, and so do all others until a table is opened."""

    def close(self) -> None:
        """Let go of the table and of everything held for it."""
