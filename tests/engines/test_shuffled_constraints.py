"""Searches for constraints between columns and with constants on shuffled tables: the same ones as elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st
from mixed_types import mixed_tables
from shuffled_tables import mixed_table, typed_table, write_parts

import lawful
from engines.test_valued_chunks import TEXTS
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Constant
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.denials.value_facts import facts_of
from lawful.engines.shuffle import engine as engine_module
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.sample import SampleTable
from lawful.tables.shuffled import table as table_module
from lawful.tables.shuffled.encode import encode_by_shuffles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("cache_of_module"),
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]  # dozens of jobs on a busy machine

EVERYTHING = ReadOptions()


def sample_of(spark: SparkSession, source: Path) -> SampleTable:
    engine = ShuffleEngine(spark)
    engine.open(encode_by_shuffles(spark, str(source), EVERYTHING), NullPolicy.EQUAL)
    return engine.sample()


def assert_same_space(sample: SampleTable, whole: EncodedTable, **asked: object) -> None:
    question = DenialQuestion(constants=3, least_frequency=0.0, order_on_text=True, **asked)  # type: ignore[arg-type]  # options
    found, expected = predicate_space(sample, question), predicate_space(whole, question)
    assert found.predicates == expected.predicates
    assert constants_in_order(found) == constants_in_order(expected)


def constants_in_order(space: PredicateSpace) -> list[tuple[int, Constant]]:
    return sorted(space.constant_places, key=lambda what: (what[0], space.constant_places[what]))


@one_in(6)
@given(mixed_tables(max_rows=12, max_width=6), st.sampled_from([0.0, 0.2, 0.5]), st.sampled_from([0.0, 0.1, 1.0]))
def test_the_predicates_are_those_of_all_rows_in_one_place(
    spark: SparkSession, rows: pa.Table, shared: float, ratio: float
) -> None:
    with tempfile.TemporaryDirectory() as name:
        source = write_parts(rows, Path(name))
        whole = encode_in_process(source, EVERYTHING)
        assert_same_space(sample_of(spark, source), whole, least_shared=shared, least_mean_ratio=ratio)


def test_predicates_of_every_type_and_of_texts(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text(TEXTS)
    for source in (write_parts(typed_table(40), tmp_path / "typed", 3), tmp_path / "texts.csv"):
        whole = encode_in_process(source, EVERYTHING)
        sample = sample_of(spark, source)
        assert_same_space(sample, whole, least_shared=0.0)
        for column in range(whole.width):  # as they are shown, and in the same order
            found, expected = (facts_of(table).frequent(column, 9) for table in (sample, whole))
            assert [value._replace(rank=0) for value in found] == [value._replace(rank=0) for value in expected]


def told(report: lawful.DiscoveryReport) -> list[tuple[str, float]]:
    return sorted((entry["text"], entry["interest"]) for entry in report.to_dict()["dependencies"])


def assert_found_alike(spark: SparkSession, source: Path, **asked: object) -> None:
    where = lawful.SparkSettings(session=spark, placement="shuffle")
    with patch.object(table_module, "SAMPLED_ROWS", 40), patch.object(engine_module, "chunk_rows", lambda _: 100):
        found = lawful.discover(source, "dc", spark=where, **asked)
    expected = lawful.discover(source, "dc", engine="local", **asked)
    assert found.complete
    assert told(found) == told(expected)
    assert len(found)


@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_the_same_constraints_are_found(null: str, spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(mixed_table(300), tmp_path / "mixed")
    columns = ("a", "b", "f", "half", "one")
    assert_found_alike(spark, source, null=null, columns=columns, max_size=2, constants=1)


def test_the_same_constraints_are_found_in_texts(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS)
    assert_found_alike(spark, path, max_size=2, constants=2, least_shared=0.0)
