"""The trials of orders: canonical ones within classes, and those between two lists."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lawful.checks.partitions import read_only
from lawful.checks.strength.class_sizes import ClassSizes
from lawful.checks.strength.kernels.orders import count_orders
from lawful.checks.strength.trial import Trial, log_binomial_tail, log_normal_tail
from lawful.common.arrays import Flags, Int32s


def order_trial(rows: Int32s, labels: Int32s, a: Int32s, b: Int32s) -> Trial:
    """How the order of two columns fares within classes; `rows` come sorted by class, then A, then B.

    The pairs of a class that differ in both columns test it, and chance swaps half of them: the strength is Goodman
    and Kruskal's gamma within the classes. Chances are the different pairs of values of a class beyond the first,
    because rows that repeat them tell nothing new; and no more than the rows that are not tied with most others of
    their class.
    """
    return trial_of_orders(count_in_classes(rows, labels, a, b))


class OrderCounts(NamedTuple):
    """What `count_orders` counts, and the rows that take part in a swap: sums over classes, so that they add up."""

    tested: int
    swaps: int
    removals: int
    chances: int
    log_share: float
    variance: float
    rows: int


def count_in_classes(rows: Int32s, labels: Int32s, a: Int32s, b: Int32s) -> OrderCounts:
    """Count how an order fares within some classes; `rows` as for `order_trial`."""
    swapped: Flags = np.zeros(labels.size, np.bool_)
    values, spare = np.empty(rows.size, np.int32), np.empty(rows.size, np.int32)
    counted = count_orders(rows, labels, read_only(a), read_only(b), values, spare, swapped)
    return OrderCounts(*counted, int(np.count_nonzero(swapped)))


def count_by_sizes(a: ClassSizes, b: ClassSizes, both: ClassSizes) -> OrderCounts:
    """What `count_orders` counts of one class, but for what breaks the order, given how often values occur in it."""
    size = float(both.rows)
    tested = both.rows * (both.rows - 1) // 2 - a.pairs - b.pairs + both.pairs
    chances = min(both.classes - 1, both.rows - max(a.largest, b.largest))
    log_share = a.log_orders + b.log_orders - math.lgamma(size + 1.0) - both.log_orders
    variance = 0.0
    if both.rows > 1:
        (a_first, a_second, a_third), (b_first, b_second, b_third) = _ties(a), _ties(b)
        variance = (size * (size - 1.0) * (2.0 * size + 5.0) - a_first - b_first) / 18.0
        variance += a_third * b_third / (2.0 * size * (size - 1.0))
        if size > 2.0:
            variance += a_second * b_second / (9.0 * size * (size - 1.0) * (size - 2.0))
    return OrderCounts(tested, 0, 0, chances, log_share, variance, 0)


def _ties(sizes: ClassSizes) -> tuple[float, float, float]:
    """Sums over the values of a class, t rows each: t(t-1)(2t+5), t(t-1)(t-2), t(t-1); see `count_orders`."""
    t, times = sizes.sizes.astype(np.float64), sizes.counts.astype(np.float64)
    pairs = t * (t - 1.0) * times
    return float((pairs * (2.0 * t + 5.0)).sum()), float((pairs * (t - 2.0)).sum()), float(pairs.sum())


def trial_of_orders(counted: OrderCounts) -> Trial:
    """The trial of an order, given what was counted in all classes."""
    tested, swaps, removals, chances, log_share, variance, rows = counted
    lost = swaps * chances / tested if tested else 0.0
    return Trial(
        int(tested),
        int(swaps),
        int(rows),
        int(removals),
        float(chances),
        chances / 2.0 if tested else 0.0,
        lost,
        log_chance_of_order(tested, swaps, chances, log_share, variance),
    )


def log_chance_of_order(tested: int, swaps: int, chances: int, log_share: float, variance: float) -> float:
    """How likely a shuffled column has as few swaps, as a logarithm.

    Counted where there is none, else Kendall's normal tail; but no less than if every chance had been put on the right
    side by the toss of a coin: where few values decide, nothing is normal, and rows that repeat them are not
    independent.
    """
    if swaps == 0:
        by_rows, by_values = min(0.0, log_share), log_binomial_tail(chances, 0.5, 0.0)
        return max(by_rows, by_values)
    if variance <= 0.0:
        return 0.0
    by_values = log_binomial_tail(chances, 0.5, swaps * chances / tested)
    return max(by_values, log_normal_tail((tested - 2 * swaps) / math.sqrt(variance)))


def list_trial(order: Trial, x: Int32s, y: Int32s, pairs: int, rows: int, removals: int) -> Trial:
    """How an order dependency between two lists fares, given the classes of each row; see `trial_of_lists`."""
    x_sizes, y_sizes = (ClassSizes.of(counted[counted > 0]) for counted in (np.bincount(x), np.bincount(y)))
    return trial_of_lists(order, x_sizes, y_sizes, pairs, rows, removals)


def trial_of_lists(order: Trial, x: ClassSizes, y: ClassSizes, pairs: int, rows: int, removals: int | None) -> Trial:
    """How an order dependency between two lists fares, given how their classes are ordered and what is violated.

    Every pair that differs on the right list tests it. One that agrees on the left list is a split; of the others
    chance swaps half. Two independent lists lose as little no more often than either part of it happens.
    """
    size = x.rows
    all_pairs = size * (size - 1) // 2
    if not all_pairs:
        return Trial(0, pairs, rows, removals, 0.0, 0.0, 0.0, 0.0)
    x_alike, y_alike = x.pairs, y.pairs
    tested = all_pairs - y_alike
    expected = tested * (x_alike + (all_pairs - x_alike) / 2.0) / all_pairs
    chances = float(size - 1) if tested else 0.0
    unit = chances / tested if tested else 0.0
    fd_chances = float(size - x.classes)
    splits = pairs - order.pairs
    share = 2.0 * splits / max(1, 2 * x_alike)
    by_splits = log_binomial_tail(fd_chances, tested / all_pairs, share * fd_chances)
    return Trial(
        tested, pairs, rows, removals, chances, expected * unit, pairs * unit, min(order.log_chance, by_splits)
    )
