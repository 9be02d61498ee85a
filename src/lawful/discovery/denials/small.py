"""Denial constraints of few predicates, found before all others: what a search that is stopped has to say.

Comparing all pairs, or enough of them for constraints of any size, can take longer than a limit allows, and until then
nothing is certain. Constraints of one, two and three comparisons are few, so that a small sample and the engine's
checks decide them: every wrong one gives back a pair of rows that refutes many others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.discovery.denials.hybrid import DenialConstraints, Numbers
from lawful.discovery.denials.preliminary import Preliminary
from lawful.discovery.search import Search
from lawful.search import unpack_sets
from lawful.search.denials.small import small_constraints
from lawful.search.sets import by_size, sets_without

_PAIRS, _LEAST_PAIRS, _BITS = 20_000, 500, 1 << 28
"""How many pairs make the sample: fewer where they would take more bits, one for each predicate."""
_CHECKS_AT_ONCE = 512
_MOST_AT_ONCE, _LEAST_AT_ONCE, _MOST_WORDS = 1 << 15, 1 << 10, 1 << 23
"""Of more candidates, or of more words of them, only the first are checked, for what their refutation teaches."""


class SmallConstraints(DenialConstraints):
    """The constraints of few predicates that a small pool leaves, and which of them are confirmed.

    Parameters
    ----------
    known
        Constraints that are confirmed already.
    """

    def __init__(self, search: Search, preliminary: Preliminary, largest: int, known: Words | None = None) -> None:
        super().__init__(search, preliminary)
        self.preliminary = preliminary
        """What the constraints are made of."""
        self._confirmed += [] if known is None else [known]
        self._known = len(self.confirmed)
        self._sizes = iter(range(1, largest + 1))
        self._size = next(self._sizes, None)
        self.is_done = self._size is None

    @property
    def found_more(self) -> bool:
        """Whether any was confirmed that was not known."""
        return len(self.confirmed) > self._known

    def sample(self) -> None:
        """Compare a few pairs, once: witnesses tell more than further ones would."""
        pairs = max(_LEAST_PAIRS, min(_PAIRS, _BITS // max(1, len(self._preliminary.space))))
        self._preliminary.sample_a_little(pairs)

    def think(self) -> Iterator[Sequence[Numbers]]:
        """Send the candidates of a size, as many as can be checked; once they hold, go on to the next size."""
        self._tally.begin_thought()
        self._search.progress(f"looking for constraints of {self._size} comparisons")
        suggested, are_all = self._some_constraints()
        candidates = list(unpack_sets(by_size(sets_without(suggested, self.confirmed))))
        for start in range(0, len(candidates), _CHECKS_AT_ONCE):
            yield self._tally.send(candidates[start : start + _CHECKS_AT_ONCE])
        yield []
        if self._tally.refuted == 0:
            if are_all:
                self._go_on_to_larger_ones()
            else:  # there are too many to be checked one by one, however small
                self.is_done = True

    def _some_constraints(self) -> tuple[Words, bool]:
        """The constraints of the size, or the first of them, and whether these are all."""
        preliminary, found, are_all = self._preliminary, [self.confirmed], True
        signs, size = preliminary.pool.evidence.signs, self._size
        assert size is not None
        most = int(np.clip(_MOST_WORDS // self.confirmed.shape[1], _LEAST_AT_ONCE, _MOST_AT_ONCE))
        for sets in small_constraints(signs.less, signs.greater, preliminary.space, size, preliminary.look):
            found.append(sets)
            if sum(map(len, found)) - len(self.confirmed) > most:
                are_all = False
                break
        # Across columns one may follow from smaller ones, which are confirmed.
        joined = np.concatenate(found)
        reduced, _ = preliminary.reduced(joined, has_images=False, should_stop=preliminary.is_over)
        self._search.look()
        return reduced, are_all
