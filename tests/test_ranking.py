"""Ranking: the order that people want, with little memory, and within the time and memory that there are."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from allocations import allocations
from checks.tables import ArrayTable, ranked
from discovered_tables import TABLE
from hypothesis import given
from hypothesis import strategies as st
from opened_runs import open_run

import lawful
from lawful.common.compiling import working_seconds
from lawful.common.meanings import NullPolicy
from lawful.common.memory import resident_bytes
from lawful.discovery.findings import KEY, Block, Findings, ListedLaws
from lawful.results import DiscoveryReport
from lawful.results.kernels.order import places_by_grade
from lawful.results.law_listings import RankedLaws
from lawful.results.packed_laws import AT_ONCE, NO_RIGHT_SIDE, PackedLaws, PackedPart
from lawful.runs import ranking as ranking_module
from lawful.runs.discover import discover_laws
from lawful.runs.ranking import Ranker
from lawful.runs.request import Request
from lawful.runs.run import Where
from lawful.runs.stopping import RankingWatch, UserWatch
from lawful.search import pack_sets, set_sizes
from lawful.tables.options import ReadOptions

WIDTH = 70
ROWS = ArrayTable([ranked(np.random.default_rng(place).integers(0, 3, 20).tolist()) for place in range(WIDTH)])


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))


def _watch(time_limit: float | None = None, spent: float = 0.0) -> RankingWatch:
    return RankingWatch(UserWatch(None, None), time_limit, spent)


def _ranker(watch: RankingWatch | None = None, **asked: Any) -> Ranker:
    return Ranker(ROWS, NullPolicy.EQUAL, Request(**asked), watch or _watch())


def _many(count: int, goal: int = 3) -> Block:
    random = np.random.default_rng(count)
    sets = random.integers(0, 2**64, (count, 2), dtype=np.uint64)
    sets &= random.integers(0, 2**64, (count, 2), dtype=np.uint64)
    sets &= random.integers(0, 2**64, (count, 2), dtype=np.uint64)
    sets[:, 1] &= np.uint64((1 << WIDTH - 64) - 1)
    return Block(goal, sets)


LAWS = st.lists(st.tuples(st.sets(st.integers(0, WIDTH - 1), max_size=4), st.integers(-1, 2), st.integers(0, 2)))


@given(LAWS, st.booleans(), st.sampled_from([0.0, 0.2]))
def test_laws_are_ranked_by_strength_then_interest_then_size_then_error_then_columns(
    laws: list[tuple[set[int], int, int]], has_errors: bool, least: float
) -> None:
    # Blocks of one law each come in any order, as a search may hand them out.
    blocks = [
        Block(KEY if goal < 0 else goal, pack_sets([columns], WIDTH), np.array([error / 10]) if has_errors else None)
        for columns, goal, error in laws
    ]
    ranker = _ranker(min_interest=least)
    found = ranker.ranking(Findings(blocks))
    rows = [row for packed in found.packed for row in packed.rows()]
    places = [
        (
            row.right_side != NO_RIGHT_SIDE,
            row.strength == 0.0,
            -row.interest,
            len(row.columns),
            row.error or 0.0,
            row.right_side,
            sorted(row.columns, reverse=True),
        )
        for row in rows
    ]
    assert places == sorted(places)
    assert found.unranked_because is None
    expected = [(tuple(sorted(columns)), goal, error / 10 if has_errors else None) for columns, goal, error in laws]
    assert len(rows) + ranker.left_out == len(expected)
    assert all(interest >= least for _, _, interest, *_ in rows)
    if least == 0.0:
        assert sorted((columns, goal, str(error)) for columns, goal, _, error, *_ in rows) == sorted(
            (columns, goal, str(error)) for columns, goal, error in expected
        )


def test_many_laws_are_ranked_where_they_stand() -> None:
    block = _many(ranking_module._FEW + 5_000)
    found = _ranker().ranking(Findings([_many(2_000, 1), block, _many(300, KEY)]))
    assert found.fds.parts[-1].sets is block.sets
    assert (len(found.keys), len(found.fds)) == (300, len(block.sets) + 2_000)
    before = (0.0, -1.0, 0)
    for chunk in found.fds.chunks():
        assert chunk.fared is not None
        is_untested = chunk.fared.strengths == 0.0
        places = np.stack((is_untested, -chunk.interests, set_sizes(chunk.sets)), axis=1)
        in_order = np.lexsort(places.T[::-1])
        assert (places[in_order] == places).all()
        assert before <= tuple(places[0])
        before = tuple(places[-1])


def test_ranking_takes_few_bytes_beside_the_laws() -> None:
    found = Findings([_many(2_000_000)])
    ranker = _ranker()
    ranker.ranking(Findings([_many(AT_ONCE * 2)]))  # what is compiled and loaded is no part of it
    with allocations() as taken:
        laws = ranker.ranking(found)
    assert len(laws) == 2_000_000
    assert 2_000_000 * 4 <= taken.kept < 2_000_000 * 4 + (1 << 20)  # for its place
    # As many for its grade while ranking lasts, and what is worked out for one chunk at a time.
    assert taken.peak < 2_000_000 * 8 + (32 << 20)


@given(st.lists(st.integers(0, 9)))
def test_places_by_grade_are_those_of_a_stable_sort(grades: list[int]) -> None:
    packed = np.array(grades, np.uint32)
    assert places_by_grade(packed, 9).tolist() == np.argsort(packed, kind="stable").tolist()


# Limits


def test_what_cannot_be_ranked_in_time_stays_as_it_was_found() -> None:
    block = _many(AT_ONCE * 8)
    watch = _watch(time_limit=5.0, spent=5.0)
    watch._ends = working_seconds() - 1
    found = _ranker(watch, time_limit=5.0).ranking(Findings([block]))
    assert found.unranked_because == "the time limit of 5 s is reached"
    assert (found.fds.order, len(found)) == (None, len(block.sets))
    few = _ranker(watch, time_limit=5.0).ranking(Findings([_many(500)]))
    assert few.unranked_because is None  # ranking so few takes no time


def test_a_ranking_that_would_not_end_in_time_is_not_begun() -> None:
    ranker = _ranker(_watch(time_limit=1.0, spent=1.0), time_limit=1.0)
    began = time.monotonic()
    found = ranker.ranking(Findings([_many(1 << 20)] * 24))
    assert found.unranked_because == "the time limit of 1 s leaves no time to rank so many"
    assert time.monotonic() - began < 60  # all would take minutes where kernels are not compiled yet


def test_the_user_ends_a_ranking() -> None:
    watch = _watch()
    watch.end()
    found = _ranker(watch).ranking(Findings([_many(AT_ONCE * 2)]))
    assert found.unranked_because == "the user stopped it"


@pytest.mark.parametrize(
    ("limit", "spent", "least", "most"), [(20, 20, 1.9, 2.1), (20, 5, 14.9, 15.1), (1, 1, 0.9, 1.1)]
)
def test_ranking_has_the_rest_of_the_time_or_a_little_more(
    limit: float, spent: float, least: float, most: float
) -> None:
    watch = _watch(limit, spent)
    assert watch.reason() is None
    assert watch.reason_soon(least) is None
    assert watch.reason_soon(most) == f"the time limit of {limit} s leaves no time to rank so many"
    told = UserWatch(None, None)
    told.end()
    assert RankingWatch(told, None, 30.0).reason_soon(3.1) == "the user stopped it"
    assert _watch(None, 1e9).reason_soon(1e9) is None


def test_ranking_does_not_begin_where_it_would_take_more_than_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking_module, "_SPARE", 0)
    limit = 100 << 20
    assert resident_bytes() > limit
    listed = ListedLaws("list-od", (), np.zeros(0))
    found = _ranker(memory_limit=limit, find=("fd", "list-od")).ranking(Findings([_many(100)], [listed]))
    assert found.unranked_because == "ranking would take more than the memory limit of 100 MB"
    assert len(found) == 100
    monkeypatch.undo()
    assert _ranker(memory_limit=limit).ranking(Findings([_many(100)])).unranked_because is None


def test_a_least_interest_leaves_out_what_could_not_be_rated() -> None:
    watch = _watch()
    watch.end()
    block = _many(AT_ONCE * 3)
    ranker = _ranker(watch, min_interest=0.1)
    found = ranker.ranking(Findings([block]))
    assert ranker.not_rated == AT_ONCE * 2
    assert len(found) + ranker.left_out + ranker.not_rated == len(block.sets)
    assert all(interest >= 0.1 for _, _, interest, *_ in found.fds.rows())


def test_listings_that_cannot_be_ranked_are_as_they_were_found() -> None:
    listings = [
        ListedLaws("list-od", tuple(range(start, start + 3)), np.array([0.1, 0.3, 0.2]))  # type: ignore[arg-type]  # any rows do
        for start in (0, 10)
    ]
    assert [law for law, *_ in RankedLaws.as_found("list-od", listings)] == [0, 1, 2, 10, 11, 12]
    assert [law for law, *_ in RankedLaws.of("list-od", listings)] == [1, 11, 2, 12, 0, 10]


def test_parts_are_gathered_wherever_they_are() -> None:
    parts = tuple(PackedPart(goal, _many(10 + goal, goal).sets) for goal in range(4))
    laws = PackedLaws(parts, lambda sets: np.ones(len(sets)))
    everything = list(laws.rows())
    places = np.random.default_rng(1).permutation(len(laws))
    assert list(PackedLaws(parts, laws.rate, places).rows()) == [everything[place] for place in places]


# From a request to the report


def _discover(source: pa.Table, request: Request, progress: Any = lambda _: None) -> DiscoveryReport:
    with open_run(source, ReadOptions(), Where("local")) as run:
        return discover_laws(run, request, progress)


def test_ctrl_c_while_ranking_keeps_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = lawful.discover(TABLE)
    monkeypatch.setattr("lawful.results.packed_laws.AT_ONCE", 8)  # so that ranking takes more than one step
    before = signal.getsignal(signal.SIGINT)

    def interrupt_when_ranking(words: str) -> None:
        if words == "ranking what was found":
            signal.raise_signal(signal.SIGINT)

    report = _discover(TABLE, Request(), interrupt_when_ranking)
    assert signal.getsignal(signal.SIGINT) is before
    assert (report.complete, report.ranked) == (False, False)
    assert report.stopped_because == report.laws.unranked_because == "the user stopped it"
    assert sorted(law.text for law in report) == sorted(law.text for law in everything)
    document = report.to_dict()
    assert (document["ranked"], document["unranked_because"]) == (False, "the user stopped it")
    assert all(family["complete"] for family in document["stats"]["families"].values())
    assert "not ranked: the user stopped it" in report._repr_html_()
    assert lawful.check(TABLE, report).holds
    least = _discover(TABLE, Request(min_interest=0.01), interrupt_when_ranking)
    assert (least.complete, least.counts["not_rated"] > 0) == (False, True)
    assert not least.families["fd"].complete
