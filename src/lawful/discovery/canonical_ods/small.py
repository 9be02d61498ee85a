"""Order-compatible pairs in contexts of at most one column, found before all others.

A pair of columns is thought about once the FDs of both are known, and these can take longer than a limit allows. Small
contexts need less: the FDs of one column, which are read straight from the columns, say which of them are no answer.
So under a limit small contexts come first, from a few pairs of rows and the engine's checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from lawful.common.arrays import Flags, Words
from lawful.common.compiling import working_seconds
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.canonical_ods.checking import Candidate, Places, law_of
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.canonical_ods.statements import Statements
from lawful.discovery.canonical_ods.thinking import CandidateSets, Goal
from lawful.discovery.compared_pairs import SlowerThanAllPairsError, end_of_small_laws, small_laws_come_first
from lawful.discovery.keys_and_fds.single_columns import laws_of_single_columns
from lawful.discovery.loop import Answer, Pace, run_loop
from lawful.discovery.questions import Question
from lawful.discovery.search import Search, Shared
from lawful.evidence import WindowSampler, sample_random_pairs
from lawful.search import pack_set, pack_sets, words_for
from lawful.search.sets import WORD_BITS
from lawful.tables.sample import is_sample

_PAIRS, _SHARE_OF_RANDOM = 20_000, 0.2
_MOST_BITS = 1 << 28
"""What swaps of the pairs that are sampled may take: of each pair, two bits for every two columns."""
_CHECKS_AT_ONCE = 1_000


def small_pairs(search: Search, question: CanonicalQuestion, shared: Shared, statements: Statements) -> list[Candidate]:
    """State the pairs in small contexts, if there is a limit, as far as a share of the time allows; return them.

    FDs of one column are stated too, unless all FDs are known already.
    """
    if is_sample(search.table) or not small_laws_come_first(search, len(shared.orders.classes)):
        return []
    thinker = _SmallPairs(search, question, shared, statements)
    try:
        with suppress(SlowerThanAllPairsError):  # the patience has ended
            run_loop(search, thinker)
    finally:
        statements.hand_out()
    return thinker.confirmed


class _SmallPairs:
    """The pairs in small contexts that the pool leaves open, context by context, and which of them are confirmed."""

    pace = Pace()
    measure: Measure | None = None
    wants_to_think = False
    """Whether to break off: never, since a thought is about one context after the other."""

    def __init__(self, search: Search, question: CanonicalQuestion, shared: Shared, statements: Statements) -> None:
        self.is_done = False
        self.confirmed: list[Candidate] = []
        """What holds."""
        self._search, self._question, self._shared, self._statements = search, question, shared, statements
        self._orders = shared.orders
        self._ends = end_of_small_laws(search.watch)
        self._refuted = 0
        self._swapped_at_all = np.zeros((0, 2, 0), np.bool_)
        """What is swapped without a context, once that is known."""
        self._left_sides = self._small_left_sides()

    def sample(self) -> None:
        """Compare a few pairs: witnesses tell more than further ones would."""
        pool, seed = self._shared.pool, self._question.seed
        width = max(1, len(pool.columns))
        pairs = min(_PAIRS, _MOST_BITS // (2 * width * WORD_BITS * words_for(width)))
        at_random = int(_SHARE_OF_RANDOM * pairs)
        sample_random_pairs(pool, at_random, seed)
        near = pairs - at_random
        each = max(1, near // (2 * width))
        WindowSampler(pool, self._shared.sampled, seed, each).run(0.0, near, self._search.watch.is_over)

    def think(self) -> Iterator[Sequence[Candidate]]:
        """Send the candidates of one context after the other, of each until nothing is wrong any more."""
        self._search.progress("looking for pairs in small contexts")
        for context in self._contexts():
            refuted = -1
            while refuted != self._refuted:
                self._look()
                refuted, candidates = self._refuted, self._candidates(context)
                for start in range(0, len(candidates), _CHECKS_AT_ONCE):
                    yield candidates[start : start + _CHECKS_AT_ONCE]
                yield []
        self.is_done = True

    def _contexts(self) -> Iterator[Places]:
        """No column, then each by itself."""
        yield ()
        if self._question.max_size != 0:
            yield from ((group,) for group in range(self._orders.groups))

    def _candidates(self, context: Places) -> list[Candidate]:
        """The pairs in a context that no pair of rows refutes, and that are answers if they hold."""
        if self._coverage(context) < self._question.min_interest:
            return []
        groups = np.array([order.group for order in self._orders.classes])
        swapped = self._swapped(context)
        if context:
            is_open = ~swapped & self._swapped_at_all  # else it holds without the context
        else:
            is_open, self._swapped_at_all = ~swapped, swapped
        is_answer = ~np.isin(groups, [*context, *self._determined_by(context)])
        is_open &= is_answer[:, np.newaxis, np.newaxis] & is_answer
        is_open &= np.triu(np.ones((len(groups), len(groups)), np.bool_), 1)[:, np.newaxis]
        known = set(self.confirmed)
        found = ((Goal(left, right, way), context) for left, way, right in np.argwhere(is_open).tolist())
        return [candidate for candidate in found if candidate not in known]

    def _swapped(self, context: Places) -> Flags:
        """Whether any two rows that agree on a context swap two classes: by the first, the direction, the second."""
        pool, classes = self._shared.pool, len(self._orders.classes)
        refuted = pool.refuted[_agreeing(pool.agree, context[0])] if context else pool.refuted
        marks = np.bitwise_or.reduce(refuted, axis=0)
        bits = np.unpackbits(np.ascontiguousarray(marks, "<u8").view(np.uint8), axis=-1, bitorder="little")
        return bits[:, :, :classes].astype(np.bool_)

    def _determined_by(self, context: Places) -> list[int]:
        """The groups that a context determines, so that its pairs with them say nothing."""
        wanted = pack_set(context, self._orders.groups)
        return [group for group, sets in enumerate(self._left_sides) if (sets == wanted).all(axis=1).any()]

    def _coverage(self, context: Places) -> float:
        return float(self._statements.coverage.of(pack_sets([context], self._orders.groups))[0])

    def law(self, candidate: Candidate) -> Law:
        """The pair that a candidate stands for."""
        return law_of(candidate, self._orders.columns)

    def learn(self, answers: Sequence[Answer]) -> None:
        """State what holds; the witnesses against the rest join the pool."""
        held = [candidate for candidate, verdict in answers if verdict.holds]
        if held:
            self.confirmed += held
            packed = CandidateSets.of(held, self._orders.groups)
            self._statements.list_pairs(packed.classes(), packed.sets)
            self._statements.hand_out_now_and_then()
        self._refuted += len(answers) - len(held)
        self._shared.learn([verdict.witness for _, verdict in answers if verdict.witness is not None])
        self._look()

    def _small_left_sides(self) -> list[Words]:
        """For each group the left sides of at most one column, which are stated if nobody has stated all FDs."""
        peeled, question = self._orders.peeled, self._question
        if self._shared.fds is not None:
            return peeled.left_sides(self._shared.fds)
        found = [np.zeros((0, words_for(self._orders.groups)), np.uint64)] * self._orders.groups
        wanted = Question(keys=False, fds=True, null_policy=question.null_policy, max_size=question.max_size)
        for goal, sets in laws_of_single_columns(self._search.table, wanted, peeled, self._search.watch):
            found[goal] = sets
            self._statements.state_fds(goal, sets[self._statements.coverage.of(sets) >= question.min_interest])
        self._search.has_single_columns = True
        return found

    def _look(self) -> None:
        self._search.look()
        if working_seconds() > self._ends:
            raise SlowerThanAllPairsError


def _agreeing(agree: Words, group: int) -> Flags:
    """Which pairs of rows agree on a group."""
    word, place = divmod(group, WORD_BITS)
    return np.asarray((agree[:, word] >> np.uint64(place)) & np.uint64(1) != 0)
