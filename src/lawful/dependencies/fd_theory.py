"""What people do with FDs: the keys that follow from them, and the fewest that say the same.

These speak about FDs alone, without data, under the policy that treats null as a value: ignoring nulls, FDs are
not transitive, and none of this holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

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
    kept = list(dict.fromkeys(_reduced(fd, rules) for fd in rules))
    for fd in sorted(kept, key=lambda fd: (-len(fd.lhs), fd.lhs, fd.rhs)):
        others = [other for other in kept if other != fd]
        if fd.rhs in closure(fd.lhs, others):
            kept = others
    return sorted(kept, key=lambda fd: (fd.lhs, fd.rhs))


def _reduced(fd: FD, fds: list[FD]) -> FD:
    """The FD without the extraneous attributes of its left side."""
    lhs = list(fd.lhs)
    for attribute in fd.lhs:
        smaller = [other for other in lhs if other != attribute]
        if fd.rhs in closure(smaller, fds):
            lhs = smaller
    return FD(tuple(lhs), fd.rhs)
