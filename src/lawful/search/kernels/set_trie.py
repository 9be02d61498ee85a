"""A set trie in flat arrays: sets are paths of ascending columns from the root.

Savnik et al., "Data structure set-trie for storing and querying sets" (2021). Departures: children are a list
sorted by column and not a table, so that hundreds of columns cost nothing; nodes count the sets below them,
so that a removal gives back the nodes that no other set needs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Flags, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, bit, lowest

Nodes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

# What a node keeps. Node 0 is the root, so 0 also says that there is no child or sibling.
COLUMN = 0
CHILD = 1
SIBLING = 2
SETS_BELOW = 3  # itself included
ENDS_SET = 4
NODE_SLOTS = 5

# The state of a trie.
USED = 0  # nodes handed out, the freed ones included
FREED = 1  # the first of the freed nodes, which are chained as siblings
STATE_SLOTS = 2


@compiled
def has_set(nodes: Nodes, members: Words) -> bool:
    """Whether a set is stored."""
    node = 0
    for w in range(members.shape[0]):
        rest = members[w]
        while rest != ZERO:
            node = _find_child(nodes, node, w * 64 + lowest(rest))
            if node == 0:
                return False
            rest &= rest - ONE
    return bool(nodes[node, ENDS_SET] == 1)


@compiled
def add_sets(nodes: Nodes, state: Counts, family: Words) -> Flags:
    """Store sets, and say which were not there; the nodes must suffice for all of their members."""
    added = np.zeros(family.shape[0], dtype=np.bool_)
    for i in range(family.shape[0]):
        if has_set(nodes, family[i]):
            continue
        added[i] = True
        node = 0
        nodes[0, SETS_BELOW] += 1
        for w in range(family.shape[1]):
            rest = family[i, w]
            while rest != ZERO:
                node = _find_or_make_child(nodes, state, node, w * 64 + lowest(rest))
                nodes[node, SETS_BELOW] += 1
                rest &= rest - ONE
        nodes[node, ENDS_SET] = 1
    return added


@compiled
def remove_sets(nodes: Nodes, state: Counts, family: Words) -> Flags:
    """Forget sets, and say which were there."""
    removed = np.zeros(family.shape[0], dtype=np.bool_)
    for i in range(family.shape[0]):
        if not has_set(nodes, family[i]):
            continue
        removed[i] = True
        node = 0
        nodes[0, SETS_BELOW] -= 1
        for w in range(family.shape[1]):
            rest = family[i, w]
            while rest != ZERO:
                child = _find_child(nodes, node, w * 64 + lowest(rest))
                rest &= rest - ONE
                nodes[child, SETS_BELOW] -= 1
                if nodes[child, SETS_BELOW] == 0:
                    _unlink(nodes, node, child)
                # The path goes on through nodes that are unlinked already: they keep their children until
                # they are freed, right after the next step.
                if node != 0 and nodes[node, SETS_BELOW] == 0:
                    _free(nodes, state, node)
                node = child
        nodes[node, ENDS_SET] = 0
        if node != 0 and nodes[node, SETS_BELOW] == 0:
            _free(nodes, state, node)
    return removed


@compiled
def _find_child(nodes: Nodes, node: int, column: int) -> int:
    child = nodes[node, CHILD]
    while child != 0 and nodes[child, COLUMN] < column:
        child = nodes[child, SIBLING]
    return int(child) if child != 0 and nodes[child, COLUMN] == column else 0


@compiled
def _find_or_make_child(nodes: Nodes, state: Counts, node: int, column: int) -> int:
    before = 0
    child = nodes[node, CHILD]
    while child != 0 and nodes[child, COLUMN] < column:
        before = child
        child = nodes[child, SIBLING]
    if child != 0 and nodes[child, COLUMN] == column:
        return int(child)
    if state[FREED] != 0:
        made = state[FREED]
        state[FREED] = nodes[made, SIBLING]
    else:
        made = state[USED]
        state[USED] += 1
    nodes[made, COLUMN] = column
    nodes[made, CHILD] = 0
    nodes[made, SIBLING] = child
    nodes[made, SETS_BELOW] = 0
    nodes[made, ENDS_SET] = 0
    if before == 0:
        nodes[node, CHILD] = made
    else:
        nodes[before, SIBLING] = made
    return int(made)


@compiled
def _unlink(nodes: Nodes, node: int, child: int) -> None:
    if nodes[node, CHILD] == child:
        nodes[node, CHILD] = nodes[child, SIBLING]
        return
    before = nodes[node, CHILD]
    while nodes[before, SIBLING] != child:
        before = nodes[before, SIBLING]
    nodes[before, SIBLING] = nodes[child, SIBLING]


@compiled
def _free(nodes: Nodes, state: Counts, node: int) -> None:
    nodes[node, SIBLING] = state[FREED]
    state[FREED] = node


@compiled
def find_any(nodes: Nodes, queries: Words, supersets: bool) -> Flags:
    """For each query whether a stored set is a superset, or otherwise a subset, of it."""
    found = np.zeros(queries.shape[0], dtype=np.bool_)
    nothing = np.empty((0, queries.shape[1]), dtype=np.uint64)
    for i in range(queries.shape[0]):
        found[i] = match_sets(nodes, queries[i], supersets, 1, nothing) > 0
    return found


@compiled
def match_sets(nodes: Nodes, query: Words, supersets: bool, enough: int, out: Words) -> int:
    """Count the stored supersets, or otherwise subsets, of a query up to `enough`; write what fits."""
    words = query.shape[0]
    wanted = _list_columns(query)
    if not supersets:
        # Only a superset has to hold the columns of the query.
        wanted = wanted[:0]
    path = np.zeros(words, dtype=np.uint64)
    went_by = np.empty(words * 64 + 1, dtype=np.int32)
    held_before = np.empty(words * 64 + 1, dtype=np.int64)
    depth = 0
    held = 0  # columns of `wanted` on the path
    n_found = 0
    if nodes[0, ENDS_SET] == 1 and wanted.shape[0] == 0:
        n_found = _note(path, out, n_found)
    node = nodes[0, CHILD]
    while n_found < enough:
        while not supersets and node != 0 and not _holds(query, nodes[node, COLUMN]):
            node = nodes[node, SIBLING]
        # Columns ascend along a path: beyond the next wanted one it can no longer come.
        if node == 0 or (held < wanted.shape[0] and nodes[node, COLUMN] > wanted[held]):
            if depth == 0:
                break
            depth -= 1
            node = went_by[depth]
            held = held_before[depth]
            path[nodes[node, COLUMN] >> 6] &= ~bit(nodes[node, COLUMN])
            node = nodes[node, SIBLING]
            continue
        column = nodes[node, COLUMN]
        went_by[depth] = node
        held_before[depth] = held
        depth += 1
        path[column >> 6] |= bit(column)
        if held < wanted.shape[0] and column == wanted[held]:
            held += 1
        if nodes[node, ENDS_SET] == 1 and held == wanted.shape[0]:
            n_found = _note(path, out, n_found)
        node = nodes[node, CHILD]
    return n_found


@compiled
def _note(path: Words, out: Words, n_found: int) -> int:
    if n_found < out.shape[0]:
        for w in range(path.shape[0]):
            out[n_found, w] = path[w]
    return n_found + 1


@compiled
def _holds(members: Words, column: int) -> bool:
    return bool((members[column >> 6] & bit(column)) != ZERO)


@compiled
def _list_columns(members: Words) -> Counts:
    columns = np.empty(members.shape[0] * 64, dtype=np.int64)
    n_columns = 0
    for w in range(members.shape[0]):
        rest = members[w]
        while rest != ZERO:
            columns[n_columns] = w * 64 + lowest(rest)
            n_columns += 1
            rest &= rest - ONE
    return columns[:n_columns]
