"""What every kernel of this room shares: how it is compiled, and how a vector of words is hashed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Words = npt.NDArray[np.uint64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

ZERO = np.uint64(0)
ONE = np.uint64(1)

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a kernel; to a reader and a type checker it stays the function that it is."""
    return cast(Callable[Arguments, Result], njit(cache=True, nogil=True)(function))


@compiled
def hash_of(words: Words, k: int) -> np.uint64:
    """Hash vector `k` of `words[word, vector]`; its upper bits are the good ones."""
    mixed = ZERO
    for w in range(words.shape[0]):
        # np.multiply and not *: the product wraps on purpose, and only * warns of it when not compiled.
        mixed = np.multiply((mixed ^ (mixed >> _HALF)) ^ words[w, k], _SPREAD)
    return np.multiply(mixed ^ (mixed >> _HALF), _SPREAD)
