"""List-based order dependencies against brute force: every strategy, direction, rule, size and seed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from checks.tables import ArrayTable, ranked, tables
from hypothesis import given
from hypothesis import strategies as st
from list_oracle import ListOracle

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import ListOD
from lawful.discovery.findings import Findings
from lawful.discovery.list_ods import sample as list_sample
from lawful.discovery.list_ods.discover import discover_list_ods
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.local_pipeline import encode_arrow_into_folder
from lawful.tables.options import ReadOptions


def run(table: ArrayTable, question: ListQuestion, watch: Watch | None = None) -> Findings:
    engine = LocalEngine(threads=2)
    engine.open(table, NullPolicy.EQUAL)
    emitted = []
    found = discover_list_ods(Search(table, engine, watch, emit=emitted.append), question)
    assert found.listings == emitted
    return found


def laws(found: Findings) -> list[ListOD]:
    return [law for listing in found.listings for law in listing.laws()]


@contextmanager
def small_samples(rows: int, met: int = 0) -> Iterator[None]:
    """Draw so few rows that even tiny tables are sampled, discovered on the sample and validated."""
    with (
        patch.object(list_sample, "_WHOLE_ROWS", 0),
        patch.object(list_sample, "_FEWEST", rows),
        patch.object(list_sample, "_MET", met),
    ):
        yield


@st.composite
def alike(draw: st.DrawFn, max_rows: int, max_width: int) -> ArrayTable:
    """Tables in which some columns order rows as others do, or the other way round, or from null on."""
    table = draw(tables(max_rows=max_rows, max_width=max_width))
    columns = [table.column(i) for i in range(table.width)]
    for i in draw(st.lists(st.integers(0, table.width - 1), max_size=2)):
        column = columns[i]
        turned = column.max(initial=0) + column.min(initial=9) - column
        shifted = column - column.min(initial=9) + draw(st.sampled_from([0, 1]))
        columns.append(draw(st.sampled_from([column, turned, shifted])).astype(np.int32))
    return ArrayTable(columns)


@st.composite
def few_valued(draw: st.DrawFn, max_rows: int) -> ArrayTable:
    """Tables like flights: flags that are seldom set, and values that are null wherever one is; maybe a constant."""
    rows = draw(st.integers(1, max_rows))
    flags = np.array(draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=rows, max_size=rows)))
    columns = [1 + (flags == 1), 1 + (flags == 2)]
    for nulls in (flags > 0, flags == 1):
        values = np.array(draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows)))
        columns.append(np.where(nulls, 0, values))
    if draw(st.booleans()):
        columns[3] = np.ones(rows, int)
    return ArrayTable([ranked(column.tolist()) for column in columns])


QUESTIONS = st.builds(
    ListQuestion,
    bidirectional=st.booleans(),
    forward_rule=st.sampled_from(["fd", "fd", "od"]),
    with_implied=st.just(True),
    max_size=st.sampled_from([None, None, 0, 1, 2]),
    seed=st.integers(0, 5),
)
SAMPLES = st.sampled_from([1, 2, 4, 100])


@given(st.one_of(alike(max_rows=8, max_width=4), few_valued(max_rows=8)), QUESTIONS, SAMPLES)
def test_exactly_the_minimal_laws_are_found(table: ArrayTable, question: ListQuestion, sample: int) -> None:
    with small_samples(sample, met=sample % 2):
        found = run(table, question)
    assert found.complete
    oracle = ListOracle(
        table.as_rows(),
        table.width,
        bidirectional=question.bidirectional,
        forward_rule=question.forward_rule,
        largest=question.max_size,
    )
    expected = oracle.minimal()
    stated = laws(found)
    assert len(stated) == len(set(stated))
    assert set(stated) == expected
    assert found.counts["minimal"] == len(expected)
    assert found.counts["tree_nodes"] == len(oracle.tree_nodes())


def alike_columns(table: ArrayTable, *, bidirectional: bool) -> dict[int, set[tuple[int, bool]]]:
    """For each column those that order rows as it does, each with whether it does so turned around."""
    oracle = ListOracle(table.as_rows(), table.width, largest=0)
    found: dict[int, set[tuple[int, bool]]] = {a: set() for a in range(table.width)}
    for a in range(table.width):
        for b in range(table.width):
            for direction in ("asc", "desc") if bidirectional else ("asc",):
                one, other = ((a, "asc"),), ((b, direction),)
                if oracle.orders(one, other) and oracle.orders(other, one):
                    found[a].add((b, direction == "desc"))
    return found


def exchanges(law: ListOD, alike: dict[int, set[tuple[int, bool]]]) -> set[ListOD]:
    """The law with columns exchanged for ones that order rows alike."""
    found = set()
    for left in product(*(alike[column] for column, _ in law.lhs)):
        for right in product(*(alike[column] for column, _ in law.rhs)):
            if not {column for column, _ in left} & {column for column, _ in right}:
                turn = right[0][1] ^ (law.rhs[0][1] == "desc")
                found.add(
                    ListOD(
                        tuple(marked(mark, old, turn) for mark, old in zip(left, law.lhs, strict=True)),
                        tuple(marked(mark, old, turn) for mark, old in zip(right, law.rhs, strict=True)),
                    )
                )
    return found


def marked(member: tuple[int, bool], old: tuple[int, str], turn: bool) -> tuple[int, str]:
    column, turned = member
    return column, "desc" if turned ^ turn ^ (old[1] == "desc") else "asc"


@given(alike(max_rows=6, max_width=3), st.booleans())
def test_columns_that_order_alike_are_stated_once(table: ArrayTable, bidirectional: bool) -> None:
    """What is stated leads to exactly the minimal laws, and nothing is stated that another statement leads to."""
    stated = laws(run(table, ListQuestion(bidirectional=bidirectional)))
    minimal = ListOracle(table.as_rows(), table.width, bidirectional=bidirectional).minimal()
    constants = {law.rhs[0][0] for law in stated if not law.lhs}
    assert constants == {i for i in range(table.width) if len({row[i] for row in table.as_rows()}) <= 1}
    without_constants = {law for law in minimal if law.rhs[0][0] not in constants}
    alike = alike_columns(table, bidirectional=bidirectional)
    reached = [exchanges(law, alike) for law in stated if law.lhs]
    assert set().union(*reached) == without_constants
    searched = [exchanges(law, alike) for law in stated if law.lhs and not is_equivalence(law, alike)]
    assert sum(map(len, searched)) == len(set().union(*searched))


def is_equivalence(law: ListOD, alike: dict[int, set[tuple[int, bool]]]) -> bool:
    return len(law.lhs) == len(law.rhs) == 1 and law.rhs[0][0] in {column for column, _ in alike[law.lhs[0][0]]}


@given(
    st.one_of(alike(max_rows=7, max_width=4), few_valued(max_rows=20)),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, None, 1, 2]),
)
def test_canonical_laws_lead_to_the_same_lists(
    table: ArrayTable, bidirectional: bool, with_implied: bool, largest: int | None
) -> None:
    by_both = [
        run(
            table,
            ListQuestion(bidirectional=bidirectional, with_implied=with_implied, max_size=largest, strategy=strategy),
        )
        for strategy in ("findod", "canonical")
    ]
    assert by_both[0].complete
    assert by_both[1].complete
    assert set(laws(by_both[0])) == set(laws(by_both[1]))
    assert by_both[0].counts["minimal"] == by_both[1].counts["minimal"]


ALMOST = st.builds(
    ListQuestion,
    bidirectional=st.booleans(),
    forward_rule=st.sampled_from(["fd", "fd", "od"]),
    with_implied=st.just(True),
    max_size=st.sampled_from([None, None, 1, 2]),
    error=st.sampled_from([0.05, 0.1, 0.2, 0.34, 0.5, 0.8]),
    measure=st.sampled_from(["g1", "g3"]),
)


@given(alike(max_rows=7, max_width=3), ALMOST)
def test_laws_within_an_error_are_found_with_it(table: ArrayTable, question: ListQuestion) -> None:
    found = run(table, question)
    assert found.complete
    errors: dict[ListOD, float] = {}
    for listing in found.listings:
        assert listing.errors is not None
        errors |= dict(zip(listing.laws(), listing.errors.tolist(), strict=True))
    oracle = ListOracle(
        table.as_rows(),
        table.width,
        bidirectional=question.bidirectional,
        forward_rule=question.forward_rule,
        largest=question.max_size,
        allowed=question.error,
        measure=question.measure,
    )
    assert errors == pytest.approx({law: oracle.error(law) for law in oracle.minimal()})
    assert found.counts["tree_nodes"] == len(oracle.tree_nodes())


def sorted_rows(rows: int, seed: int) -> ArrayTable:
    """A table with laws that only few rows break: rising columns with ties, steps, and a few rows out of place."""
    chance = np.random.default_rng(seed)
    time = np.sort(chance.integers(1, rows, rows))
    day = time // 9 + 1
    noise = time + 3 * (chance.random(rows) < 0.002)
    group = chance.integers(1, 4, rows)
    columns = [time, day, noise, group, group * 10 + day % 7, rows - day, chance.integers(1, 50, rows)]
    return ArrayTable([ranked(column.tolist()) for column in columns])


@given(st.integers(0, 3), st.integers(0, 100), st.booleans(), st.sampled_from([3, 30, 300]))
def test_no_seed_and_no_sample_changes_the_laws(data_seed: int, seed: int, bidirectional: bool, sample: int) -> None:
    table = sorted_rows(700, data_seed)
    whole = run(table, ListQuestion(bidirectional=bidirectional))
    with small_samples(sample, met=sample // 30):
        sampled = run(table, ListQuestion(bidirectional=bidirectional, seed=seed))
    assert set(laws(sampled)) == set(laws(whole))
    assert sampled.counts["tree_nodes"] == whole.counts["tree_nodes"]
    assert sampled.counts["checks"] > 0
    assert sampled.counts["sample_rows"] < table.rows


def test_uncompiled_kernels_find_the_same() -> None:
    script = Path(__file__).with_name("uncompiled_lists.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    run = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_what_was_ruled_out_by_something_wrong_comes_back() -> None:
    """On the first rows a determines b, so no list has b after a; on all rows [c] orders [a, b]."""
    a = np.repeat(np.arange(1, 31), 20)
    b = np.ones(600, int)
    b[-1] = 2
    table = ArrayTable([ranked(column.tolist()) for column in (a, b, np.arange(1, 601))])
    with small_samples(3):
        found = run(table, ListQuestion(seed=2))
    assert found.counts["refuted"] > 0
    assert ListOD(((2, "asc"),), ((0, "asc"), (1, "asc"))) in laws(found)


@pytest.mark.parametrize(
    "question",
    [
        ListQuestion(),
        pytest.param(ListQuestion(bidirectional=False), marks=pytest.mark.slow),
        pytest.param(ListQuestion(error=0.01, measure="g3", max_size=2), marks=pytest.mark.slow),
    ],
)
def test_spark_finds_what_this_process_finds(
    question: ListQuestion, spark: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lawful.engines.spark import SparkEngine

    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    rows = sorted_rows(500, 1)
    names = {f"c{i}": rows.column(i) for i in range(rows.width)}
    table = encode_arrow_into_folder(pa.table(names), ReadOptions())
    found = []
    for engine in (SparkEngine(spark), LocalEngine()):
        engine.open(table, NullPolicy.EQUAL)
        with small_samples(100, met=10):
            found.append(discover_list_ods(Search(table, engine), question))
        engine.close()
    assert found[0].complete
    assert set(laws(found[0])) == set(laws(found[1]))
    assert found[0].counts["minimal"] == found[1].counts["minimal"] > 0


@pytest.mark.parametrize("sample", [30, None])
def test_a_limit_keeps_what_is_certain_and_all_that_is_short(sample: int | None) -> None:
    """Stopped at any moment, what is stated is minimal on the whole table, and the short ones are all there."""
    table = sorted_rows(400, 2)
    question = ListQuestion(with_implied=True)
    minimal = set(laws(run(table, question)))
    counts, reached = set(), set()
    for looks in (0, 1, 10, 20, 30, 40, 50, 60, 80, 100, 150, 250, 400, 1_000):
        with small_samples(sample) if sample else nullcontext():
            found = run(table, question, StopAfter(looks))
        stated = set(laws(found))
        assert stated <= minimal
        assert found.complete or found.stopped_because == "looked often enough"
        assert not found.complete or stated == minimal
        columns = found.counts.get("lists_complete_to", 99 if found.complete else 0)
        assert {law for law in minimal if len(law.lhs) + len(law.rhs) <= columns} <= stated
        counts.add(len(stated))
        reached.add(columns)
    assert {0, len(minimal)} <= counts
    assert len(counts) > 2  # some moments left something to be certain of, and something open
    assert len(reached) > 3


@given(alike(max_rows=8, max_width=4), st.booleans(), st.integers(0, 3), st.sampled_from([0.0, 0.2]))
def test_the_largest_size_only_leaves_out(table: ArrayTable, bidirectional: bool, largest: int, error: float) -> None:
    full, some = (
        set(laws(run(table, ListQuestion(bidirectional=bidirectional, error=error, max_size=size, with_implied=True))))
        for size in (None, largest)
    )
    assert some == {law for law in full if len(law.lhs) <= largest and len(law.rhs) <= largest}


class StopAfter(Watch):
    """Ends a discovery after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks

    def look(self) -> None:
        self._looks -= 1
        super().look()

    def reason(self) -> str | None:
        return "looked often enough" if self._looks < 0 else None


def test_a_stopped_search_within_an_error_keeps_what_is_certain() -> None:
    table = sorted_rows(300, 2)
    question = ListQuestion(with_implied=True, error=0.001, max_size=2)
    minimal = set(laws(run(table, question)))
    stated = [set(laws(run(table, question, StopAfter(looks)))) for looks in (0, 10, 200, 400, 800)]
    assert all(some <= minimal for some in stated)
    assert not stated[0]
    assert any(stated)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"null_policy": NullPolicy.IGNORE}, "ORDER BY"),
        ({"forward_rule": "bd"}, "forward rule"),
        ({"error": 1.0}, "error"),
        ({"measure": "g2"}, "measure"),
        ({"max_size": -1}, "size"),
        ({"strategy": "full"}, "strategy"),
        ({"strategy": "canonical", "error": 0.1}, "canonical"),
    ],
)
def test_a_wrong_question_is_refused(options: dict[str, object], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        ListQuestion(**options)
