"""Minimal canonical order dependencies of a table that changes.

A batch, once the table has taken it in, and the FDs have followed it:

    witnesses that lost a row go, and vectors of signs without a witness go with them
    pairs of new rows that refute a law that held come                              (`evidence.living.suspects`)
    the contexts of all columns that these swap are searched for again
    until nothing is refuted
        check the candidates that follow from no law that held, and from no FD
        the witnesses against the wrong ones join, and the contexts that they refute are searched for again

So a batch of insertions checks nothing: a context that the vectors leave open contains one that held, no old pair
refutes it, and all new pairs that could were compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.meanings import Direction
from lawful.dependencies import CanonicalOD, Law, LawKind
from lawful.discovery.canonical_ods.discover import discover_canonical_ods
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Block, Findings, Listing
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search, Shared
from lawful.evidence.living.suspects import Suspects, Swap
from lawful.maintenance.canonical_ods.compatible_contexts import (
    Swapped,
    all_contexts,
    answers_among,
    following,
    left_sides_of,
    refuting_pairs,
    swaps_of,
    thought_contexts,
    touched_by,
)
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, LawBlock, LawsChange
from lawful.maintenance.sign_witnesses import Signs, SignWitnesses
from lawful.maintenance.storing import Numbered
from lawful.results.canonical_pairs import PackedPairs
from lawful.search import pack_set, unpack_sets, words_for
from lawful.search.sets import sets_without
from lawful.tables.living.living_table import LivingTable

_TOO_MANY_LOST = 0.2
"""Where a batch takes more of the evidence than this, searching anew costs less than checking what it leaves open."""

Contexts = dict[Swap, Words]


class KnownFds(Protocol):
    """All minimal FDs, up to the size that contexts have."""

    def fds(self) -> list[Block]:
        """FDs as they are now."""

    def fds_before(self) -> list[Block]:
        """FDs as they were before the batch that was taken in last."""


class CanonicalBlock(NamedTuple):
    """The contexts of two columns and a direction."""

    swap: Swap
    sets: Words

    @property
    def kind(self) -> LawKind:
        """The kind of the laws."""
        return "canonical-od"

    def laws(self) -> Iterator[CanonicalOD]:
        """The laws as values."""
        for context in unpack_sets(self.sets):
            yield canonical_od(self.swap, context)


def canonical_od(swap: Swap, context: tuple[int, ...]) -> CanonicalOD:
    """The law that says that two columns are order compatible in a context."""
    direction: Direction = "desc" if swap.descends else "asc"
    return CanonicalOD(context, swap.left, swap.right, direction)


def swap_of(law: CanonicalOD) -> Swap:
    """What breaks a law."""
    return Swap(law.left, law.right, int(law.direction == "desc"))


class CanonicalLaws:
    """The minimal canonical order dependencies of a living table.

    Parameters
    ----------
    table, question
        The table, and which laws are kept: up to which size, and what null means.
    evidence
        What is known of pairs.
    known
        The FDs, which are kept by themselves.
    laws
        The laws that follow from all that.
    """

    name = "canonical"
    kinds: tuple[LawKind, ...] = ("canonical-od",)

    def __init__(
        self,
        table: LivingTable,
        question: CanonicalQuestion,
        evidence: SignWitnesses,
        known: KnownFds,
        laws: Iterable[Numbered] = (),
    ) -> None:
        self._table, self._question, self._evidence, self._known = table, question, evidence, known
        nothing = np.empty((0, words_for(table.width)), np.uint64)
        self._swaps = swaps_of(table.width)
        self._laws: Contexts = dict.fromkeys(self._swaps, nothing)
        self._laws |= {self._swaps[number]: sets for number, sets in laws}
        self._contexts: Contexts | None = None
        """All minimal contexts, those that determine a column among them; once somebody needs them."""

    @staticmethod
    def discovered(
        table: LivingTable, question: CanonicalQuestion, known: KnownFds, checker: Checker, watch: Watch
    ) -> CanonicalLaws:
        """Find the laws of a table, and the evidence to keep them by."""
        kept = CanonicalLaws(table, question, SignWitnesses(table, question.null_policy), known)
        kept._search_anew(checker, watch)
        return kept

    @property
    def vectors(self) -> int:
        """How many vectors of signs are kept."""
        return len(self._evidence)

    def blocks(self) -> Iterator[CanonicalBlock]:
        """All laws, two columns after the other."""
        for swap, sets in self._laws.items():
            yield CanonicalBlock(swap, sets)

    def number(self, block: LawBlock) -> int:
        """The place of the columns and the direction."""
        assert isinstance(block, CanonicalBlock)
        left, right, descends = block.swap
        before = left * (2 * self._table.width - left - 1) // 2
        return 2 * (before + right - left - 1) + descends

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""
        _, view = checker.opened()
        found = [(swap, sets) for swap, sets in self._laws.items() if len(sets)]
        if not found:
            return Findings()
        contexts = np.concatenate([sets for _, sets in found])
        swaps = np.repeat(np.array([swap for swap, _ in found], np.int32), [len(sets) for _, sets in found], axis=0)
        interests = Coverage(view, self._question.null_policy, range(view.width)).of(contexts)
        return Findings(listings=[PackedPairs(contexts, swaps[:, 0], swaps[:, 1], swaps[:, 2] != 0, interests)])

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table and the FDs have taken in."""
        before, held = dict(self._laws), dict(self._held(self._known.fds_before()))
        kept = len(self._evidence) if len(gone) else 0
        if self._evidence.follow_orders():
            self._search_anew(checker, watch)
            return self._difference(before, checker.checks)
        lost = self._evidence.drop()
        touched = touched_by(lost, self._table.width)
        if len(new):
            touched |= self._take_in(new, held, watch)
        if len(lost) > _TOO_MANY_LOST * kept:
            self._search_anew(checker, watch)
        else:
            self._settle(touched, held, checker, watch)
        return self._difference(before, checker.checks)

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""
        self._evidence.replay(logged)
        for number, sets in removed:
            swap = self._swaps[number]
            self._laws[swap] = sets_without(self._laws[swap], sets)
        for number, sets in added:
            swap = self._swaps[number]
            self._laws[swap] = np.concatenate([self._laws[swap], sets])

    def logged(self) -> Arrays:
        """What the last batch did to the evidence."""
        return self._evidence.logged()

    def arrays(self) -> Arrays:
        """The evidence."""
        return self._evidence.arrays()

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law, the row first whose left column is smaller; None if none is kept."""
        if not isinstance(law, CanonicalOD):
            return None
        signs, swap = self._evidence.signs(), swap_of(law)
        refutes = Swapped(signs, self._table.width).refuting(swap, pack_set(law.context, self._table.width)[None])
        if not refutes.any():
            return None
        place = int(np.argmax(refutes))
        one, other = self._evidence.first_pairs()[place].tolist()
        falls = (signs.falls[place] & pack_set((law.left,), self._table.width)).any()
        return (other, one) if falls else (one, other)

    def implies(self, law: Law) -> bool:
        """Whether a law follows from one that is kept, or from an FD."""
        if not isinstance(law, CanonicalOD):
            return False
        left_sides = left_sides_of(self._known.fds(), self._table.width)
        context = pack_set(law.context, self._table.width)[None]
        return bool(following(swap_of(law), context, self._laws[swap_of(law)], left_sides)[0])

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self._evidence.differences()

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are."""
        yield from _blocks_in(discover_canonical_ods(search, self._question).listings)

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        assert isinstance(block, CanonicalBlock)
        left, right, descends = block.swap
        return f"contexts of {names[left]!r} ~ {names[right]!r} {'desc' if descends else 'asc'}"

    def _held(self, fds: Iterable[Block]) -> Contexts:
        """All minimal contexts, by the laws that are kept and the FDs that go with them."""
        if self._contexts is None:
            left_sides, width = left_sides_of(fds, self._table.width), self._table.width
            self._contexts = {swap: all_contexts(swap, sets, left_sides, width) for swap, sets in self._laws.items()}
        return self._contexts

    def _take_in(self, new: range, held: Contexts, watch: Watch) -> set[Swap]:
        """Keep the pairs of new rows that refute a law that held; return what they swap there."""
        found = self._evidence.aside()
        for pairs in Suspects(self._evidence.keys, self._question.null_policy, held).pairs(new, watch.look):
            watch.look()
            found.add(pairs)
        signs = Signs.of(found.signs(), self._table.width)
        refutes, touched = refuting_pairs(signs, held, self._table.width)
        if touched:
            witnesses = found.pairs[refutes].reshape(-1, 2)
            self._evidence.learn(witnesses[witnesses[:, 0] >= 0])
        return touched

    def _search_anew(self, checker: Checker, watch: Watch) -> None:
        """Find the laws of the table as it is, with pairs of rows that refute everything else."""
        engine, view = checker.opened()
        shared = Shared(view, self._question.null_policy, swaps=True)
        fds = self._known.fds()
        shared.fds = fds
        search = Search(view, engine, watch, shared=shared)
        found = discover_canonical_ods(search, self._question)
        watch.look()
        checker.checks += search.counts.get("checks", 0)
        self._evidence.learn(view.numbers[shared.known_pairs].astype(np.int32))
        self._laws = dict.fromkeys(self._swaps, self._laws[self._swaps[0]][:0]) if self._swaps else {}
        self._laws |= {block.swap: block.sets for block in _blocks_in(found.listings)}
        self._contexts = None
        self._settle(self._swaps, dict(self._held(fds)), checker, watch)

    def _settle(self, swaps: Iterable[Swap], held: Contexts, checker: Checker, watch: Watch) -> None:
        """Think about columns, and check what follows from no law that held, until nothing is refuted."""
        contexts, width = self._held(()), self._table.width
        left_sides = left_sides_of(self._known.fds(), width)
        open_, confirmed = set(swaps), set[CanonicalOD]()
        while open_:
            signs = self._evidence.signs()
            contexts |= thought_contexts(signs, sorted(open_), width, self._question.max_size, watch.look)
            candidates = []
            for swap in sorted(open_):
                unknown = ~following(swap, contexts[swap], held[swap], left_sides)
                block = CanonicalBlock(swap, contexts[swap][unknown])
                candidates += [law for law in block.laws() if law not in confirmed]
            witnesses = checker.refuted(candidates) if candidates else np.empty((0, 2), np.int32)
            confirmed.update(candidates)  # those that were refuted do not come back
            watch.look()
            open_ = self._refuted_by(witnesses, contexts)
        self._laws = {swap: answers_among(swap, sets, left_sides) for swap, sets in contexts.items()}

    def _refuted_by(self, witnesses: Int32s, contexts: Contexts) -> set[Swap]:
        """Learn from pairs of rows; return the columns of the contexts that they refute."""
        if not len(witnesses):
            return set()
        return refuting_pairs(self._evidence.learn(witnesses), contexts, self._table.width)[1]

    def _difference(self, before: Contexts, checks: int) -> LawsChange:
        """The laws that went and those that came."""
        left_sides, contexts = left_sides_of(self._known.fds(), self._table.width), self._held(())
        removed: list[CanonicalBlock] = []
        added: list[CanonicalBlock] = []
        implied: list[Flags] = []
        for swap, sets in before.items():
            now = self._laws[swap]
            if now is sets or np.array_equal(now, sets):
                continue
            went, came = sets_without(sets, now), sets_without(now, sets)
            if len(went):
                removed.append(CanonicalBlock(swap, went))
                implied.append(following(swap, went, contexts[swap], left_sides))
            if len(came):
                added.append(CanonicalBlock(swap, came))
        return LawsChange(removed, added, checks, implied)


def _blocks_in(listings: Sequence[Listing]) -> Iterator[CanonicalBlock]:
    """The pairs that a search has found, two columns after the other."""
    found = [listing for listing in listings if isinstance(listing, PackedPairs)]
    if not found:
        return
    pairs = PackedPairs.joined(found)
    swaps = np.stack([pairs.left, pairs.right, pairs.is_descending.astype(np.int32)], axis=1)
    each, owners = np.unique(swaps, axis=0, return_inverse=True)
    for place, swap in enumerate(each.tolist()):
        yield CanonicalBlock(Swap(*swap), pairs.contexts[owners.ravel() == place])
