"""An index of rows that two orders must sort alike: canonical and list-based orders, and pairs of inequalities.

Rows stand in the order of some keys, and break the law if an earlier one has the greater value. Both the rows that do
and the pairs are counted: the rows by a tree that knows which are clean, in log² steps; the pairs by looking at parts
of the order that have values on both sides of a row's own. Where a law holds, or is broken in few places, those are
few. Where it is broken all over, there are as many as the table has; after some work on a batch pairs are then counted
anew by sorting, n log n steps for the batch.

An entry takes 8 bytes for each key and 4 for its row, and blocks are filled to three quarters at first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.evidence.living.pinned.kernels.inversions import count_inversions, values_in_order
from lawful.evidence.living.pinned.kernels.order_blocks import (
    BLOCKS,
    REGION,
    SPREAD,
    Keys,
    Ordering,
    delete_entries,
    fill_blocks,
    insert_entries,
    spread_out,
)
from lawful.evidence.living.pinned.kernels.order_tree import (
    count_clashes,
    find_clash,
    find_clashing,
    pull,
)

_BLOCK = 128
_FILL = 96
_VISITS_PER_ROW = 64
_VISITS_PER_BLOCK = 4
_SPARE = 4
_COUNTS = 4
_WORDS_A_LINE = 8


class OrderSpec(NamedTuple):
    """How entries are ordered, and when two of them clash.

    Attributes
    ----------
    keys, leading
        How many keys an entry has, and how many of them come before those of its value.
    turned
        Whether entries that are equal so far stand by falling values.
    by
        The places of the keys that make its value.
    is_strict
        Whether equal values do not clash.
    """

    keys: int
    leading: int
    turned: bool
    by: tuple[int, ...]
    is_strict: bool


class OrderedRows:
    """Rows in order, and what is out of order in them.

    Parameters
    ----------
    spec
        How rows compare.
    keys, rows, in_order
        The first rows: keys `int64[keys, rows]`, their numbers, and their places in the order of the spec.
    """

    def __init__(self, spec: OrderSpec, keys: Keys, rows: Int64s, in_order: Int32s) -> None:
        self._spec = spec
        blocks = max(1, -(-len(rows) // _FILL))
        self._o = self._room_for(blocks + blocks // _SPARE + REGION, blocks)
        fill_blocks(self._o, keys, in_order, rows, _FILL)
        pull(self._o)
        self._pairs: int | None = None if self._clashing else 0

    @property
    def memory(self) -> int:
        """Bytes in use: blocks that were never filled take none."""
        used = int(self._o.facts[BLOCKS])
        entry = self._o.keys[0].nbytes + self._o.rows[0].nbytes + self._o.bounds[0].nbytes + 8
        tree = sum(array.nbytes for name, array in self._o._asdict().items() if name not in _BY_BLOCK)
        return int(used * entry + tree)

    @property
    def tally(self) -> tuple[int, int]:
        """How many rows clash with another, and how many pairs do."""
        if self._pairs is None:
            values = np.empty((int(self._o.counts[1]), len(self._spec.by)), np.int64)
            values_in_order(self._o, values)
            self._pairs = int(count_inversions(values, np.empty_like(values), int(self._spec.is_strict)))
        return self._clashing, int(self._pairs)

    @property
    def _clashing(self) -> int:
        return int(self._o.counts[1] - self._o.clean[1])

    def insert(self, keys: Keys, rows: Int64s) -> None:
        """Take rows in, given by their keys `int64[rows, keys]`."""
        keys, rows = self._sorted(keys, rows)
        self._count(keys, rows, 1)
        done = insert_entries(self._o, keys, rows, 0)
        while done < len(rows):
            self._make_room()
            done = insert_entries(self._o, keys, rows, done)
        pull(self._o)

    def delete(self, keys: Keys, rows: Int64s) -> None:
        """Let rows go that were taken in."""
        keys, rows = self._sorted(keys, rows)
        self._count(keys, rows, -1)
        found = delete_entries(self._o, keys, rows)
        assert found == len(rows), "a row that leaves is not in the order"
        pull(self._o)

    def partners(self, keys: Keys, rows: Int64s) -> Int64s:
        """For each row, in the order or not, one that it clashes with; -1 where there is none."""
        found = np.empty(len(rows), np.int64)
        find_clashing(self._o, keys, rows, self._values(keys), found)
        return found

    def witness(self) -> tuple[int, int] | None:
        """Two rows that clash."""
        one, other = find_clash(self._o)
        return None if one < 0 else (int(one), int(other))

    def conflicts(self, keys: Keys) -> Flags:
        """Which of some rows clash with each other."""
        rows = np.arange(len(keys))
        in_order = self._order(keys, rows)
        found = np.zeros((len(keys), len(keys)), np.bool_)
        values = keys[in_order][:, list(self._spec.by)]
        for place in range(1, len(keys)):
            clashing = _clash(values[:place], values[place], self._spec.is_strict)
            found[in_order[place], in_order[:place]] = clashing
        return found | found.T

    def _count(self, keys: Keys, rows: Int64s, change: int) -> None:
        """Count the pairs of rows that come, or of rows that go, with all others and with each other."""
        if self._pairs is None or not len(rows):
            return
        most = _VISITS_PER_ROW * len(rows) + _VISITS_PER_BLOCK * int(self._o.facts[BLOCKS])
        values = self._values(keys)
        with_others = int(count_clashes(self._o, keys, rows, values, most))
        if with_others < 0:
            self._pairs = None
            return
        among = int(count_inversions(values, np.empty_like(values), int(self._spec.is_strict)))
        # Rows that go are still in the order, so a pair of them was counted twice.
        self._pairs += with_others + among if change > 0 else among - with_others

    def _values(self, keys: Keys) -> Keys:
        return np.ascontiguousarray(keys[:, list(self._spec.by)])

    def _order(self, keys: Keys, rows: Int64s) -> Int64s:
        leading = self._spec.leading
        by = [keys[:, k] if k < leading or not self._spec.turned else -keys[:, k] for k in range(keys.shape[1])]
        return np.lexsort((rows, *reversed(by)))

    def _sorted(self, keys: Keys, rows: Int64s) -> tuple[Keys, Int64s]:
        in_order = self._order(keys, rows)
        return np.ascontiguousarray(keys[in_order]), np.ascontiguousarray(rows[in_order])

    def _room_for(self, capacity: int, blocks: int) -> Ordering:
        """Arrays for so many blocks, and a tree with room to spread out those that there are."""
        spec = self._spec
        facts = np.array([spec.leading, spec.turned, spec.is_strict, 0, 0], np.int64)
        by = np.array(spec.by, np.int64)
        return Ordering(**_blocks(capacity, spec.keys), **_tree(blocks, len(by)), by=by, facts=facts)

    def _make_room(self) -> None:
        """Spread blocks out in a tree of their own, and make room for more of them if there is none."""
        o = self._o
        blocks = int(o.facts[BLOCKS])
        of_blocks: dict[str, Any] = {name: getattr(o, name) for name in _BY_BLOCK}
        if blocks == len(o.sizes):
            larger = _blocks(blocks + blocks // _SPARE + REGION, self._spec.keys)
            for name, array in larger.items():
                array[:blocks] = of_blocks[name][:blocks]
            of_blocks = larger
        spread = Ordering(**of_blocks, **_tree(blocks, len(o.by)), by=o.by, facts=o.facts.copy())
        spread_out(o, spread)
        self._o = spread


_BY_BLOCK = ("keys", "rows", "sizes", "bounds", "bound_rows")


def _blocks(capacity: int, keys: int) -> dict[str, Any]:
    """The arrays by block: what is not written to takes no memory."""
    return {
        "keys": np.empty((capacity, _BLOCK, keys), np.int64),
        "rows": np.empty((capacity, _BLOCK), np.int32),
        "sizes": np.zeros(capacity, np.int32),
        "bounds": np.empty((capacity, keys), np.int64),
        "bound_rows": np.empty(capacity, np.int32),
    }


def _tree(blocks: int, width: int) -> dict[str, Any]:
    """The arrays by slot, region and node, with slots for a quarter more blocks than there are."""
    regions = -(-(blocks + blocks // _SPARE) // SPREAD) + 1
    leaves = REGION
    while leaves < regions * REGION:
        leaves *= 2
    return {
        "order": np.full(leaves, -1, np.int32),
        "stale": np.zeros(leaves, np.uint8),
        "used": np.zeros(leaves // REGION, np.int32),
        "dirty": np.zeros(leaves // REGION, np.uint8),
        **_nodes(2 * leaves, width),
    }


def _nodes(count: int, width: int) -> dict[str, Any]:
    """The arrays by node, as parts of one: what the tree knows of a node stands in few lines of the processor's cache.

    A tree over ten million rows is larger than any cache.
    """
    words = -(-(_COUNTS + 2 * width) // _WORDS_A_LINE) * _WORDS_A_LINE
    room = np.zeros(count * words + _WORDS_A_LINE, np.int64)
    first = -(room.ctypes.data // room.itemsize) % _WORDS_A_LINE
    nodes = room[first : first + count * words].reshape(count, words)
    names = ("counts", "clean", "left_clean", "right_clean")
    return {
        **{name: nodes[:, place] for place, name in enumerate(names)},
        "least": nodes[:, _COUNTS : _COUNTS + width],
        "greatest": nodes[:, _COUNTS + width : _COUNTS + 2 * width],
    }


def _clash(earlier: Keys, later: Int64s, is_strict: bool) -> Flags:
    """Which of some values clash with one that comes behind them."""
    greater = np.zeros(len(earlier), np.bool_)
    equal = np.ones(len(earlier), np.bool_)
    for k in range(earlier.shape[1]):
        greater |= equal & (earlier[:, k] > later[k])
        equal &= earlier[:, k] == later[k]
    return greater if is_strict else greater | equal
