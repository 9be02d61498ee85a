"""How interesting a law is: its coverage, so that general laws come before accidental ones.

The coverage of a set of columns X is the sum of the squared sizes of the classes of rows that agree on X, divided
by the square of the number of rows (DISTOD, section 9): the chance that two rows drawn at random agree on X. A law
with a left side that hardly any two rows share says little; one that many rows share says much. It is estimated
from random pairs of rows, the same for every law of a run, because a table can obey a million laws.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.discovery.findings import Block
from lawful.meanings import NULL_RANK, NullPolicy
from lawful.search import words_for
from lawful.search.sets import WORD_BITS, Words
from lawful.search.superset_kernels import superset_weights

_MOST_COMPARISONS = 1_000_000_000
_FEWEST_PAIRS, _MOST_PAIRS = 1_000, 200_000


def coverages(
    blocks: Sequence[Block], table: RankedTable, policy: NullPolicy, seed: int
) -> list[npt.NDArray[np.float64]]:
    """The estimated coverage of the columns or left side of each law, block by block."""
    laws = sum(len(block.sets) for block in blocks)
    if laws == 0 or table.rows < 2:
        return [np.ones(len(block.sets)) for block in blocks]
    pairs = int(np.clip(_MOST_COMPARISONS // laws, _FEWEST_PAIRS, _MOST_PAIRS))
    agree = _agree_sets_of_random_pairs(table, policy, pairs, seed)
    alone = 1.0 / table.rows  # a row always agrees with itself
    weights = np.ones(pairs, np.int64)
    return [alone + (1.0 - alone) * superset_weights(block.sets, agree, weights) / pairs for block in blocks]


def _agree_sets_of_random_pairs(table: RankedTable, policy: NullPolicy, pairs: int, seed: int) -> Words:
    random = np.random.default_rng(seed)
    left = random.integers(0, table.rows, pairs)
    right = (left + random.integers(1, table.rows, pairs)) % table.rows
    agree = np.zeros((pairs, words_for(table.width)), np.uint64)
    for column in range(table.width):
        ranks = table.column(column)
        ours = ranks[left]
        same = ours == ranks[right]
        if policy is NullPolicy.IGNORE:
            same &= ours != NULL_RANK
        agree[:, column // WORD_BITS] |= same.astype(np.uint64) << np.uint64(column % WORD_BITS)
    return agree
