"""What was found, put in the order in which people want it, as far as there are time and memory for it.

A search may stop at a limit with tens of millions of laws. Then ranking gets a little more time, takes a few bytes per
law beside them, and gives up where that is not enough: the laws are kept as they were found, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lawful.checks import RankedTable
from lawful.common.arrays import Int64s
from lawful.common.compiling import working_seconds
from lawful.common.meanings import NullPolicy
from lawful.common.memory import resident_bytes
from lawful.discovery.families import Family, families
from lawful.discovery.findings import KEY, Block, Findings, Listing
from lawful.results.kernels.order import places_by_grade
from lawful.results.law_listings import RankedLaws, weakness
from lawful.results.packed_laws import AT_ONCE, Chunk, PackedLaws, PackedPart, Places, Weigh
from lawful.results.ranking import Ranking
from lawful.runs.partial_files import right_side
from lawful.runs.request import Request
from lawful.runs.stopping import RankingWatch
from lawful.runs.strengths import ExactStrengths, Trials
from lawful.search import set_sizes

_SPARE = 64 << 20
"""Memory that ranking may take whatever the limit is."""
_PACKED_BYTES, _LISTED_BYTES = 8, 100
"""What ranking takes for each law beside the law itself: keys and FDs, and laws of other kinds."""
_LISTED_SECONDS = 2e-6
"""What ranking takes for each law of another kind, about."""
_FEW = 1 << 20
"""So many laws of one right side are put in the order of their columns first; more would have to be copied."""
_LEVELS = 1 << 17
"""Levels of interest: more than there are pairs that it is counted over, so that no two interests share one."""


class Ranker:
    """Ranks what was found, and notes what it had no time for.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    request
        What was asked for.
    watch
        What ends the ranking: a time, or the user.
    trials
        How laws fare, as far as that was counted.
    """

    def __init__(
        self,
        table: RankedTable,
        policy: NullPolicy,
        request: Request,
        watch: RankingWatch,
        trials: Trials | None = None,
    ) -> None:
        # Loading it compiles kernels, which those who only ask for help need not wait for.
        from lawful.discovery.coverage import Coverage

        self.left_out = 0
        """Laws of less interest than was asked for."""
        self.not_rated = 0
        """Laws whose interest was not known in time, where a least one was asked for: left out too."""
        self._coverage = Coverage(table, policy, range(table.width))
        self._rate, self._rows = self._coverage.of, table.rows
        self._trials = trials or Trials()
        self._weigh: Weigh | None = None
        self._request, self._watch = request, watch
        self._unranked: str | None = None

    def ranking(self, found: Findings) -> Ranking:
        """Everything in order. What was found is taken over, so that copies need not stand beside it."""
        self._weigh = ExactStrengths(self._coverage, found, self._rows).weigh
        keys = self._packed([block for block in found.blocks if block.goal == KEY])
        fds = self._packed([block for block in found.blocks if block.goal != KEY])
        listed = tuple(self._listed(family, found) for family in listed_families(self._request))
        found.blocks, found.listings = [], []
        return Ranking(keys, fds, listed, self._unranked)

    def unranked(self, found: Findings, reason: str) -> Ranking:
        """Everything as it was found, where ranking did not come to its end; nothing of which the interest matters."""
        if self._request.min_interest > 0:
            self.not_rated = (
                found.count(goal_is_key=True) + found.count(goal_is_key=False) + sum(map(len, found.listings))
            )
            found = Findings()
        keys, fds = (
            PackedLaws(tuple(PackedPart(right_side(block), block.sets, block.errors) for block in blocks), self._rate)
            for blocks in (
                [block for block in found.blocks if len(block.sets) and (block.goal == KEY) == is_key]
                for is_key in (True, False)
            )
        )
        listed = tuple(
            RankedLaws.as_found(family.name, [one for one in found.listings if one.kind == family.name])
            for family in listed_families(self._request)
        )
        return Ranking(keys, fds, listed, reason)

    def _packed(self, blocks: list[Block]) -> PackedLaws:
        laws = PackedLaws(tuple(_parts(blocks)), self._rate)
        is_fared = laws.has_errors and self._trials.kinds
        fared = self._trials.of(laws.laws(), len(laws)) if is_fared else None
        laws = replace(laws, fared=fared, weigh=None if laws.has_errors else self._weigh)
        if self._request.min_interest > 0:
            laws = self._of_interest(laws)
        if not len(laws):
            return laws
        if laws.has_errors:
            return replace(laws, order=_order_by_errors(laws))
        self._unranked = self._unranked or self._want_of_memory(len(laws) * _PACKED_BYTES)
        order = self._order(laws) if self._unranked is None else None
        return laws if order is None else replace(laws, order=order)

    def _of_interest(self, laws: PackedLaws) -> PackedLaws:
        """The laws that are interesting enough, as far as there is time to tell."""
        kept, seen = [np.zeros(0, np.int64)], 0
        for chunk in laws.chunks():
            kept.append(seen + np.flatnonzero(chunk.interests >= self._request.min_interest))
            seen += len(chunk.sets)
            if self._watch.is_over():
                break
        places = np.concatenate(kept)
        self.left_out += seen - len(places)
        self.not_rated += len(laws) - seen
        return replace(laws, order=places)

    def _order(self, laws: PackedLaws) -> Places | None:
        """The places by strength, then by interest, then by size; None if there is no time for all."""
        grades, span, done = np.empty(len(laws), np.uint32), _largest(laws) + 1, 0
        self._rate(laws.parts[0].sets[:1])  # what is compiled first says nothing of the time to come
        began = working_seconds()
        for chunk in laws.chunks():
            grades[done : done + len(chunk.sets)] = _levels(chunk) * span + set_sizes(chunk.sets)
            done += len(chunk.sets)
            more = (working_seconds() - began) / done * (len(laws) - done)
            if done < len(laws) and (reason := self._watch.reason_soon(more)):
                self._unranked = reason
                return None
        if len(laws) <= _FEW:
            order: Places = np.argsort(grades, kind="stable")
        else:
            order = places_by_grade(grades, int(grades.max()))
        return order if laws.order is None else laws.order[order]

    def _listed(self, family: Family, found: Findings) -> RankedLaws:
        of_kind = [listing for listing in found.listings if listing.kind == family.name]
        least = self._request.min_interest
        if least > 0:
            interesting = [listing.chosen(np.flatnonzero(listing.interests >= least)) for listing in of_kind]
            self.left_out += sum(map(len, of_kind)) - sum(map(len, interesting))
            of_kind = interesting
        count = sum(map(len, of_kind))
        no_time = self._watch.reason_soon(count * _LISTED_SECONDS) if count > AT_ONCE else None
        reason = no_time or self._want_of_memory(count * _LISTED_BYTES)
        self._unranked = self._unranked or reason
        if reason is not None:
            return RankedLaws.as_found(family.name, of_kind)
        return RankedLaws.of(family.name, _joined(family, of_kind), self._trials.of_listing)

    def _want_of_memory(self, needed: int) -> str | None:
        limit = self._request.memory_limit
        if limit is None or needed <= _SPARE or resident_bytes() + needed <= limit:
            return None
        return f"ranking would take more than the memory limit of {limit >> 20} MB"


def _parts(blocks: Sequence[Block]) -> Iterator[PackedPart]:
    """The blocks by right side, those of one right side joined and sorted unless they are large."""
    of_goal: dict[int, list[Block]] = {}
    for block in blocks:
        if len(block.sets):
            of_goal.setdefault(right_side(block), []).append(block)
    for goal, some in sorted(of_goal.items()):
        if sum(len(block.sets) for block in some) > _FEW:
            yield from (PackedPart(goal, block.sets, block.errors) for block in some)
            continue
        sets = np.concatenate([block.sets for block in some])
        errors = [block.errors for block in some if block.errors is not None]
        in_order = np.lexsort(sets.T)
        yield PackedPart(goal, sets[in_order], np.concatenate(errors)[in_order] if errors else None)


def _levels(chunk: Chunk) -> Int64s:
    """The level of each interest, smaller for a larger one; what nothing tests has the last."""
    levels: Int64s = np.rint((1.0 - chunk.interests) * _LEVELS).astype(np.int64)
    if chunk.fared is not None:
        levels[chunk.fared.strengths == 0.0] = _LEVELS + 1
    return levels


def _order_by_errors(laws: PackedLaws) -> Places:
    """The places by strength, interest, size and error; each of these laws was measured, so there are not too many."""
    chunks = list(laws.chunks())
    interests = np.concatenate([chunk.interests for chunk in chunks])
    sizes = np.concatenate([set_sizes(chunk.sets) for chunk in chunks])
    errors = np.concatenate([chunk.errors for chunk in chunks if chunk.errors is not None])
    keys = [errors, sizes, -interests]
    if laws.fared is not None:
        keys.append(weakness(np.concatenate([chunk.fared.strengths for chunk in chunks if chunk.fared is not None])))
    order: Int64s = np.lexsort(keys)
    return order if laws.order is None else laws.order[order]


def _largest(laws: PackedLaws) -> int:
    """The most columns of a set."""
    return max(
        int(set_sizes(part.sets[first : first + _FEW]).max())
        for part in laws.parts
        for first in range(0, len(part.sets), _FEW)
    )


def listed_families(request: Request) -> list[Family]:
    """The families that are asked for and come in listings: all but keys and FDs, which come in blocks."""
    return [family for family in families() if family.name in request.find and family.name not in ("key", "fd")]


def _joined(family: Family, listings: list[Listing]) -> list[Listing]:
    """The listings of a family; those that were handed out as time went by as one, where the family joins them."""
    join = None if family.search is None else family.search.join
    return [join(listings)] if join is not None and listings else listings
