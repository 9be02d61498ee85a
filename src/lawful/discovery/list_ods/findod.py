"""FindOD (sections IV to VIII) as a thinker: discover on a sample of rows, validate on all rows, layer by layer.

Departures from the paper, which grows the whole tree on the sample, validates it, and grows it again:

- A layer is grown, and all that it leans on is certain of the whole table before the next layer is grown. Nothing
  grows from what is wrong, nothing is grown twice, and a law is minimal for good once its children are known. So laws
  come in the order of their lengths.
- What is looked up and checked are the parts of candidates (`parts`), not lists: orders of the same columns share them.
- A right side that no list orders has no nodes (`_can_be_ordered`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.list_ods.classes import ListClasses
from lawful.discovery.list_ods.parts import Part, Parts
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.list_ods.sample import draw_rows
from lawful.discovery.loop import Answer, Pace
from lawful.discovery.search import Search
from lawful.search.list_ods.minimality import OrderedLists
from lawful.search.list_ods.od_tree import MarkedList, Node, ODTree, State, bits, column_set

StateNodes = Callable[[Iterable[tuple[Node, float]]], None]
"""Is given minimal laws, each with its error, once they are certain."""

_KNOWN_PAIRS = 200
"""Of the pairs that other families have learnt from, so many of the last join the sample."""
_STATED_AT_ONCE = 1_000
"""So few laws are stated in a moment, so that a search that is stopped ends soon."""


class Tally:
    """How many laws the nodes of a tree stand for: valid ones, and minimal ones."""

    def __init__(self, tree: ODTree, classes: ListClasses) -> None:
        self.counts = {"minimal": 0, "tree_nodes": 0}
        self._tree, self._classes = tree, classes

    def count(self, node: Node) -> bool:
        """Count a node whose children are known; gives whether it is a minimal law that was asked for."""
        if not self._tree.is_wanted(node):
            return False
        laws = self._classes.count(*node.law)
        self.counts["tree_nodes"] += laws
        self.counts["minimal"] += 0 if node.orders_more else laws
        return not node.orders_more


class FindOD:
    """The tree of candidates, grown breadth first on the sample and validated on the table as it grows.

    Parameters
    ----------
    state
        Is given minimal laws, with their errors of 0, as soon as they are certain.
    """

    pace = Pace()
    measure: Measure | None = None
    wants_to_think = False

    def __init__(self, search: Search, classes: ListClasses, question: ListQuestion, state: StateNodes) -> None:
        self.is_done = False
        self._search, self._question, self._classes, self._state = search, question, classes, state
        bidirectional = question.bidirectional
        self._tree = ODTree(classes.sizes, bidirectional=bidirectional, longest=question.max_size)
        self._sample = draw_rows(search.table, classes.columns, question.seed, bidirectional=bidirectional)
        self._parts = Parts(self._sample, classes.columns)
        self._lists = OrderedLists(question.forward_rule)
        self._by_fds = question.forward_rule == "fd"
        self._tally = Tally(self._tree, classes)
        self._orderable: dict[MarkedList, bool] = {}
        places = range(len(classes.columns))
        self._finest = sorted(places, key=lambda place: -search.table.distinct(classes.columns[place]))

    def sample(self) -> None:
        """Let the pairs of rows that refuted laws of other families refute these too."""
        if not self._sample.is_whole:
            self._sample.add(self._search.shared(self._question).known_pairs[-_KNOWN_PAIRS:].ravel())

    def think(self) -> Iterator[Sequence[Part]]:
        """Grow the tree breadth first (algorithm 3)."""
        nodes = self._tree.roots()
        while nodes:
            columns = len(nodes[0].lhs) + len(nodes[0].rhs)
            self._search.progress(f"{len(nodes):,} candidates of {columns} columns")
            layer: list[Node] = []
            yield from self._grow(nodes, layer)
            self._search.counts.update(lists_complete_to=columns, sample_rows=len(self._sample))
            nodes = layer
        self._search.counts.pop("lists_complete_to", None)
        self._search.counts.update(self._tally.counts)
        self.is_done = True

    def law(self, candidate: Part) -> Law:
        """The law that a part stands for."""
        return self._parts.law(candidate)

    def learn(self, answers: Sequence[Answer]) -> None:
        """Take over what all rows say."""
        for part, verdict in answers:
            self._parts.learn(part, verdict.witness)
        learnt = [verdict.witness for _, verdict in answers if verdict.witness is not None]
        self._search.shared(self._question).learn(learnt)

    def _grow(self, nodes: list[Node], layer: list[Node]) -> Iterator[Sequence[Part]]:
        """Add the children of nodes to a layer, each node's as soon as all that they lean on is certain."""
        while nodes:
            unsettled: list[Node] = []
            minimal: list[Node] = []
            try:
                for node in nodes:
                    self._search.look()
                    children = self._children(node)
                    if children is None:
                        unsettled.append(node)
                    elif self._settle(node, children, layer):
                        minimal.append(node)
                    if len(minimal) == _STATED_AT_ONCE:
                        self._state((node, 0.0) for node in minimal)
                        minimal.clear()
            finally:
                self._state((node, 0.0) for node in minimal)
            if unsettled:
                yield self._parts.take_open()
                yield []
                self._parts.refute_more()
            nodes = unsettled

    def _settle(self, node: Node, children: list[Node], layer: list[Node]) -> bool:
        """Take the children of a node for certain; gives whether the node is a minimal law then."""
        layer += children
        for child in children:
            if child.state is State.VALID:
                node.orders_more = True
                self._lists.learn(*child.law)  # rules out lists of later layers only
        return self._tally.count(node)

    def _children(self, node: Node) -> list[Node] | None:
        """The children of a node that are not swapped; None until what says so is certain."""
        parts, grown = self._parts, column_set(node.grown)
        marks = self._tree.extensions(node)
        if not marks:
            return []
        if node.state is State.SPLIT and not (can_be_ordered := self._can_be_ordered(node)):
            return None if can_be_ordered is None else []
        compared = list(_compared_at_the_end(node))
        for context, mark in compared:
            marks &= parts.compatible(context, mark)
        minimal = self._lists.minimal_ends(node.grown, bits(marks))
        is_certain = True
        if self._by_fds and grown:
            determined = parts.determined(grown)
            ruled_out = sum({1 << (mark >> 1) for mark in minimal if determined >> (mark >> 1) & 1})
            is_certain = parts.lean_on_fds(grown, ruled_out)
            minimal = [mark for mark in minimal if not ruled_out >> (mark >> 1) & 1]
        marks = sum(1 << mark for mark in minimal)
        for context, mark in compared:
            is_certain &= parts.lean_on_order(context, mark, marks)
        children = []
        for mark in minimal:
            child = node.child(mark, State.SPLIT)
            left, right = column_set(child.lhs), column_set(child.rhs)
            if right & ~parts.determined(left) == 0:
                child.state = State.VALID
                is_certain &= parts.lean_on_fds(left, right)
            children.append(child)
        return children if is_certain else None

    def _can_be_ordered(self, node: Node) -> bool | None:
        """Whether any list orders the right side of a split node; None if that is not certain yet.

        A list that swaps nothing can be continued to one that orders the right side if any list orders it: put that one
        behind. So columns that swap nothing are taken as they come, those of many values first, until they determine
        the right side. If they get stuck on the sample, no list orders it on the table.
        """
        found = self._orderable.get(node.rhs)
        if found is not None:
            return found
        right, columns, is_certain = column_set(node.rhs), column_set(node.lhs), True
        while right & ~self._parts.determined(columns):
            self._search.look()
            free = self._tree.marks_beside(columns, right)
            compared = [(columns | column_set(node.rhs[:place]), mark) for place, mark in enumerate(node.rhs)]
            for context, mark in compared:
                free &= self._parts.compatible(context, mark)
            if not free:
                self._orderable[node.rhs] = False
                return False
            for column in self._finest:
                if choice := free & 0b11 << 2 * column:
                    for context, mark in compared:
                        is_certain &= self._parts.lean_on_order(context, mark, choice & -choice)
                    columns |= 1 << column
                    if not right & ~self._parts.determined(columns):
                        break
        is_certain &= self._parts.lean_on_fds(columns, right)
        if is_certain:
            self._orderable[node.rhs] = True
        return True if is_certain else None


def _compared_at_the_end(node: Node) -> Iterator[tuple[int, int]]:
    """The contexts and marked columns with which one more column of a node must be compatible."""
    if node.state is State.VALID:
        right = column_set(node.rhs)
        for place, mark in enumerate(node.lhs):
            yield right | column_set(node.lhs[:place]), mark
    else:
        left = column_set(node.lhs)
        for place, mark in enumerate(node.rhs):
            yield left | column_set(node.rhs[:place]), mark
