"""Hydra's walk (section 6.4): the pairs that violate any of many denial constraints, shared beginnings refined once.

A path is a constraint as the sequence of its steps, and paths with a common beginning share it in a tree. Clusters
of rows go down the tree, deepest first, a batch at a time, each step refining them. What reaches the end of a path
violates its constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lawful.checks.denials.denial import satisfying_rows
from lawful.checks.denials.groups import Groups
from lawful.checks.denials.refining import (
    ENTRIES_AT_ONCE,
    PAIRS_AT_ONCE,
    Filter,
    Join,
    JoinOfTwo,
    Pairs,
    Refiner,
    pairs_of,
    selected,
)
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Int32s
from lawful.common.errors import StoppedError
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies import Cell, Predicate
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.denials.distinct_pairs import DistinctPairs

Step = tuple[Predicate, ...]
"""One predicate, or two that order t and s and are looked at together."""
Path = tuple[Step, ...]
Look = Callable[[], None]
"""Is called now and then, and raises where the walk is to end."""


def distinct_violating_pairs(
    paths: Sequence[Path], space: PredicateSpace, workspace: Workspace, should_stop: Callable[[], bool]
) -> Int32s:
    """Find one pair for each distinct evidence among all pairs that violate a constraint, `int32[pairs, 2]`."""

    def look() -> None:
        if should_stop():
            raise StoppedError("looking for violating pairs was stopped")

    seen = DistinctPairs(workspace.valued_table, space, workspace.null_policy)
    for t, s in Walk(paths, workspace, look).pairs():
        look()
        seen.add_pairs(t, s)
    return seen.pairs


class _Node:
    """A place in the tree: the paths that end here, and the steps that lead on."""

    def __init__(self) -> None:
        self.is_end = False
        self.children: dict[Step, _Node] = {}


class Walk:
    """The walk over the tree of some paths."""

    def __init__(self, paths: Sequence[Path], workspace: Workspace, look: Look) -> None:
        self._root = _Node()
        for path in paths:
            node = self._root
            for step in path:
                node = node.children.setdefault(step, _Node())
            node.is_end = True
        self._workspace = workspace
        self._look = look
        self._refiners: dict[Step, tuple[Refiner, ...]] = {}

    def pairs(self) -> Iterator[Pairs]:
        """Yield the ordered pairs that violate any of the constraints; some may come more than once."""
        yield from self._at(self._root, self._agreeing(()), ())

    def _agreeing(self, columns: tuple[int, ...]) -> Groups:
        """The rows that agree on columns, from the partitions that all checks share."""
        return Groups.of(self._workspace.partition(columns), None, None)

    def _at(self, node: _Node, clusters: Groups, agreeing: tuple[int, ...] | None) -> Iterator[Pairs]:
        """Go on from a node with clusters; `agreeing` are the columns of all steps so far, if that is all they were."""
        self._look()
        if node.is_end:  # what would follow are pairs of the same clusters
            yield from pairs_of(clusters)
        elif clusters.pairs <= PAIRS_AT_ONCE:
            for pairs in pairs_of(clusters):
                yield from self._with_pairs(node, pairs)
        else:
            for step, child in node.children.items():
                column = _agreeing_column(step)
                if agreeing is not None and column is not None:
                    columns = (*agreeing, column)
                    yield from self._at(child, self._agreeing(columns), columns)
                else:
                    for batch in clusters.batches(ENTRIES_AT_ONCE):
                        yield from self._at(child, self._refined(batch, step), None)

    def _refined(self, clusters: Groups, step: Step) -> Groups:
        self._look()
        for refiner in self._refiners_of(step):
            clusters = refiner.refine(clusters)
        return clusters

    def _with_pairs(self, node: _Node, pairs: Pairs) -> Iterator[Pairs]:
        """Go on with single pairs."""
        if node.is_end:
            yield pairs
            return
        for step, child in node.children.items():
            satisfying = pairs
            for refiner in self._refiners_of(step):
                satisfying = selected(satisfying, refiner)
            if satisfying[0].size:
                yield from self._with_pairs(child, satisfying)

    def _refiners_of(self, step: Step) -> tuple[Refiner, ...]:
        found = self._refiners.get(step)
        if found is None:
            found = self._refiners[step] = tuple(_make_refiners(step, self._workspace))
        return found


def _agreeing_column(step: Step) -> int | None:
    """The column on which a step wants t and s to agree, if it asks for nothing else."""
    first = step[0]
    agrees = len(step) == 1 and first.operator == "=" and first.right == Cell("s", first.left.column)
    return first.left.column if agrees else None


def _make_refiners(step: Step, workspace: Workspace) -> Iterator[Refiner]:
    if workspace.null_policy is NullPolicy.IGNORE:
        for column in sorted({cell.column for p in step for cell in (p.left, p.right) if isinstance(cell, Cell)}):
            known = workspace.column(column) != NULL_RANK
            if not known.all():
                yield Filter(known, (0, 1))
    if len(step) == 1:
        yield _refiner(step[0], workspace)
    else:
        first, second = (_join(predicate, workspace) for predicate in step)
        yield JoinOfTwo(first, second)


def _refiner(predicate: Predicate, workspace: Workspace) -> Refiner:
    left, right = predicate.left, predicate.right
    if isinstance(right, Cell) and right.row != left.row:
        return _join(predicate, workspace)
    return Filter(satisfying_rows(predicate, workspace), (0 if left.row == "t" else 1,))


def _join(predicate: Predicate, workspace: Workspace) -> Join:
    assert isinstance(predicate.right, Cell)
    columns = workspace.shared(predicate.left.column, predicate.right.column)
    return Join(*columns, predicate.operator)
