"""Work that does not look at its limit at all, in every phase: it is left behind, and what was found is given."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import lawful
from lawful import evidence
from lawful.common.errors import StoppedError
from lawful.discovery.denials import preliminary
from lawful.discovery.keys_and_fds import discover as keys_and_fds
from lawful.discovery.keys_and_fds import hybrid
from lawful.discovery.list_ods import discover as list_ods
from lawful.discovery.list_ods import findod
from lawful.discovery.pods import discover as pods
from lawful.engines import local
from lawful.evidence.denials import evidence as denial_evidence
from lawful.runs import opened, ranking, stopping
from limits.test_every_look import discover, table, table_for

HANGS = 60.0
"""Seconds after which a test has failed, because nobody has come back."""


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any, str], threading.Event]]:
    """Let a function come to a standstill when it is called, as long as the test lasts."""
    monkeypatch.setattr(stopping, "_GRACE", 0.1)
    goes_on = threading.Event()

    def make(place: Any, name: str) -> threading.Event:
        real, reached = getattr(place, name), threading.Event()

        def standing_still(*given: Any, **named: Any) -> Any:
            reached.set()
            goes_on.wait(HANGS)
            return real(*given, **named)

        monkeypatch.setattr(place, name, standing_still)
        return reached

    yield make
    goes_on.set()


class EndsOnce(stopping.UserWatch):
    """Reaches its limit once something has happened."""

    def __init__(self, reached: threading.Event) -> None:
        super().__init__(None, None)
        self._reached = reached

    def reason(self) -> str | None:
        return super().reason() or ("the phase was reached" if self._reached.is_set() else None)


PHASES = {
    "comparing all pairs for FDs": ("key,fd", "full", evidence, "all_agree_sets"),
    "thinking about agree sets": ("key,fd", "full", keys_and_fds, "Thoughts"),
    "thinking about a pool": ("key,fd", "hybrid", hybrid, "Thoughts"),
    "checking FDs": ("key,fd", "hybrid", local, "check"),
    "checking pairs of columns": ("canonical-od", "lattice", local, "check"),
    "drawing rows": ("list-od", "findod", findod, "draw_rows"),
    "growing and validating lists": ("list-od", "findod", list_ods, "run_loop"),
    "comparing all pairs for constraints": ("dc", "full", denial_evidence, "all_evidence"),
    "inverting evidence": ("dc", "full", preliminary, "minimal_constraints"),
    "reducing constraints": ("dc", "full", preliminary, "reduced_places"),
    "checking constraints": ("dc", "hybrid", local, "check"),
    "thinking about pointwise laws": ("pod", "full", pods, "left_sides_of"),
}


@pytest.mark.timeout(HANGS)
@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_that_does_not_look_is_left_behind(phase: str, stuck: Any) -> None:
    find, strategy, place, name = PHASES[phase]
    source = table_for(find)
    everything = {found.text for found in discover(source, find, strategy)}
    reached = stuck(place, name)
    report = discover(source, find, strategy, EndsOnce(reached))
    assert reached.is_set()
    assert not report.complete
    texts = {found.text for found in report}
    if phase == "reducing constraints":
        told = "the phase was reached; there was no time to leave out what follows from other laws"
        assert (report.stopped_because, texts >= everything) == (told, True)
        assert lawful.check(source, list(texts)).holds
        return
    assert report.stopped_because == "the phase was reached"
    assert texts <= everything
    if find == "key,fd":
        assert texts >= {found.text for found in lawful.discover(table(), max_size=1)}
    again = lawful.discover(table(), "key", max_size=1)
    assert [found.text for found in again] == ["key(id)"], "the next run has nothing to do with it"


@pytest.mark.timeout(HANGS)
def test_ranking_that_does_not_look_leaves_laws_as_they_were_found(stuck: Any) -> None:
    everything = {found.text for found in lawful.discover(table())}
    stuck(ranking, "_parts")
    report = lawful.discover(table(), time_limit=5.0)
    assert {found.text for found in report} == everything
    assert report.to_dict()["ranked"] is False
    assert "time limit of 5 s" in report.to_dict()["unranked_because"]


@pytest.mark.timeout(HANGS)
def test_ranking_that_was_left_behind_leaves_out_what_was_not_rated(stuck: Any) -> None:
    stuck(ranking, "_parts")
    report = lawful.discover(table(), time_limit=5.0, min_interest=0.01)
    assert not report.complete
    assert len(report) == 0
    assert report.counts["not_rated"] > 0


@pytest.mark.timeout(HANGS)
def test_reading_counts_too(stuck: Any) -> None:
    stuck(opened, "Opened")
    with pytest.raises(StoppedError, match=r"time limit of 0\.5 s is reached while the table was read: nothing was"):
        lawful.discover(table(), time_limit=0.5)


def test_the_time_of_work_is_its_own_and_errors_come_back() -> None:
    watch = stopping.UserWatch(None, None)
    assert stopping.kept_to(watch, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        stopping.kept_to(watch, lambda: 1 // 0)


@pytest.mark.timeout(HANGS)
def test_a_check_that_does_not_look_is_left_behind_at_ctrl_c(stuck: Any) -> None:
    reached = stuck(local, "check")

    def press() -> None:
        assert reached.wait(HANGS)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    report = lawful.check(table(), ["key(id)", "kind -> half"])
    assert not report.complete
    assert len(report.outcomes) == 0
