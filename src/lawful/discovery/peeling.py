"""Constants and twin columns: worked on once, stated in full.

A column whose value never changes takes no part in any minimal law but its own, `{} -> A`. Columns that always
agree and differ together (twins: each is the other under a change of names) stand in for each other in every
law. Both are set aside before the search, which then runs on fewer columns, and put back into its results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.checks.partitions import read_only
from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.discovery.findings import KEY, Block
from lawful.discovery.kernels.peeling import BEGINNING, are_twins, beginnings
from lawful.evidence.kernels.tiles import spread_bits
from lawful.search import pack_sets, unpack_sets, words_for
from lawful.search.sets import WORD_BITS
from lawful.tables.ranked_table import has_nulls, matrix_of, stacked
from lawful.tables.sample import SampleTable


class Peeled(NamedTuple):
    """The columns to search on, and what was set aside.

    `twins[i]` are all columns that behave as `columns[i]` does, itself first.
    """

    width: int
    constants: tuple[int, ...]
    twins: tuple[tuple[int, ...], ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that the search works on."""
        return tuple([group[0] for group in self.twins])

    @property
    def is_whole(self) -> bool:
        """Whether nothing was set aside: the searched columns are all columns."""
        return len(self.twins) == self.width

    def restore(self, family: Words) -> tuple[Words, npt.NDArray[np.int64]]:
        """Sets over the searched columns as sets over all, with every choice of a twin for its column.

        The second array tells for each set which of the given ones it comes from.
        """
        source = np.arange(len(family))
        if self.is_whole:
            return family, source
        restored = spread_bits(family, 0, np.array(self.columns, np.int64), words_for(self.width), False)
        for group in self.twins:
            for twin in group[1:]:
                holding = _holds(restored, group[0])
                exchanged = _exchange(restored[holding], group[0], twin)
                restored = np.concatenate([restored, exchanged])
                source = np.concatenate([source, source[holding]])
        return restored, source

    def left_sides(self, fds: Iterable[Block]) -> list[Words]:
        """The left sides of each searched column over the searched columns, of FDs that are stated in full."""
        found = [np.zeros((0, words_for(len(self.twins))), np.uint64)] * len(self.twins)
        places = {column: place for place, column in enumerate(self.columns)}
        others = set(range(self.width)) - places.keys()
        for block in fds:
            if block.goal in places:
                stated = [lhs for lhs in unpack_sets(block.sets) if others.isdisjoint(lhs)]
                named = pack_sets([[places[column] for column in lhs] for lhs in stated], len(self.twins))
                found[places[block.goal]] = np.concatenate([found[places[block.goal]], named])
        return found


def _holds(family: Words, column: int) -> npt.NDArray[np.bool_]:
    return np.asarray((family[:, column // WORD_BITS] >> np.uint64(column % WORD_BITS)) & np.uint64(1) != 0)


def _exchange(family: Words, column: int, twin: int) -> Words:
    exchanged = family.copy()
    exchanged[:, column // WORD_BITS] &= ~(np.uint64(1) << np.uint64(column % WORD_BITS))
    exchanged[:, twin // WORD_BITS] |= np.uint64(1) << np.uint64(twin % WORD_BITS)
    return exchanged


def stated_in_full(
    goal: int, sets: Words, peeled: Peeled, errors: npt.NDArray[np.float64] | None = None
) -> Iterator[Block]:
    """Laws over the searched columns as laws over all: twins stand in for each other on both sides."""
    if len(sets) == 0:
        return
    if peeled.is_whole:
        yield Block(goal, sets, errors)
        return
    restored, source = peeled.restore(sets)
    restored_errors = None if errors is None else errors[source]
    for right in (KEY,) if goal == KEY else peeled.twins[goal]:
        yield Block(right, restored, restored_errors)


def constants_and_twins(
    peeled: Peeled, table: RankedTable, policy: NullPolicy, max_size: int | None
) -> Iterator[Block]:
    """Constants, `{} -> A`, and twins, which determine each other.

    A column with one value and nulls, which is not set aside where nulls are ignored, is determined by nothing at
    all there, and so are its twins: the search finds that.
    """
    for column in peeled.constants:
        yield Block(column, np.zeros((1, words_for(peeled.width)), np.uint64))
    for group in peeled.twins:
        if len(group) > 1 and max_size != 0 and not (policy is NullPolicy.IGNORE and table.distinct(group[0]) <= 1):
            yield from twin_blocks(group, peeled.width)


def twin_blocks(group: tuple[int, ...], width: int) -> Iterator[Block]:
    """The FDs between the columns of a group of twins."""
    for right in group:
        others = [(other,) for other in group if other != right]
        if others:
            yield Block(right, pack_sets(others, width))


def peel(table: RankedTable, policy: NullPolicy) -> Peeled:
    """Set constants and twins aside.

    Under `IGNORE` a column with nulls takes rows out of every law that it enters, so only columns without nulls
    count as constant; twins are null in the same rows by definition.
    """
    constants: list[int] = []
    candidates: dict[tuple[int, int], list[int]] = {}
    distinct_of = [table.distinct(column) for column in range(table.width)]
    are_different = len(set(distinct_of)) == table.width  # so that no beginnings need tell them apart
    for column, kind in enumerate(zip(distinct_of, distinct_of if are_different else _beginnings(table), strict=True)):
        if distinct_of[column] <= 1 and _is_constant(table, column, distinct_of[column], policy):
            constants.append(column)
        else:
            candidates.setdefault(kind, []).append(column)
    twins: list[tuple[int, ...]] = []
    for (distinct, _), columns in candidates.items():
        twins += _group_twins(table, columns, distinct) if len(columns) > 1 else [tuple(columns)]
    return Peeled(table.width, tuple(constants), tuple(sorted(twins)))


def _beginnings(table: RankedTable) -> list[int]:
    """What tells most columns apart at once: a word for each, equal for twins."""
    ranks = matrix_of(table)
    if ranks is None:
        ranks = stacked([table.column(column)[:BEGINNING] for column in range(table.width)], min(table.rows, BEGINNING))
    found: list[int] = beginnings(ranks).tolist()
    return found


def _is_constant(table: RankedTable, column: int, distinct: int, policy: NullPolicy) -> bool:
    if table.rows == 0:
        return True
    is_null = has_nulls(table, column)
    if policy is NullPolicy.IGNORE:
        return not is_null
    return distinct + is_null <= 1


def _group_twins(table: RankedTable, columns: Sequence[int], distinct: int) -> list[tuple[int, ...]]:
    """Columns with as many values each that begin alike, in groups of twins."""
    if isinstance(table, SampleTable):
        return _certain_twins(table, columns)
    groups: list[tuple[Int32s, list[int]]] = []
    for column in columns:
        ranks = read_only(table.column(column))
        for first, group in groups:
            if are_twins(first, ranks, distinct):
                group.append(column)
                break
        else:
            groups.append((ranks, [column]))
    return [tuple(group) for _, group in groups]


def _certain_twins(table: SampleTable, columns: Sequence[int]) -> list[tuple[int, ...]]:
    """The same of a sample: columns that are twins in it are so only if all rows are asked and say so."""
    drawn, groups = table.drawn, list[list[int]]()
    for column in columns:
        ranks, distinct = read_only(drawn.column(column)), drawn.distinct(column)
        for group in groups:
            first = read_only(drawn.column(group[0]))
            alike = drawn.distinct(group[0]) == distinct and are_twins(first, ranks, distinct)
            if alike and table.whole.are_twins(group[0], column):
                group.append(column)
                break
        else:
            groups.append([column])
    return [tuple(group) for group in groups]
