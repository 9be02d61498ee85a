"""How many examples a property is tried on.

A profile says it for all: a few with `make test`, thousands with `make test-slow` (see conftest.py). So a test names no
number. One whose examples take long, tenths of a second each, says how many times fewer it gets.
"""

from __future__ import annotations

from hypothesis import settings

FEW, THOUSANDS = 12, 2_000


def register() -> None:
    """Make the two profiles; few examples is what is tried unless `--hypothesis-profile` says otherwise."""
    # The first call of a kernel compiles it, and a busy machine is slow: no example is judged by its time.
    # A few are the same ones each time: whether a change is taken is no matter of luck. New ones are for the thousands.
    settings.register_profile("few", deadline=None, max_examples=FEW, derandomize=True)
    settings.register_profile("thousands", deadline=None, max_examples=THOUSANDS)
    settings.load_profile("few")


def one_in(times_fewer: int) -> settings:
    """Some of the examples that the profile has, for a property that takes long to try."""
    return settings(max_examples=max(2, settings().max_examples // times_fewer))
