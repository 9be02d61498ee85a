"""Validation on the whole table of what holds on the sample (FindOD, section VII), through the engine.

Sorted partitions are kept by the workspace of whoever checks, and tasks that share them travel together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Event

from lawful.checks import CheckTask, RankedTable, Verdict, Workspace, check
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Law
from lawful.discovery.list_ods.classes import list_od
from lawful.discovery.list_ods.sample import Sample
from lawful.discovery.questions import Watch
from lawful.search.list_ods.minimality import FDMap, FDNode, Standing
from lawful.search.list_ods.od_tree import MarkedList, Node, State

Pair = tuple[int, int]

CheckAll = Callable[[Iterable[CheckTask]], Iterator[Verdict]]
"""Checks tasks on all rows of some table, as an engine does."""


def check_here(table: RankedTable) -> CheckAll:
    """Check in this thread: the quick way for some thousand rows."""
    workspace = Workspace(table, NullPolicy.EQUAL)
    return lambda tasks: (check(task, table, workspace) for task in tasks)


class Validator:
    """Checks candidates on all rows, and remembers which were: none is checked twice.

    Parameters
    ----------
    table, check
        The table, and how to check laws on it.
    columns
        The columns of the table that marks and bits stand for.
    counts
        Receives how many checks there were and how many refuted something.
    """

    def __init__(
        self, table: RankedTable, check: CheckAll, columns: Sequence[int], watch: Watch, counts: dict[str, int]
    ) -> None:
        self.confirmed: set[tuple[MarkedList, MarkedList]] = set()
        self._table = table
        self._check_all = check
        self._columns = columns
        self._watch = watch
        self.counts = counts
        self._stopped = Event()

    @property
    def rows(self) -> int:
        """How many rows a check looks at."""
        return self._table.rows

    def stop(self) -> None:
        """End checks that are under way in another thread."""
        self._stopped.set()

    def validate_paths(self, leaves: Iterable[Node]) -> set[int]:
        """Validate valid nodes from the upper levels on, with the split nodes on the way to them (algorithm 4).

        What grew from a state that turns out wrong falls away unchecked. Returns the rows that broke something.
        """
        levels: dict[int, dict[Node, None]] = {}
        for leaf in leaves:
            for node in leaf.path():
                levels.setdefault(len(node.lhs) + len(node.rhs), {})[node] = None
        violating: set[int] = set()
        for _, level in sorted(levels.items()):
            violating |= self.apply(self.judge(node for node in level if not node.dropped))
        return violating

    def judge(self, nodes: Iterable[Node]) -> list[tuple[Node, Pair | None]]:
        """Check nodes that were not checked before; give each with the rows that break it. Changes no node."""
        fresh = [node for node in nodes if node.law not in self.confirmed]
        witnesses = self._check([self._law(node) for node in fresh])
        return list(zip(fresh, witnesses, strict=True))

    def apply(self, judged: Iterable[tuple[Node, Pair | None]]) -> set[int]:
        """Take over what the whole table says of nodes; give the rows that changed a state."""
        violating: set[int] = set()
        for node, witness in judged:
            self.confirmed.add(node.law)
            state = State.VALID if witness is None else self._state(node, witness)
            if witness is not None and state is not node.state:
                node.change(state)
                violating.update(witness)
        return violating

    def validate_fds(self, fd_map: FDMap, sample: Sample) -> set[int]:
        """Validate the FDs that ruled out lists, beginnings first (algorithm 5).

        A beginning that holds makes what is longer unnecessary. One that two rows of the sample refute is not
        checked. Returns rows that broke FDs which had been used.
        """
        violating: set[int] = set()
        level = fd_map.trees()
        while level:
            unknown = [node for node in level if node.standing is Standing.UNKNOWN]
            asked = []
            for node in unknown:
                if sample.refutes_fd(node.columns, node.rhs):
                    node.standing = Standing.SPLIT
                else:
                    asked.append(node)
            for node, witness in zip(asked, self._check([self._fd(node) for node in asked]), strict=True):
                if witness is None:
                    node.standing, node.is_used = Standing.VALID, True
                    node.children.clear()
                    continue
                node.standing = Standing.SPLIT
                if node.is_used:  # not: has no children
                    violating.update(witness)
            level = [child for node in level if node.standing is Standing.SPLIT for child in node.children.values()]
        fd_map.prune()
        return violating

    def _check(self, laws: list[Law]) -> list[Pair | None]:
        witnesses: list[Pair | None] = [None] * len(laws)
        if laws:
            for verdict in self._check_all([CheckTask(number, law) for number, law in enumerate(laws)]):
                witnesses[verdict.id] = verdict.witness
                self._watch.look()
                if self._stopped.is_set():
                    raise StoppedError("the validation was stopped")
        self.counts["checks"] += len(laws)
        self.counts["refuted"] += sum(witness is not None for witness in witnesses)
        return witnesses

    def _law(self, node: Node) -> Law:
        lhs, rhs = (tuple(2 * self._columns[mark >> 1] + (mark & 1) for mark in marked) for marked in node.law)
        return list_od(lhs, rhs)

    def _fd(self, node: FDNode) -> FD:
        named = tuple(column for place, column in enumerate(self._columns) if node.columns >> place & 1)
        return FD(named, self._columns[node.rhs])

    def _state(self, node: Node, witness: Pair) -> State:
        """What a witness shows: a swap unless its rows agree on the left. Checks give a swap if there is one."""
        first, second = witness
        ranks = (self._table.column(self._columns[mark >> 1]) for mark in node.lhs)
        return State.SPLIT if all(column[first] == column[second] for column in ranks) else State.SWAP
