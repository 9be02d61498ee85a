"""Ctrl-C is never lost, and never lands in a compiler."""

from __future__ import annotations

import signal
import time

import numba
import pytest

from lawful.cli.interrupts import interrupts_wait_for_compilers


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
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts_wait_for_compilers():
        _interrupted_while_compiling(seen)
    assert seen[:2] == ["compiling went on", "compiled"]
    assert signal.getsignal(signal.SIGINT) is before


def test_any_other_interrupt_comes_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_wait_for_compilers():
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_wait_for_compilers():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
