"""What every kernel of this room shares: how it is compiled, and how a vector of words is hashed."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Words
from lawful.common.compiled import compiled

ZERO = np.uint64(0)
ONE = np.uint64(1)

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@compiled
def hash_of_word(word: np.uint64) -> np.uint64:
    """Hash a word; the upper bits are the good ones."""
    # np.multiply and not *: the product wraps on purpose, and only * warns of it when not compiled.
    mixed = np.multiply(word, _SPREAD)
    return np.uint64(np.multiply(mixed ^ (mixed >> _HALF), _SPREAD))


@compiled
def hash_of_next(mixed: np.uint64, word: np.uint64) -> np.uint64:
    """Hash a further word, given the hash of all before it."""
    return hash_of_word((mixed ^ (mixed >> _HALF)) ^ word)


@compiled
def hash_of(words: Words, k: int) -> np.uint64:
    """Hash vector `k` of `words[word, vector]`; a vector of one word as its word."""
    mixed = hash_of_word(words[0, k])
    for w in range(1, words.shape[0]):
        mixed = hash_of_next(mixed, words[w, k])
    return mixed
