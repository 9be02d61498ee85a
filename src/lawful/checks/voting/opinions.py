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
from lawful.common.arrays import Flags, Floats, Int32s
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
_CLASS_THAT_TELLS = 4
_CLUSTER, _CLUSTER_TIMES, _CLUSTER_PRIOR = 3, 3.0, 5.0
"""So many rows that share a value have to fail, and so many times as often as others, to count as an exception."""
_MOST_REPEATS, _SAME_SLIP, _MOST_SLIPS = 2, 0.3, 0.3
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
    """

    rows: Int32s
    weights: Floats
    others: Int32s
    rivals: Int32s
    suggested: Int32s
    tested: int
    failed: int


def fd_opinion(law: FD, workspace: Workspace, rows: Int32s | None) -> Opinion:
    """Give what a functional dependency thinks; see `opinion_of`."""
    votes = class_votes(law, workspace)
    return opinion_on(rows, votes, _weights(law, votes, workspace))


def opinion_on(rows: Int32s | None, votes: Votes, weights: Floats) -> Opinion:
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
    own = shares[workspace.column(law.rhs)[tested]]
    others, alike, rival = (counted[tested].astype(np.float64) for counted in (votes.others, votes.alike, votes.rival))
    failing = rival > alike
    is_null = workspace.column(law.rhs)[tested] == NULL_RANK
    doubt = _doubt(law, votes, shares, is_null)
    failed = float(failing.mean())
    doubts = np.maximum(doubt, exceptions((law.rhs,), votes, failed, workspace)[tested])
    doubts = _doubts_of_repeats(doubts, others, np.where(is_null, 0.0, alike), failed)
    against = SLIP ** np.clip(rival - alike, -MOST_VOTES, MOST_VOTES)
    against *= own / shares[votes.suggested[tested]]
    wrong = np.log(np.minimum(1.0, doubts + (1.0 - doubts) * against / (1.0 + against)))
    right = np.log(np.maximum(1.0, doubt + (1.0 - doubt) * alike / others / own))
    weights[tested] = np.where(failing, wrong, right)
    return weights


def _shares(law: FD, workspace: Workspace) -> Floats:
    """The share of the rows that has each value of the right side, null included."""
    counted = workspace.frequencies(law.rhs)
    shares: Floats = np.maximum(counted, 1) / max(1, int(counted.sum()))
    return shares


def _doubt(law: FD, votes: Votes, shares: Floats, is_null: Flags) -> float:
    """How often the law would reject a right row, as far as its losses tell."""
    tested = votes.tested
    size = votes.others[tested] + 1.0
    lost = float(((size - votes.alike[tested] - 1.0) / size).sum())
    expected = float((1.0 - 1.0 / size).sum()) * float(1.0 - (shares**2).sum())
    loss = min(1.0, most_lost(lost) / expected) if expected > 0.0 else 1.0
    return min(1.0, max(LEAST_DOUBT, doubt_of_loss(loss, len(law.lhs) - 1) * _concentration(votes, is_null)))


def doubt_of_loss(loss: float, further_columns: int) -> float:
    """The doubt of a law that loses a share of what chance would lose; more for each column beyond what it needs."""
    return math.pow(_DOUBT_OF_A_COLUMN, further_columns) * math.pow(_DOUBT_OF_LOSS * loss, _DOUBT_GROWS)


def _concentration(votes: Votes, is_null: Flags) -> float:
    """How far what is lost lies in some classes, 0 to 1: 0 where it is scattered over all of them, as errors are.

    The correlation of the losses within classes, by the moments of a beta-binomial distribution. Small classes cannot
    tell and count as concentrated.
    """
    tested = votes.tested
    size = votes.others[tested] + 1.0
    own = np.where(is_null, np.where(votes.suggested[tested] > 0, 0.0, size), votes.alike[tested] + 1.0)
    lost = size - np.maximum(own, votes.rival[tested])  # nulls never are what a class agrees on, unless it has no value
    tells = size >= _CLASS_THAT_TELLS
    if not tells.any():
        return 1.0
    n, k, once = size[tells], lost[tells], 1.0 / size[tells]  # each class once, spread over its rows
    rate = float((k * once).sum() / (n * once).sum())
    usual = n * rate * (1.0 - rate)
    spread = float((usual * (n - 1.0) * once).sum())
    excess = float((((k - n * rate) ** 2 - usual) * once).sum())
    correlation = max(0.0, excess / spread) if spread > 0.0 else 0.0
    telling = float(np.count_nonzero(tells)) / size.size
    return telling * min(1.0, correlation / _SCATTERED) + 1.0 - telling


def exceptions(judged: Sequence[int], votes: Votes, failed: float, workspace: Workspace) -> Floats:
    """How often the other rows fail that share a value with a row, where that is far more often than usual.

    Only of rows that fail: the others are not asked. The columns that are judged do not count.
    """
    tested, failing = votes.tested, np.flatnonzero(votes.failing)
    found = np.zeros(tested.size)
    if failing.size <= _CLUSTER:
        return found
    is_all = bool(tested.all())
    rates = np.zeros(failing.size)
    for column in range(workspace.table.width):
        ranks = workspace.column(column)
        with_it = np.bincount(ranks[failing], minlength=workspace.table.distinct(column) + 1)
        with_it[NULL_RANK] = 0
        if column in judged or with_it.max() <= _CLUSTER:
            continue
        beside = workspace.frequencies(column) if is_all else np.bincount(ranks[tested], minlength=with_it.size)
        own = ranks[failing]
        rate = (with_it[own] - 1 + _CLUSTER_PRIOR * failed) / (beside[own] - 1 + _CLUSTER_PRIOR)
        is_cluster = (rate > _CLUSTER_TIMES * failed) & (with_it[own] > _CLUSTER)
        np.maximum(rates, np.where(is_cluster, rate, 0.0), out=rates)
    found[failing] = rates
    return found


def _doubts_of_repeats(doubts: Floats, others: Floats, alike: Floats, failed: float) -> Floats:
    """Doubt more where several rows of the class have the same minor value: slips seldom repeat each other."""
    share = (alike + 1.0) / (others + 1.0)
    slip = _SAME_SLIP * min(_MOST_SLIPS, max(SLIP, failed))
    times = np.maximum(1.0, share / slip) ** np.minimum(alike, _MOST_REPEATS)
    raised: Floats = doubts * times / (doubts * times + 1.0 - doubts)
    return raised
