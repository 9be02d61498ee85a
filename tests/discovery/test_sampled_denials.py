"""Denial constraints of a table of which some rows are here: those that all rows in one place give."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_types import KINDS, mixed_tables

import lawful
from lawful.common.errors import TooLargeError
from lawful.common.meanings import NULL_RANK, ColumnType, NullPolicy
from lawful.dependencies import Constant
from lawful.discovery.denials.discover import discover_denial_constraints
from lawful.discovery.denials.means import Mean
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.denials.value_facts import FactsOfTable
from lawful.discovery.findings import Findings
from lawful.discovery.order_classes import _compared
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle.sampled import SampledChecks
from lawful.evidence.denials.lanes import lanes_of
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions
from lawful.tables.sample import Frequent, SampleTable
from lawful.tables.shared_ranks import constant_array, rank_together
from lawful.tables.shuffled.column_values import equal_keys, sum_maker


class Elsewhere:
    """All rows of a table, as a sample asks for them; ranks lie apart, as those of numbers do there."""

    def __init__(self, table: EncodedTable, spread: int) -> None:
        self._table, self._spread = table, spread
        self.rows, self.width, self.names = table.rows, table.width, table.names
        self.type, self.distinct, self.nulls = table.type, table.distinct, table.nulls
        self.values = self

    def ranks_of(self, ids: np.ndarray) -> np.ndarray:
        columns = [np.asarray(self._table.column(column))[ids].astype(np.int64) for column in range(self.width)]
        return np.stack(columns, axis=1) * self._spread

    def of_ranks(self, column: int, ranks: np.ndarray) -> pa.Array:
        assert (np.diff(ranks) > 0).all()
        return self._table.values(column).take(pa.array(ranks // self._spread - 1))

    def shared(self, columns: list[int]) -> np.ndarray | None:
        count, places = FactsOfTable(self._table).shared(columns), range(len(columns))
        return None if count is None else np.array([[count(one, other) for other in places] for one in places])

    def mean(self, column: int) -> Fraction:
        return Mean.of(self._table, column).exact

    def frequent(self, column: int, most: int) -> list[Frequent]:
        found = FactsOfTable(self._table).frequent(column, most)
        return [value._replace(rank=value.rank * self._spread) for value in found]

    def read(self, column: int, constant: Constant) -> pa.Array:
        return constant_array(constant, self.type(column), "")

    def are_twins(self, first: int, second: int) -> bool:
        ranks = [self._table.column(column).tolist() for column in (first, second)]
        together = set(zip(*ranks, strict=True))
        is_null_alike = all((one == NULL_RANK) == (other == NULL_RANK) for one, other in together)
        return is_null_alike and len(together) == len(set(ranks[0])) == len(set(ranks[1]))

    def is_turned(self, first: int, second: int, policy: NullPolicy) -> bool | None:
        return _compared(first, second, self._table, policy)


def sampled(table: EncodedTable, ids: list[int], spread: int) -> SampleTable:
    whole, chosen = Elsewhere(table, spread), np.array(ids, np.int64)
    return SampleTable(whole, chosen, whole.ranks_of(chosen))  # type: ignore[arg-type]  # what orders ask is not here


def found_in(table: EncodedTable | SampleTable, rows: EncodedTable, question: DenialQuestion, watch: Watch) -> Findings:
    engine = LocalEngine(threads=1)
    engine.open(rows, question.null_policy)
    checks = SampledChecks(engine, table) if isinstance(table, SampleTable) else None
    return discover_denial_constraints(Search(table, engine, watch, checks=checks), question)


def told(found: Findings) -> list[Any]:
    (listing,) = found.listings
    return [found.complete, *zip(listing.laws(), listing.interests.tolist(), strict=True)]


@st.composite
def questions(draw: st.DrawFn) -> DenialQuestion:
    return DenialQuestion(
        null_policy=draw(st.sampled_from(NullPolicy)),
        max_size=draw(st.sampled_from([1, 2, 3])),
        least_shared=draw(st.sampled_from([0.0, 0.2, 0.5])),
        least_mean_ratio=draw(st.sampled_from([0.0, 0.1, 1.0])),
        order_on_text=draw(st.booleans()),
        constants=draw(st.sampled_from([0, 1, 2])),
        seed=draw(st.integers(0, 1)),
    )


@given(mixed_tables(), questions(), st.sampled_from([1, 10**10]), st.data())
def test_a_sample_and_checks_of_all_rows_give_all_constraints(
    rows: pa.Table, question: DenialQuestion, spread: int, data: st.DataObject
) -> None:
    table = encode_arrow(rows, ReadOptions())
    ids = data.draw(st.lists(st.integers(0, table.rows - 1), unique=True)) if table.rows else []
    sample = sampled(table, ids, spread)
    space, expected = predicate_space(sample, question), predicate_space(table, question)
    assert space.predicates == expected.predicates
    assert space.constant_places == {what: place * spread for what, place in expected.constant_places.items()}
    watch = Watch(seconds=3_600.0) if question.seed else Watch()  # under a limit small ones are sought first
    assert told(found_in(sample, table, question, watch)) == told(found_in(table, table, question, Watch()))


@given(mixed_tables(min_rows=1), st.sampled_from(NullPolicy), st.sampled_from([1, 10**10]), st.data())
def test_rows_of_a_sample_compare_as_those_of_the_table(
    rows: pa.Table, policy: NullPolicy, spread: int, data: st.DataObject
) -> None:
    table = encode_arrow(rows, ReadOptions())
    space = predicate_space(table, DenialQuestion(least_shared=0.0, least_mean_ratio=0.0, constants=2))
    ids = data.draw(st.lists(st.integers(0, table.rows - 1), min_size=1, unique=True))
    sample = sampled(table, ids, spread)
    joined = data.draw(st.lists(st.integers(0, table.rows - 1), max_size=3))
    ids += [id_ for id_ in dict.fromkeys(joined) if id_ not in ids]
    sample.places(joined)
    turned = np.arange(len(ids), dtype=np.int32)[::-1]
    expected = lanes_of(table, space, policy)
    for some, chosen in (
        (sample, ids),
        (sample.drawn, ids[: sample.drawn.rows]),
        (sample.chosen(turned), ids[::-1]),
    ):
        for lane, other in zip(lanes_of(some, space, policy), expected, strict=True):
            signs = np.sign(np.subtract.outer(lane.left, lane.right))
            assert np.array_equal(signs, np.sign(np.subtract.outer(other.left[chosen], other.right[chosen])))
            nulls = np.zeros(table.rows, np.bool_) if other.nulls is None else other.nulls
            assert np.array_equal(nulls[chosen], np.zeros(len(chosen)) if lane.nulls is None else lane.nulls)


TEXTS_OF_NUMBERS = ["1", "1.0", "+1", "1e0", "-0", "0.0", " 2", "0.10", "1e-1", "1e300", "inf", "1e400", "-inf"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "nothing"])
def test_keys_are_equal_where_values_are(kind: str) -> None:
    arrow, values = KINDS[kind]
    arrays = [pa.array(values, arrow)]
    type_ = encode_arrow(pa.table({"a": arrays[0]}), ReadOptions()).type(0)
    if type_ in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT):
        arrays += [pa.array(TEXTS_OF_NUMBERS), pa.array([1, 10, -1])]
    if type_ in (ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.BOOLEAN):
        arrays.append(arrays[0].cast(pa.string()))
    ranks = np.concatenate(rank_together(arrays, type_))
    keys = [key for array in arrays for key in equal_keys(array, type_).to_pylist()]
    assert [[a == b for b in keys] for a in keys] == np.equal.outer(ranks, ranks).tolist()


@given(st.lists(st.tuples(st.sampled_from(TEXTS_OF_NUMBERS), st.integers(1, 9)), max_size=8), st.integers(1, 3))
def test_sums_of_tasks_are_exact(numbers: list[tuple[str, int]], size: int) -> None:
    batch = pa.record_batch({"value": [text for text, _ in numbers], "rows": [rows for _, rows in numbers]})
    if not numbers:
        batch = batch.cast(pa.schema([("value", pa.string()), ("rows", pa.int64())]))
    (line,) = next(sum_maker()(iter(pa.Table.from_batches([batch]).to_batches(max_chunksize=size)))).to_pylist()
    finite = [(Fraction(text.strip()), rows) for text, rows in numbers if np.isfinite(float(text))]
    assert line["numbers"] == sum(rows for _, rows in finite)
    assert Fraction(Decimal(line["added"])) == sum((number * rows for number, rows in finite), Fraction())


def test_rows_that_no_task_takes_end_a_search_with_what_is_certain() -> None:
    columns = {"a": range(50), "b": [row % 7 for row in range(50)], "c": [row * row % 11 for row in range(50)]}
    with patch.object(LocalEngine, "check", side_effect=TooLargeError("too many rows agree")):
        found = lawful.discover(pa.table(columns), "dc", strategy="hybrid", max_size=2, engine="local")
    assert (found.complete, found.stopped_because) == (False, "too many rows agree")
