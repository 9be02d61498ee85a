"""List-based order dependencies that hold up to an error, with their errors.

The definitions are those of the laws that hold, with "valid" read as "within the error" everywhere: for the law itself,
for the FDs of the forward rule and for the laws of the backward rule. A longer left side breaks no further pair of rows
and a longer right side mends none, whichever way the error is measured, so the tree of candidates grows as it does for
laws that hold. The engine measures on all rows; a sample bounds no error from above.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lawful.common.meanings import Measure
from lawful.dependencies import FD, Law
from lawful.discovery.list_ods.classes import ListClasses, list_od
from lawful.discovery.list_ods.findod import StateNodes, Tally
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.loop import Answer, Pace
from lawful.discovery.search import Search
from lawful.search.list_ods.minimality import OrderedLists
from lawful.search.list_ods.od_tree import MarkedList, Node, ODTree, State, bits, both_directions, column_set
from lawful.tables.sample import rows_of_all


class AlmostOrdered:
    """The tree of candidates within an error, grown breadth first on all rows: one thought, measured as it goes."""

    pace = Pace()
    wants_to_think = False

    def __init__(self, search: Search, classes: ListClasses, question: ListQuestion, state: StateNodes) -> None:
        self.is_done = False
        self.measure: Measure | None = question.measure
        self._errors: dict[Law, float] = {}
        self._columns = classes.columns
        self._search, self._question, self._classes, self._state = search, question, classes, state
        self._tree = ODTree(classes.sizes, bidirectional=question.bidirectional, longest=question.max_size)
        rows = rows_of_all(search.table)
        self._whole = max(1, rows * (rows - 1) // 2 if question.measure == "g1" else rows)

    def sample(self) -> None:
        """Compare nothing: a sample bounds no error from above."""

    def think(self) -> Iterator[list[Law]]:
        """Grow the tree layer by layer; what a layer needs to know is measured before it is judged."""
        lists = OrderedLists(self._question.forward_rule)
        parents = self._tree.roots()
        tally = Tally(self._tree, self._classes)
        while parents:
            if self._question.forward_rule == "fd":
                yield from self._measured(self._fds_of(parents))
            grown = [(parent, child) for parent in parents for child in self._minimal_children(parent, lists)]
            yield from self._judge([child for _, child in grown])
            for parent, child in grown:
                if child.state is State.VALID:
                    parent.orders_more = True
                    lists.learn(*child.law)
            self._state((node, self._error(node)) for node in parents if tally.count(node))
            self._search.counts["lists_complete_to"] = len(parents[0].lhs) + len(parents[0].rhs)
            parents = [child for _, child in grown if child.state is not State.SWAP]
        self._search.counts.pop("lists_complete_to", None)
        self._search.counts.update(tally.counts)
        self.is_done = True

    def _minimal_children(self, parent: Node, lists: OrderedLists) -> Iterator[Node]:
        self._search.look()
        determined = 0
        if parent.grown and self._question.forward_rule == "fd":
            determined = both_directions(self._determined(column_set(parent.grown)))
        marks = self._tree.extensions(parent) & ~determined
        return (parent.child(mark, State.SWAP) for mark in lists.minimal_ends(parent.grown, bits(marks)))

    def law(self, candidate: Law) -> Law:
        """Candidates are laws."""
        return candidate

    def learn(self, answers: Sequence[Answer]) -> None:
        """Note errors."""
        for law, verdict in answers:
            assert verdict.violations is not None
            self._errors[law] = verdict.violations / self._whole

    def _error(self, node: Node) -> float:
        return self._errors[self._law(*node.law)]

    def _judge(self, nodes: Sequence[Node]) -> Iterator[list[Law]]:
        """Set the states: a swap is too many swapped pairs, which nothing longer can mend."""
        allowed = self._question.error
        yield from self._measured(self._law(*node.law) for node in nodes)
        wrong = []
        for node in nodes:
            if self._error(node) <= allowed:
                node.state = State.VALID
            else:
                wrong.append(node)
        yield from self._measured(self._swaps(node) for node in wrong)
        for node in wrong:
            node.state = State.SPLIT if self._errors[self._swaps(node)] <= allowed else State.SWAP

    def _fds_of(self, parents: Iterable[Node]) -> dict[Law, None]:
        """The FDs that decide which children of these nodes are minimal lists."""
        wanted: dict[Law, None] = {}
        for parent in parents:
            if parent.grown:
                for mark in bits(self._tree.extensions(parent)):
                    wanted[self._fd(column_set(parent.grown), mark >> 1)] = None
        return wanted

    def _determined(self, columns: int) -> int:
        allowed = self._question.error
        others = [place for place in range(len(self._columns)) if not columns >> place & 1]
        # Columns that no child may add were not measured and count as not determined.
        return sum(1 << place for place in others if self._errors.get(self._fd(columns, place), 1.0) <= allowed)

    def _law(self, lhs: MarkedList, rhs: MarkedList) -> Law:
        left, right = (tuple(2 * self._columns[mark >> 1] + (mark & 1) for mark in marked) for marked in (lhs, rhs))
        return list_od(left, right)

    def _swaps(self, node: Node) -> Law:
        """The law that exactly the swaps of a candidate break: X and then Y orders Y."""
        left = column_set(node.lhs)
        return self._law(node.lhs + tuple(mark for mark in node.rhs if not left >> (mark >> 1) & 1), node.rhs)

    def _fd(self, columns: int, rhs: int) -> FD:
        named = tuple(column for place, column in enumerate(self._columns) if columns >> place & 1)
        return FD(named, self._columns[rhs])

    def _measured(self, laws: Iterable[Law]) -> Iterator[list[Law]]:
        """Let the engine measure what was not measured before, and wait for it."""
        unknown = [law for law in dict.fromkeys(laws) if law not in self._errors]
        if unknown:
            yield unknown
            yield []
