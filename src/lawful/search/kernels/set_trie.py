"""A set trie in flat arrays: sets are paths of ascending columns from the root.

Savnik et al., "Data structure set-trie for storing and querying sets" (2021). Departure: children are a list
sorted by column and not a table, so that hundreds of columns cost nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, bit, lowest

Nodes = npt.NDArray[np.int32]

# What a node keeps. Node 0 is the root, so 0 also says that there is no child or sibling.
COLUMN = 0
CHILD = 1
SIBLING = 2
ENDS_SET = 3
_NODE_SLOTS = 4
_FIRST_NODES = 64


@compiled
def empty_nodes() -> Nodes:
    """The nodes of a trie that holds nothing yet; it uses one of them, the root."""
    return np.zeros((_FIRST_NODES, _NODE_SLOTS), np.int32)


@compiled
def with_room(nodes: Nodes, needed: int) -> Nodes:
    """The same nodes, or a copy that has room for at least as many as are needed."""
    if needed <= nodes.shape[0]:
        return nodes
    larger = np.zeros((2 * needed, _NODE_SLOTS), np.int32)
    larger[: nodes.shape[0]] = nodes
    return larger


@compiled
def add_set(nodes: Nodes, used: int, members: Words) -> int:
    """Store a set, and return how many nodes are used then; they must suffice for all of its members."""
    node = 0
    for w in range(members.shape[0]):
        rest = members[w]
        while rest != ZERO:
            column = w * 64 + lowest(rest)
            rest &= rest - ONE
            before, child = 0, nodes[node, CHILD]
            while child != 0 and nodes[child, COLUMN] < column:
                before, child = child, nodes[child, SIBLING]
            if child == 0 or nodes[child, COLUMN] != column:
                nodes[used, COLUMN] = column
                nodes[used, SIBLING] = child
                if before == 0:
                    nodes[node, CHILD] = used
                else:
                    nodes[before, SIBLING] = used
                child = used
                used += 1
            node = child
    nodes[node, ENDS_SET] = 1
    return used


@compiled
def has_subset(nodes: Nodes, members: Words) -> bool:
    """Whether a stored set lies in the given one: a path along its columns that ends a set."""
    if nodes[0, ENDS_SET] == 1:
        return True
    went_by = np.empty(members.shape[0] * 64 + 1, dtype=np.int32)
    depth = 0
    node = nodes[0, CHILD]
    while True:
        while node != 0 and not _holds(members, nodes[node, COLUMN]):
            node = nodes[node, SIBLING]
        if node == 0:
            if depth == 0:
                return False
            depth -= 1
            node = nodes[went_by[depth], SIBLING]
            continue
        if nodes[node, ENDS_SET] == 1:
            return True
        went_by[depth] = node
        depth += 1
        node = nodes[node, CHILD]


@compiled
def _holds(members: Words, column: int) -> bool:
    return bool((members[column >> 6] & bit(column)) != ZERO)
