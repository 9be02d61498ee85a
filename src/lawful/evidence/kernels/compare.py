"""Comparing listed pairs of rows of a row-major matrix.

A row is a few cache lines, so any pair costs two of them. Columns come in pieces of 32, one piece after the
other for all pairs of a short list: the loop over a piece ORs precomputed 32-bit masks and becomes a handful
of vector instructions, ten times as fast as building words bit by bit. It does so only while all values stay
32 bits wide and indices are unsigned, hence the casts. Rows are padded with zeros, whose masks are zero too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled

Masks = npt.NDArray[np.uint32]

PIECE = 32
_NONE = np.uint32(0)
_PIECE_BITS = np.uint64(PIECE)


@compiled
def _write_half(words: Words, w: int, k: int, piece: int, bits: np.uint32) -> None:
    """Put the bits of a piece in their half of word `w`; the first half clears the second."""
    if piece & 1:
        words[w, k] |= np.uint64(bits) << _PIECE_BITS
    else:
        words[w, k] = np.uint64(bits)


@compiled
def agree_words(matrix: Int32s, masks: Masks, left: Int32s, right: Int32s, words: Words) -> None:
    """Write the agree set of pair k to `words[:, k]`; null equals null."""
    width = matrix.shape[1]
    for piece in range((width + PIECE - 1) // PIECE):
        start = np.uint64(piece * PIECE)
        for k in range(left.size):
            t = np.uint64(left[k])
            s = np.uint64(right[k])
            agree = _NONE
            for i in range(min(PIECE, width - piece * PIECE)):
                c = start + np.uint64(i)
                agree = np.uint32(agree | (masks[c] if matrix[t, c] == matrix[s, c] else _NONE))
            _write_half(words, piece >> 1, k, piece, agree)


@compiled
def known_words(matrix: Int32s, masks: Masks, left: Int32s, right: Int32s, words: Words) -> None:
    """Write where pair k agrees and, below, where it differs; a column with a null does neither."""
    width = matrix.shape[1]
    differ_words = words.shape[0] // 2
    for piece in range((width + PIECE - 1) // PIECE):
        start = np.uint64(piece * PIECE)
        for k in range(left.size):
            t = np.uint64(left[k])
            s = np.uint64(right[k])
            agree = _NONE
            differ = _NONE
            for i in range(min(PIECE, width - piece * PIECE)):
                c = start + np.uint64(i)
                one = matrix[t, c]
                other = matrix[s, c]
                # Not `and`: a jump in the loop would keep it from becoming vector instructions.
                known = masks[c] if (one != 0) & (other != 0) else _NONE
                agree = np.uint32(agree | (known if one == other else _NONE))
                differ = np.uint32(differ | (known if one != other else _NONE))
            _write_half(words, piece >> 1, k, piece, agree)
            _write_half(words, differ_words + (piece >> 1), k, piece, differ)


@compiled
def sign_words(
    lefts: Int32s, rights: Int32s, masks: Masks, left: Int32s, right: Int32s, ignore_nulls: bool, words: Words
) -> None:
    """Write where pair k is less and, below, where it is greater; both where a null makes it unknown.

    A row is read from `lefts` where it stands on the left and from `rights` on the right: one and the same matrix,
    unless different columns are compared with each other.
    """
    width = lefts.shape[1]
    greater_words = words.shape[0] // 2
    null = np.int32(0) if ignore_nulls else np.int32(-1)
    for piece in range((width + PIECE - 1) // PIECE):
        start = np.uint64(piece * PIECE)
        for k in range(left.size):
            t = np.uint64(left[k])
            s = np.uint64(right[k])
            less = _NONE
            greater = _NONE
            for i in range(min(PIECE, width - piece * PIECE)):
                c = start + np.uint64(i)
                one = lefts[t, c]
                other = rights[s, c]
                unknown = (one == null) | (other == null)
                less = np.uint32(less | (masks[c] if (one < other) | unknown else _NONE))
                greater = np.uint32(greater | (masks[c] if (one > other) | unknown else _NONE))
            _write_half(words, piece >> 1, k, piece, less)
            _write_half(words, greater_words + (piece >> 1), k, piece, greater)
