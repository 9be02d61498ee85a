"""Denial constraints of few predicates, found before all others: what a search that is stopped has to say.

Comparing all pairs, or enough of them for constraints of any size, can take longer than a limit allows, and until then
nothing is certain. Constraints of one, two and three comparisons are few, so that a small sample and the engine's
checks decide them: every wrong one gives back a pair of rows that refutes many others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.discovery.denials.hybrid import CheckedConstraints
from lawful.discovery.denials.preliminary import Numbers, Preliminary
from lawful.discovery.search import Search
from lawful.search.denials.small import small_constraints

_PAIRS, _LEAST_PAIRS, _BITS = 20_000, 500, 1 << 28
"""How many pairs make the sample: fewer where they would take more bits, one for each predicate."""
_CHECKS_AT_ONCE = 512
_MOST_AT_ONCE = 1 << 15
"""Of more candidates than this only the first are checked, for what their refutation teaches."""


class SmallConstraints(CheckedConstraints):
    """The constraints of few predicates that a small pool leaves, and which of them are confirmed.

    Parameters
    ----------
    known
        Constraints that are confirmed already.

    Attributes
    ----------
    confirmed
        The constraints that were checked and hold, and those that were known.
    space
        What they are made of.
    """

    def __init__(self, search: Search, preliminary: Preliminary, largest: int, known: Sequence[Numbers] = ()) -> None:
        super().__init__(search, preliminary, iter(range(1, largest + 1)))
        self.is_done = self._size is None
        self.confirmed = dict.fromkeys(known)
        self.space = preliminary.space
        self._known = len(self.confirmed)

    @property
    def found_more(self) -> bool:
        """Whether any was confirmed that was not known."""
        return len(self.confirmed) > self._known

    def sample(self) -> None:
        """Compare a few pairs, once: witnesses tell more than further ones would."""
        pairs = max(_LEAST_PAIRS, min(_PAIRS, _BITS // max(1, len(self.space))))
        self._preliminary.sample_a_little(pairs)

    def think(self) -> Iterator[Sequence[Numbers]]:
        """Send the candidates of a size, as many as can be checked; once they hold, go on to the next size."""
        self._tally.begin_thought()
        self._search.progress(f"looking for constraints of {self._size} comparisons")
        suggested, are_all = self._some_constraints()
        yield from self._batches([each for each in suggested if each not in self.confirmed], _CHECKS_AT_ONCE)
        if self._tally.refuted == 0:
            if are_all:
                self._go_on_to_larger_ones()
            else:  # there are too many to be checked one by one, however small
                self.is_done = True

    def _confirm(self, held: list[Numbers]) -> None:
        self.confirmed.update(dict.fromkeys(held))

    def _some_constraints(self) -> tuple[list[Numbers], bool]:
        """The constraints of the size, or the first of them, and whether these are all."""
        preliminary, size = self._preliminary, self._size
        assert size is not None
        signs = preliminary.pool.evidence.signs
        found: list[Numbers] = []
        for lists in small_constraints(signs.less, signs.greater, self.space, size, preliminary.look):
            found.extend(map(tuple, lists.tolist()))
            if len(found) > _MOST_AT_ONCE:
                break
        # Across columns one may follow from smaller ones, which are confirmed.
        return preliminary.strongest_of([*self.confirmed, *found]), len(found) <= _MOST_AT_ONCE
