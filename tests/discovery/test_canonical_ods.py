"""Canonical order dependencies by evidence against brute force: all pairs or some, every policy and size."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pytest
from canonical_oracle import minimal_canonical_laws
from checks.tables import POLICIES, ArrayTable, large_table, ranked, tables, with_twins
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask, Verdict
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.common.memory import resident_bytes
from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery import search as discovery_search
from lawful.discovery.canonical_ods.discover import discover_canonical_ods
from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.evidence import some_rows
from lawful.search import pack_sets


def run(
    table: ArrayTable, question: CanonicalQuestion, all_pairs: bool | None = None, samples: bool = True
) -> Findings:
    engine = LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    emitted = []
    search = Search(table, engine, emit=emitted.append)
    found = discover_by_evidence(search, question, all_pairs=all_pairs, samples=samples)
    stated = [*found.blocks, *found.listings]
    assert sorted(map(id, emitted)) == sorted(map(id, stated))
    assert found.complete
    return found


def laws(found: Findings) -> list[Law]:
    return [law for part in (*found.blocks, *found.listings) for law in part.laws()]


SIZES = st.sampled_from([None, 0, 1, 2])
COMPARED = st.sampled_from(["all", "some", "few", "none"])
"""Which pairs of rows are compared before anything is checked; `few` are those of some rows only."""


@given(st.data(), POLICIES, COMPARED, SIZES, st.integers(0, 3))
def test_exactly_the_minimal_laws_are_found(
    data: st.DataObject, policy: NullPolicy, compared: str, largest: int | None, seed: int
) -> None:
    table = with_twins(data.draw(tables(max_rows=8, max_width=4)), data.draw)
    question = CanonicalQuestion(policy, largest, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        if compared == "few":
            patch.setattr(discovery_search, "some_rows", partial(some_rows, most=3))
        found = laws(run(table, question, compared == "all", compared != "none"))
    assert len(found) == len(set(found))
    assert set(found) == minimal_canonical_laws(table.as_rows(), table.width, policy, largest=largest)


def shuffled_ranks(seed: int, rows: int, width: int, values: int) -> ArrayTable:
    chance = np.random.default_rng(seed)
    return ArrayTable([ranked(chance.integers(0, values, rows).tolist()) for _ in range(width)])


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize(("rows", "width", "largest"), [(40, 8, None), (10, 20, 2), (9, 33, 1)])
def test_all_pairs_and_some_give_the_same(policy: NullPolicy, rows: int, width: int, largest: int | None) -> None:
    """With few columns by bitmaps, with more by a search, with the most by a search alone."""
    table = shuffled_ranks(rows, rows, width, 3)
    question = CanonicalQuestion(policy, largest)
    every, some = (run(table, question, all_pairs) for all_pairs in (True, False))
    assert every.counts["full_evidence"] > some.counts["full_evidence"]
    assert set(laws(every)) == set(laws(some))
    assert len(laws(every)) > 100


@pytest.mark.parametrize("policy", NullPolicy)
def test_a_sample_of_a_large_table_gives_what_all_pairs_give(policy: NullPolicy) -> None:
    table = large_table(seed=7, rows=700)
    every, some = (laws(run(table, CanonicalQuestion(policy), all_pairs)) for all_pairs in (True, False))
    assert set(every) == set(some)
    assert any(isinstance(law, CanonicalOD) for law in every)


class LateEngine(LocalEngine):
    """Holds verdicts back, and gives them in any order."""

    def __init__(self, seed: int) -> None:
        super().__init__(threads=1)
        self._chance = random.Random(seed)

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        verdicts = list(super().check(tasks))
        self._chance.shuffle(verdicts)
        for verdict in verdicts:
            if self._chance.random() < 0.02:
                time.sleep(0.005)
            yield verdict


@pytest.mark.parametrize("seed", range(3))
def test_late_verdicts_in_any_order_change_nothing(seed: int) -> None:
    """Without a sample much is refuted, while other checks are out."""
    table = shuffled_ranks(seed, 400, 7, 6)
    question = CanonicalQuestion(seed=seed)
    engine = LateEngine(seed)
    engine.open(table, question.null_policy)
    found = discover_by_evidence(Search(table, engine), question, all_pairs=False, samples=False)
    assert found.counts["refuted"] > 100
    assert found.counts["rounds"] > 3
    stated = laws(found)
    assert len(stated) == len(set(stated))
    assert set(stated) == set(laws(run(table, question, all_pairs=True)))


def test_columns_of_more_than_one_word_agree_with_brute_force() -> None:
    chance = np.random.default_rng(5)
    few = {place: ranked(chance.integers(1, 4, 9).tolist()) for place in (0, 40, 66, 67, 90)}
    constant = np.ones(9, np.int32)
    table = ArrayTable([few.get(place, constant) for place in range(91)])
    narrow = sorted(few)
    expected = minimal_canonical_laws(
        ArrayTable([few[place] for place in narrow]).as_rows(), len(narrow), NullPolicy.EQUAL
    )
    found = {law for law in laws(run(table, CanonicalQuestion())) if not (isinstance(law, FD) and law.lhs == ())}
    assert found == {renamed(law, narrow) for law in expected}


def renamed(law: Law, columns: list[int]) -> Law:
    if isinstance(law, FD):
        return FD(tuple(columns[c] for c in law.lhs), columns[law.rhs])
    assert isinstance(law, CanonicalOD)
    return CanonicalOD(tuple(columns[c] for c in law.context), columns[law.left], columns[law.right], law.direction)


@given(st.data(), POLICIES, st.booleans(), st.sampled_from([0.05, 0.2, 0.5]))
def test_an_interest_threshold_leaves_out_exactly_what_covers_less(
    data: st.DataObject, policy: NullPolicy, all_pairs: bool, least: float
) -> None:
    table = with_twins(data.draw(tables(max_rows=9, max_width=3, min_width=2)), data.draw)
    coverage = Coverage(table, policy, range(table.width))
    everything = laws(run(table, CanonicalQuestion(policy), all_pairs))
    kept = laws(run(table, CanonicalQuestion(policy, min_interest=least), all_pairs))

    def covered(law: Law) -> float:
        context = law.lhs if isinstance(law, FD) else law.context
        return float(coverage.of(pack_sets([context], table.width))[0])

    assert set(kept) == {law for law in everything if covered(law) >= least}


@given(tables(max_rows=12, max_width=4), POLICIES)
def test_coverage_is_the_share_of_agreeing_pairs(table: ArrayTable, policy: NullPolicy) -> None:
    rows = table.as_rows()
    contexts = [(), (0,), tuple(range(table.width))]
    found = Coverage(table, policy, range(table.width)).of(pack_sets(contexts, table.width))
    for context, value in zip(contexts, found, strict=True):
        agreeing = sum(
            i == j or all(rows[i][c] == rows[j][c] and (policy is NullPolicy.EQUAL or rows[i][c] != 0) for c in context)
            for i in range(len(rows))
            for j in range(len(rows))
        )
        assert value == pytest.approx(agreeing / len(rows) ** 2 if rows else 1.0)


def test_a_limit_keeps_what_is_certain() -> None:
    table = shuffled_ranks(1, 3_000, 12, 30)
    engine = LocalEngine(threads=1)
    engine.open(table, NullPolicy.EQUAL)
    emitted = []
    search = Search(table, engine, Watch(seconds=1e-6), emit=emitted.append)
    found = discover_canonical_ods(search, CanonicalQuestion())
    assert not found.complete
    assert found.stopped_because is not None
    assert "time limit" in found.stopped_because


def test_little_memory_takes_partitions_and_no_laws() -> None:
    table = shuffled_ranks(2, 2_000, 9, 12)
    expected = set(laws(run(table, CanonicalQuestion(), all_pairs=False)))
    tight = LocalEngine(threads=2)
    tight.open(table, NullPolicy.EQUAL)
    # So close to the limit from the start that partitions are dropped, but the limit is not reached.
    watch = Watch(None, int(1.1 * resident_bytes()) + (16 << 20))
    question = CanonicalQuestion(partition_chain=2)
    found = discover_by_evidence(Search(table, tight, watch), question, all_pairs=False)
    assert tight._cache_bytes < 64 << 20 or found.counts["partition_drops"] > 0
    if found.complete:  # other tests of this process may have left it little room
        assert set(laws(found)) == expected
    else:
        assert "memory limit" in found.stopped_because
        assert set(laws(found)) < expected


@pytest.mark.parametrize(
    "options",
    [
        {"max_size": -1},
        {"min_interest": 1.5},
        {"strategy": "guess"},
        {"partition_chain": 0},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        CanonicalQuestion(**options)
