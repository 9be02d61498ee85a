"""How kernels are compiled, and where what was compiled is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, ParamSpec, TypeVar, cast

from numba import config, njit

from lawful.common.paths import cache_dir, make_private_folder

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
    on Spark's executors, it is kept in lawful's cache, and where there is no place for that either, nowhere.
    """

    def compile_it(*, keep: bool) -> Callable[Arguments, Result]:
        return cast(Callable[Arguments, Result], njit(cache=keep, nogil=True, **options)(function))

    try:
        return compile_it(keep=True)
    except RuntimeError:  # "no locator available": there is no place that Numba may write to
        folder = _own_folder()
    if folder is not None:
        try:
            with _numba_keeps_in(folder):
                return compile_it(keep=True)
        except RuntimeError:  # as when the package is imported from an archive: there is no source file to compare with
            pass
    return compile_it(keep=False)


@cache
def _own_folder() -> str | None:
    """The folder for machine code in lawful's cache, which all processes of a user share; decided once."""
    try:
        folder = cache_dir() / "kernels"
    except OSError:  # nothing can be written anywhere
        return None
    return str(folder) if make_private_folder(folder) else None


@contextmanager
def _numba_keeps_in(folder: str) -> Iterator[None]:
    """Let Numba use a folder while it looks for a place, and not for what others compile in this process."""
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        yield
    finally:
        config.CACHE_DIR = before
