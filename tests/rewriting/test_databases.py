"""Both queries, run: the rewritten one sorts and groups as the asked one does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.rewriting import KnownColumn, KnownLaws, Rewriting, rewrite
from rewriting.true_laws import Rows, rows_and_width, true_list_laws, true_set_laws

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = list("abcd")
DIRECTIONS = ["", " asc", " desc"]
NULLS = ["", " nulls first", " nulls last"]


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        yield connection


def load(database: duckdb.DuckDBPyConnection, rows: Rows, width: int) -> None:
    columns = ", ".join(f"{name} integer" for name in NAMES[:width])
    database.execute(f"create or replace table t (id integer, {columns})")
    if rows:
        values = ", ".join(f"({number}, {', '.join(str(v or 'null') for v in row)})" for number, row in enumerate(rows))
        database.execute(f"insert into t values {values}")


@st.composite
def known_laws(draw: st.DrawFn, rows: Rows, width: int) -> KnownLaws:
    """Some or all of the true laws, and what is known of nulls if anything is."""
    true = true_set_laws(rows, width) + (true_list_laws(rows, width) if width < 4 else [])
    laws = true if draw(st.booleans()) or not true else draw(st.lists(st.sampled_from(true), max_size=8))
    told = draw(st.booleans())
    columns = tuple(
        KnownColumn(name, may_be_null=not told or any(row[place] == 0 for row in rows))
        for place, name in enumerate(NAMES[:width])
    )
    return KnownLaws(columns, tuple(laws))


def clauses(width: int) -> st.SearchStrategy[str]:
    name = st.sampled_from(NAMES[:width])
    term = st.builds("{}{}{}".format, name, st.sampled_from(DIRECTIONS), st.sampled_from(NULLS))
    return st.lists(term, min_size=1, max_size=4).map(", ".join)


def filters(width: int) -> st.SearchStrategy[str]:
    name = st.sampled_from(NAMES[:width])
    condition = st.one_of(
        st.builds("{} = {}".format, name, st.integers(1, 2)),
        st.builds("{} > {}".format, name, st.integers(0, 1)),
        st.builds("{} is not null".format, name),
        st.builds("{} is null".format, name),
    )
    return st.lists(condition, max_size=2).map(lambda all_: f" where {' and '.join(all_)}" if all_ else "")


def order_of(sql: str) -> str:
    _, _, clause = sql.partition(" order by ")
    return clause.partition(" limit ")[0]


def check_order(database: duckdb.DuckDBPyConnection, found: Rewriting, where: str) -> None:
    """The values that were asked for come in the same order; unless an index broke ties, so do the ties."""
    asked, written = order_of(found.original), order_of(found.sql)
    shown = ", ".join(dict.fromkeys(term.split()[0] for term in asked.split(", ")))
    queries = (found.original.replace("*", shown, 1), found.sql.replace("*", shown, 1))
    first, second = (database.execute(query).fetchall() for query in queries)
    assert first == second, (found.original, found.sql)
    last = found.steps[-1].after if found.steps else ()
    finer = any(use.suffices and use.order_by == last and not use.alike for use in found.indexes)
    if finer:
        assert " limit " not in found.original
    else:
        assert ranks(database, asked, where) == ranks(database, written, where)


def ranks(database: duckdb.DuckDBPyConnection, order: str, where: str) -> list[Any]:
    """The place of each row in an order; rows that tie have the same."""
    clause = f"order by {order}" if order else ""
    return database.execute(f"select dense_rank() over ({clause}) from t{where} order by id").fetchall()


@given(data=st.data())
def test_orders_on_duckdb(database: duckdb.DuckDBPyConnection, data: st.DataObject) -> None:
    rows, width = data.draw(rows_and_width())
    load(database, rows, width)
    known = data.draw(known_laws(rows, width))
    where, limit = data.draw(filters(width)), data.draw(st.sampled_from(["", " limit 3"]))
    asked = f"select * from t{where} order by {data.draw(clauses(width))}{limit}"
    indexes = data.draw(st.lists(clauses(width), max_size=2))
    found = rewrite(asked, known, dialect="duckdb", indexes=indexes)
    check_order(database, found, where)


@given(data=st.data())
def test_groups_on_duckdb(database: duckdb.DuckDBPyConnection, data: st.DataObject) -> None:
    rows, width = data.draw(rows_and_width())
    load(database, rows, width)
    known = data.draw(known_laws(rows, width))
    where = data.draw(filters(width))
    columns = data.draw(st.lists(st.sampled_from(NAMES[:width]), min_size=1, max_size=4))
    shown = data.draw(st.sampled_from(["", f"{columns[0]}, ", f"{columns[-1]} as x, "]))
    having = data.draw(st.sampled_from(["", f" having count(*) > 1 or {columns[0]} = 1"]))
    asked = f"select {shown}count(*), min(id) from t{where} group by {', '.join(columns)}{having}"
    found = rewrite(asked, known, dialect="duckdb")
    first, second = (sorted(map(repr, database.execute(query).fetchall())) for query in (asked, found.sql))
    assert first == second, (asked, found.sql)


QUERIES = [
    "select * from t order by c desc, b, a",
    "select * from t order by b, a",
    "select * from t order by b nulls last, a",
    "select * from t where a = 2 order by a, d",
    "select count(*) n, min(c) m from t group by a, b order by m",
    "select b, a from t order by 2, 1 limit 4",
]


def test_orders_on_spark(spark: SparkSession) -> None:
    """The same on Spark, where nulls come first ascending, as laws mean it."""
    rows: list[tuple[Any, ...]] = [
        (None, None, 1, 7), (1, None, 5, 7), (2, 1, 2, 7), (3, 1, 3, 7), (2, 1, 4, 7), (4, 2, 6, 7)
    ]  # fmt: skip
    spark.createDataFrame(rows, "a int, b int, c int, d int").createOrReplaceTempView("t")
    ranks: Rows = [tuple(0 if value is None else value for value in row) for row in rows]
    known = KnownLaws(tuple(map(KnownColumn, NAMES)), tuple(true_set_laws(ranks, 4)))
    changed = 0
    for asked in QUERIES:
        found = rewrite(asked, known, dialect="spark")
        changed += found.changed
        terms = [step.before for step in found.steps if step.clause == "order by"][:1]
        names = [term.split()[0] for before in terms for term in before]
        first, second = (spark.sql(query).collect() for query in (asked, found.sql))
        assert [[row[name] for name in names] for row in first] == [[row[name] for name in names] for row in second]
        assert sorted(map(repr, first)) == sorted(map(repr, second)) or "limit" in asked
    assert changed == len(QUERIES) - 1  # nulls of b sorted last are beyond the laws
