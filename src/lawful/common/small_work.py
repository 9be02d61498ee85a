"""Work that is done before a compiler is loaded: kernels are then run as the Python functions that they are.

Loading Numba and what it has compiled takes half a second, compiling many seconds. On a handful of rows, Python needs a
few hundredths of a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")

_SECONDS = 0.5
"""After so long in Python the work was not small, and what comes is compiled."""

most_cells = 600
"""Tables with more cells than this are not small. Tests of kernels set it to 0."""
_MOST_ROWS, _MOST_COLUMNS = 128, 10
"""Pairs of rows are compared, and sets of columns searched."""
_NUMBERS_KEEP_THEIR_TYPE = int(np.__version__.partition(".")[0]) >= 2
"""Older versions of NumPy may give what is made of Python's numbers and its own another type than kernels do."""


class _Depth(threading.local):
    """How many kernels of this thread have called one another."""

    kernels = 0


_here = _Depth()
_counting = threading.Lock()
_small, _large, _spent = 0, 0, 0.0


@contextmanager
def of(rows: int, columns: int, *, runs_in_python: bool, is_quick: bool | None = None) -> Iterator[None]:
    """Say how large what is worked on is, and whether the kernels for it are tested as Python functions too.

    Who does not compare all pairs of rows may know better whether that is quick. While something that is not small is
    done, in whichever thread, all kernels are compiled.
    """
    global _small, _large, _spent
    can_be = runs_in_python and _NUMBERS_KEEP_THEIR_TYPE
    if is_quick is None:
        is_quick = rows * columns <= most_cells and rows <= _MOST_ROWS and columns <= _MOST_COLUMNS
    is_small = can_be and is_quick and most_cells > 0
    with _counting:
        _small += is_small
        _large += not is_small
        if _small + _large == 1:
            _spent = 0.0
    try:
        yield
    finally:
        with _counting:
            _small -= is_small
            _large -= not is_small


def is_small() -> bool:
    """Whether Python is quick enough for what is being done."""
    return _small > 0 and _large == 0 and _spent < _SECONDS


def run_in_python(function: Callable[..., Result], arguments: tuple[Any, ...], named: dict[str, Any]) -> Result:
    """Run a kernel as it stands; numbers wrap around as they do in machine code."""
    global _spent
    if _here.kernels:
        return function(*arguments, **named)
    _here.kernels += 1
    began = time.thread_time()
    try:
        with np.errstate(all="ignore"):
            return function(*arguments, **named)
    finally:
        _here.kernels -= 1
        _spent += time.thread_time() - began
