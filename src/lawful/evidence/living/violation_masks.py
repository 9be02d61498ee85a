"""Which agree sets break a key or an FD, as a question about their bits (section 6 of the paper).

A pair breaks the key X if it agrees on all of X, and the FD X -> A if besides it differs on A: bits X set and bit A
not set (for LN -> P that is 0100 with the third bit 0, not 0101 as printed: Y11). Under `NullPolicy.IGNORE` the pair
must be known to differ on A, which is a bit of the set's second plane.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lawful.common.arrays import Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.signs import WORD_BITS

KEY = -1
"""The right side of a candidate that is a key."""


class ViolationCounts(Protocol):
    """What can tell how many pairs break a candidate."""

    def violations(self, left: Words, right: Int64s) -> Int64s:
        """The number of pairs that break each candidate: the numerator of g1.

        Parameters
        ----------
        left
            Left sides or keys, `uint64[candidates, words]`.
        right
            The column on the right, which is not on the left, or `KEY`.
        """


def violation_masks(left: Words, right: Int64s, policy: NullPolicy) -> tuple[Words, Words]:
    """For each candidate the bits of a set to look at, and what they must be if its pairs break the candidate."""
    is_fd = right >= 0
    words, bits = np.divmod(right[is_fd], WORD_BITS)
    bit = np.zeros_like(left)
    bit[np.flatnonzero(is_fd), words] = np.left_shift(np.uint64(1), bits.astype(np.uint64))
    assert not (left & bit).any(), "the right side of an FD is on its left"
    if policy is NullPolicy.EQUAL:
        return left | bit, left
    both = np.concatenate([left, bit], axis=1)
    return both, both
