"""How kernels are compiled and when, and where what was compiled is kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

from lawful.common import compiling, small_work
from lawful.common.paths import cache_dir, make_private_folder

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a kernel when it is first called; to a reader and a type checker it stays the function that it is."""
    return cast(Callable[Arguments, Result], Kernel(function, {}))


def inlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a kernel into those that call it, where the call would cost about as much as what it does."""
    return cast(Callable[Arguments, Result], Kernel(function, {"inline": "always"}))


class Kernel(Generic[Arguments, Result]):
    """A function that Numba compiles, or loads, at its first call: a command has Numba only if it calls a kernel.

    Kernels call each other by their global names. Numba takes what it finds there for the compiled function because it
    asks a value for its type (`_numba_type_`) and, of one to inline, for its options: both are the dispatcher's.
    """

    def __init__(self, function: Callable[Arguments, Result], options: dict[str, Any]) -> None:
        self.py_func, self._options = function, options
        self._compiled: Callable[Arguments, Result] | None = None
        update_wrapper(self, function)
        ALL_KERNELS.append(self)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        """Run it: in Python where the work is small, else compiled."""
        call = self._compiled
        if call is None:
            if small_work.is_small():
                return small_work.run_in_python(self.py_func, arguments, named)
            call = self._make()
        return call(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:
        return (self._compiled or self._make())._numba_type_  # type: ignore[attr-defined]  # a dispatcher has it

    @property
    def targetoptions(self) -> dict[str, Any]:
        """What Numba asks of a function to see whether to inline it."""
        return (self._compiled or self._make()).targetoptions  # type: ignore[attr-defined,no-any-return]  # as above

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # where it is sent to, it is the kernel of that name

    def prepare(self) -> None:
        """Let the first call find everything but the machine code for its types."""
        self._make()

    def _make(self) -> Callable[Arguments, Result]:
        with _making:
            if self._compiled is None:
                self._compiled = _njit(self.py_func, self._options)
            return self._compiled


ALL_KERNELS: list[Kernel[..., Any]] = []
"""The kernels of all modules that were imported."""
_making = threading.RLock()


def _njit(function: Callable[Arguments, Result], options: dict[str, Any]) -> Callable[Arguments, Result]:
    """Compile a function without the GIL, and keep the machine code where it can be kept.

    Numba keeps it beside the source or in the user's own cache. Where neither can be written, as in many containers and
    on Spark's executors, it is kept in lawful's cache, and where there is no place for that either, nowhere.

    Nobody passes kernels around as function pointers, and the wrapper that this needs costs a tenth of the compiling.
    """
    njit = load_compiler().njit

    def compile_it(*, keep: bool) -> Callable[Arguments, Result]:
        made = njit(cache=keep, nogil=True, no_cfunc_wrapper=True, **options)(function)
        if keep:
            _load_without_compiler(made)
        return cast(Callable[Arguments, Result], made)

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


def _load_without_compiler(made: Any) -> None:
    """Let a kernel that is kept be loaded without what is only needed to compile one.

    Before Numba looks for machine code, it imports and registers everything that it could compile with, each time anew:
    more than half of what loading costs. Machine code needs none of it, only Numba's runtime; and before it compiles,
    Numba registers once more. Where a version of Numba is built otherwise, it loads as it always did.
    """
    kept = getattr(made, "_cache", None)
    load, guard = (getattr(kept, name, None) for name in ("_load_overload", "_guard_against_spurious_io_errors"))
    initialize = _runtime_initializer()
    if load is None or guard is None or initialize is None:
        return

    def load_overload(signature: Any, context: Any) -> Any:
        initialize(context)
        with guard():
            return load(signature, context)
        return None  # what cannot be read is compiled again

    kept.load_overload = load_overload  # type: ignore[union-attr]  # it has what was asked for above


@cache
def _runtime_initializer() -> Callable[[Any], None] | None:
    try:
        from numba.core.runtime import rtsys
    except ImportError:
        return None
    return cast("Callable[[Any], None] | None", getattr(rtsys, "initialize", None))


def prepare_to_fork() -> None:
    """Load Numba, and find the place where machine code is kept, for this process and all that it will fork."""
    for kernel in ALL_KERNELS:
        kernel.prepare()


def compiled_here() -> int:
    """How often this process has compiled a kernel, once for each combination of types."""
    return sum(sum(stats.cache_misses.values()) for stats in (made.stats for made in _dispatchers()))


def kept_in() -> Path | None:
    """The folder under which the machine code of the kernels of this process is kept, if there is one."""
    folders = {made.stats.cache_path for made in _dispatchers()} - {None}
    return Path(os.path.commonpath(folders)) if folders else None


def _dispatchers() -> list[Any]:
    """What Numba has made of kernels; nothing where it was told not to compile."""
    return [made for kernel in ALL_KERNELS if hasattr(made := kernel._compiled, "stats")]


@cache
def load_compiler() -> Any:
    """Load Numba now, and let the clock know when it compiles."""
    import numba
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]  # Numba has no types
        def on_start(self, event: Any) -> None:
            compiling.begin()

        def on_end(self, event: Any) -> None:
            compiling.end()

    event.register("numba:compile", Listener())
    return numba


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
    config = load_compiler().config
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        yield
    finally:
        config.CACHE_DIR = before
