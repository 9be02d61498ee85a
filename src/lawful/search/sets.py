"""Families of sets of columns, packed in 64-bit words.

A family is a C-contiguous array `uint64[n_sets, words]`. Column c is bit `c % 64` of word `c // 64`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from lawful.common import small_work
from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.memory import make_room
from lawful.search.kernels.bits import NONE
from lawful.search.kernels.sets import (
    STATE_SLOTS,
    columns_by_frequency,
    count_members,
    distinct_by_size,
    find_fresh_columns,
    find_fresh_on,
    flatten_members,
    keep_minimal_on,
    minimal_of_sorted,
    new_index,
)

WORD_BITS = 64
BLOCKS_A_SLICE = 1 << 20
"""Blocks of an index between two looks at the limits: a tenth of a second, more or less."""
_FEW_SETS = 1 << 14
"""So many sets are compared with each other in less than that, all in one call."""

Look = Callable[[], None]


def look_away() -> None:
    """Look at no limit."""


def words_for(universe: int) -> int:
    """The number of words that sets over `universe` columns need; at least one."""
    return max(1, -(-universe // WORD_BITS))


def pack_set(columns: Iterable[int], universe: int) -> Words:
    """Pack one set into `uint64[words]`."""
    packed: Words = pack_sets([columns], universe)[0]
    return packed


def pack_sets(sets: Iterable[Iterable[int]], universe: int) -> Words:
    """Pack sets of column numbers into a family.

    Raises
    ------
    IndexError
        If a column lies outside of the universe.
    """
    members = [np.fromiter(columns, dtype=np.int64) for columns in sets]
    owner = np.repeat(np.arange(len(members)), [len(columns) for columns in members])
    column = np.concatenate([np.zeros(0, np.int64), *members])
    if column.size and (column.min() < 0 or column.max() >= universe):
        raise IndexError(f"a set holds a column outside of 0 to {universe - 1}")
    return _packed(owner, column, len(members), universe)


def pack_lists(lists: Int32s, universe: int) -> Words:
    """Pack sets that are given as rows of an array, as `padded_lists` makes them."""
    owner, place = np.nonzero(lists != NONE)
    return _packed(owner, lists[owner, place].astype(np.int64), len(lists), universe)


def _packed(owner: Int64s, column: Int64s, sets: int, universe: int) -> Words:
    family = np.zeros((sets, words_for(universe)), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (column % WORD_BITS).astype(np.uint64))
    np.bitwise_or.at(family, (owner, column // WORD_BITS), bits)
    return family


def padded_lists(lists: Sequence[Sequence[int]]) -> Int64s:
    """Short lists of numbers as rows of equal length, each of which ends with `NONE`."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    padded = np.full((len(lists), 1 + lengths.max(initial=0)), NONE, np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, np.newaxis]] = np.fromiter(chain.from_iterable(lists), np.int64)
    return padded


def unpack_set(packed: Words) -> tuple[int, ...]:
    """The columns of one packed set, ascending."""
    return unpack_sets(packed[np.newaxis])[0]


def unpack_sets(family: Words) -> list[tuple[int, ...]]:
    """The columns of every set, each ascending."""
    family = as_family(family)
    with small_work.of(*family.shape, runs_in_python=True):  # a few laws are shown without a compiler
        counts = count_members(family)
        ends = np.cumsum(counts)
        members = flatten_members(family, int(counts.sum())).tolist()
    return [tuple(members[end - count : end]) for count, end in zip(counts.tolist(), ends.tolist(), strict=True)]


def as_family(sets: Words) -> Words:
    """The same sets as a family that the kernels take; copied only if the layout asks for it."""
    family = np.ascontiguousarray(sets, dtype=np.uint64)
    if family.ndim != 2 or family.shape[1] == 0:
        raise ValueError(f"a family has the shape (sets, words), not {sets.shape}")
    return family


def full_set(universe: int) -> Words:
    """The set of all columns of a universe, as `uint64[words]`."""
    full = np.full(words_for(universe), ~np.uint64(0))
    full[-1] = (1 << (universe - WORD_BITS * (full.size - 1))) - 1
    return full


def set_sizes(family: Words) -> npt.NDArray[np.int64]:
    """The number of columns in each set."""
    return count_members(as_family(family))


def union_of(family: Words) -> Words:
    """The columns that occur in any set, as `uint64[words]`."""
    union: Words = np.bitwise_or.reduce(family, axis=0)
    return union


def sorted_sets(family: Words) -> Words:
    """The same sets in the order of their words read as one number."""
    family = as_family(family)
    if family.shape[1] == 1:
        return np.sort(family, axis=0)
    return family[np.lexsort(family.T)]


def distinct_sets(family: Words) -> Words:
    """Each set once, in the order of `sorted_sets`."""
    family = sorted_sets(family)
    if len(family) < 2:
        return family
    first = np.ones(len(family), dtype=np.bool_)
    first[1:] = (family[1:] != family[:-1]).any(axis=1)
    return family[first]


def sets_without(family: Words, excluded: Words) -> Words:
    """The sets of a family that do not occur in another; neither may hold a set twice."""
    both = np.concatenate([as_family(excluded), as_family(family)])
    # Stable: where a set occurs in both, the excluded copy comes right before the other.
    order = np.argsort(both[:, 0], kind="stable") if both.shape[1] == 1 else np.lexsort(both.T)
    ordered = both[order]
    repeated = np.zeros(len(both), dtype=np.bool_)
    repeated[1:] = (ordered[1:] == ordered[:-1]).all(axis=1)
    fresh = ~repeated & (order >= len(excluded))
    return np.ascontiguousarray(ordered[fresh])


def minimal_sets(family: Words, look: Look = look_away) -> Words:
    """The sets that contain no other set of the family, each once, the smallest first.

    `look` is called now and then, and may end the work by raising an error.
    """
    family = as_family(family)
    if len(family) < 2:
        return family
    if len(family) <= _FEW_SETS:
        return minimal_of_sorted(sorted_sets(family))
    family = _sorted_by_size(family, look)
    if not family[0].any():
        return family[:1]
    columns, sizes = columns_by_frequency(family), count_members(family)
    index, state = new_index(len(family), columns), np.zeros(STATE_SLOTS, np.int64)
    keep = np.zeros(len(family), np.bool_)
    while state[0] < len(family):
        look()
        keep_minimal_on(family, sizes, columns, index, keep, state, BLOCKS_A_SLICE)
    return family[keep]


def fresh_columns(family: Words, look: Look = look_away) -> Words:
    """For each set of a family, distinct and sorted by cardinality, its columns in no proper subset of it."""
    columns = columns_by_frequency(family)
    if len(family) <= _FEW_SETS:
        return find_fresh_columns(family, columns)
    make_room(3 * family.nbytes)
    sizes, fresh = count_members(family), family.copy()
    index, state = new_index(len(family), columns), np.zeros(STATE_SLOTS, np.int64)
    kept = np.empty(len(family), np.int64)
    while state[0] < len(family):
        look()
        find_fresh_on(family, sizes, columns, index, kept, fresh, state, BLOCKS_A_SLICE)
    return fresh


def _sorted_by_size(family: Words, look: Look) -> Words:
    """Each set once, the smallest first; room is made for this and for an index of the sets."""
    make_room(3 * family.nbytes)
    ordered = sorted_sets(family)
    look()
    return distinct_by_size(ordered)


def by_size(family: Words) -> Words:
    """The same sets, the smallest first."""
    family = as_family(family)
    return family[order_by_size(family)]


def order_by_size(family: Words) -> npt.NDArray[np.int64]:
    """The places of the sets, the smallest first."""
    # The narrow type makes the stable sort a radix sort.
    return np.argsort(count_members(as_family(family)).astype(np.uint16), kind="stable")
