"""The trial of a law: how many pairs put it to the test, how many chance would lose, and how many are lost.

One idea serves every family. If the columns of a law had nothing to do with each other, it would lose a part of the
pairs that test it. Its *strength* is the share of these expected losses that it does not have:

    strength = max(0, 1 - lost / expected), and 0 where nothing is expected to be lost

Pairs are not independent of each other: a single wrong row breaks a law with every row of its class. So what is lost is
put in units of *chances*: how many independent trials the table holds. A functional dependency has a chance for each
row beyond the first of a class of its left side, and then `1 - lost / expected` is mu+ (Piatetsky-Shapiro and Matheus,
1993; with the correction for left sides that are nearly unique, Parciak et al., ICDE 2024).

A law may also hold by accident. `log_chance` is the logarithm of (a bound of) the probability that independent columns
lose as little. Whoever tried many candidates multiplies by their number; see `is_accidental`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

ACCIDENT = 0.05
"""A law is no accident if fewer than so many such laws are expected among all candidates that were tried."""
_CONFIDENCE = 0.05
_MOST_REPEATED = 1 / 3
"""The share of the wrong rows that may repeat each other in a law that is broken by mistakes."""
_LEFT_BY_ROUNDING = 1e-12
_MOST_STEPS = 50


@dataclass(frozen=True, slots=True)
class Trial:
    """How a law fares on a table.

    Attributes
    ----------
    tested
        The pairs of rows that put the law to the test.
    pairs
        The pairs of rows that violate it.
    rows
        The rows that are in a violating pair, or in a class that has one.
    removals
        The fewest rows whose removal makes it hold; None where that is not counted.
    chances
        How many independent chances to fail the table gives it.
    expected
        How many of these would fail if the columns were independent.
    lost
        How many fail.
    log_chance
        The natural logarithm of the probability that independent columns lose as little, or of a bound of it.
    repeated
        For an FD, how many of the rows to remove disagree with their class in groups that agree among themselves.
    """

    tested: int
    pairs: int
    rows: int
    removals: int | None
    chances: float
    expected: float
    lost: float
    log_chance: float
    repeated: int = 0

    @property
    def strength(self) -> float:
        """The share of the expected losses that the law does not have: 1 if it was tested and holds."""
        return _share_kept(self.lost, self.expected)

    @property
    def sure_strength(self) -> float:
        """The strength that new rows of the same kind will show at least, with a confidence of 95 %.

        A law that lost none of its chances may still lose three in as many new ones.
        """
        return _share_kept(most_lost(self.lost), self.expected)

    @property
    def has_exceptions(self) -> bool:
        """Whether an FD is broken by exceptions rather than by mistakes.

        Mistakes are scattered: a row that is wrong by a slip disagrees with its class alone. Where two hospitals share
        a zip code, the rows of the smaller one disagree with the larger one together, and agree among themselves. A law
        has exceptions if more than a third of the rows that would have to go come in such groups.
        """
        return self.repeated > _MOST_REPEATED * (self.removals or 0)

    def surely_lost(self, tried: float) -> float:
        """The share of what chance would lose that the law is sure to lose at most, though it was picked from many.

        With a confidence of 95 % for all candidates together: among many that lost little by luck some always did.
        """
        return 1.0 - _share_kept(most_lost(self.lost, _CONFIDENCE / max(1.0, tried)), self.expected)

    def is_accidental(self, tried: float) -> bool:
        """Whether laws like this are to be expected by chance among so many candidates."""
        return self.log_chance + math.log(max(1.0, tried)) > math.log(ACCIDENT)


def _share_kept(lost: float, expected: float) -> float:
    if expected <= 0.0:
        return 0.0
    kept = 1.0 - lost / expected
    return kept if kept > _LEFT_BY_ROUNDING else 0.0


def most_lost(lost: float, doubt: float = _CONFIDENCE) -> float:
    """How many losses to expect at most, with a confidence of 95 %, where so many were seen: 3 where none was.

    The largest mean with which a Poisson variable is so small with a probability of 5 %, by Chernoff's bound; or with
    another probability, `doubt`.
    """
    wanted = -math.log(doubt)
    if lost <= 0.0:
        return wanted
    mean = (
        lost + wanted + math.sqrt(2.0 * wanted * lost)
    )  # not below the root, from where Newton's steps only come down
    for _ in range(_MOST_STEPS):
        step = (mean - lost + lost * math.log(lost / mean) - wanted) / (1.0 - lost / mean)
        mean -= step
        if step <= 1e-12 * mean:
            break
    return mean


def log_binomial_tail(chances: float, failing: float, lost: float) -> float:
    """The logarithm of Chernoff's bound of P(at most `lost` of `chances` fail), if each fails with chance `failing`.

    Exact where nothing is lost. What is lost may be a fraction.
    """
    if chances <= 0.0 or failing <= 0.0 or lost >= chances * failing:
        return 0.0
    share = lost / chances
    if failing >= 1.0:
        return -math.inf
    divergence = (1.0 - share) * (math.log1p(-share) - math.log1p(-failing))
    if share > 0.0:
        divergence += share * math.log(share / failing)
    return -chances * max(0.0, divergence)


def log_poisson_tail(mean: float, lost: float) -> float:
    """The logarithm of Chernoff's bound of P(at most `lost`) where `mean` is expected; exact where nothing is lost."""
    if lost >= mean:
        return 0.0
    return -(mean - lost + (lost * math.log(lost / mean) if lost > 0.0 else 0.0))


def log_normal_tail(deviations: float) -> float:
    """The logarithm of a bound of the chance to be so many standard deviations above the mean."""
    return -deviations * deviations / 2.0 if deviations > 0.0 else 0.0
