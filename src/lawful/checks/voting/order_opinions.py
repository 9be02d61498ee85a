"""What an order that almost holds thinks of rows: those that stand against many rows which agree with each other.

Of each class of the context a longest chain of rows that no swap separates is taken to be right, and votes. A row
outside of it is wrong if enough rows of the chain are swapped with it. Whether its left or its right cell is, the order
cannot say.
Where most rows outside stand close to their place, the two columns merely rise together: the order is a tendency and
not a law, and doubts itself. A row of the chain gets no support by that: a wrong value may stand in order by luck.
"""

from __future__ import annotations

import numpy as np

from lawful.checks.canonical_ods.checks import rows_in_order
from lawful.checks.strength.trial import most_lost
from lawful.checks.voting.kernels.orders import vote_by_order
from lawful.checks.voting.opinions import (
    LEAST_DOUBT,
    MOST_VOTES,
    SLIP,
    Opinion,
    doubt_of_loss,
    exceptions,
    opinion_on,
)
from lawful.checks.voting.votes import Votes
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Floats, Ints
from lawful.dependencies import CanonicalOD

CLOSE = 0.1
"""A row is close to its place if so small a share of the chain is swapped with it."""
_CLOSE_BY_CHANCE = 0.2
"""The share of random values that would be close."""
FREE_VOTES = 2
"""Two rows of a chain may themselves be wrong: so many votes say nothing."""


def order_opinion(law: CanonicalOD, workspace: Workspace, rows: Ints | None) -> Opinion:
    """Give what an order thinks; see `opinion_of`."""
    votes = order_votes(law, workspace)
    return opinion_on(rows, votes, _weights(law, votes, workspace))


def order_votes(law: CanonicalOD, workspace: Workspace) -> Votes:
    """The votes of a longest chain of each class: `others` differ from a row in both columns, `rival` are swapped."""
    judged, labels, b = rows_in_order(law, workspace)
    others, rival = (np.zeros(workspace.table.rows, np.int32) for _ in range(2))
    size = judged.size
    tails, before, chain = (np.empty(size, np.int32) for _ in range(3))
    vote_by_order(judged, labels, workspace.column(law.left), b, tails, before, chain, others, rival)
    nothing = np.zeros_like(others)
    return Votes(others, nothing, rival, nothing)


def _weights(law: CanonicalOD, votes: Votes, workspace: Workspace) -> Floats:
    """The opinion of every row: 0 of those that no chain is against."""
    weights = np.zeros(votes.others.size)
    tested, failing = int(np.count_nonzero(votes.tested)), votes.failing
    if not failing.any():
        return weights
    failed = int(np.count_nonzero(failing))
    rival = votes.rival[failing]
    close = int(np.count_nonzero(rival / votes.others[failing] < CLOSE))
    apart = exceptions((law.left, law.right), votes, failed / tested, workspace)[failing]
    weights[failing] = order_weights(rival, doubt_of_order(law, tested, failed, close), apart)
    return weights


def doubt_of_order(law: CanonicalOD, tested: int, failed: int, close: int) -> float:
    """How often an order would reject a right row: it fails so many of those it tests, and so many are close."""
    loss = min(1.0, most_lost(float(failed)) / tested)
    return max(LEAST_DOUBT, doubt_of_loss(loss, len(law.context)), _tendency(failed, close))


def order_weights(rival: Ints, doubt: float, apart: Floats) -> Floats:
    """What an order thinks of rows that are swapped with so many of a chain; `apart` as for FDs."""
    doubts = np.minimum(1.0, np.maximum(doubt, apart))
    against = SLIP ** np.clip(rival.astype(np.float64) - FREE_VOTES, 0.0, MOST_VOTES)
    weights: Floats = np.log(doubts + (1.0 - doubts) * against)
    return weights


def _tendency(failed: int, close: int) -> float:
    """How far an order is a tendency, 0 to 1: the share of rows outside the chain that are close to their place.

    Wrong values stand anywhere. One row more is supposed, of which half is close.
    """
    return max(0.0, ((close + 0.5) / (failed + 1.0) - _CLOSE_BY_CHANCE) / (1.0 - _CLOSE_BY_CHANCE))
