"""DISTOD's reactive lattice (thesis, sections 4 and 5), without data and without an engine.

A node is a *context* X. It asks two questions, each a job of its own: which columns A does X determine
(`X: [] -> A`), and which pairs of columns does it leave in order (`X: A ~ B`, asc and desc apart). Whoever knows the
table answers a job with an `Outcome`; `react` tells what follows from it, and nothing waits for a level to end:

- The constants of X can be asked once those of all X without one column are known (DISTOD's first counter). A column
  stays *open* at X until some subset of X determines it; candidates are what is open at all predecessors (rule 2b).
- The pairs of X can be asked once its own constants are known, and the pairs of all predecessors (the second counter).
  Candidates are the pairs that are open at all predecessors (rule 3b) between columns that are open at X (3c and 3d).
- A node without an open column is pruned. It never raises a counter, so no superset of it is ever asked about.

Departures. DISTOD's node is X with the columns that are tried, so its constants and its pairs belong to different
contexts; a node that is a context asks the same candidates, needs one partition for all of them, and its pruning
rests on monotony alone, which also holds where nulls are ignored. A pair is tracked for each direction (definition
12; the released program drops it once either holds). Contexts that hold a column which the rest determines are never
asked about (TANE's rule, the second half of algorithm 3), because they are equivalent to a smaller one; where nulls are
ignored this is so only for columns without nulls. What the thesis prints wrong about counters, pruning and
acknowledgement (algorithms 4 to 6) does not occur here: an empty job answers itself, and an outcome that comes again,
or too late, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.meanings import Direction
from lawful.search.sets import WORD_BITS, words_for

Bits = int
"""A set of columns or of ordered pairs: bit i is its member i. One integer of any width, immutable."""


class Ask(IntEnum):
    """The two kinds of jobs of a node."""

    CONSTANTS = 0
    ORDERS = 1


class Job(NamedTuple):
    """A question to the table: which of the candidates hold in this context?"""

    context: Bits
    ask: Ask
    candidates: Bits


class Outcome(NamedTuple):
    """The answer to a job: the candidates that hold.

    `is_dull` says that the context is not interesting enough to go on with (section 9.1): neither its laws nor
    those of its supersets are wanted. Nothing is said about what holds, so what remains stays minimal.
    """

    context: Bits
    ask: Ask
    held: Bits
    is_dull: bool = False


Packed = int
"""A node as one integer; see `Node` for its parts. From the lowest bit on: which jobs were asked, which are answered
(a bit each), the two counters, and from `_SETS` on the columns, then the pairs, which shrink as contexts grow."""

_JOBS = 0b11
_ANSWERED = 2
_CONSTANTS_SEEN = 4
_ORDERS_SEEN = 20
_COUNTER = 0xFFFF
_SETS = 36


class Node(NamedTuple):
    """What is known of a context.

    `columns` and `pairs` are the candidates of its jobs, and after their outcomes what is still open.
    `constants_seen` and `orders_seen` count the predecessors whose constants or pairs are known. `asked` and `answered`
    have a bit for each job.
    """

    columns: Bits = 0
    pairs: Bits = 0
    constants_seen: int = 0
    orders_seen: int = 0
    asked: int = 0
    answered: int = 0

    def packed(self, width: int) -> Packed:
        """The node as one integer."""
        small = self.asked | self.answered << _ANSWERED
        counters = self.constants_seen << _CONSTANTS_SEEN | self.orders_seen << _ORDERS_SEEN
        return small | counters | (self.columns | self.pairs << width) << _SETS

    @staticmethod
    def unpacked(packed: Packed, width: int) -> Node:
        """The node that an integer stands for."""
        sets = packed >> _SETS
        return Node(
            sets & (1 << width) - 1,
            sets >> width,
            packed >> _CONSTANTS_SEEN & _COUNTER,
            packed >> _ORDERS_SEEN & _COUNTER,
            packed & _JOBS,
            packed >> _ANSWERED & _JOBS,
        )


def _open_jobs(packed: Packed) -> int:
    """The jobs that were asked and are not answered, a bit each."""
    return packed & ~(packed >> _ANSWERED) & _JOBS


@dataclass(frozen=True)
class Delta:
    """What an outcome changes: nodes that are different now, and jobs that can be asked now."""

    nodes: dict[Bits, Packed] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)


class Pairs:
    """The numbering of candidates `A ~ B` by direction over the columns of a table."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.columns = list(combinations(range(width), 2))
        self.all: Bits = (1 << 2 * len(self.columns)) - 1
        self._touching = [0] * width
        for number, pair in enumerate(self.columns):
            for column in pair:
                self._touching[column] |= 0b11 << 2 * number

    def within(self, pairs: Bits, columns: Bits) -> Bits:
        """Those pairs of which both columns are in a set."""
        for column in range(self.width):
            if not columns >> column & 1:
                pairs &= ~self._touching[column]
        return pairs

    def candidate(self, number: int) -> tuple[int, int, Direction]:
        """Return the columns and the direction of a candidate."""
        left, right = self.columns[number >> 1]
        return left, right, "desc" if number & 1 else "asc"


class Lattice:
    """All nodes that still matter, level by level; each packed into one integer.

    Parameters
    ----------
    width
        The number of columns.
    contexts
        The columns that may be in a context, all unless some are named.
    droppable
        The columns that no context needs beside columns which determine them, all unless some are named. Where
        nulls are ignored, a column with nulls is none of them: with it, a law is judged on fewer rows.
    largest
        The most columns of a context (section 9.2).
    """

    def __init__(
        self,
        width: int,
        *,
        contexts: Bits | None = None,
        droppable: Bits | None = None,
        largest: int | None = None,
    ) -> None:
        self.width = width
        self.contexts = (1 << width) - 1 if contexts is None else contexts
        self.pairs = Pairs(width)
        self.droppable = (1 << width) - 1 if droppable is None else droppable
        self.largest = width if largest is None else largest
        self._levels: list[dict[Bits, Packed]] = [{}]
        self._open_jobs: list[list[int]] = [[0, 0]]
        self._dropped = 0

    def start(self) -> list[Job]:
        """Ask about the empty context."""
        everything = (1 << self.width) - 1
        job = Job(0, Ask.CONSTANTS, everything)
        if not job.candidates:
            return []
        self.apply(Delta({0: Node(everything, asked=1 << Ask.CONSTANTS).packed(self.width)}, [job]))
        return [job]

    def accept(self, outcome: Outcome) -> list[Job]:
        """Take in an outcome; return the jobs that can be asked now."""
        delta = react(self, outcome)
        self.apply(delta)
        return delta.jobs

    def apply(self, delta: Delta) -> None:
        """Make the changes, and let go of the levels that no node will look at again."""
        for context, packed in delta.nodes.items():
            level = context.bit_count()
            while level >= len(self._levels):
                self._levels.append({})
                self._open_jobs.append([0, 0])
            nodes = self._levels[level]
            before, after = _open_jobs(nodes.get(context, 0)), _open_jobs(packed)
            if before != after:
                for ask in (Ask.CONSTANTS, Ask.ORDERS):
                    self._open_jobs[level][ask] += (after >> ask & 1) - (before >> ask & 1)
            nodes[context] = packed
        self._drop_levels()

    def level(self, size: int) -> Mapping[Bits, Packed]:
        """Return what is known of the contexts of a size, without those that do not matter any more."""
        return self._levels[size] if size < len(self._levels) else {}

    def __len__(self) -> int:
        """The number of nodes that are kept."""
        return sum(map(len, self._levels))

    def _drop_levels(self) -> None:
        """Drop a level once all its outcomes are in and the next one has made its candidates from them.

        The next level makes its last candidates when its own constants are known. Nodes of it that were never
        asked about wait for a pruned predecessor, and go too.
        """
        while self._dropped + 1 < len(self._levels):
            level = self._dropped
            if any(self._open_jobs[level]) or self._open_jobs[level + 1][Ask.CONSTANTS]:
                return
            self._levels[level].clear()
            following = self._levels[level + 1]
            self._levels[level + 1] = {context: packed for context, packed in following.items() if packed & _JOBS}
            self._dropped += 1


def react(lattice: Lattice, outcome: Outcome) -> Delta:
    """Work out what follows from an outcome; the lattice itself stays as it is."""
    reaction = _Reaction(lattice)
    reaction.follow(outcome)
    return Delta(reaction.nodes, reaction.jobs)


class _Reaction:
    """The consequences of one outcome, gathered over a lattice that is only read."""

    def __init__(self, lattice: Lattice) -> None:
        self.nodes: dict[Bits, Packed] = {}
        self.jobs: list[Job] = []
        self._lattice = lattice
        self._width = lattice.width
        self._outcomes: list[Outcome] = []

    def follow(self, outcome: Outcome) -> None:
        """Take in an outcome, then those of the empty jobs that it leads to."""
        self._outcomes.append(outcome)
        while self._outcomes:
            next_one = self._outcomes.pop()
            packed = self._packed(next_one.context)
            if not _open_jobs(packed) >> next_one.ask & 1:
                continue  # it came before, or too late to matter
            node = Node.unpacked(packed, self._width)
            if next_one.ask is Ask.CONSTANTS:
                self._settle_constants(node, next_one)
            else:
                self._settle_orders(node, next_one)

    def _settle_constants(self, node: Node, outcome: Outcome) -> None:
        context = outcome.context
        columns = 0 if outcome.is_dull else node.columns & ~outcome.held
        node = node._replace(columns=columns, answered=node.answered | 1 << Ask.CONSTANTS)
        self.nodes[context] = node.packed(self._width)
        self._ask_orders(context, node)
        for successor in self._counted(context, columns, _CONSTANTS_SEEN):
            self._ask_constants(successor)

    def _settle_orders(self, node: Node, outcome: Outcome) -> None:
        node = node._replace(pairs=node.pairs & ~outcome.held, answered=node.answered | 1 << Ask.ORDERS)
        self.nodes[outcome.context] = node.packed(self._width)
        for successor in self._counted(outcome.context, node.columns, _ORDERS_SEEN):
            self._ask_orders(successor, Node.unpacked(self.nodes[successor], self._width))

    def _counted(self, context: Bits, columns: Bits, counter: int) -> list[Bits]:
        """Raise a counter of all successors, given what is open here; return those of which it is full now."""
        size = context.bit_count() + 1
        if size > self._lattice.largest:
            return []
        nodes, known, full = self.nodes, self._lattice.level(size), []
        extensions = self._lattice.contexts & ~context & (columns | ~self._lattice.droppable)
        if columns & columns - 1 == 0:  # a context with the last open column has no candidate
            extensions &= ~columns if columns else 0
        while extensions:
            bit = extensions & -extensions
            extensions ^= bit
            successor = context | bit
            packed = nodes[successor] = (nodes.get(successor) or known.get(successor, 0)) + (1 << counter)
            if packed >> counter & _COUNTER == size:
                full.append(successor)
        return full

    def _ask_constants(self, context: Bits) -> None:
        columns = ((1 << self._width) - 1) & ~context
        for predecessor in self._predecessors(context):
            columns &= predecessor >> _SETS
        node = Node.unpacked(self.nodes[context], self._width)
        self._ask(Job(context, Ask.CONSTANTS, columns), node._replace(columns=columns))

    def _ask_orders(self, context: Bits, node: Node) -> None:
        """Ask about the pairs of a node, if everything that its candidates depend on is known."""
        constants_are_known = node.answered >> Ask.CONSTANTS & 1 and node.columns
        if not constants_are_known or node.orders_seen < context.bit_count():
            return
        pairs = self._lattice.pairs.all
        for predecessor in self._predecessors(context):
            pairs &= predecessor >> _SETS + self._width
        pairs = self._lattice.pairs.within(pairs, node.columns)
        self._ask(Job(context, Ask.ORDERS, pairs), node._replace(pairs=pairs))

    def _ask(self, job: Job, node: Node) -> None:
        """Note at its node that a job is asked; one without candidates answers itself."""
        assert not node.asked >> job.ask & 1, "a job becomes possible once"
        self.nodes[job.context] = node._replace(asked=node.asked | 1 << job.ask).packed(self._width)
        if job.candidates:
            self.jobs.append(job)
        else:
            self._outcomes.append(Outcome(job.context, job.ask, 0))

    def _packed(self, context: Bits) -> Packed:
        return self.nodes.get(context) or self._lattice.level(context.bit_count()).get(context, 0)

    def _predecessors(self, context: Bits) -> Iterator[Packed]:
        nodes, known = self.nodes, self._lattice.level(context.bit_count() - 1) if context else {}
        rest = context
        while rest:
            bit = rest & -rest
            rest ^= bit
            yield nodes.get(context ^ bit) or known.get(context ^ bit, 0)


def members(bits: Bits) -> Iterator[int]:
    """The members of a set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def to_bits(numbers: Iterable[int]) -> Bits:
    """The set of some members."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def packed_contexts(contexts: Sequence[Bits], universe: int) -> Words:
    """Contexts as a family of sets; see `search.sets`."""
    words = words_for(universe)
    text = b"".join([context.to_bytes(words * WORD_BITS // 8, "little") for context in contexts])
    return np.frombuffer(text, "<u8").astype(np.uint64).reshape(len(contexts), words)


def pair_columns(width: int) -> npt.NDArray[np.int64]:
    """For each number of `Pairs`, its two columns, and 1 where they are ordered in opposite directions."""
    left, right = np.triu_indices(width, 1)
    return np.stack([left.repeat(2), right.repeat(2), np.tile((0, 1), left.size)], axis=1)
