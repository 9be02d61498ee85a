"""Denial constraints within an error on a table that no process holds: sets of literals, measured by the engine."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Words
from lawful.dependencies import Law
from lawful.discovery.measured_borders import Border, Numbers, random_signs, unpacked
from lawful.evidence.denials.pool import DenialPool
from lawful.search import full_set, pack_sets, unpack_sets
from lawful.search.denials.inversion import DenialSearch
from lawful.search.denials.literals import Literals
from lawful.search.denials.reduction import is_possible
from lawful.search.kernels.bits import NONE
from lawful.search.sets import Look, minimal_sets


class DenialBorder(Border):
    """Sets of literals of a predicate space as denial constraints.

    Parameters
    ----------
    literals
        The literals.
    pool
        Compares pairs of rows of a sample.
    look
        Called now and then; what it raises ends the search.
    """

    def __init__(self, literals: Literals, pool: DenialPool, look: Look) -> None:
        self._of, self._look = literals, look
        alone = pack_sets(([literal] for literal in range(len(literals))), len(literals))
        self._images = [image for (image,) in unpack_sets(literals.turned(alone))]
        signs = random_signs(pool)
        edges = literals.all_edges(signs.less, signs.greater)
        satisfied = ~unpacked(np.concatenate([edges, literals.turned(edges)]), len(literals))
        super().__init__(satisfied, [self._conflicting(literal) for literal in range(len(literals))])

    def _conflicting(self, literal: int) -> set[int]:
        """What no pair satisfies together with a literal, and what a constraint has no use for next to it."""
        masks, groups = self._of.masks, self._of.groups
        excluded = np.flatnonzero((groups == groups[literal]) & (masks & masks[literal] == 0))
        return {*excluded.tolist(), *self._of.rivals[literal].tolist()} - {NONE}

    def minimal(self, wrong: Words, size: int | None) -> Words:
        """The minimal sets up to a number of predicates that lie in none of some sets."""
        most = self._of.most_units if size is None else min(size, self._of.most_units)
        search = DenialSearch(minimal_sets(~wrong & full_set(self.literals)), self._of, most)
        found = [pack_sets([], self.literals)]
        while not search.finished:
            self._look()
            found.append(search.advance())
        return np.concatenate(found)

    def law(self, literals: Numbers) -> Law | None:
        """The constraint that some literals come down to."""
        predicates = self._of.predicates(pack_sets([literals], self.literals))
        if not len(predicates) or not is_possible(predicates, self._of.space).all():
            return None
        return self._of.space.dc(unpack_sets(predicates)[0])

    def image(self, literal: int) -> int:
        """The same of t and s exchanged."""
        return self._images[literal]
