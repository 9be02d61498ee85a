"""The search for the strongest laws: sets of columns smallest first, each looked at once for keys, FDs and orders.

    for each size
        for each set of columns of which something can still be listed, as keys, left sides or contexts
            build its partition
            try it as a key, with all right sides, and with all orders within it
    try what is listed on the whole table, where some of its rows were thought about

This process thinks, on all rows of a table of ordinary size. Of a larger one it thinks on rows drawn at random, and the
engine counts exactly what is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from math import comb
from typing import TypeVar

from lawful.checks import CheckTask, Partition, RankedTable, Trial, Workspace, check
from lawful.common.errors import UsageError
from lawful.common.machine import cores
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.discovery.search import Search
from lawful.discovery.strongest.fds import StrongestFDs
from lawful.discovery.strongest.keys import StrongestKeys
from lawful.discovery.strongest.orders import StrongestOrders
from lawful.discovery.strongest.sets import Columns, ColumnSets
from lawful.discovery.strongest.worth import Best, Standard, Tried
from lawful.tables.ranked_table import some_rows

FAMILIES = ("key", "fd", "canonical-od")
THOUGHT_ROWS = 500_000
"""Tables of more rows are thought about on so many of them."""
_MOST_WORK = 5e9
"""About how many values may be looked at for all sets of a size; larger sizes are left out where it would be more. On
337,000 rows and 19 columns, 3e9 for all sets of three took 10 s of processor time."""
_WORK_OF_A_SET = 20_000
"""What a set costs beside its rows."""
_MOST_ORDERS = 500_000
"""So many pairs of columns in contexts are tried at most; larger contexts are left out where it would be more."""
_AT_ONCE = 32
_WORTH_THREADS = 300_000
_EXACT_FOR = 2
"""So many times the laws that are wanted are counted on all rows, where some of them were thought about."""

_Given = TypeVar("_Given")
_Done = TypeVar("_Done")


@dataclass(frozen=True)
class StrongestQuestion:
    """Which laws are wanted: of which families, how many of each, how large at most."""

    find: tuple[str, ...] = FAMILIES
    top: int = 100
    max_size: int = 3
    null_policy: NullPolicy = NullPolicy.EQUAL
    seed: int = 0
    standard: Standard = field(default_factory=Standard)

    def __post_init__(self) -> None:
        if self.top < 1:
            raise UsageError(f"at least one law of each kind must be asked for, and not {self.top}")
        if self.max_size < 0:
            raise UsageError(f"the largest size must not be negative, and is {self.max_size}")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, and is {self.seed}")


@dataclass
class Strongest:
    """What was found, family by family, the strongest first; and how far the search went."""

    laws: dict[str, list[Tried]] = field(default_factory=dict)
    accidental: int = 0
    sizes: int = 0
    """All laws of so many columns were tried."""
    rows: int = 0
    """The rows that were thought about."""


def find_strongest(search: Search, question: StrongestQuestion) -> Strongest:
    """Find the strongest laws; a limit ends the search with the strongest of those that were tried."""
    table = some_rows(search.table, question.seed, THOUGHT_ROWS)
    found = Strongest(rows=table.rows)
    with ThreadPoolExecutor(cores(), thread_name_prefix="lawful-strongest") as threads:
        thinking = _Thinking(search, question, table, threads)
        with search.to_the_end():
            thinking.think(found)
        search.counts["tried"] = thinking.tried
        found.laws = {name: thinker.best.ranked() for name, thinker in thinking.thinkers.items()}
        found.accidental = sum(thinker.accidental for thinker in thinking.thinkers.values())
    if table is not search.table:
        found.laws = {name: _counted(laws, search, question.top) for name, laws in found.laws.items()}
    return found


class _Thinking:
    """The sets under way, and the three that learn from them."""

    def __init__(
        self, search: Search, question: StrongestQuestion, table: RankedTable, threads: ThreadPoolExecutor
    ) -> None:
        self.tried = 0
        self._search, self._question, self._threads = search, question, threads
        self._workspace = workspace = Workspace(table, question.null_policy)
        columns = tuple(column for column in range(table.width) if not workspace.is_constant(column))
        self._sets = sets = ColumnSets(workspace, columns)
        top = question.top * (1 if table is search.table else _EXACT_FOR)
        standard = question.standard
        self._keys = StrongestKeys(workspace, sets, top, standard) if "key" in question.find else None
        self._fds = StrongestFDs(workspace, columns, top, standard) if "fd" in question.find else None
        largest = max(0, question.max_size - 2)  # orders have two columns beside their context
        while comb(len(columns), largest) * len(columns) ** 2 > _MOST_ORDERS and largest > 0:
            largest -= 1
        orders = StrongestOrders(workspace, columns, top, standard, largest, self._try_all, question.seed)
        self._orders = orders if "canonical-od" in question.find else None
        thinkers = {"key": self._keys, "fd": self._fds, "canonical-od": self._orders}
        self.thinkers = {name: thinker for name, thinker in thinkers.items() if thinker is not None}

    def think(self, found: Strongest) -> None:
        """Look at all sets, smallest first."""
        if self._orders is not None:
            self._orders.learn((), self._workspace.partition(()))
        for size in range(1, self._question.max_size + 1):
            if self._work(size) > _MOST_WORK:
                return
            self._search.progress(f"trying sets of {size}" if size > 1 else "trying single columns")
            wanted = (columns for columns in self._sets.of_size(size) if self._is_wanted(columns))
            for some in _batches(sorted(wanted, key=self._workspace.chain)):
                self._search.look()
                for columns, looked in zip(some, self._each(self._look_at, some), strict=True):
                    self._learn(columns, *looked)
                self.tried += len(some)
            found.sizes = size

    def _work(self, size: int) -> float:
        sets = comb(len(self._sets.columns), size)
        return float(sets) * (self._workspace.table.rows * (4 + len(self._sets.columns) / 4) + _WORK_OF_A_SET)

    def _is_wanted(self, columns: Columns) -> bool:
        chances = self._sets.most_chances(columns)
        return (
            (self._fds is not None and self._fds.wants(columns, chances))
            or (self._keys is not None and self._keys.wants(columns))
            or (self._orders is not None and self._orders.wants(columns, chances))
        )

    def _look_at(self, columns: Columns) -> tuple[Partition, object]:
        """What threads do: build the partition, and count."""
        partition = self._workspace.partition(columns)
        return partition, None if self._fds is None else self._fds.evaluate(columns, partition)

    def _learn(self, columns: Columns, partition: Partition, evaluated: object) -> None:
        self._sets.take(columns, partition)
        if self._keys is not None:
            self._keys.learn(columns, partition)
        if self._fds is not None:
            self._fds.learn(columns, evaluated, partition.error)  # type: ignore[arg-type]  # it is what it gave
        if self._orders is not None and self._orders.wants(columns, partition.error):
            self._orders.learn(columns, partition)

    def _try_all(self, laws: Sequence[Law]) -> list[Trial]:
        """How some laws fare, each in a thread."""
        self._search.look()

        def tried(law: Law) -> Trial:
            trial = check(CheckTask(0, law, trial=True), self._workspace.table, self._workspace).trial
            assert trial is not None
            return trial

        return list(self._each(tried, laws))

    def _each(self, work: Callable[[_Given], _Done], given: Sequence[_Given]) -> Iterator[_Done]:
        """Do some work on the threads, or here where they would not be worth waking."""
        is_little = len(given) * self._workspace.table.rows < _WORTH_THREADS
        return map(work, given) if is_little else self._threads.map(work, given)


def _counted(laws: Sequence[Tried], search: Search, top: int) -> list[Tried]:
    """The strongest of some laws as they fare on the whole table, by the engine."""
    tasks = [CheckTask(number, each.law, trial=True) for number, each in enumerate(laws)]
    trials = {verdict.id: verdict.trial for verdict in search.checks.check(tasks)}
    best = Best(top)
    for number, each in enumerate(laws):
        if (trial := trials[number]) is not None:
            best.add(Tried(each.law, trial))
    return best.ranked()


def _batches(sets: Iterable[Columns]) -> Iterator[list[Columns]]:
    remaining = iter(sets)
    while some := list(islice(remaining, _AT_ONCE)):
        yield some
