"""What the search knows of each set of columns: how many rows and pairs of rows it leaves to test anything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

from lawful.checks import Partition, Workspace
from lawful.checks.strength.judged import agreeing_pairs
from lawful.common.meanings import NULL_RANK, NullPolicy

Columns = tuple[int, ...]


class ColumnSets:
    """The sets of columns that were looked at, smallest first, with what supersets are bounded by.

    `chances` and `pairs` never grow when a column joins: so a set that leaves too little leaves it to all larger ones.
    """

    def __init__(self, workspace: Workspace, columns: Columns) -> None:
        self.workspace, self.columns = workspace, columns
        rows = workspace.table.rows
        self.chances: dict[Columns, int] = {(): max(0, rows - 1)}
        self.pairs: dict[Columns, int] = {(): rows * (rows - 1) // 2}

    def take(self, columns: Columns, partition: Partition) -> None:
        """Note what a set leaves."""
        self.chances[columns] = partition.error
        self.pairs[columns] = agreeing_pairs(partition, None)

    def of_size(self, size: int) -> Iterator[Columns]:
        """All sets of a size whose subsets were all looked at."""
        for columns in combinations(self.columns, size):
            if all(subset in self.chances for subset in combinations(columns, size - 1)):
                yield columns

    def most_chances(self, columns: Columns) -> int:
        """A bound of the chances that a set leaves, by its subsets."""
        return min(self.chances[subset] for subset in combinations(columns, len(columns) - 1))

    def most_pairs(self, columns: Columns) -> int:
        """A bound of the pairs that agree on a set, by its subsets."""
        return min(self.pairs[subset] for subset in combinations(columns, len(columns) - 1))


def proper_subsets(columns: Columns) -> Iterator[Columns]:
    """The subsets that are neither empty nor all."""
    for size in range(1, len(columns)):
        yield from combinations(columns, size)


def candidates_of_size(width: int, size: int, right_sides: int) -> int:
    """How many candidates have so many columns on the left, and a right side if any."""
    return comb(width, size) * (width - size if right_sides else 1)


def has_no_unknown(workspace: Workspace, columns: Columns) -> bool:
    """Whether all laws are judged on all rows, so that one count of the right side serves all left sides."""
    if workspace.null_policy is NullPolicy.EQUAL:
        return True
    return not any(workspace.frequencies(column)[NULL_RANK] for column in columns)
