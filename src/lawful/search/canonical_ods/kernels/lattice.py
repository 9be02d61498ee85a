"""Trying the candidates of a lattice node against what pairs of rows have shown.

`agree[v]` is a set of columns on which pairs were seen to agree; `refuted[v, a, d]` are the columns b >= a that some
of these pairs order against a in direction d (asc, desc), where a itself stands in desc if a pair differs on it. So
whatever is refuted under an agree set that contains the context is refuted in the context.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import LAST_BIT, ONE, ZERO, bit

ASC, DESC = 0, 1


@compiled
def _contains(agree: Words, context: Words) -> bool:
    for word in range(context.size):  # noqa: SIM110 (all() does not compile)
        if context[word] & ~agree[word] != ZERO:
            return False
    return True


@compiled
def refuted_columns(contexts: Words, agree: Words, refuted: Words) -> Words:
    """For each context, the columns that it is seen not to determine."""
    found = np.zeros_like(contexts)
    for k in range(contexts.shape[0]):
        for v in range(agree.shape[0]):
            if _contains(agree[v], contexts[k]):
                for a in range(refuted.shape[1]):
                    found[k, a >> 6] |= refuted[v, a, DESC, a >> 6] & bit(a)
    return found


@compiled
def refuted_pairs(contexts: Words, agree: Words, refuted: Words) -> Words:
    """For each context, the pairs that it is seen not to leave in order.

    Pairs a < b are numbered row by row, two numbers each: asc, desc.
    """
    columns = refuted.shape[1]
    found = np.zeros((contexts.shape[0], (columns * (columns - 1) >> 6) + 1), np.uint64)
    seen = np.zeros(refuted.shape[1:], np.uint64)
    for k in range(contexts.shape[0]):
        seen[:] = ZERO
        for v in range(agree.shape[0]):
            if _contains(agree[v], contexts[k]):
                for a in range(columns):
                    for word in range(a >> 6, contexts.shape[1]):
                        seen[a, ASC, word] |= refuted[v, a, ASC, word]
                        seen[a, DESC, word] |= refuted[v, a, DESC, word]
        number = 0
        for a in range(columns):
            for b in range(a + 1, columns):
                for direction in range(2):
                    is_refuted = (seen[a, direction, b >> 6] >> (np.uint64(b) & LAST_BIT)) & ONE
                    found[k, number >> 6] |= is_refuted << (np.uint64(number) & LAST_BIT)
                    number += 1
    return found
