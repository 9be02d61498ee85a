"""Canonical order dependencies checked on Spark against brute force: both strategies, nulls, both policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from canonical_oracle import minimal_canonical_laws
from checks.tables import POLICIES, ArrayTable, ranked, tables, with_twins
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lawful.common.meanings import NullPolicy
from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.lattice import discover_by_lattice
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.search import Search
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.cluster  # takes long


def encoded(table: ArrayTable, folder: Path) -> EncodedTable:
    """The table in a folder, which Spark's workers need; its ranks are its values."""
    columns = [pa.array(column, mask=column == 0) for column in map(table.column, range(table.width))]
    path = folder / "table.parquet"
    parquet.write_table(pa.table(columns, [f"c{place}" for place in range(table.width)]), path)
    return encode_in_process(path, ReadOptions(), reuse=False, in_folder=True)


def discovered(
    spark: SparkSession, table: EncodedTable, strategy: str, policy: NullPolicy, *, samples: bool
) -> Findings:
    """Everything that the evidence leaves is checked on Spark; without samples, that is nearly everything."""
    from lawful.engines.spark import SparkEngine

    engine = SparkEngine(spark)
    engine.open(table, policy)
    asked = (Search(table, engine), CanonicalQuestion(policy))
    if strategy == "lattice":
        found = discover_by_lattice(*asked, samples=samples)
    else:
        found = discover_by_evidence(*asked, all_pairs=False, samples=samples)
    engine.close()
    assert found.complete
    return found


def is_exact(found: Findings, table: ArrayTable, policy: NullPolicy) -> bool:
    laws = [law for part in (*found.blocks, *found.listings) for law in part.laws()]
    assert len(laws) == len(set(laws))
    return set(laws) == minimal_canonical_laws(table.as_rows(), table.width, policy)


def random_table(seed: int) -> ArrayTable:
    """Four columns of few values with nulls among them."""
    chance = np.random.default_rng(seed)
    return ArrayTable([ranked(chance.integers(0, most, 8).tolist()) for most in chance.integers(2, 7, 4)])


@pytest.mark.parametrize(
    ("seed", "strategy", "policy"),
    [
        (1, "lattice", NullPolicy.EQUAL),
        (2, "lattice", NullPolicy.IGNORE),
        (3, "evidence", NullPolicy.EQUAL),
        (4, "evidence", NullPolicy.IGNORE),
    ],
)
def test_exactly_the_minimal_laws_are_found(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, strategy: str, policy: NullPolicy
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    table = random_table(seed)
    assert 0 in np.concatenate([table.column(place) for place in range(table.width)])
    found = discovered(spark, encoded(table, tmp_path), strategy, policy, samples=False)
    assert is_exact(found, table, policy)
    assert found.counts["checks"] > found.counts["refuted"] > 0


@pytest.mark.slow
@one_in(30)  # Spark takes a second for each
@given(data=st.data(), policy=POLICIES, strategy=st.sampled_from(["lattice", "evidence"]), samples=st.booleans())
def test_exactly_the_minimal_laws_of_many_tables(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    policy: NullPolicy,
    strategy: str,
    samples: bool,
) -> None:
    table = with_twins(data.draw(tables(max_rows=8, max_width=4)), data.draw)
    folder = tmp_path_factory.mktemp("table")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWFUL_CACHE", str(folder))
        found = discovered(spark, encoded(table, folder), strategy, policy, samples=samples)
    assert is_exact(found, table, policy)
