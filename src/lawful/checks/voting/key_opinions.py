"""What a key thinks of rows that share its values: all but one of them are wrong, and it cannot say which one is not.

So it never fails a row by itself, and only adds to what other laws say: at most as much as two rows that share a key,
of which either may be wrong.
"""

from __future__ import annotations

import math

import numpy as np

from lawful.checks.strength.judged import judged_rows
from lawful.checks.strength.trial import most_lost
from lawful.checks.voting.opinions import LEAST_DOUBT, Opinion, doubt_of_loss, opinion_on
from lawful.checks.voting.votes import Votes
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Ints
from lawful.dependencies import Key

_EITHER = 0.5


def key_opinion(law: Key, workspace: Workspace, rows: Ints | None) -> Opinion:
    """Give what a key thinks; see `opinion_of`."""
    partition = workspace.partition(law.columns)
    sizes = np.diff(partition.offsets)
    others = np.zeros(workspace.table.rows, np.int32)
    others[partition.rows] = np.repeat(sizes - 1, sizes)
    judged = judged_rows(law.columns, workspace)
    if judged is not None:
        others[~judged] = 0
    nothing = np.zeros_like(others)
    weights = np.zeros(others.size)
    repeated = others > 0
    if repeated.any():
        weights[repeated] = key_weight(law, int(np.count_nonzero(repeated)), others.size)
    return opinion_on(rows, Votes(others, nothing, others, nothing), weights)


def key_weight(law: Key, repeated: int, rows: int) -> float:
    """What a key thinks of each of so many rows, of all, that share its values."""
    loss = min(1.0, most_lost(float(repeated)) / rows)
    return math.log(max(min(1.0, max(LEAST_DOUBT, doubt_of_loss(loss, len(law.columns) - 1))), _EITHER))
