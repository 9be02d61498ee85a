"""FindOD: sample some rows, discover what holds on them, validate it on all rows, and repeat (sections IV to VIII)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

import numpy as np

from lawful.checks import RankedTable
from lawful.common.arrays import Int64s
from lawful.discovery.list_ods.classes import ListClasses
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.list_ods.sample import Sample, draw_rows
from lawful.discovery.list_ods.validation import Pair, Validator, check_here
from lawful.discovery.questions import Progress, Watch
from lawful.engines import Engine
from lawful.search.list_ods.minimality import CheckMinimality, FDMap
from lawful.search.list_ods.od_tree import MarkedList, Node, ODTree, State, column_set

_RESTART_AFTER = 10
"""So many violating rows make discovery start again before its end: mu of section VIII."""
_WORTH_A_THREAD = 50_000
"""Fewer rows are checked sooner than two threads take turns."""

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class _AtOnce(Executor):
    """Does what is submitted before it returns."""

    def submit(self, fn: Callable[_Given, _Answer], /, *args: _Given.args, **kwargs: _Given.kwargs) -> Future[_Answer]:
        done: Future[_Answer] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


class FindOD:
    """Algorithm 1, with the flexible strategy of section VIII or without."""

    def __init__(
        self,
        table: RankedTable,
        engine: Engine,
        classes: ListClasses,
        question: ListQuestion,
        watch: Watch,
        counts: dict[str, int],
    ) -> None:
        self._table = table
        self._engine = engine
        self._classes = classes
        self._question = question
        self._watch = watch
        self._counts = counts
        self._tree = ODTree(classes.sizes, bidirectional=question.bidirectional, longest=question.max_size)
        self._layers: list[list[Node]] = []
        self._has_all_rows = False
        counts.update(rounds=0, checks=0, refuted=0)

    def run(self, progress: Progress) -> None:
        """Sample, then discover and validate until nothing new is refuted.

        Departing from the paper, candidates are validated on the rows that were drawn before all rows are asked: what
        some thousand rows refute needs no partition of the table.
        """
        self._watch.look()
        drawn = draw_rows(self._table, self._classes.columns, self._question.seed)
        sample = drawn
        if not drawn.is_whole:
            sample = Sample(
                self._table, drawn.columns, drawn.violating_rows(bidirectional=self._question.bidirectional)
            )
            places = range(len(drawn.columns))
            on_drawn = Validator(drawn, check_here(drawn), places, self._watch, dict.fromkeys(self._counts, 0))
            self._repeat(sample, on_drawn, drawn.ids, lambda _: None)
        self._has_all_rows = True
        on_table = Validator(self._table, self._engine.check, drawn.columns, self._watch, self._counts)
        self._repeat(sample, on_table, None, progress)

    def _repeat(self, sample: Sample, validator: Validator, ids: Int64s | None, progress: Progress) -> None:
        """Discover on the sample and validate, where rows have these ids in the table, until nothing is refuted."""
        self._sample, self._validator, self._fd_map = sample, validator, FDMap()
        validate = self._flexibly if self._question.flexible else self._at_the_end
        while True:
            validator.counts["rounds"] += 1
            progress(f"round {validator.counts['rounds']}: discovering on {len(sample):,} rows")
            violating = self._discover_whole(sample) if sample.is_whole else validate(sample)
            validator.counts["sample_rows"] = len(sample)
            if not violating:
                return
            rows = np.fromiter(violating, np.int64)
            sample.add(rows if ids is None else ids[rows])

    def valid_nodes(self) -> list[Node]:
        """The valid nodes of the last tree."""
        return [node for layer in self._layers for node in layer if node.state is State.VALID and not node.dropped]

    def minimal_nodes(self) -> list[Node]:
        """The minimal laws among them: their right sides cannot be longer."""
        return [node for node in self.valid_nodes() if not node.orders_more()]

    def _discover(self, sample: Sample) -> Iterator[list[Node]]:
        """Grow the tree breadth first, and yield its layers (algorithm 3)."""
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
                self._watch.look()
            self._layers.append(layer)
            yield layer
            parents = layer

    def _discover_whole(self, sample: Sample) -> set[int]:
        """Discover on all rows: nothing is left to validate."""
        for layer in self._discover(sample):
            self._validator.confirmed.update(node.law for node in layer)
        return set()

    def _at_the_end(self, sample: Sample) -> set[int]:
        """Discover on the sample, then validate everything (section VII)."""
        for _ in self._discover(sample):
            pass
        violating = self._validator.validate_paths(self.valid_nodes())
        return violating | self._validator.validate_fds(self._fd_map, sample)

    def _flexibly(self, sample: Sample) -> set[int]:
        """Validate each layer while the next one is discovered; begin again once enough is known to be wrong.

        Nodes change between layers only, so that discovery and validation never meet at one.
        """
        violating: set[int] = set()
        with self._beside_discovery() as pool:
            under_way: Future[list[tuple[Node, Pair | None]]] = pool.submit(self._validator.judge, [])
            try:
                for layer in self._discover(sample):
                    violating |= self._validator.apply(under_way.result())
                    if len(violating) >= _RESTART_AFTER:
                        break
                    valid = [node for node in layer if node.state is State.VALID and not node.dropped]
                    under_way = pool.submit(self._validator.judge, valid)
                else:
                    violating |= self._validator.apply(under_way.result())
            except BaseException:
                self._validator.stop()
                raise
        return violating | self._validator.validate_fds(self._fd_map, sample)

    def _beside_discovery(self) -> Executor:
        if self._validator.rows < _WORTH_A_THREAD:
            return _AtOnce()
        return ThreadPoolExecutor(1, thread_name_prefix="lawful-validate")

    def certain_nodes(self) -> list[Node]:
        """Of a search that was stopped, the laws that hold and are minimal whatever else there is.

        Lists that are minimal on some rows are so on all. What is uncertain is whether a right side could be longer:
        not if the sample refutes that, nor if the list is ruled out by laws that were validated.
        """
        if not self._has_all_rows:
            return []
        confirmed = [node for node in self.valid_nodes() if node.law in self._validator.confirmed]
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

    def error(self, node: Node) -> float:
        """The error of a law that was found: none."""
        return 0.0
