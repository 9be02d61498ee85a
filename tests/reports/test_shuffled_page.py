"""A page about a table that no node holds: its laws with their rows, and no drawings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from shuffled_tables import write_parts

import lawful
from lawful.demo.tax_table import make_tax_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.usefixtures("cache_of_module"), pytest.mark.cluster]

LAWS = "zip -> state; {state}: salary asc ~ rate asc; key(zip); {}: salary asc ~ rate desc"


def test_broken_laws_come_with_their_rows_and_orders_are_not_drawn(spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(make_tax_table(2_000, 6).table, tmp_path / "tax", 2)
    there = lawful.report(LAWS, source, spark=lawful.SparkSettings(session=spark, placement="shuffle")).document
    here = lawful.report(LAWS, source, engine="local").document
    assert here.plots
    assert not there.plots
    assert any("not drawn" in note for note in there.notes)
    assert not any("not drawn" in note for note in here.notes)
    assert (there.laws.text, there.laws.status) == (here.laws.text, here.laws.status)
    assert len(there.broken) == len(here.broken)
    assert all(broken.groups for broken in there.broken)
