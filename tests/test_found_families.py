"""What a result says of each kind of laws: how many were found, and whether these are all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from cli.result_documents import check_document
from discovered_tables import TABLE, slow_table
from opened_runs import open_run

import lawful
from lawful.discovery.findings import KEY, Block, Listing
from lawful.results import DiscoveryReport
from lawful.runs.discover import discover_laws
from lawful.runs.partial_files import PartialFile
from lawful.runs.request import Request
from lawful.runs.run import Where
from lawful.runs.stopping import UserWatch
from lawful.tables.options import ReadOptions

FEW = TABLE.select(["c1", "c4", "half"])


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))


def _said(report: DiscoveryReport) -> dict[str, tuple[int, bool]]:
    document = report.to_dict()
    check_document(document)
    return {name: (family["found"], family["complete"]) for name, family in document["stats"]["families"].items()}


@pytest.mark.parametrize(
    ("find", "families"),
    [
        ("key", ["key"]),
        ("key,fd", ["key", "fd"]),
        ("canonical-od", ["fd", "canonical-od"]),
        ("key,canonical-od", ["key", "fd", "canonical-od"]),
        ("key,fd,canonical-od,list-od,pod,dc", ["key", "fd", "canonical-od", "list-od", "pod", "dc"]),
    ],
)
def test_a_search_that_came_to_its_end_knows_all(find: str, families: list[str]) -> None:
    report = lawful.discover(FEW, find)
    assert _said(report) == {family: (len(report.of_kind(family)), True) for family in families}
    limited = lawful.discover(FEW, find, min_interest=0.9, max_size=2)
    assert all(complete for _, complete in _said(limited).values())


@pytest.mark.parametrize("strategy", ["full", "hybrid"])
def test_what_a_stopped_search_did_not_come_to_is_not_known(strategy: str) -> None:
    report = lawful.discover(slow_table(), "key,fd,list-od,dc", time_limit=0.01, strategy=strategy)
    assert _said(report) == {"key": (0, False), "fd": (3, False), "list-od": (0, False), "dc": (0, False)}


class _EndedByTheFirstFD(PartialFile):
    """Takes laws, and ends the search with the first FD that was searched for."""

    def __init__(self, watch: UserWatch) -> None:
        super().__init__(None)
        self._watch = watch

    def append(self, found: Block | Listing) -> None:
        super().append(found)
        if isinstance(found, Block) and found.goal != KEY and len(found.sets):
            self._watch.end()


def test_keys_that_were_all_found_before_the_end_are_known(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    table = pa.table({f"c{place}": random.integers(0, 3, 300) for place in range(18)})
    everything = lawful.discover(table, "key")
    watch = UserWatch(None, None)
    with _EndedByTheFirstFD(watch) as partial, open_run(table, ReadOptions(), Where("local")) as run:
        report = discover_laws(run, Request(strategy="full"), lambda _: None, partial, watch)
    assert report.stopped_because == "the user stopped it"
    assert not report.complete
    assert report.families["key"].complete
    assert not report.families["fd"].complete
    assert [law.text for law in report.of_kind("key")] == [law.text for law in everything]


def test_fds_that_are_all_known_can_be_reasoned_with() -> None:
    watch = UserWatch(None, None)

    def end_among_lists(words: str) -> None:
        if "candidates of 1 columns" in words:
            watch.end()

    with open_run(FEW, ReadOptions(), Where("local")) as run:
        report = discover_laws(run, Request(find=("fd", "list-od")), end_among_lists, watch=watch)
    assert not report.complete
    assert report.families["fd"].complete
    assert report.closure(["c4"]) == ["c4", "half"]
