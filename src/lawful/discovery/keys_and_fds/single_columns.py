"""Keys and FDs of at most one column, straight from the columns: what a search can say before it compares any pair.

A column is a key if it has as many values as rows. Whether it determines another is seen in one pass over both, which
mostly ends after the first few rows. So a search that is stopped early has something to say, and one for laws of one
column needs nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.checks import RankedTable
from lawful.checks.partitions import read_only
from lawful.common.arrays import Words
from lawful.common.meanings import NullPolicy
from lawful.discovery.findings import KEY
from lawful.discovery.kernels.peeling import determines
from lawful.discovery.peeling import Peeled
from lawful.discovery.questions import Question, Watch
from lawful.search import pack_sets


def laws_of_single_columns(
    table: RankedTable, question: Question, peeled: Peeled, watch: Watch
) -> Iterator[tuple[int, Words]]:
    """The goals and sets, over the searched columns, of all minimal keys and FDs of at most one column.

    The table has more than one row; constants and twins are stated already.
    """
    columns, largest = peeled.columns, 1 if question.max_size is None else min(1, question.max_size)
    keys = [place for place, column in enumerate(columns) if is_unique(table, column, question.null_policy)]
    if question.keys and keys and largest:
        yield KEY, pack_sets([(place,) for place in keys], len(columns))
    for goal in range(len(columns)) if question.fds else ():
        watch.look()
        if question.null_policy is NullPolicy.IGNORE and table.distinct(columns[goal]) <= 1:
            yield goal, pack_sets([()], len(columns))
        elif largest:
            found = [(place,) for place in _determining(table, question.null_policy, columns, goal, keys)]
            if found:
                yield goal, pack_sets(found, len(columns))


def is_unique(table: RankedTable, column: int, policy: NullPolicy) -> bool:
    """Whether no two rows agree on a column."""
    known = int(np.count_nonzero(table.column(column)))
    is_single = table.distinct(column) == known
    return is_single if policy is NullPolicy.IGNORE else is_single and known >= table.rows - 1


def _determining(
    table: RankedTable, policy: NullPolicy, columns: tuple[int, ...], goal: int, keys: list[int]
) -> Iterator[int]:
    """The columns that determine another one."""
    right, ignores = read_only(table.column(columns[goal])), policy is NullPolicy.IGNORE
    for place, column in enumerate(columns):
        if place == goal:
            continue
        # Null is one more value of a column at most, and each value determines one.
        can = ignores or table.distinct(column) + 1 >= table.distinct(columns[goal])
        left = read_only(table.column(column))
        if place in keys or (can and determines(left, right, table.distinct(column), ignores)):
            yield place
