"""Comparing listed pairs of rows of a row-major matrix.

A row is a few cache lines, so any pair costs two of them. Columns come in pieces of 32, one piece after the
other for all pairs of a short list: the loop over a piece ORs precomputed 32-bit masks and becomes a handful
of vector instructions, ten times as fast as building words bit by bit. It does so only while all values stay
32 bits wide and indices are unsigned, hence the casts. Rows are padded with zeros, whose masks are zero too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled

Masks = npt.NDArray[np.uint32]

PIECE = 32
_NONE = np.uint32(0)
_PIECE_BITS = np.uint64(PIECE)
_PAIRS_AT_ONCE, _WORD_BITS = 64, 64
_NO_BITS = np.uint64(0)


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
def sign_words(matrix: Int32s, masks: Masks, left: Int32s, right: Int32s, ignore_nulls: bool, words: Words) -> None:
    """Write where pair k is less and, below, where it is greater; both where a null makes it unknown."""
    width = matrix.shape[1]
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
                one = matrix[t, c]
                other = matrix[s, c]
                unknown = (one == null) | (other == null)
                less = np.uint32(less | (masks[c] if (one < other) | unknown else _NONE))
                greater = np.uint32(greater | (masks[c] if (one > other) | unknown else _NONE))
            _write_half(words, piece >> 1, k, piece, less)
            _write_half(words, greater_words + (piece >> 1), k, piece, greater)


@compiled
def sign_words_across(
    matrix: Int32s,
    first: Int64s,
    second: Int64s,
    left: Int32s,
    right: Int32s,
    ignore_nulls: bool,
    words: Words,
) -> None:
    """Write the signs of pair k as `sign_words` does, for comparisons of any two columns of either row.

    There are many more comparisons than columns. So the columns of some pairs are turned, and one comparison after the
    other is made for all of them: everything that it reads is in the cache, next to each other.

    Parameters
    ----------
    first, second
        What each comparison compares: the place of a column of row `left[k]`, or, counted on, of row `right[k]`.
    ignore_nulls
        Whether a null in either row makes every comparison of the column unknown.
    """
    width = matrix.shape[1]
    greater_words = words.shape[0] // 2
    turned = np.empty((2 * width, _PAIRS_AT_ONCE), np.int32)
    less, greater = np.empty(_PAIRS_AT_ONCE, np.uint64), np.empty(_PAIRS_AT_ONCE, np.uint64)
    for start in range(0, left.size, _PAIRS_AT_ONCE):
        pairs = min(_PAIRS_AT_ONCE, left.size - start)
        for k in range(pairs):
            _turn(matrix[left[start + k]], matrix[right[start + k]], ignore_nulls, turned[:, k])
        for w in range(greater_words):
            less[:] = _NO_BITS
            greater[:] = _NO_BITS
            for c in range(w * _WORD_BITS, min((w + 1) * _WORD_BITS, first.size)):
                _compare(turned[first[c]], turned[second[c]], ignore_nulls, c, less, greater)
            words[w, start : start + pairs] = less[:pairs]
            words[greater_words + w, start : start + pairs] = greater[:pairs]


@compiled
def _turn(t: Int32s, s: Int32s, ignore_nulls: bool, turned: Int32s) -> None:
    """Write what row t has and then what row s has; null in both where either is null and that is to be ignored."""
    for c in range(t.size):
        is_known = not ignore_nulls or (t[c] != 0 and s[c] != 0)
        turned[c] = t[c] if is_known else 0
        turned[t.size + c] = s[c] if is_known else 0


@compiled
def _compare(first: Int32s, second: Int32s, ignore_nulls: bool, comparison: int, less: Words, greater: Words) -> None:
    """Add the bit of a comparison to the words of the pairs that are less, and to those that are greater."""
    bit = np.uint64(1) << np.uint64(comparison % _WORD_BITS)
    null = np.int32(0) if ignore_nulls else np.int32(-1)
    for k in range(first.size):
        unknown = (first[k] == null) | (second[k] == null)
        less[k] |= bit if (first[k] < second[k]) | unknown else _NO_BITS
        greater[k] |= bit if (first[k] > second[k]) | unknown else _NO_BITS
