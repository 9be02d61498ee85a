"""A prefix tree of agree sets in flat arrays.

Node n has a label, the bit by which it is reached from its parent, `child[n]`, its child of the least label, and
`sibling[n]`, the child of its parent with the next label; 0, which is the root, where there is none. `flag[n]` is the
number of the set that ends here, -1 if none does.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ONE, ZERO


@compiled
def _child_of(node: int, bit: int, label: Int32s, child: Int32s, sibling: Int32s, size: int) -> int:
    """Return the child that a bit leads to; if there is none, it is placed as node `size`, in the order of labels."""
    before, next_ = 0, child[node]
    while next_ != 0 and label[next_] < bit:
        before, next_ = next_, sibling[next_]
    if next_ != 0 and label[next_] == bit:
        return int(next_)
    label[size], child[size], sibling[size] = bit, 0, next_
    if before == 0:
        child[node] = size
    else:
        sibling[before] = size
    return size


@compiled
def add_sets(
    keys: Words, first: int, number: int, label: Int32s, child: Int32s, sibling: Int32s, flag: Int32s, size: int
) -> tuple[int, int]:
    """Add the sets from `first` on, which have the numbers from `number` on, until one might not fit.

    Returns the set to go on with and how many nodes there are.
    """
    bits = 64 * keys.shape[1]
    while first < keys.shape[0] and size + bits <= label.size:
        node = 0
        for bit in range(bits):
            if keys[first, bit >> 6] >> np.uint64(bit & 63) & ONE != ZERO:
                node = _child_of(node, bit, label, child, sibling, size)
                if node == size:
                    flag[size] = -1
                    size += 1
        flag[node] = number
        first, number = first + 1, number + 1
    return first, size


@compiled
def find_sets(
    required: Int64s, forbidden: int, label: Int32s, child: Int32s, sibling: Int32s, flag: Int32s, found: Int32s
) -> int:
    """List the numbers of the sets that have all required bits, which are in their order, and not the forbidden one.

    Returns how many there are. A child beyond the next required bit leads to no set that has it, nor do the
    children after it.
    """
    count = 0
    if required.size == 0 and flag[0] >= 0:
        found[0], count = flag[0], 1
    nodes, had = np.empty(label.size, np.int32), np.empty(label.size, np.int32)
    nodes[0], had[0], waiting = 0, 0, 1
    while waiting > 0:
        waiting -= 1
        node, has = child[nodes[waiting]], had[waiting]
        next_bit = required[has] if has < required.size else np.int64(1 << 30)
        while node != 0 and label[node] <= next_bit:
            if label[node] != forbidden:
                now_has = has + (label[node] == next_bit)
                if now_has == required.size and flag[node] >= 0:
                    found[count] = flag[node]
                    count += 1
                if child[node] != 0:
                    nodes[waiting], had[waiting] = node, now_has
                    waiting += 1
            node = sibling[node]
    return count
