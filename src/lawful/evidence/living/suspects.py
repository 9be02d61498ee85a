"""The pairs of new rows that can break a canonical order dependency, or the FD behind it.

A pair breaks X: A ~ B only if its rows agree on X and differ on A and B. So a new row is held against all others
column by column for equality alone, which is quick, and what its agree set says is looked up in a bitmap over all sets
of columns: few pairs are left to be compared by order. Where there are more than 16 columns, the 16 that most contexts
have decide; that leaves more pairs than need be, and loses none. A law without a context is tested by its order at
once: nearly every pair differs on both columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.living.kernels.suspects import mark_agreeing, mark_swapped, suspects_among, suspicious_sets
from lawful.evidence.living.orders.order_keys import TableKeys
from lawful.evidence.signs import WORD_BITS, words_for

_MOST_COLUMNS = 16
_MOST_BROAD = 64
"""For more laws without a context than this, all pairs are compared instead."""
_AT_ONCE = 1 << 20
"""Pairs that are listed at a time."""
_LOOKED_AT = 8
"""New rows between two looks at the limits."""


class Swap(NamedTuple):
    """Two columns, and 1 where they descend."""

    left: int
    right: int
    descends: int


Contexts = Mapping[Swap, Words]
"""In which contexts two columns are order compatible; no context contains another."""


class Suspects:
    """Finds the pairs of rows that can break laws.

    Parameters
    ----------
    keys
        The order of the values, up to date.
    policy
        What null means.
    contexts
        The laws.
    """

    def __init__(self, keys: TableKeys, policy: NullPolicy, contexts: Contexts) -> None:
        self._keys, self._ignore = keys, policy is NullPolicy.IGNORE
        broad = [swap for swap, sets in contexts.items() if len(sets) and not sets.any(axis=1).all()]
        self._broad = broad if len(broad) <= _MOST_BROAD else []
        narrow = {swap: sets for swap, sets in contexts.items() if len(sets) and swap not in set(self._broad)}
        self._columns: Int64s = np.array(_most_frequent(narrow, keys.table.width), np.int64)
        self._sets = self._bitmap(narrow)

    def _bitmap(self, contexts: Contexts) -> Words:
        places = {column: place for place, column in enumerate(self._columns.tolist())}
        by_sides: dict[tuple[int, int], list[Words]] = {}
        for swap, sets in contexts.items():
            by_sides.setdefault((swap.left, swap.right), []).append(sets)
        together = [np.concatenate(parts) for parts in by_sides.values()]
        starts = np.cumsum([0, *map(len, together)], dtype=np.int64)
        sides = np.array([[places.get(column, -1) for column in pair] for pair in by_sides], np.int64).reshape(-1, 2)
        nothing = np.empty((0, words_for(self._keys.table.width)), np.uint64)
        projected = _projected(np.concatenate([nothing, *together]), self._columns.tolist())
        return suspicious_sets(projected, starts, sides, len(self._columns))

    def pairs(self, new: range, look: Callable[[], None]) -> Iterator[Int32s]:
        """The pairs of new rows, each once, `int32[pairs, 2]`."""
        waiting: list[Int32s] = []
        count = 0
        table = self._keys.table
        base, tail = table.codes.segments
        codes = table.codes.of_rows(np.arange(new.start, new.stop))
        for place, row in enumerate(new):
            if place % _LOOKED_AT == 0:
                look()
            found = self._of_row(row, np.ascontiguousarray(codes[:, place]), base, tail, table.is_live)
            waiting.append(np.stack([found, np.full(len(found), row, np.int32)], axis=1))
            count += len(found)
            if count > _AT_ONCE:
                yield np.concatenate(waiting)
                waiting, count = [], 0
        if count:
            yield np.concatenate(waiting)

    def _of_row(self, row: int, own: Int32s, base: Int32s, tail: Int32s, is_live: Flags) -> Int32s:
        """The rows before a row, of which some codes are its own, that it may break a law with."""
        masks, marked = np.zeros(row, np.uint32), np.zeros(row, np.bool_)
        in_base = min(row, base.shape[1])
        segments = [(base[:, :in_base], slice(0, in_base)), (tail[:, : row - in_base], slice(in_base, row))]
        for codes, rows in segments:
            if not codes.shape[1]:
                continue
            mark_agreeing(codes, self._columns, own, self._ignore, masks[rows])
            for left, right, descends in self._broad:
                if not (self._ignore and NULL_RANK in (own[left], own[right])):
                    labels, others = self._keys.column(left).labels, self._keys.column(right).labels
                    mark_swapped(
                        codes[left],
                        codes[right],
                        labels,
                        others,
                        int(own[left]),
                        int(own[right]),
                        (descends == 1, self._ignore),
                        marked[rows],
                    )
        return suspects_among(masks, self._sets, marked, is_live[:row])


def _most_frequent(contexts: Contexts, width: int) -> list[int]:
    """The columns that most contexts have."""
    if width <= _MOST_COLUMNS:
        return list(range(width))
    counts = np.zeros(width, np.int64)
    for sets in contexts.values():
        for column in range(width):
            counts[column] += np.count_nonzero(_has(sets, column))
    return sorted(np.argsort(-counts, kind="stable")[:_MOST_COLUMNS].tolist())


def _has(sets: Words, column: int) -> Words:
    word, bit = divmod(column, WORD_BITS)
    found: Words = (sets[:, word] >> np.uint64(bit)) & np.uint64(1)
    return found


def _projected(sets: Words, columns: list[int]) -> Words:
    """What sets have of some columns, one word each."""
    found = np.zeros(len(sets), np.uint64)
    for place, column in enumerate(columns):
        found |= _has(sets, column) << np.uint64(place)
    return found
