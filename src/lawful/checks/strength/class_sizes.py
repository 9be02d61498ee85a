"""How large the classes of rows are that agree on some columns: all that some trials need to know of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lawful.common.arrays import Int64s


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """The different sizes of classes, single rows included, and how many classes have each."""

    sizes: Int64s
    counts: Int64s

    @staticmethod
    def of(sizes: Int64s) -> ClassSizes:
        """Given the size of each class."""
        different, counts = np.unique(sizes, return_counts=True)
        return ClassSizes(different.astype(np.int64), counts.astype(np.int64))

    @cached_property
    def rows(self) -> int:
        """The rows of all classes."""
        return sum(size * count for size, count in self._each())

    @cached_property
    def pairs(self) -> int:
        """The pairs of rows that agree; beyond a billion rows more than 64 bits count."""
        return sum(size * (size - 1) // 2 * count for size, count in self._each())

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.sum())

    @property
    def largest(self) -> int:
        """The rows of the largest class, 0 where there is none."""
        return int(self.sizes.max(initial=0))

    @property
    def agreeing(self) -> int:
        """The rows that agree with another one."""
        return sum(size * count for size, count in self._each() if size > 1)

    @property
    def removals(self) -> int:
        """The fewest rows to remove so that no two agree."""
        return self.rows - self.classes

    @property
    def entropy(self) -> float:
        """The entropy of the classes, in nats."""
        rows = max(1, self.rows)
        return -math.fsum(count * (size / rows) * math.log(size / rows) for size, count in self._each())

    @property
    def log_orders(self) -> float:
        """The logarithm of the number of ways to arrange the rows within their classes."""
        return math.fsum(count * math.lgamma(size + 1.0) for size, count in self._each())

    def _each(self) -> Iterable[tuple[int, int]]:
        return zip(self.sizes.tolist(), self.counts.tolist(), strict=True)
