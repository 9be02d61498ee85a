"""How kernels are compiled, and where what was compiled is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from numba import config, njit

from lawful.common.paths import cache_dir

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a kernel; to a reader and a type checker it stays the function that it is."""
    return _njit(function)


def inlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a kernel into those that call it, where the call would cost about as much as what it does."""
    return _njit(function, inline="always")


def _njit(function: Callable[Arguments, Result], **options: Any) -> Callable[Arguments, Result]:
    """Compile a function without the GIL, and keep the machine code where it can be kept.

    Numba keeps it beside the source or in the user's own cache. Where neither can be written, as in many containers and
    on Spark's executors, it is kept in lawful's cache, which falls back to a private temporary folder.
    """
    try:
        return cast(Callable[Arguments, Result], njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:  # "no locator available": there is no place that Numba may write to
        config.CACHE_DIR = str(cache_dir() / "kernels")
    try:
        return cast(Callable[Arguments, Result], njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:
        return cast(Callable[Arguments, Result], njit(nogil=True, **options)(function))
