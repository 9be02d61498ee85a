"""What an almost-law thinks of each row: how likely its value is under the law, against how likely it is anyhow.

An opinion is a logarithm of a ratio of likelihoods. Below 0 the law says that something in the row is wrong: its right
side, or one of the columns on the left. Above 0 it speaks for the row. Three things bound how much a law may say.

- *Doubt*: the share of right rows that the law would reject. It grows with what the law loses, for a law of more
  columns faster, and it shrinks where what is lost lies scattered over all classes, as errors do. Where some classes
  are whole and others mixed, the law is no law but a tendency.
- *Clusters*: where rows that share any value of any column fail together, they are an exception to the law.
- *Repeats*: a value that several rows of the class have is less likely to be a slip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawful.checks.strength.trial import most_lost
from lawful.checks.voting.votes import Votes, class_votes
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Floats, Int32s, Int64s, Ints
from lawful.common.meanings import NULL_RANK
from lawful.dependencies import FD

FAILS = -1.0
"""An opinion below this is reason enough to look at a row."""

SLIP = 0.02
"""How likely a single vote is wrong."""
LEAST_DOUBT = 0.005
_DOUBT_OF_LOSS, _DOUBT_GROWS = 2.5, 1.5
"""A law of one column that is sure to lose at most 40 % of what chance would lose is all doubt; below, the doubt falls
faster than the loss."""
_DOUBT_OF_A_COLUMN = 2.0
_SCATTERED = 0.1
"""From this correlation of the losses within classes on, a law is taken for a tendency."""
CLASS_THAT_TELLS = 4
CLUSTER, _CLUSTER_TIMES, _CLUSTER_PRIOR = 3, 3.0, 5.0
"""So many rows that share a value have to fail, and so many times as often as others, to count as an exception."""
MOST_REPEATS, _SAME_SLIP, _MOST_SLIPS = 2, 0.3, 0.3
MOST_VOTES = 50


@dataclass(frozen=True, eq=False)
class Opinion:
    """What a law thinks of some rows.

    Attributes
    ----------
    rows
        The rows.
    weights
        The opinion of each: negative where something is wrong, 0 where the law says nothing.
    others, rivals, suggested
        The votes, those of them for the most frequent other value, and its rank (0: there is none).
    tested, failed
        How many rows of the whole table the law votes on, and how many of these fail.
    unheard
        Why the law could not be asked, if it could not.
    """

    rows: Ints
    weights: Floats
    others: Ints
    rivals: Ints
    suggested: Ints
    tested: int
    failed: int
    unheard: str | None = None


def fd_opinion(law: FD, workspace: Workspace, rows: Ints | None) -> Opinion:
    """Give what a functional dependency thinks; see `opinion_of`."""
    votes = class_votes(law, workspace)
    return opinion_on(rows, votes, _weights(law, votes, workspace))


def opinion_on(rows: Ints | None, votes: Votes, weights: Floats) -> Opinion:
    """Keep of what a law thinks of all rows what is asked for; without rows, those that it finds wrong."""
    if rows is None:
        rows = np.flatnonzero(weights < FAILS).astype(np.int32)
    return Opinion(
        rows,
        weights[rows],
        votes.others[rows],
        votes.rival[rows],
        votes.suggested[rows],
        int(np.count_nonzero(votes.tested)),
        int(np.count_nonzero(votes.failing)),
    )


def _weights(law: FD, votes: Votes, workspace: Workspace) -> Floats:
    """The opinion of every row."""
    weights = np.zeros(votes.others.size)
    tested = votes.tested
    if not tested.any():
        return weights
    shares = _shares(law, workspace)
    own = workspace.column(law.rhs)[tested]
    losses = Losses.of(votes, workspace.column(law.rhs))
    some = Votes(votes.others[tested], votes.alike[tested], votes.rival[tested], votes.suggested[tested])
    apart = exceptions((law.rhs,), votes, losses.failed / losses.tested, workspace)[tested]
    doubt = doubt_of(law, losses, float((shares**2).sum()))
    weights[tested] = fd_weights(some, own == NULL_RANK, shares[own], shares[some.suggested], doubt, losses, apart)
    return weights


def fd_weights(
    votes: Votes, is_null: Flags, own: Floats, wanted: Floats, doubt: float, losses: Losses, apart: Floats
) -> Floats:
    """What an FD thinks of rows that it votes on.

    Parameters
    ----------
    is_null, own, wanted
        Whether the right side of each row is null, and the shares of all rows that have its value and the suggested.
    doubt, losses
        How often the law would reject a right row, and what it loses in the whole table.
    apart
        How often rows like it fail, where that is an exception.
    """
    others, alike, rival = (counted.astype(np.float64) for counted in (votes.others, votes.alike, votes.rival))
    doubts = _doubts_of_repeats(
        np.maximum(doubt, apart), others, np.where(is_null, 0.0, alike), losses.failed / losses.tested
    )
    against = SLIP ** np.clip(rival - alike, -MOST_VOTES, MOST_VOTES) * own / wanted
    wrong = np.log(np.minimum(1.0, doubts + (1.0 - doubts) * against / (1.0 + against)))
    right = np.log(np.maximum(1.0, doubt + (1.0 - doubt) * alike / others / own))
    weights: Floats = np.where(votes.failing, wrong, right)
    return weights


def _shares(law: FD, workspace: Workspace) -> Floats:
    """The share of the rows that has each value of the right side, null included."""
    counted = workspace.frequencies(law.rhs)
    shares: Floats = np.maximum(counted, 1) / max(1, int(counted.sum()))
    return shares


@dataclass(frozen=True)
class Losses:
    """What an FD loses in the whole table, in sums over the rows that it votes on.

    Attributes
    ----------
    tested, failed
        How many rows there are, and how many fail.
    lost, by_luck
        The share of each row's class that has another value than it, and what every class would keep at least: 1 / n.
    telling
        How many rows are in classes that are large enough to tell where losses lie; what follows is about these.
    sizes, minor, minor_shares, minor_squares
        The rows n of the class, how many of them (k) do not have its usual value, and k / n and k^2 / n.
    """

    tested: int
    failed: int
    lost: float
    by_luck: float
    telling: int
    sizes: float
    minor: float
    minor_shares: float
    minor_squares: float

    @staticmethod
    def of(votes: Votes, right_side: Int32s) -> Losses:
        """Sum up the votes on all rows."""
        tested = votes.tested
        size, alike = votes.others[tested] + 1.0, votes.alike[tested]
        is_null = right_side[tested] == NULL_RANK
        own = np.where(is_null, np.where(votes.suggested[tested] > 0, 0.0, size), alike + 1.0)
        minor = size - np.maximum(
            own, votes.rival[tested]
        )  # null is not what a class agrees on, unless it has no value
        tells = size >= CLASS_THAT_TELLS
        n, k = size[tells], minor[tells]
        return Losses(
            int(np.count_nonzero(tested)),
            int(np.count_nonzero(votes.failing)),
            float(((size - alike - 1.0) / size).sum()),
            float((1.0 / size).sum()),
            int(np.count_nonzero(tells)),
            *(float(each.sum()) for each in (n, k, k / n, k * k / n)),
        )


def doubt_of(law: FD, losses: Losses, same_by_chance: float) -> float:
    """How often an FD would reject a right row, as far as its losses tell.

    `same_by_chance` is the chance that two rows have the same right side.
    """
    expected = (losses.tested - losses.by_luck) * (1.0 - same_by_chance)
    loss = min(1.0, most_lost(losses.lost) / expected) if expected > 0.0 else 1.0
    return min(1.0, max(LEAST_DOUBT, doubt_of_loss(loss, len(law.lhs) - 1) * _concentration(losses)))


def doubt_of_loss(loss: float, further_columns: int) -> float:
    """The doubt of a law that loses a share of what chance would lose; more for each column beyond what it needs."""
    return math.pow(_DOUBT_OF_A_COLUMN, further_columns) * math.pow(_DOUBT_OF_LOSS * loss, _DOUBT_GROWS)


def _concentration(losses: Losses) -> float:
    """How far what is lost lies in some classes, 0 to 1: 0 where it is scattered over all of them, as errors are.

    The correlation of the losses within classes, by the moments of a beta-binomial distribution. Each class counts
    once, spread over its rows. Small classes cannot tell and count as concentrated.
    """
    if not losses.telling:
        return 1.0
    rate = losses.minor_shares / losses.telling
    usual = rate * (1.0 - rate)
    spread = usual * (losses.sizes - losses.telling)
    squares = losses.minor_squares - 2.0 * rate * losses.minor + rate * rate * losses.sizes
    correlation = max(0.0, (squares - usual * losses.telling) / spread) if spread > 0.0 else 0.0
    telling = losses.telling / losses.tested
    return telling * min(1.0, correlation / _SCATTERED) + 1.0 - telling


def exceptions(judged: Sequence[int], votes: Votes, failed: float, workspace: Workspace) -> Floats:
    """How often the other rows fail that share a value with a row, where that is far more often than usual.

    Only of rows that fail: the others are not asked. The columns that are judged do not count.
    """
    tested, failing = votes.tested, np.flatnonzero(votes.failing)
    found = np.zeros(tested.size)
    if failing.size <= CLUSTER:
        return found
    is_all = bool(tested.all())
    rates = np.zeros(failing.size)
    for column in range(workspace.table.width):
        ranks = workspace.column(column)
        with_it = np.bincount(ranks[failing], minlength=workspace.table.distinct(column) + 1)
        with_it[NULL_RANK] = 0
        if column in judged or with_it.max() <= CLUSTER:
            continue
        beside = workspace.frequencies(column) if is_all else np.bincount(ranks[tested], minlength=with_it.size)
        own = ranks[failing]
        np.maximum(rates, cluster_rates(with_it[own], beside[own], failed), out=rates)
    found[failing] = rates
    return found


def cluster_rates(with_it: Int64s, beside: Int64s, failed: float) -> Floats:
    """How often the other rows that share a value fail; 0 where they are few, or fail hardly more often than all.

    `with_it` of the `beside` rows that have the value fail.
    """
    rate = (with_it - 1 + _CLUSTER_PRIOR * failed) / (beside - 1 + _CLUSTER_PRIOR)
    rates: Floats = np.where((rate > _CLUSTER_TIMES * failed) & (with_it > CLUSTER), rate, 0.0)
    return rates


def _doubts_of_repeats(doubts: Floats, others: Floats, alike: Floats, failed: float) -> Floats:
    """Doubt more where several rows of the class have the same minor value: slips seldom repeat each other."""
    share = (alike + 1.0) / (others + 1.0)
    times = np.maximum(1.0, share / same_slip(failed)) ** np.minimum(alike, MOST_REPEATS)
    raised: Floats = doubts * times / (doubts * times + 1.0 - doubts)
    return raised


def same_slip(failed: float) -> float:
    """The share of a class that has one minor value by slips, where so many rows of a table fail."""
    return _SAME_SLIP * min(_MOST_SLIPS, max(SLIP, failed))
