"""A query gives rows exactly if `check` says that the law is broken, and the rows that violate it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import duckdb
import pytest
from examples import one_in
from hypothesis import given

import lawful
from exports.tables_with_laws import Sample, samples
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import ListOD, NamedLaw
from lawful.exports.dialects import DIALECTS
from lawful.exports.known_columns import KnownColumn
from lawful.exports.shapes import Singles, shape_of
from lawful.exports.writer import QueryWriter, table_of_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICIES = list(NullPolicy)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        yield connection


@pytest.mark.parametrize("null", POLICIES)
@given(sample=samples())
def test_on_duckdb(database: duckdb.DuckDBPyConnection, sample: Sample, null: NullPolicy) -> None:
    database.register("sample", sample.table)
    laws = [law for law in sample.laws if null is NullPolicy.EQUAL or not isinstance(law.positional, ListOD)]
    if not laws:
        return
    report = lawful.check(sample.table, laws, null=null, engine="local")
    names = sample.table.column_names
    writer = QueryWriter(table_of_name("sample"), sample.columns, null, DIALECTS["duckdb"], names)
    for outcome in report.outcomes:
        groups, rows = writer.query(outcome.law, "groups"), writer.query(outcome.law, "rows")
        found = database.execute(groups).fetchall()
        assert bool(found) is not outcome.holds, (outcome.text, groups)
        place = names.index("id")
        violating = sorted(row[place] for row in database.execute(rows).fetchall())
        if isinstance(shape_of(outcome.law.positional), Singles):
            assert bool(violating) is not outcome.holds, (outcome.text, rows)
        else:
            assert violating == sorted(report.violating_row_ids(outcome).tolist()), (outcome.text, rows)


def test_what_no_row_can_break_has_the_columns_of_the_table(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("create or replace table nothing_breaks (a integer, b integer)")
    columns = {"a": KnownColumn("a", ColumnType.INTEGER)}
    writer = QueryWriter(table_of_name("nothing_breaks"), columns, NullPolicy.EQUAL, DIALECTS["duckdb"], ["a", "b"])
    law = NamedLaw(ListOD((), ()), ("a",))
    rows = database.execute(writer.query(law, "rows"))
    assert [column[0] for column in rows.description] == ["a", "b"]
    assert rows.fetchall() == database.execute(writer.query(law)).fetchall() == []


@pytest.mark.parametrize("null", POLICIES)
@one_in(12)
@given(sample=samples(most_rows=6))
def test_on_spark(spark: SparkSession, sample: Sample, null: NullPolicy) -> None:
    """All laws of a sample in two queries: Spark takes its time for each."""
    laws = [law for law in sample.laws if null is NullPolicy.EQUAL or not isinstance(law.positional, ListOD)]
    if not laws:
        return
    spark.createDataFrame(sample.table).createOrReplaceTempView("sample")
    report = lawful.check(sample.table, laws, null=null, engine="local")
    writer = QueryWriter(table_of_name("sample"), sample.columns, null, DIALECTS["spark"], sample.table.column_names)
    outcomes = dict(enumerate(report.outcomes))
    groups = " UNION ALL ".join(f"SELECT {i} AS law FROM ({writer.query(each.law)})" for i, each in outcomes.items())
    rows = " UNION ALL ".join(
        f"SELECT {i} AS law, id FROM ({writer.query(each.law, 'rows')})" for i, each in outcomes.items()
    )
    broken = {row.law for row in spark.sql(groups).collect()}
    assert broken == {i for i, each in outcomes.items() if not each.holds}, groups
    violating = spark.sql(rows).collect()
    for i, each in outcomes.items():
        if not isinstance(shape_of(each.law.positional), Singles):
            found = sorted(row.id for row in violating if row.law == i)
            assert found == sorted(report.violating_row_ids(each).tolist()), each.text
