"""Whoever makes a state is told in time which kind of laws is dear to keep."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

import lawful
from lawful.common.errors import StoppedError
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.probing import Cost, Estimate, probe
from lawful.maintenance.settings import StateSettings
from lawful.runs import state_costs
from lawful.runs.state_costs import StateCosts, is_cheap
from lawful.tables.living.living_table import LivingTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions


def test_a_slow_family_is_noted_while_it_is_searched_and_when_it_is_found() -> None:
    said: list[str] = []
    told = threading.Event()

    def note(line: str) -> None:
        said.append(line)
        told.set()

    costs = StateCosts(note, 0.01)
    costs.begin("dc")
    assert told.wait(300)
    assert said[0].startswith("dc: not found after 0.01 s")
    assert "--max-size" in said[0]
    time.sleep(0.02)
    costs.begin("pod")
    assert said[1].startswith("dc: found in 0 s")
    costs.stop()
    costs.end()
    assert all(line.startswith("dc") for line in said[:2])


def test_quick_families_are_not_noted() -> None:
    said: list[str] = []
    costs = StateCosts(said.append, 1000.0)
    costs.begin("key")
    costs.begin("fd")
    costs.end()
    assert said == []


def test_making_a_state_says_what_is_dear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_costs, "SLOW", 0.0)
    monkeypatch.setattr(StateCosts.__init__, "__defaults__", (0.0,))
    said: list[str] = []
    table = pa.table({"a": [1, 2, 3], "b": [1, 1, 2]})
    every = "key,fd,canonical-od,list-od,pod,dc"
    with lawful.make_state(tmp_path / "state", table, find=every, engine="local", notes=said.append):
        pass
    assert {line.split(":")[0] for line in said} == {"fd", "canonical-od", "pod", "dc"}


def estimates(table: pa.Table, find: str, seconds: float, cheap: bool, users: Watch | None = None) -> list[Estimate]:
    living = LivingTable.of(encode_arrow(table, ReadOptions(), "t"))
    settings = StateSettings(tuple(find.split(",")), way="witnesses")
    return list(probe(living, settings, LocalEngine, seconds, lambda cost: cheap, users or Watch()))


def test_samples_tell_what_all_rows_will_take() -> None:
    chance = random.Random(1)
    table = pa.table({name: [chance.randrange(40) for _ in range(1100)] for name in "abcd"})
    fds, orders = estimates(table, "key,fd,canonical-od", 1000.0, cheap=False)
    assert (fds.kind, orders.kind) == ("key and fd", "canonical-od")
    for each in (fds, orders):
        assert each.rows == 1000
        assert not each.is_stopped
        assert each.cost.bytes > 0
    assert estimates(table, "key,fd,canonical-od", 1000.0, cheap=True) == []
    assert estimates(table.slice(0, 200), "fd", 1000.0, cheap=False) == []


def test_what_takes_too_long_on_a_sample_is_stopped() -> None:
    chance = random.Random(1)
    table = pa.table({f"c{n}": [chance.randrange(3) for _ in range(300)] for n in range(30)})
    (stopped,) = estimates(table, "canonical-od", 0.001, cheap=True)
    assert stopped.is_stopped
    assert stopped.cost.find > 0


def test_the_limit_of_the_user_ends_what_is_tried_on_samples() -> None:
    class Told(Watch):
        """Is told to stop after a few looks, in the middle of a sample."""

        looks = 0

        def reason(self) -> str | None:
            self.looks += 1
            return "the user stopped it" if self.looks > 5 else None

    chance = random.Random(1)
    table = pa.table({f"c{n}": [chance.randrange(3) for _ in range(300)] for n in range(12)})
    with pytest.raises(StoppedError, match="the user stopped it"):
        estimates(table, "canonical-od,dc", 1000.0, cheap=True, users=Told())


def test_estimates_are_said_with_what_to_do() -> None:
    said: list[str] = []
    costs = StateCosts(said.append)
    costs.foresee(
        [
            Estimate("fd", 1000, Cost(300.0, 1.0, 5e6), False),
            Estimate("list-od", 4000, Cost(3.0, 9.0, 5e6), False),
            Estimate("canonical-od", 250, Cost(1e6, 0.0, 0.0), True),
        ]
    )
    assert said[0].startswith(
        "fd: about 5 minutes to find, 1.0 s for a batch of 20 changes and 5 MB to keep, by samples"
    )
    assert "lawful discover after each batch" in said[1]
    assert said[2].startswith("canonical-od: at least 12 days to find, since 250 rows alone took too long")
    assert all("--max-size" in line and "--columns" in line and "--only-pinned" in line for line in said)
    assert is_cheap(Cost(1.0, 0.4, 1e6))
    assert not is_cheap(Cost(1.0, 1.4, 1e6))
