"""A tree over rows in order: which rows are out of order by a second value, and with how many others.

Two entries *clash* if the earlier one has the greater value or, where that is not strict, an equal one. A value is the
keys at the places `by`. An entry is clean if it clashes with none. A node of the tree knows how many entries it has,
their least and greatest value, and how many of them are clean within it. Whether a clean entry of the left child is
clean within the node is decided by the least value of the right child, and the other way round; so those that are clean
within a node are those of the left child up to a value, and those of the right child from a value on. All that is ever
asked is how many clean entries of a node lie beyond a value, and one path down the tree answers that. So the rows that
clash are counted without being looked at one by one.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled
from lawful.evidence.living.pinned.kernels.order_blocks import (
    CHANGED,
    MOVED,
    REGION,
    STRICT,
    Keys,
    Ordering,
    place_in_block,
    slot_of,
)


@compiled
def fits(one: Keys, i: int, other: Keys, j: int, is_strict: int) -> bool:
    """Whether two values, lines of two arrays, do not clash if the first comes first."""
    for k in range(one.shape[1]):
        if one[i, k] != other[j, k]:
            return bool(one[i, k] < other[j, k])
    return is_strict != 0


@compiled
def _is_less(one: Keys, i: int, other: Keys, j: int) -> bool:
    for k in range(one.shape[1]):
        if one[i, k] != other[j, k]:
            return bool(one[i, k] < other[j, k])
    return False


@compiled
def _copy(one: Keys, i: int, to: Keys, j: int) -> None:
    for k in range(one.shape[1]):
        to[j, k] = one[i, k]


@compiled
def _entry_fits(keys: Keys, block: int, i: int, by: Int64s, value: Keys, n: int, is_strict: int) -> bool:
    """Whether an entry of a block does not clash with a value that comes behind it."""
    for k in range(by.size):
        if keys[block, i, by[k]] != value[n, k]:
            return bool(keys[block, i, by[k]] < value[n, k])
    return is_strict != 0


@compiled
def _fits_entry(keys: Keys, block: int, i: int, by: Int64s, value: Keys, n: int, is_strict: int) -> bool:
    """Whether a value does not clash with an entry of a block that comes behind it."""
    for k in range(by.size):
        if keys[block, i, by[k]] != value[n, k]:
            return bool(value[n, k] < keys[block, i, by[k]])
    return is_strict != 0


@compiled
def _read(keys: Keys, block: int, i: int, by: Int64s, value: Keys, n: int) -> None:
    for k in range(by.size):
        value[n, k] = keys[block, i, by[k]]


@compiled
def _mark_clean(keys: Keys, block: int, size: int, by: Int64s, is_strict: int, is_clean: Int32s) -> int:
    """Mark the entries of a block that clash with none of it; return how many those are."""
    best = np.empty((2, by.size), np.int64)  # the greatest so far, and the entry's own
    for i in range(size):
        _read(keys, block, i, by, best, 1)
        is_clean[i] = 1 if i == 0 or fits(best, 0, best, 1, is_strict) else 0
        if i == 0 or _is_less(best, 0, best, 1):
            _copy(best, 1, best, 0)
    clean = 0
    for i in range(size - 1, -1, -1):
        _read(keys, block, i, by, best, 1)
        if i < size - 1 and not fits(best, 1, best, 0, is_strict):
            is_clean[i] = 0
        if i == size - 1 or _is_less(best, 1, best, 0):
            _copy(best, 1, best, 0)
        clean += is_clean[i]
    return clean


@compiled
def _clean_beyond(o: Ordering, node: int, values: Keys, at: int, above: bool, is_clean: Int32s) -> int:
    """How many entries that are clean within a node fit behind a value (`above`), or before it."""
    counts, clean, least, greatest, strict = o.counts, o.clean, o.least, o.greatest, o.facts[STRICT]
    leaves = counts.size // 2
    total = 0
    while node < leaves:
        left, right = 2 * node, 2 * node + 1
        if counts[left] == 0 or counts[right] == 0:
            node = right if counts[left] == 0 else left
        elif above:
            if _is_less(greatest, left, values, at):
                node = right
                continue
            total += o.right_clean[node]
            if not fits(values, at, least, right, strict):
                return int(total)
            total += o.left_clean[node] - clean[left]
            node = left
        else:
            if _is_less(values, at, least, right):
                node = left
                continue
            total += o.left_clean[node]
            if not fits(greatest, left, values, at, strict):
                return int(total)
            total += o.right_clean[node] - clean[right]
            node = right
    if counts[node] == 0:
        return int(total)
    block = o.order[node - leaves]
    _mark_clean(o.keys, block, o.sizes[block], o.by, strict, is_clean)
    for i in range(o.sizes[block]):
        if is_clean[i]:
            if above:
                total += _fits_entry(o.keys, block, i, o.by, values, at, strict)
            else:
                total += _entry_fits(o.keys, block, i, o.by, values, at, strict)
    return total


@compiled
def _pull_leaf(o: Ordering, slot: int, is_clean: Int32s) -> None:
    """Let the tree know what is in a slot."""
    node, block, strict = o.counts.size // 2 + slot, o.order[slot], o.facts[STRICT]
    keys, by, least, greatest = o.keys, o.by, o.least, o.greatest
    size = o.sizes[block]
    o.counts[node] = o.clean[node] = size
    if size == 0:
        return
    own = np.empty((1, by.size), np.int64)
    _read(keys, block, 0, by, least, node)
    _read(keys, block, 0, by, greatest, node)
    is_in_order = True
    for i in range(1, size):
        _read(keys, block, i, by, own, 0)
        if _is_less(greatest, node, own, 0):
            _copy(own, 0, greatest, node)
        elif not fits(greatest, node, own, 0, strict):
            is_in_order = False
            if _is_less(own, 0, least, node):
                _copy(own, 0, least, node)
    if not is_in_order:
        o.clean[node] = _mark_clean(keys, block, size, by, strict, is_clean)


@compiled
def _pull(o: Ordering, node: int, is_clean: Int32s) -> None:
    """Let a node know what its children know."""
    counts, clean, least, greatest = o.counts, o.clean, o.least, o.greatest
    left, right = 2 * node, 2 * node + 1
    counts[node] = counts[left] + counts[right]
    if counts[left] == 0 or counts[right] == 0:
        child = right if counts[left] == 0 else left
        clean[node] = clean[child]
        o.left_clean[node] = clean[node] if child == left else 0
        o.right_clean[node] = clean[node] if child == right else 0
        _copy(least, child, least, node)
        _copy(greatest, child, greatest, node)
        return
    if fits(greatest, left, least, right, o.facts[STRICT]):
        o.left_clean[node], o.right_clean[node] = clean[left], clean[right]
    else:
        o.left_clean[node] = _clean_beyond(o, left, least, right, False, is_clean)
        o.right_clean[node] = _clean_beyond(o, right, greatest, left, True, is_clean)
    clean[node] = o.left_clean[node] + o.right_clean[node]
    _copy(least, right if _is_less(least, right, least, left) else left, least, node)
    _copy(greatest, right if _is_less(greatest, left, greatest, right) else left, greatest, node)


@compiled
def pull(o: Ordering) -> None:
    """Let the tree know what has changed."""
    leaves = o.counts.size // 2
    regions = np.flatnonzero(o.dirty)
    o.dirty[:] = 0
    is_clean = np.empty(o.rows.shape[1], np.int32)
    nodes = np.empty(regions.size, np.int64)
    for n in range(regions.size):
        first = regions[n] * REGION
        used = o.used[regions[n]]
        was_moved = False
        for slot in range(first, first + used):
            was_moved |= o.stale[slot] & MOVED != 0
            if o.stale[slot] & CHANGED:
                _pull_leaf(o, slot, is_clean)
        for slot in range(first + used, first + REGION):
            o.counts[leaves + slot] = o.clean[leaves + slot] = 0
        width = REGION // 2
        while width:
            start, below = (leaves + first) * width // REGION, REGION // width
            for node in range(start, start + width):
                touched = was_moved
                for slot in range(first + (node - start) * below, first + (node - start + 1) * below):
                    touched |= o.stale[slot] != 0
                if touched:
                    _pull(o, node, is_clean)
            width //= 2
        o.stale[first : first + REGION] = 0
        nodes[n] = (leaves + first) // REGION
    many = nodes.size
    while many and nodes[0] > 1:
        kept = 0
        for n in range(many):
            parent = nodes[n] >> 1
            if kept == 0 or nodes[kept - 1] != parent:
                nodes[kept] = parent
                kept += 1
        many = kept
        for n in range(many):
            _pull(o, nodes[n], is_clean)


@compiled
def _may_clash(
    counts: Int64s, least: Keys, greatest: Keys, node: int, values: Keys, n: int, is_before: bool, strict: int
) -> bool:
    """Whether an entry of a node clashes with a value that comes behind all of them (`is_before`) or before them."""
    if counts[node] == 0:
        return False
    return not (fits(greatest, node, values, n, strict) if is_before else fits(values, n, least, node, strict))


@compiled
def _clashes_within(o: Ordering, node: int, values: Keys, n: int, is_before: bool, visits: Int64s) -> int:
    """How many entries of a node clash with a value that comes behind all of them (`is_before`) or before them."""
    counts, least, greatest, strict = o.counts, o.least, o.greatest, o.facts[STRICT]
    leaves = counts.size // 2
    stack = np.empty(64, np.int64)
    stack[0], depth, total = node, 1, 0
    while depth:
        depth -= 1
        node = stack[depth]
        if counts[node] == 0:
            continue
        if fits(greatest, node, values, n, strict) if is_before else fits(values, n, least, node, strict):
            continue
        if not (fits(least, node, values, n, strict) if is_before else fits(values, n, greatest, node, strict)):
            total += counts[node]
            continue
        if node < leaves:
            stack[depth], stack[depth + 1] = 2 * node, 2 * node + 1
            depth += 2
            continue
        visits[0] += 1
        block = o.order[node - leaves]
        for i in range(o.sizes[block]):
            if is_before:
                total += not _entry_fits(o.keys, block, i, o.by, values, n, strict)
            else:
                total += not _fits_entry(o.keys, block, i, o.by, values, n, strict)
    return total


@compiled
def _clashes_in_block(o: Ordering, slot: int, asked: Keys, n: int, row: int, values: Keys, first_only: bool) -> int:
    """How many entries of its own block an entry clashes with; or the row of the first of them, -1 if there is none."""
    keys, by, strict, block = o.keys, o.by, o.facts[STRICT], o.order[slot]
    at, size, leaf = place_in_block(o, block, asked, n, row), o.sizes[block], o.counts.size // 2 + slot
    behind = at + 1 if at < size and o.rows[block, at] == row else at
    if o.clean[leaf] == o.counts[leaf] and (
        (at == 0 or _entry_fits(keys, block, at - 1, by, values, n, strict))
        and (behind >= size or _fits_entry(keys, block, behind, by, values, n, strict))
    ):
        return -1 if first_only else 0  # the values of the block rise, and this one stands right among them
    total = 0
    for i in range(size):
        if i < at:
            clashes = not _entry_fits(keys, block, i, by, values, n, strict)
        else:
            clashes = i >= behind and not _fits_entry(keys, block, i, by, values, n, strict)
        if clashes and first_only:
            return int(o.rows[block, i])
        total += clashes
    return -1 if first_only else total


@compiled
def _stands_right(o: Ordering, slot: int, asked: Keys, n: int, row: int, values: Keys) -> bool:
    """Whether an entry fits to those on both sides of it, and both are in its block.

    Where no entry clashes with another, values rise all along the order: then it clashes with none.
    """
    keys, by, strict, block = o.keys, o.by, o.facts[STRICT], o.order[slot]
    at, size = place_in_block(o, block, asked, n, row), o.sizes[block]
    behind = at + 1 if at < size and o.rows[block, at] == row else at
    return bool(
        at > 0
        and behind < size
        and _entry_fits(keys, block, at - 1, by, values, n, strict)
        and _fits_entry(keys, block, behind, by, values, n, strict)
    )


@compiled
def count_clashes(o: Ordering, asked: Keys, asked_rows: Int64s, values: Keys, most_visits: int) -> int:
    """With how many entries some entries clash, in all; -1 if that takes too many visits of blocks.

    Entries that are in the order do not clash with themselves. `values` has the value of each.
    """
    leaves = o.counts.size // 2
    counts, least, greatest, strict = o.counts, o.least, o.greatest, o.facts[STRICT]
    visits = np.zeros(1, np.int64)
    is_in_order = o.clean[1] == counts[1]
    total = 0
    for n in range(asked.shape[0]):
        if visits[0] > most_visits:
            return -1
        slot = slot_of(o, asked, n, asked_rows[n])
        if is_in_order and _stands_right(o, slot, asked, n, asked_rows[n], values):
            continue
        total += _clashes_in_block(o, slot, asked, n, asked_rows[n], values, False)
        for is_before in (True, False):
            low, high = (leaves, leaves + slot) if is_before else (leaves + slot + 1, 2 * leaves)
            while low < high:
                if low & 1:
                    if _may_clash(counts, least, greatest, low, values, n, is_before, strict):
                        total += _clashes_within(o, low, values, n, is_before, visits)
                    low += 1
                if high & 1:
                    high -= 1
                    if _may_clash(counts, least, greatest, high, values, n, is_before, strict):
                        total += _clashes_within(o, high, values, n, is_before, visits)
                low >>= 1
                high >>= 1
    return total


@compiled
def _extreme(o: Ordering, node: int, is_greatest: bool) -> int:
    """The row of a node's entry with the greatest or the least value."""
    leaves = o.counts.size // 2
    extremes, wanted = o.greatest if is_greatest else o.least, node
    while node < leaves:
        left = 2 * node
        node = left if o.counts[left] and fits(extremes, left, extremes, wanted, 1) and fits(
            extremes, wanted, extremes, left, 1
        ) else left + 1  # fmt: skip
    block = o.order[node - leaves]
    for i in range(o.sizes[block]):
        if _entry_fits(o.keys, block, i, o.by, extremes, wanted, 1) and _fits_entry(
            o.keys, block, i, o.by, extremes, wanted, 1
        ):
            return int(o.rows[block, i])
    return -1


@compiled
def _clashing(o: Ordering, slot: int, values: Keys, n: int, is_before: bool) -> int:
    """A row of the slots before or behind one that clashes with a value there, -1 if there is none."""
    leaves, strict = o.counts.size // 2, o.facts[STRICT]
    low, high = (leaves, leaves + slot) if is_before else (leaves + slot + 1, 2 * leaves)
    while low < high:
        if low & 1:
            node = low
            low += 1
        elif high & 1:
            high -= 1
            node = high
        else:
            low >>= 1
            high >>= 1
            continue
        if _may_clash(o.counts, o.least, o.greatest, node, values, n, is_before, strict):
            return _extreme(o, node, is_before)
    return -1


@compiled
def find_clashing(o: Ordering, asked: Keys, asked_rows: Int64s, values: Keys, partners: Int64s) -> None:
    """Write for each of some entries a row that it clashes with, -1 where there is none."""
    for n in range(asked.shape[0]):
        slot = slot_of(o, asked, n, asked_rows[n])
        partners[n] = _clashes_in_block(o, slot, asked, n, asked_rows[n], values, True)
        if partners[n] < 0:
            partners[n] = _clashing(o, slot, values, n, True)
        if partners[n] < 0:
            partners[n] = _clashing(o, slot, values, n, False)


@compiled
def find_clash(o: Ordering) -> tuple[int, int]:
    """Two rows that clash, (-1, -1) if there are none."""
    leaves, strict = o.counts.size // 2, o.facts[STRICT]
    node = 1
    if o.clean[1] == o.counts[1]:
        return -1, -1
    while node < leaves:
        left, right = 2 * node, 2 * node + 1
        if o.counts[left] and o.counts[right] and not fits(o.greatest, left, o.least, right, strict):
            return _extreme(o, left, True), _extreme(o, right, False)
        node = left if o.counts[left] and o.clean[left] < o.counts[left] else right
    block = o.order[node - leaves]
    two = np.empty((2, o.by.size), np.int64)
    for i in range(1, o.sizes[block]):
        _read(o.keys, block, i - 1, o.by, two, 0)
        _read(o.keys, block, i, o.by, two, 1)
        if not fits(two, 0, two, 1, strict):
            return o.rows[block, i - 1], o.rows[block, i]
    return -1, -1
