"""The clock that does not count what compiling takes."""

from __future__ import annotations

import time

import pytest
from numba.core.event import trigger_event

from lawful.discovery.kernels.working_clock import working_seconds


def test_the_clock_stands_still_while_kernels_are_compiled() -> None:
    first = working_seconds()
    with trigger_event("numba:compile"):
        begun = working_seconds()
        time.sleep(0.002)
        with trigger_event("numba:compile"):
            time.sleep(0.002)
        compiled = working_seconds()
    time.sleep(0.002)
    assert first <= begun
    assert compiled == pytest.approx(begun, abs=1e-9)
    assert working_seconds() >= compiled + 0.002
