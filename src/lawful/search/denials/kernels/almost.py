"""A search for the minimal sets of literals that leave few pairs of rows unhit, by weight.

It grows a set S by the literals of an edge that S does not hit, as the search for exact hitting sets does, and has one
more branch at each node: never to hit that edge (Livshits et al., "Approximate denial constraints", PVLDB 2020, call
it ADCEnum). A branch ends once S is good enough, once some member of S is not needed, which more members never mend,
or once not even all candidates together are good enough.

A pair of rows has two edges, one for each order of its rows, and is unhit if either is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, add_listed, bit, drop_listed, lowest, popcount

Counts = npt.NDArray[np.int64]

# The sets that each level keeps.
SOLUTION = 0
CANDIDATES = 1
BRANCHES = 2
SET_SLOTS = 3

# What is still to be done on a level.
OPEN = 0
SKIP_EDGE = 1
BRANCH = 2

LEVEL = 0
STATE_SLOTS = 1


@compiled
def search_almost_on(
    edges: Words,
    turned: Words,
    weights: Counts,
    allowed: int,
    units: Counts,
    members: Counts,
    rivals: Counts,
    max_units: int,
    weaker: Counts,
    given: Words,
    state: Counts,
    todo: Counts,
    sets: Words,
    node_budget: int,
    out: Words,
    out_weights: Counts,
) -> int:
    """Go on until `out` is full, `node_budget` nodes were opened or nothing is left; return how many were written.

    Parameters
    ----------
    edges, turned, weights
        For each distinct pair of rows its two edges, and how many pairs are like it.
    allowed
        The weight that may be unhit.
    units, members, rivals, max_units
        As in `inversion.search_groups_on`.
    weaker
        For each literal one that is implied by it and takes its place if it hits enough, or -1.
    given
        The literals that every set has, whether they are needed or not.
    """
    words = edges.shape[1]
    n_out = 0
    opened = 0
    spare = np.zeros(words * 64, np.int64)
    level = state[LEVEL]
    while level >= 0 and n_out < out.shape[0]:
        here = sets[level]
        if todo[level] == OPEN:
            if opened == node_budget:
                break
            opened += 1
            unhit, best = _look(edges, turned, weights, allowed, here, weaker, given, spare)
            if unhit < 0:
                level -= 1
            elif unhit <= allowed:
                for k in range(words):
                    out[n_out, k] = here[SOLUTION, k]
                out_weights[n_out] = unhit
                n_out += 1
                level -= 1
            else:
                for k in range(words):
                    edge = turned[best >> 1, k] if best & 1 else edges[best >> 1, k]
                    here[BRANCHES, k] = edge & here[CANDIDATES, k]
                    here[CANDIDATES, k] &= ~edge
                todo[level] = SKIP_EDGE
        elif todo[level] == SKIP_EDGE:
            todo[level] = BRANCH
            level += 1
            todo[level] = OPEN
            for k in range(words):
                sets[level, SOLUTION, k] = here[SOLUTION, k]
                sets[level, CANDIDATES, k] = here[CANDIDATES, k]
        else:
            literal = _take(here)
            if literal < 0:
                level -= 1
                continue
            level += 1
            todo[level] = OPEN
            for k in range(words):
                sets[level, SOLUTION, k] = here[SOLUTION, k]
                sets[level, CANDIDATES, k] = here[CANDIDATES, k]
            drop_listed(sets[level, CANDIDATES], rivals[literal])
            sets[level, SOLUTION, literal >> 6] |= bit(literal)
            here[CANDIDATES, literal >> 6] |= bit(literal)
            _keep_within(sets[level], units, members, max_units)
    state[LEVEL] = level
    return n_out


@compiled
def _take(sets: Words) -> int:
    for k in range(sets.shape[1]):
        if sets[BRANCHES, k] != ZERO:
            literal = k * 64 + lowest(sets[BRANCHES, k])
            sets[BRANCHES, k] &= sets[BRANCHES, k] - ONE
            return literal
    return -1


@compiled
def _keep_within(sets: Words, units: Counts, members: Counts, max_units: int) -> None:
    """Once the limit of units is reached, keep only candidates of the units in use."""
    words = sets.shape[1]
    used = np.zeros(words, np.uint64)
    count = 0
    for k in range(words):
        rest = sets[SOLUTION, k]
        while rest != ZERO:
            literal = k * 64 + lowest(rest)
            rest &= rest - ONE
            if used[literal >> 6] & bit(literal) == ZERO:
                count += 1
                add_listed(used, members[units[literal]])
    if count >= max_units:
        for k in range(words):
            sets[CANDIDATES, k] &= used[k]


@compiled
def _shared(one: Words, other: Words) -> int:
    size = 0
    for k in range(one.size):
        size += popcount(one[k] & other[k])
    return size


@compiled
def _look(
    edges: Words,
    turned: Words,
    weights: Counts,
    allowed: int,
    sets: Words,
    weaker: Counts,
    given: Words,
    spare: Counts,
) -> tuple[int, int]:
    """Weigh what a solution leaves unhit, and choose an unhit edge with the fewest candidates.

    Returns -1 for the weight if a member is not needed or if all candidates together are not enough.
    """
    words = edges.shape[1]
    solution, candidates = sets[SOLUTION], sets[CANDIDATES]
    spare[:] = 0
    unhit = hopeless = 0
    fewest = words * 64 + 1
    best = -1
    for v in range(edges.shape[0]):
        one, other = _shared(edges[v], solution), _shared(turned[v], solution)
        if one == 0 or other == 0:
            unhit += weights[v]
            is_hopeless = False
            for side in range(2):
                edge = turned[v] if side else edges[v]
                if (other if side else one) == 0:
                    choices = _shared(edge, candidates)
                    is_hopeless |= choices == 0
                    if 0 < choices < fewest:
                        fewest = choices
                        best = 2 * v + side
            if is_hopeless:
                hopeless += weights[v]
        elif one == 1 or other == 1:
            _note_needed(edges[v], turned[v], solution, one, other, weights[v], weaker, spare)
    if hopeless > allowed:
        return -1, -1
    for k in range(words):
        rest = solution[k] & ~given[k]
        while rest != ZERO:
            literal = k * 64 + lowest(rest)
            rest &= rest - ONE
            if unhit + spare[literal] <= allowed:
                return -1, -1
    return unhit, best


@compiled
def _note_needed(
    edge: Words, turned: Words, solution: Words, one: int, other: int, weight: int, weaker: Counts, spare: Counts
) -> None:
    """Add the weight of a hit pair to the members of a solution without any one of which it would be unhit."""
    first = _needed(edge, solution, weaker) if one == 1 else -1
    second = _needed(turned, solution, weaker) if other == 1 else -1
    if first >= 0:
        spare[first] += weight
    if second >= 0 and second != first:
        spare[second] += weight


@compiled
def _needed(edge: Words, solution: Words, weaker: Counts) -> int:
    """The one member that hits an edge, or -1 if its weaker form would do."""
    for k in range(edge.size):
        if edge[k] & solution[k] != ZERO:
            literal = k * 64 + lowest(edge[k] & solution[k])
            instead = weaker[literal]
            return -1 if instead >= 0 and edge[instead >> 6] & bit(instead) != ZERO else literal
    return -1
