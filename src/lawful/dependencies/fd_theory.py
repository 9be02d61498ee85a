"""What people do with FDs: the keys that follow from them, and the fewest that say the same.

These speak about FDs alone, without data, under the policy that treats null as a value: ignoring nulls, FDs are
not transitive, and none of this holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from lawful.dependencies.implication import closure
from lawful.dependencies.laws import FD, Key


def candidate_keys(attributes: Iterable[int], fds: Iterable[FD], most: int | None = None) -> list[Key]:
    """All minimal sets of attributes that determine all the others, smallest first; at most `most` of them.

    Lucchesi and Osborn ("Candidate keys for relations", 1978): from one key, each FD leads to another by
    exchanging its right side for its left side and minimising again. Time is polynomial in the number of keys.
    """
    everything = frozenset(attributes)
    rules = [fd for fd in fds if fd.rhs in everything and everything.issuperset(fd.lhs)]
    first = _minimised(everything, everything, rules)
    found = {first: None}
    waiting = deque([first])
    while waiting and (most is None or len(found) < most):
        key = waiting.popleft()
        for fd in rules:
            superkey = frozenset(fd.lhs) | (key - {fd.rhs})
            if fd.rhs in key and not any(known <= superkey for known in found):
                another = _minimised(superkey, everything, rules)
                found[another] = None
                waiting.append(another)
    return sorted((Key(tuple(sorted(key))) for key in found), key=lambda key: (len(key.columns), key.columns))


def _minimised(superkey: frozenset[int], everything: frozenset[int], fds: list[FD]) -> frozenset[int]:
    for attribute in sorted(superkey, reverse=True):
        smaller = superkey - {attribute}
        if closure(smaller, fds) >= everything:
            superkey = smaller
    return superkey


def canonical_cover(fds: Iterable[FD]) -> list[FD]:
    """A canonical cover: FDs that say the same, with no extraneous attribute on a left side and no redundant FD."""
    rules = list(fds)
    closures = _Closures(rules)
    kept = list(dict.fromkeys(_reduced(fd, closures) for fd in rules))
    closures, places = _Closures(kept), {fd: place for place, fd in enumerate(kept)}
    for fd in sorted(kept, key=lambda fd: (-len(fd.lhs), fd.lhs, fd.rhs)):
        closures.leave_out(places[fd])
        if not closures.determine(fd.lhs, fd.rhs):
            closures.take_in(places[fd])
    return sorted((kept[place] for place in closures.taken()), key=lambda fd: (fd.lhs, fd.rhs))


def _reduced(fd: FD, closures: _Closures) -> FD:
    """The FD without the extraneous attributes of its left side."""
    lhs = list(fd.lhs)
    for attribute in fd.lhs:
        smaller = [other for other in lhs if other != attribute]
        if closures.determine(smaller, fd.rhs):
            lhs = smaller
    return FD(tuple(lhs), fd.rhs)


class _Closures:
    """What sets of attributes determine by some FDs, of which single ones can be left out."""

    def __init__(self, fds: list[FD]) -> None:
        columns = max((max((*fd.lhs, fd.rhs)) for fd in fds), default=0) + 1
        self._words = (columns - 1) // 63 + 1  # of 63 columns each: the last bit is never reached
        self._lhs = np.array([self._set(fd.lhs) for fd in fds], np.uint64).reshape(len(fds), self._words)
        self._rhs = np.array([self._set((fd.rhs,)) for fd in fds], np.uint64).reshape(len(fds), self._words)
        self._never = np.uint64(1 << 63)

    def _set(self, columns: Iterable[int]) -> list[int]:
        words = [0] * self._words
        for column in columns:
            words[column // 63] |= 1 << column % 63
        return words

    def leave_out(self, place: int) -> None:
        """Go on without an FD."""
        self._lhs[place, -1] |= self._never

    def take_in(self, place: int) -> None:
        """Take it in again."""
        self._lhs[place, -1] &= ~self._never

    def taken(self) -> list[int]:
        """The places of the FDs that are not left out."""
        return [int(place) for place in np.flatnonzero(self._lhs[:, -1] & self._never == 0)]

    def determine(self, lhs: Iterable[int], rhs: int) -> bool:
        """Whether attributes determine another one."""
        reached, goal = np.array(self._set(lhs), np.uint64), np.array(self._set((rhs,)), np.uint64)
        while not (reached & goal).any():
            applies = ~(self._lhs & ~reached).any(axis=1)
            further = np.bitwise_or.reduce(self._rhs[applies], axis=0, initial=np.uint64(0)) | reached
            if (further == reached).all():
                return False
            reached = further
        return True
