"""Ctrl-C is never lost, and never lands in a compiler; a SIGTERM is as good."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import numba
import pytest

from lawful.cli.interrupts import interrupts_wait_for_compilers


@pytest.fixture(autouse=True)
def as_in_a_new_process() -> Iterator[None]:
    """Python's own way with Ctrl-C, which Spark changes when it is started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _interrupted_while_compiling(seen: list[str]) -> None:
    """Compile a function that interrupts its own compilation, then rest."""

    class Telling(numba.core.compiler.Compiler):
        def compile_extra(self, func: object) -> object:
            signal.raise_signal(signal.SIGINT)
            seen.append("compiling went on")
            result = super().compile_extra(func)
            seen.append("compiled")
            return result

    numba.njit(pipeline_class=Telling)(lambda x: x + 1)(1)
    seen.append("after compiling")
    time.sleep(60)


def test_an_interrupt_waits_until_a_kernel_is_compiled() -> None:
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt), interrupts_wait_for_compilers():
        _interrupted_while_compiling(seen)
    assert seen[:2] == ["compiling went on", "compiled"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_any_other_interrupt_comes_at_once(number: int) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupts_wait_for_compilers():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_wait_for_compilers():
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
