"""Canonical order dependencies within an error: those of brute force, with the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from canonical_oracle import almost_canonical_laws
from checks.tables import POLICIES, ArrayTable, ranked, tables, with_twins
from hypothesis import given
from hypothesis import strategies as st

import lawful
from discovery.test_measured_borders import some_rows
from discovery.test_measured_borders import tables as tables_with_values
from discovery.test_sampled_denials import sampled
from lawful.common.meanings import Measure, NullPolicy
from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery.canonical_ods.discover import discover_canonical_ods
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle.sampled import SampledChecks
from lawful.search import pack_sets
from lawful.tables.encoded_table import EncodedTable

ERRORS = st.sampled_from([0.03, 0.05, 0.1, 0.2, 0.34, 0.5, 0.8])
MEASURES = st.sampled_from(["g1", "g3"])
SIZES = st.sampled_from([None, None, 0, 1, 2])
WATCHES = st.sampled_from([None, 3_600.0])
"""Under a limit small contexts are looked at first."""


def run(table: Any, question: CanonicalQuestion, limit: float | None = None, rows: Any = None) -> Findings:
    engine = LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    looked_at = table if rows is None else sampled(table, rows, 1)
    checks = None if rows is None else SampledChecks(engine, looked_at)
    found = discover_canonical_ods(Search(looked_at, engine, Watch(seconds=limit), checks=checks), question)
    assert found.complete
    return found


def with_errors(found: Findings) -> dict[Law, float]:
    """The laws with their errors, none of them twice."""
    told = [
        (law, error)
        for part in (*found.blocks, *found.listings)
        for law, error in zip(part.laws(), part.errors.tolist(), strict=True)
    ]
    assert len(dict(told)) == len(told)
    return dict(told)


@given(st.data(), POLICIES, SIZES, ERRORS, MEASURES, WATCHES)
def test_exactly_the_minimal_laws_are_found(
    data: st.DataObject, policy: NullPolicy, size: int | None, error: float, measure: Measure, limit: float | None
) -> None:
    table = with_twins(data.draw(tables(max_rows=7, max_width=4)), data.draw)
    found = run(table, CanonicalQuestion(policy, size, error=error, measure=measure), limit)
    expected = almost_canonical_laws(table.as_rows(), table.width, policy, largest=size, allowed=error, measure=measure)
    assert with_errors(found) == pytest.approx(expected)


@given(tables_with_values(4), ERRORS, POLICIES, SIZES, MEASURES, WATCHES, st.data())
def test_a_sample_finds_those_of_all_rows(
    table: EncodedTable,
    error: float,
    policy: NullPolicy,
    size: int | None,
    measure: Measure,
    limit: float | None,
    data: st.DataObject,
) -> None:
    question = CanonicalQuestion(policy, size, error=error, measure=measure)
    rows = some_rows(table, data) or list(range(min(1, table.rows)))  # no sample of some rows is empty
    there = run(table, question, limit, rows)
    assert with_errors(there) == pytest.approx(with_errors(run(table, question)))


def slipped(rows: int, width: int, share: float) -> ArrayTable:
    """Columns that rise together within the classes of the first two, but for some slips."""
    chance = np.random.default_rng(5)
    groups = [chance.integers(0, 4, rows) for _ in range(2)]
    base = chance.integers(0, 12, rows)
    columns = [base // (1 + n) + 20 * groups[n % 2] * (n % 3) for n in range(width - 2)]
    columns = [np.where(chance.random(rows) < share, chance.integers(0, 60, rows), column) for column in columns]
    return ArrayTable([ranked(column.tolist()) for column in (*groups, *columns)])


@pytest.mark.parametrize("measure", ["g1", "g3"])
def test_larger_tables_obey_the_definition(measure: Measure) -> None:
    """What is stated is within the error and minimal by the checks' own counts."""
    table, error = slipped(200, 7, 0.03), 0.02 if measure == "g1" else 0.06
    found = with_errors(run(table, CanonicalQuestion(error=error, measure=measure)))
    pairs = [law for law in found if isinstance(law, CanonicalOD)]
    assert len(pairs) > 20
    assert any(len(law.context) > 1 for law in pairs)
    assert any(found[law] > 0 for law in pairs)
    fds = {law for law in found if isinstance(law, FD)}
    for law in pairs:
        assert not any(fd.rhs in (law.left, law.right) and set(fd.lhs) <= set(law.context) for fd in fds)
        smaller = [
            other
            for other in pairs
            if (other.left, other.right, other.direction) == (law.left, law.right, law.direction)
        ]
        assert not any(set(other.context) < set(law.context) for other in smaller)


def test_a_least_interest_leaves_out_the_others() -> None:
    table = slipped(120, 6, 0.05)
    every = with_errors(run(table, CanonicalQuestion(error=0.02)))
    some = with_errors(run(table, CanonicalQuestion(error=0.02, min_interest=0.2)))
    coverage = Coverage(table, NullPolicy.EQUAL, range(table.width))

    def interest(law: Law) -> float:
        assert isinstance(law, FD | CanonicalOD)
        columns = law.lhs if isinstance(law, FD) else law.context
        return float(coverage.of(pack_sets([columns], table.width))[0])

    assert some == {law: error for law, error in every.items() if interest(law) >= 0.2}
    assert 0 < len(some) < len(every)


def test_a_search_that_is_stopped_keeps_what_is_certain() -> None:
    table, question = slipped(3_000, 12, 0.01), CanonicalQuestion(error=0.01)
    engine = LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    stopped = discover_canonical_ods(Search(table, engine, Watch(seconds=0.6)), question)
    assert not stopped.complete
    found = with_errors(stopped)
    whole = with_errors(run(table, CanonicalQuestion(error=0.01, max_size=2)))
    assert all(whole.get(law, error) == pytest.approx(error) for law, error in found.items())


def test_errors_are_shown_with_the_laws(tmp_path: Any) -> None:
    rows = pa.table(
        {"day": list(range(40)), "total": [3 * n for n in range(39)] + [1], "kind": [n % 3 for n in range(40)]}
    )
    report = lawful.discover(rows, find="canonical-od", error=0.05, measure="g3")
    told = {law.text: law.error for law in report}
    assert told["{}: day asc ~ total asc"] == pytest.approx(1 / 40)
    document = report.to_dict()
    assert {entry["text"]: entry["error"] for entry in document["dependencies"]} == pytest.approx(told)
    assert "within an error" in str(report) or "error" in str(report)
    saved = tmp_path / "laws.json"
    report.save(saved)
    checked = lawful.check(rows, saved)
    assert checked.holds


def test_dependencies_that_are_known_are_not_sought_again() -> None:
    ranks = slipped(200, 6, 0.03)
    table = pa.table({f"c{n}": ranks.column(n) for n in range(ranks.width)})
    asked = {"error": 0.02, "measure": "g1", "engine": "local"}
    alone, fds, both = (
        lawful.discover(table, find=find, **asked) for find in ("canonical-od", "fd", ("fd", "canonical-od"))
    )
    assert sorted(law.text for law in both) == sorted(law.text for law in alone)
    assert {law.text for law in fds} < {law.text for law in both}
    checks = [report.to_dict()["stats"]["counts"]["checks"] for report in (both, alone)]
    assert checks[0] == checks[1]
