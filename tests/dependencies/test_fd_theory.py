"""Closures, candidate keys and covers, against their definitions over all sets of attributes."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lawful.dependencies import FD, Key, candidate_keys, canonical_cover, closure, implies

WIDTH = 5


@st.composite
def fd_sets(draw: st.DrawFn) -> list[FD]:
    found = []
    for _ in range(draw(st.integers(0, 7))):
        rhs = draw(st.integers(0, WIDTH - 1))
        lhs = draw(st.sets(st.integers(0, WIDTH - 1).filter(lambda c, rhs=rhs: c != rhs), max_size=3))
        found.append(FD(tuple(sorted(lhs)), rhs))
    return found


def follows(lhs: tuple[int, ...], fds: list[FD]) -> set[int]:
    """The closure, by applying FDs until nothing changes."""
    known = set(lhs)
    while any(fd.rhs not in known and known >= set(fd.lhs) for fd in fds):
        known |= {fd.rhs for fd in fds if known >= set(fd.lhs)}
    return known


@given(fd_sets())
def test_candidate_keys_are_the_minimal_determining_sets(fds: list[FD]) -> None:
    keys: list[tuple[int, ...]] = []
    for size in range(WIDTH + 1):
        for chosen in combinations(range(WIDTH), size):
            if len(follows(chosen, fds)) == WIDTH and not any(set(key) <= set(chosen) for key in keys):
                keys.append(chosen)
    assert candidate_keys(range(WIDTH), fds) == [Key(key) for key in keys]


@given(fd_sets(), st.integers(1, 3))
def test_candidate_keys_can_be_limited(fds: list[FD], most: int) -> None:
    everything = candidate_keys(range(WIDTH), fds)
    some = candidate_keys(range(WIDTH), fds, most)
    assert len(some) >= min(most, len(everything))
    assert set(some) <= set(everything)


@given(fd_sets())
def test_a_cover_says_the_same_and_nothing_needless(fds: list[FD]) -> None:
    cover = canonical_cover(fds)
    for size in range(WIDTH + 1):
        for chosen in combinations(range(WIDTH), size):
            assert follows(chosen, cover) == follows(chosen, fds)
    for fd in cover:
        others = [other for other in cover if other != fd]
        assert fd.rhs not in follows(fd.lhs, others)
        for attribute in fd.lhs:
            smaller = tuple(other for other in fd.lhs if other != attribute)
            assert fd.rhs not in follows(smaller, cover)


@given(fd_sets(), st.sets(st.integers(0, WIDTH - 1)))
def test_closure_is_what_follows(fds: list[FD], attributes: set[int]) -> None:
    assert closure(tuple(attributes), fds) == follows(tuple(attributes), fds)
    for rhs in set(range(WIDTH)) - attributes:
        fd = FD(tuple(sorted(attributes)), rhs)
        assert implies(fds, fd) == (rhs in follows(tuple(attributes), fds))
