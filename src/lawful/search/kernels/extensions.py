"""What edges that come and go do to known minimal hitting sets.

Those that come are taken one after the other, as Berge's multiplication does, but depth-first over the solutions,
as Kavvadias & Stavropoulos ("An efficient algorithm for the transversal hypergraph generation", 2005): a solution T
of the edges so far that misses the next edge e becomes T + {v} for each v in e that leaves every member of T a
critical edge. No solution is found twice, as T is what remains of T + {v} without e, and v itself is critical for e.
So neither a comparison of solutions nor a memory of them is needed. Those that go leave solutions minimal as long as
every member has a critical edge among the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Bytes, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, ONE, ZERO, bit, lowest, popcount

Counts = npt.NDArray[np.int64]

# The state of a run over the missing solutions.
ROOT = 0  # the next of them to take up
HEIGHT = 1  # of the stack
STEPS = 2  # sets taken from the stack so far
STATE_SLOTS = 3

# What becomes of a solution.
UNTOUCHED = 0
DOUBTFUL = 1  # an edge that goes was critical for a member
REFUTED = 2  # misses an edge that comes, whatever else
ANY = 3

_SOLUTIONS_AT_A_TIME = 1024


@compiled
def find_supersets(family: Words, known: Words) -> npt.NDArray[np.bool_]:
    """Which sets contain a known set."""
    found = np.zeros(family.shape[0], dtype=np.bool_)
    for i in range(family.shape[0]):
        for j in range(known.shape[0]):
            outside = ZERO
            for w in range(family.shape[1]):
                outside |= known[j, w] & ~family[i, w]
            if outside == ZERO:
                found[i] = True
                break
    return found


@compiled
def judge_solutions(solutions: Words, come: Words, gone: Words) -> Bytes:
    """What becomes of each solution when edges come and go: a verdict.

    There may be a million solutions and a handful of edges, so this is done edge by edge for some solutions at a time,
    in loops without branches.
    """
    n_solutions, words = solutions.shape
    verdicts = np.zeros(n_solutions, dtype=np.uint8)
    common = np.empty(_SOLUTIONS_AT_A_TIME, dtype=np.uint64)
    counts = np.empty(_SOLUTIONS_AT_A_TIME, dtype=np.uint8)
    for start in range(0, n_solutions, _SOLUTIONS_AT_A_TIME):
        some = solutions[start : start + _SOLUTIONS_AT_A_TIME]
        for j in range(gone.shape[0]):
            counts[:] = 0  # of common columns; where they wrap, no more than a needless doubt comes of it
            for w in range(words):
                edge = gone[j, w]
                for i in range(some.shape[0]):
                    counts[i] += np.uint8(popcount(some[i, w] & edge))
            for i in range(some.shape[0]):
                verdicts[start + i] |= np.uint8(counts[i] == 1)  # DOUBTFUL
        for j in range(come.shape[0]):
            common[:] = ZERO
            for w in range(words):
                edge = come[j, w]
                for i in range(some.shape[0]):
                    common[i] |= some[i, w] & edge
            for i in range(some.shape[0]):
                verdicts[start + i] |= np.uint8(common[i] == ZERO) << np.uint8(1)  # REFUTED
    return verdicts


@compiled
def pick_solutions(solutions: Words, verdicts: Bytes, least: int, most: int, more: Words) -> Words:
    """The solutions whose verdict lies between two, both included, and some more."""
    n_picked = 0
    for i in range(verdicts.size):
        n_picked += int(least <= verdicts[i] <= most)
    picked = np.empty((n_picked + more.shape[0], solutions.shape[1]), dtype=np.uint64)
    for i in range(more.shape[0]):  # not by a slice, which takes seconds to compile
        for w in range(more.shape[1]):
            picked[n_picked + i, w] = more[i, w]
    n_picked = 0
    for i in range(verdicts.size):
        if least <= verdicts[i] <= most:
            for w in range(solutions.shape[1]):
                picked[n_picked, w] = solutions[i, w]
            n_picked += 1
    return picked


@compiled
def _first_missed(family: Words, i: int, edges: Words, start: int) -> int:
    """The first edge from `start` on that set i of a family misses, or the number of edges."""
    n_edges = int(edges.shape[0])
    if family.shape[1] == 1:
        members = family[i, 0]
        for j in range(start, n_edges):
            if edges[j, 0] & members == ZERO:
                return j
        return n_edges
    for j in range(start, n_edges):
        common = ZERO
        for w in range(family.shape[1]):
            common |= family[i, w] & edges[j, w]
        if common == ZERO:
            return j
    return n_edges


@compiled
def enter_edges(blocks: Words, edges: Words, start: int) -> None:
    """Note in `blocks[i // 64, column]` which edges i hold a column, for the edges from `start` on."""
    for i in range(start, edges.shape[0]):
        for w in range(edges.shape[1]):
            rest = edges[i, w]
            while rest != ZERO:
                blocks[i >> 6, w * 64 + lowest(rest)] |= bit(i)
                rest &= rest - ONE


@compiled
def forget_edges(blocks: Words, start: int) -> None:
    """Note that no edge from `start` on holds a column."""
    block = start >> 6
    if block < blocks.shape[0]:
        blocks[block] &= bit(start) - ONE
        blocks[block + 1 :] = ZERO


@compiled
def drop_edges(edges: Words, blocks: Words, places: Counts) -> int:
    """Take edges out, by their places in ascending order, and move the last ones there; return how many are left."""
    n_edges = int(edges.shape[0])
    for k in range(places.size - 1, -1, -1):
        n_edges -= 1
        place = places[k]
        _flip(blocks, edges[place], place)
        if place < n_edges:
            _flip(blocks, edges[n_edges], n_edges)
            _flip(blocks, edges[n_edges], place)
            edges[place] = edges[n_edges]
    return n_edges


@compiled
def _flip(blocks: Words, edge: Words, place: int) -> None:
    """Note that an edge stands at a place, or no longer does."""
    for w in range(edge.size):
        rest = edge[w]
        while rest != ZERO:
            blocks[place >> 6, w * 64 + lowest(rest)] ^= bit(place)
            rest &= rest - ONE


@compiled
def find_critical(solutions: Words, blocks: Words, counted: Words) -> npt.NDArray[np.bool_]:
    """Which solutions have a critical edge for each member, among the edges of the bitmap `counted`."""
    members = np.empty(blocks.shape[1], dtype=np.int64)
    minimal = np.empty(solutions.shape[0], dtype=np.bool_)
    for i in range(solutions.shape[0]):
        n_members = _list_members(solutions[i], members, members.size)
        # The members without a critical edge so far are kept in front.
        n_open = n_members
        block = 0
        while n_open > 0 and block < counted.size:
            once = _hit_once(blocks[block], members, n_members) & counted[block]
            k = 0
            while k < n_open:
                if once & blocks[block, members[k]] == ZERO:
                    k += 1
                else:
                    n_open -= 1
                    members[k], members[n_open] = members[n_open], members[k]
            block += 1
        minimal[i] = n_open == 0
    return minimal


@compiled
def _hit_once(block: Words, members: Counts, n_members: int) -> np.uint64:
    """The edges of a block that hold exactly one member."""
    hit = ZERO
    twice = ZERO
    for i in range(n_members):
        holders = block[members[i]]
        twice |= hit & holders
        hit |= holders
    return np.uint64(hit & ~twice)


@compiled
def extend_solutions(
    roots: Words,
    edges: Words,
    n_known: int,
    blocks: Words,
    max_size: int,
    state: Counts,
    stack: Words,
    stack_edge: Counts,
    shared: Words,
    step_budget: int,
    out: Words,
) -> int:
    """Go on extending solutions until `out` is full, `step_budget` steps were made or nothing is left.

    Parameters
    ----------
    roots
        Minimal hitting sets of the first `n_known` edges that miss one of the others.
    edges, blocks
        All edges, and the same by column as `enter_edges` keeps them.
    state, stack, stack_edge
        Where the run stands; sets to go on with and, for each, the edges known to be hit or accounted for.
    shared
        Scratch, a set for each member of a solution.
    out
        Receives the new minimal hitting sets.

    Returns
    -------
    int
        The number of solutions written.
    """
    n_edges, words = edges.shape
    members = np.empty(shared.shape[0], dtype=np.int64)
    solution = np.empty(words, dtype=np.uint64)
    allowed = np.empty(words, dtype=np.uint64)
    n_out = 0
    steps = 0
    height = state[HEIGHT]
    while n_out < out.shape[0] and steps < step_budget:
        if height == 0:
            if state[ROOT] == roots.shape[0]:
                break
            for w in range(words):
                stack[0, w] = roots[state[ROOT], w]
            stack_edge[0] = n_known
            state[ROOT] += 1
            height = 1
        steps += 1
        height -= 1
        for w in range(words):
            solution[w] = stack[height, w]
        edge = _first_missed(stack, height, edges, stack_edge[height])
        if edge == n_edges:
            for w in range(words):
                out[n_out, w] = solution[w]
            n_out += 1
            continue
        n_members = _list_members(solution, members, max_size)
        if n_members < max_size:
            _find_allowed(edges, edge, blocks, members, n_members, shared, allowed)
            height = _push(stack, stack_edge, height, solution, allowed, edge + 1)
    state[HEIGHT] = height
    state[STEPS] += steps
    return n_out


@compiled
def _push(stack: Words, stack_edge: Counts, height: int, solution: Words, additions: Words, edge: int) -> int:
    """Put the solution with each of the additions on the stack, and return its height."""
    words = solution.shape[0]
    for w in range(words):
        rest = additions[w]
        while rest != ZERO:
            for k in range(words):
                stack[height, k] = solution[k]
            stack[height, w] |= rest & ~(rest - ONE)
            stack_edge[height] = edge
            height += 1
            rest &= rest - ONE
    return height


@compiled
def _list_members(solution: Words, members: Counts, most: int) -> int:
    n_members = 0
    for w in range(solution.shape[0]):
        rest = solution[w]
        while rest != ZERO and n_members < most:
            members[n_members] = w * 64 + lowest(rest)
            n_members += 1
            rest &= rest - ONE
    return n_members


@compiled
def _find_allowed(
    edges: Words, edge: int, blocks: Words, members: Counts, n_members: int, shared: Words, allowed: Words
) -> None:
    """The columns of an edge that take no member its last critical edge among the edges before.

    A column takes all critical edges of a member if it lies in all of them. Most members have critical edges
    with nothing in common within `edge` among the first few, so that few blocks are ever looked at.
    """
    words = edges.shape[1]
    for i in range(n_members):
        for w in range(words):
            shared[i, w] = edges[edge, w]
    # The members whose critical edges still have something in common are kept in front.
    n_open = n_members
    block = 0
    while n_open > 0 and block * 64 < edge:
        once = _hit_once(blocks[block], members, n_members)
        if (block + 1) * 64 > edge:
            once &= ~(ALL << np.uint64(edge - block * 64))
        i = 0
        while i < n_open and once != ZERO:
            if _intersect(edges, block, once & blocks[block, members[i]], shared[i]):
                i += 1
            else:
                n_open -= 1
                members[i], members[n_open] = members[n_open], members[i]
                for w in range(words):
                    shared[i, w] = shared[n_open, w]
        block += 1
    for w in range(words):
        taken = ZERO
        for i in range(n_open):
            taken |= shared[i, w]
        allowed[w] = edges[edge, w] & ~taken


@compiled
def _intersect(edges: Words, block: int, chosen: np.uint64, shared: Words) -> bool:
    """Intersect a set with the chosen edges of a block, and say whether anything is left."""
    left = ALL
    while chosen != ZERO and left != ZERO:
        edge = block * 64 + lowest(chosen)
        chosen &= chosen - ONE
        left = ZERO
        for w in range(shared.shape[0]):
            shared[w] &= edges[edge, w]
            left |= shared[w]
    return bool(left != ZERO)
