"""What a result says of interest and limits, the same for every family, strategy and seed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cli.result_documents import check_document
from discovered_tables import TABLE
from hypothesis import given
from hypothesis import strategies as st
from opened_runs import open_run

import lawful
from lawful.common.errors import UsageError
from lawful.dependencies import CanonicalOD, NamedLaw
from lawful.results import DiscoveryReport
from lawful.results.canonical_pairs import PackedPairs
from lawful.results.law_listings import RankedLaws
from lawful.runs.discover import discover_laws
from lawful.runs.partial_files import PartialFile
from lawful.runs.request import Request
from lawful.runs.run import Where
from lawful.search import pack_sets
from lawful.tables.options import ReadOptions

STRATEGIES = ("evidence", "lattice")
FEW = TABLE.select(["c1", "c3", "c4", "c6", "half"])
"""More rows than all pairs are taken of."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))


def _texts(report: DiscoveryReport) -> list[str]:
    return [found.text for found in report]


def _left_side(law: NamedLaw) -> list[str]:
    return law.to_dict()["lhs" if law.kind == "fd" else "context"]


@pytest.mark.parametrize("find", ["canonical-od", "fd,canonical-od", "key,canonical-od", "key,fd,canonical-od"])
@pytest.mark.parametrize("table", [pa.table({"a": [1, 2, 3], "b": [5, 5, 5]}), FEW], ids=["no pairs", "pairs"])
def test_every_law_is_stated_once(find: str, table: pa.Table, tmp_path: Path) -> None:
    with (
        PartialFile(tmp_path / "laws.json") as partial,
        open_run(table, ReadOptions(), Where("local")) as run,
    ):
        report = discover_laws(run, Request(find=tuple(find.split(","))), lambda _: None, partial)
        written = [json.loads(line) for line in (tmp_path / "laws.json.partial").read_text().splitlines()]
    assert sorted(written) == sorted(_texts(report))
    assert len(set(written)) == len(written)
    assert {found.text for found in report.fds()} == set(_texts(lawful.discover(table, "fd")))


SMALL = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=8)


@given(SMALL, st.integers(0, 9))
def test_a_small_table_has_exact_interests_and_a_threshold_keeps_what_reaches_it(
    rows: list[tuple[int, ...]], place: int
) -> None:
    table = pa.table({name: list(values) for name, values in zip("abcd", zip(*rows, strict=True), strict=True)})
    everything = list(lawful.discover(table, "canonical-od"))
    for found in everything:
        classes = Counter(tuple(row["abcd".index(name)] for name in _left_side(found.law)) for row in rows)
        assert found.interest == pytest.approx(sum(size**2 for size in classes.values()) / len(rows) ** 2)
    least = everything[place % len(everything)].interest
    expected = [found for found in everything if found.interest >= least]
    for strategy in STRATEGIES:
        assert list(lawful.discover(table, "canonical-od", min_interest=least, strategy=strategy)) == expected
    fds = [found for found in expected if found.law.kind == "fd"]
    assert list(lawful.discover(table, "fd", min_interest=least)) == fds
    assert list(lawful.discover(table, "fd,canonical-od", min_interest=least)) == expected


@pytest.mark.parametrize("find", ["key,fd", "canonical-od", "list-od", "pod", "dc"])
def test_no_seed_changes_what_a_threshold_keeps(find: str) -> None:
    few = FEW.select(["c1", "c4", "half"]) if find in ("pod", "dc") else FEW
    everything = lawful.discover(few, find, max_size=3)
    least = float(np.median([found.interest for found in everything]))
    expected = [found for found in everything if found.interest >= least]
    for seed in (0, 7, 8):
        assert list(lawful.discover(few, find, max_size=3, min_interest=least, seed=seed)) == expected


# The order


def test_both_strategies_give_the_same_laws_in_the_same_order() -> None:
    reports = [lawful.discover(FEW, "canonical-od", strategy=strategy) for strategy in STRATEGIES]
    assert list(reports[0]) == list(reports[1])
    assert [report.settings["canonical_od"] for report in reports] == [{"strategy": name} for name in STRATEGIES]
    assert lawful.discover(FEW, "canonical-od").settings["canonical_od"] == {"strategy": "evidence"}


PAIRS = st.lists(
    st.builds(
        lambda context, pair, direction: CanonicalOD(context, *pair, direction),
        st.sets(st.integers(2, 79), max_size=3),
        st.sampled_from([(0, 1), (0, 80), (1, 80), (80, 81)]),
        st.sampled_from(["asc", "desc"]),
    ),
    unique=True,
)


@given(PAIRS, st.randoms())
def test_pairs_are_ranked_alike_however_they_arrive(laws: list[CanonicalOD], random: Any) -> None:
    interests = {law: random.choice([0.5, 0.25]) for law in laws}

    def ranked(arriving: list[CanonicalOD]) -> list[CanonicalOD]:
        packed = PackedPairs(
            pack_sets([law.context for law in arriving], 82),
            np.array([law.left for law in arriving], np.int32),
            np.array([law.right for law in arriving], np.int32),
            np.array([law.direction == "desc" for law in arriving], np.bool_),
            np.array([interests[law] for law in arriving]),
        )
        return [law for law, *_ in RankedLaws.of("canonical-od", [packed])]

    expected = sorted(
        laws,
        key=lambda law: (
            -interests[law],
            len(law.context),
            sorted(law.context, reverse=True),
            law.left,
            law.right,
            law.direction,
        ),
    )
    assert ranked(laws) == ranked(random.sample(laws, len(laws))) == expected


# What is said of limits


@pytest.mark.parametrize("find", ["key,fd", "canonical-od", "list-od", "pod", "dc", "fd,canonical-od"])
def test_limits_are_said_in_every_result(find: str) -> None:
    everything = lawful.discover(FEW, find, columns=["c1", "c4", "half"])
    assert "limited_to" not in everything.to_dict()
    assert "incomplete" not in everything._repr_html_()
    for limits in ({"max_size": 1}, {"min_interest": 0.3}, {"max_size": 1, "min_interest": 0.3}):
        report = lawful.discover(FEW, find, columns=["c1", "c4", "half"], **limits)
        document = report.to_dict()
        check_document(document)
        assert (document["complete"], document["limited_to"]) == (True, limits)
        said = report.limits_in_words()
        assert said is not None
        assert said in report._repr_html_()
        assert ("of size at most 1" in said) == ("max_size" in limits)
        assert ("an interest of at least 0.3" in said) == ("min_interest" in limits)
        assert said.endswith(": beyond that the list is incomplete")


def test_what_was_not_looked_for_is_not_counted_as_left_out() -> None:
    searched = lawful.discover(FEW, "canonical-od", min_interest=0.3)
    assert "left_out" not in searched.counts
    assert "were looked for" in str(searched.limits_in_words())
    filtered = lawful.discover(FEW, "fd", min_interest=0.3)
    assert filtered.counts["left_out"] == len(lawful.discover(FEW, "fd")) - len(filtered)
    assert "are listed" in str(filtered.limits_in_words())


def test_the_fds_of_canonical_order_dependencies_are_all_fds() -> None:
    by_fds, by_pairs = lawful.discover(FEW, "fd"), lawful.discover(FEW, "canonical-od")
    assert by_pairs.closure(["c6"]) == by_fds.closure(["c6"])
    assert by_pairs.candidate_keys() == by_fds.candidate_keys()
    assert by_pairs.canonical_cover() == by_fds.canonical_cover()
    with pytest.raises(UsageError, match="were left out"):
        lawful.discover(FEW, "canonical-od", min_interest=0.3).closure(["c6"])
