"""Two processes of tests that need a kernel at the same time: one compiles it, the other waits and finds it on disk."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any


def compile_once() -> None:
    """Lock a kernel's source while it is compiled; kernels that it calls are in the same file or in one above it."""
    from numba.core.caching import NullCache
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_now = Dispatcher.compile
    locked: set[str] = set()

    def compile_alone(kernel: Any, signature: Any) -> Any:
        source = kernel.py_func.__code__.co_filename
        with global_compiler_lock:  # threads of this process come one by one, as they do anyway
            if source in locked or isinstance(kernel._cache, NullCache):
                return compile_now(kernel, signature)
            with Path(source).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                locked.add(source)
                try:
                    return compile_now(kernel, signature)
                finally:
                    locked.remove(source)

    Dispatcher.compile = compile_alone
