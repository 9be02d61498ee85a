"""Laws within an error of a table of which some rows are here: those that counts of all pairs of rows give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from discovery.test_sampled_denials import sampled
from lawful.common.meanings import NullPolicy
from lawful.discovery.denials.discover import discover_denial_constraints
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.pods.questions import PointwiseQuestion
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle.sampled import SampledChecks
from lawful.search.denials.literals import CONVENTIONS
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions
from lawful.tables.sample import SampleTable

ERRORS = st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.5, 0.9])
WATCHES = st.sampled_from([None, 3_600.0])
"""Under a limit small laws are sought first."""


@st.composite
def tables(draw: st.DrawFn, width: int) -> EncodedTable:
    """Few values, so that laws almost hold; some of them are null."""
    columns, rows = draw(st.integers(1, width)), draw(st.integers(0, 9))
    values = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=rows, max_size=rows)
    table = pa.table({name: pa.array(draw(values), pa.int64()) for name in "abcd"[:columns]})
    return encode_arrow(table, ReadOptions())


def found_in(discover: Any, table: EncodedTable, question: Any, ids: list[int] | None, limit: float | None) -> Findings:
    """What is found by all pairs of rows, or on a sample of the rows."""
    looked_at: EncodedTable | SampleTable = table if ids is None else sampled(table, ids, 1)
    engine = LocalEngine(threads=1)
    engine.open(table, question.null_policy)
    checks = SampledChecks(engine, looked_at) if isinstance(looked_at, SampleTable) else None
    found: Findings = discover(Search(looked_at, engine, Watch(seconds=limit), checks=checks), question)
    assert found.complete
    return found


def told(found: Findings) -> list[tuple[str, float, float]]:
    return sorted(
        (repr(law), round(error, 12), round(interest, 12))
        for listing in found.listings
        for law, error, interest in zip(listing.laws(), listing.errors, listing.interests, strict=True)
    )


def some_rows(table: EncodedTable, data: st.DataObject) -> list[int]:
    return data.draw(st.lists(st.integers(0, table.rows - 1), unique=True)) if table.rows else []


@given(tables(4), ERRORS, st.sampled_from(NullPolicy), st.sampled_from([None, 0, 1, 2]), WATCHES, st.data())
def test_pointwise_laws_within_an_error(
    table: EncodedTable, error: float, null: NullPolicy, size: int | None, limit: float | None, data: st.DataObject
) -> None:
    question = PointwiseQuestion(null, size, error)
    found = found_in(discover_pointwise, table, question, some_rows(table, data), limit)
    assert told(found) == told(found_in(discover_pointwise, table, question, None, None))


@given(
    tables(3), ERRORS, st.sampled_from(NullPolicy), st.sampled_from([1, 2, 3]), st.sampled_from(CONVENTIONS), WATCHES,
    st.data(),
)  # fmt: skip
def test_constraints_within_an_error(
    table: EncodedTable, error: float, null: NullPolicy, size: int, convention: Any, limit: float | None,
    data: st.DataObject,
) -> None:  # fmt: skip
    question = DenialQuestion(
        null_policy=null,
        max_size=size,
        error=error,
        convention=convention,
        least_shared=data.draw(st.sampled_from([0.3, 1.0])),
        least_mean_ratio=data.draw(st.sampled_from([0.0, 1.0])),
        constants=data.draw(st.sampled_from([0, 1])),
    )
    found = found_in(discover_denial_constraints, table, question, some_rows(table, data), limit)
    assert told(found) == told(found_in(discover_denial_constraints, table, question, None, None))


def test_more_candidates_than_are_measured_at_once() -> None:
    random = np.random.default_rng(3)
    rows = pa.table({name: random.integers(0, 4, 60) for name in "abcde"})
    table = encode_arrow(rows, ReadOptions())
    question = PointwiseQuestion(NullPolicy.EQUAL, None, 0.02)
    found = found_in(discover_pointwise, table, question, list(range(0, 60, 2)), None)
    expected = told(found_in(discover_pointwise, table, question, None, None))
    assert len(expected) > 500
    assert told(found) == expected
