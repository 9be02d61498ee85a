"""FindOD (sections IV to VIII) as a thinker: discover on a sample of rows, validate on all rows, and repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lawful.checks import CheckTask, RankedTable, Verdict, Workspace, check
from lawful.common.meanings import Measure, NullPolicy
from lawful.dependencies import FD, Law
from lawful.discovery.list_ods.classes import ListClasses, list_od
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.list_ods.sample import Sample, draw_rows
from lawful.discovery.loop import Answer, Pace, run_loop
from lawful.discovery.search import Search
from lawful.search.list_ods.minimality import CheckMinimality, FDMap, FDNode, Standing
from lawful.search.list_ods.od_tree import MarkedList, Node, ODTree, State, column_set

_RESTART_AFTER = 10
"""So many violating rows make discovery start again before its end: mu of section VIII."""
_KNOWN_PAIRS = 200
"""Of the pairs that other families have learnt from, so many of the last join the first sample."""

Pair = tuple[int, int]


def find_on_drawn_then_all_rows(search: Search, classes: ListClasses, question: ListQuestion) -> FindOD:
    """Draw rows, discover and validate on these, then on the table; give the search on the table, which is to be run.

    Departing from the paper, candidates are validated on the rows that were drawn before all rows are asked: what
    some thousand rows refute needs no partition of the table.
    """
    drawn = draw_rows(search.table, classes.columns, question.seed)
    if drawn.is_whole:
        return FindOD(search, drawn, drawn.columns, classes, question)
    sample = Sample(search.table, drawn.columns, drawn.violating_rows(bidirectional=question.bidirectional))
    sample.add(search.shared(question).known_pairs[-_KNOWN_PAIRS:].ravel())
    on_drawn = Search(drawn, search.engine, search.watch, checks=_ChecksHere(drawn))
    run_loop(on_drawn, FindOD(on_drawn, sample, range(len(drawn.columns)), classes, question, drawn))
    return FindOD(search, sample, drawn.columns, classes, question)


class FindOD:
    """Algorithm 1, with the flexible strategy of section VIII or without.

    The tree is grown anew for each thought, so that children which were ruled out by something that turned out wrong
    come back; what was validated is remembered.

    Parameters
    ----------
    search
        On the rows that candidates are validated on.
    sample
        The rows that candidates are discovered on.
    columns
        The columns of the validated table that marks and bits stand for.
    drawn
        The rows that are validated on, if they are not all: the rows of the table that they are.
    """

    pace = Pace(calls=2)  # a layer is validated while the next one is discovered
    measure: Measure | None = None

    def __init__(
        self,
        search: Search,
        sample: Sample,
        columns: Sequence[int],
        classes: ListClasses,
        question: ListQuestion,
        drawn: Sample | None = None,
    ) -> None:
        self.is_done = False
        self._search, self._sample, self._columns, self._drawn = search, sample, columns, drawn
        self._classes, self._question = classes, question
        self._tree = ODTree(classes.sizes, bidirectional=question.bidirectional, longest=question.max_size)
        self._layers: list[list[Node]] = []
        self._fd_map = FDMap()
        self._confirmed: set[tuple[MarkedList, MarkedList]] = set()
        self._violating: set[int] = set()
        self._is_discovering = False

    @property
    def wants_to_think(self) -> bool:
        """Whether enough is known to be wrong to discover anew, while layers are validated as they are discovered."""
        return self._is_discovering and len(self._violating) >= _RESTART_AFTER

    def sample(self) -> None:
        """Add the rows that broke candidates to the sample."""
        if self._violating:
            rows = np.fromiter(self._violating, np.int64)
            self._sample.add(rows if self._drawn is None else self._drawn.ids[rows])
        self._violating = set()
        self._search.counts["sample_rows"] = len(self._sample)

    def think(self) -> Iterator[Sequence[Node | FDNode]]:
        """Discover on the sample and validate: each layer while the next one is discovered, or all in the end."""
        self._is_discovering = self._question.flexible
        for layer in self._discover():
            if self._sample.is_whole:
                self._confirmed.update(node.law for node in layer)  # nothing is left to validate
            elif self._question.flexible:
                yield []  # the tree changes between its layers only
                yield self._unconfirmed(node for node in layer if node.state is State.VALID)
        self._is_discovering = False
        if not self._sample.is_whole:
            if not self._question.flexible:
                yield from self._validate_paths(self.valid_nodes())
            yield []
            yield from self._validate_fds()
        self.is_done = not self._violating

    def law(self, candidate: Node | FDNode) -> Law:
        """The law that a node of the tree of candidates, or one of the map of FDs, stands for."""
        if isinstance(candidate, FDNode):
            named = tuple(column for place, column in enumerate(self._columns) if candidate.columns >> place & 1)
            return FD(named, self._columns[candidate.rhs])
        lhs, rhs = (tuple(2 * self._columns[mark >> 1] + (mark & 1) for mark in marked) for marked in candidate.law)
        return list_od(lhs, rhs)

    def learn(self, answers: Sequence[Answer]) -> None:
        """Take over what all rows say; the rows that changed anything join the sample."""
        for candidate, verdict in answers:
            if isinstance(candidate, FDNode):
                self._learn_fd(candidate, verdict.witness)
            else:
                self._learn_node(candidate, verdict.witness)
        if self._drawn is None:
            learnt = [verdict.witness for _, verdict in answers if verdict.witness is not None]
            self._search.shared(self._question).learn(learnt)

    def valid_nodes(self) -> list[Node]:
        """The valid nodes of the last tree."""
        return [node for layer in self._layers for node in layer if node.state is State.VALID and not node.dropped]

    def minimal_nodes(self) -> list[Node]:
        """The minimal laws among them: their right sides cannot be longer."""
        return [node for node in self.valid_nodes() if not node.orders_more()]

    def error(self, node: Node) -> float:
        """The error of a law that was found: none."""
        return 0.0

    def _discover(self) -> Iterator[list[Node]]:
        """Grow the tree breadth first, and yield its layers (algorithm 3)."""
        sample = self._sample
        self._minimality = CheckMinimality(sample.determined, self._fd_map, self._question.forward_rule)
        self._layers = []
        parents = self._tree.roots()
        while parents:
            layer: list[Node] = []
            for parent in parents:
                if parent.dropped:
                    continue
                marks = self._minimality.minimal_extensions(parent.grown, self._tree.extensions(parent))
                for mark, state in zip(marks, sample.states(parent, marks), strict=True):
                    if state is not State.SWAP:  # nothing grows from a swap
                        layer.append(parent.add(mark, state))
                        if state is State.VALID:
                            self._minimality.learn(*layer[-1].law)
                self._search.look()
            self._layers.append(layer)
            yield layer
            parents = layer

    def _unconfirmed(self, nodes: Iterable[Node]) -> list[Node]:
        return [node for node in nodes if not node.dropped and node.law not in self._confirmed]

    def _validate_paths(self, leaves: Iterable[Node]) -> Iterator[list[Node]]:
        """Validate valid nodes from the upper levels on, with the split nodes on the way to them (algorithm 4).

        What grew from a state that turns out wrong falls away unchecked.
        """
        levels: dict[int, dict[Node, None]] = {}
        for leaf in leaves:
            for node in leaf.path():
                levels.setdefault(len(node.lhs) + len(node.rhs), {})[node] = None
        for _, level in sorted(levels.items()):
            yield self._unconfirmed(level)
            yield []

    def _validate_fds(self) -> Iterator[list[FDNode]]:
        """Validate the FDs that ruled out lists, beginnings first (algorithm 5).

        A beginning that holds makes what is longer unnecessary. One that two rows of the sample refute is not checked.
        """
        level = self._fd_map.trees()
        while level:
            unknown = [node for node in level if node.standing is Standing.UNKNOWN]
            for node in unknown:
                if self._sample.refutes_fd(node.columns, node.rhs):
                    node.standing = Standing.SPLIT
            yield [node for node in unknown if node.standing is Standing.UNKNOWN]
            yield []
            level = [child for node in level if node.standing is Standing.SPLIT for child in node.children.values()]
        self._fd_map.prune()

    def _learn_node(self, node: Node, witness: Pair | None) -> None:
        self._confirmed.add(node.law)
        state = State.VALID if witness is None else self._state_shown_by(node, witness)
        if witness is not None and state is not node.state:
            node.change(state)
            self._violating.update(witness)

    def _learn_fd(self, node: FDNode, witness: Pair | None) -> None:
        if witness is None:
            node.standing, node.is_used = Standing.VALID, True
            node.children.clear()
            return
        node.standing = Standing.SPLIT
        if node.is_used:  # not: has no children
            self._violating.update(witness)

    def _state_shown_by(self, node: Node, witness: Pair) -> State:
        """What a witness shows: a swap unless its rows agree on the left. Checks give a swap if there is one."""
        first, second = witness
        ranks = (self._search.table.column(self._columns[mark >> 1]) for mark in node.lhs)
        return State.SPLIT if all(column[first] == column[second] for column in ranks) else State.SWAP

    def certain_nodes(self) -> list[Node]:
        """Of a search that was stopped, the laws that hold and are minimal whatever else there is.

        Lists that are minimal on some rows are so on all. What is uncertain is whether a right side could be longer:
        not if the sample refutes that, nor if the list is ruled out by laws that were validated.
        """
        confirmed = [node for node in self.valid_nodes() if node.law in self._confirmed]
        known = CheckMinimality(self._known_fds, FDMap(), self._question.forward_rule)
        for node in confirmed:
            known.learn(*node.law)
        unfinished = set(self._layers[-1]) if self._layers else set()
        return [
            node
            for node in confirmed
            if node not in unfinished and not node.orders_more() and self._is_settled(node, known)
        ]

    def _is_settled(self, node: Node, known: CheckMinimality) -> bool:
        """Whether all longer right sides that were ruled out were so by what is known of the whole table."""
        marks = self._tree.extensions(node)
        looked_at = self._minimality.minimal_extensions(node.rhs, marks)
        return known.minimal_extensions(node.rhs, marks) == looked_at

    def _known_fds(self, marked: MarkedList) -> int:
        if self._sample.is_whole:
            return self._sample.determined(marked)
        columns = column_set(marked)
        width = len(self._classes.members)
        return sum(1 << column for column in range(width) if self._fd_map.is_confirmed(columns, column))


class _ChecksHere:
    """Checks in the thread that asks: the quick way for some thousand rows."""

    def __init__(self, table: RankedTable) -> None:
        self._table, self._workspace = table, Workspace(table, NullPolicy.EQUAL)

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check one task after the other."""
        return (check(task, self._table, self._workspace) for task in tasks)
