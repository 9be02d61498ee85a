"""What depends on the database: how it compares names and texts, where it sorts nulls, and its own clauses."""

from __future__ import annotations

import pytest

from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType
from lawful.dependencies import parse_laws
from lawful.rewriting import KnownColumn, KnownLaws, rewrite
from tests.rewriting.test_queries import LAWS, NAMES, rewritten


@pytest.mark.parametrize(
    ("dialect", "asked"),
    [
        ("postgres", "select distinct on (a) a, b from t order by a, b"),
        ("duckdb", "from t order by all"),
        ("duckdb", "select * replace (a + 1 as a) from t order by a, b"),
        ("duckdb", "select columns('a|b') + 1 from t order by a, b"),
        ("duckdb", "select a, b from t group by all order by c, d"),
        ("duckdb", "select * from t order by a, b using sample 3"),
        ("spark", "select * from t lateral view explode(c) x as b order by a, b"),
        ("spark", "select * from t sort by a, b"),
        ("spark", "select * from t distribute by c sort by a, b"),
        ("spark", "select * from t version as of 3 order by a, b"),
        ("bigquery", "select * from t for system_time as of c order by a, b"),
        ("bigquery", "select as struct a, b from t order by a, b"),
        ("clickhouse", "select a, b from t order by a, b with fill"),
        ("clickhouse", "select a, b from t order by a, b limit 1 by c"),
        ("oracle", "select a, b from t start with a = 1 connect by prior a = c order siblings by a, b"),
        ("tsql", "select a, b into x from t order by a, b"),
        ("mysql", "select b, count(*) from t group by a, b with rollup"),
    ],
)
def test_left_in_a_dialect(dialect: str, asked: str) -> None:
    found = rewrite(asked, LAWS, NAMES, dialect=dialect)
    assert found.sql == asked
    assert not found.changed


@pytest.mark.parametrize(
    ("dialect", "asked", "expected"),
    [
        ("postgres", 'select * from t order by "Year", a', 'select * from t order by "Year"'),
        ("postgres", "select * from t order by Year, a", "select * from t order by Year"),
        ("postgres", 'select * from t order by "year", a', 'select * from t order by "year", a'),
        ("postgres", 'select "Year" from t order by year, a', 'select "Year" from t order by year'),
        ("spark", "select * from t order by `YEAR`, a", "select * from t order by `YEAR`"),
        ("mysql", "select * from t order by `year`, a", "select * from t order by `year`"),
        ("tsql", "select top 3 * from t order by [Unit Price], [unit price]",
         "select top 3 * from t order by [Unit Price]"),
        ("clickhouse", "select * from t order by year, a", "select * from t order by year, a"),
        ("clickhouse", "select * from t order by Year, a", "select * from t order by Year"),
        ("bigquery", "select * from `p.d.t` order by a, b", "select * from `p.d.t` order by a"),
        ("duckdb", "from t order by a, b", "from t order by a"),
        ("duckdb", "select * from 'x.csv' order by a, b", "select * from 'x.csv' order by a"),
        ("snowflake", "select * from t order by a, b qualify row_number() over (order by c) = 1",
         "select * from t order by a qualify row_number() over (order by c) = 1"),
    ],
)  # fmt: skip
def test_identifiers_are_compared_as_the_dialect_does(dialect: str, asked: str, expected: str) -> None:
    assert rewritten(asked, dialect=dialect) == expected


def test_names_that_differ_only_in_case_are_not_guessed() -> None:
    found = rewrite("select * from t order by A, b", "a -> b", ["a", "A", "b"])
    assert not found.changed
    assert "case" in found.notes[0]
    assert rewrite('select * from t order by "A", b', '"A" -> b', ["a", "A", "b"]).changed
    assert not rewrite('select * from t order by "A", a, b', '"A" -> b', ["A", "b"], dialect="postgres").steps[1:]


def test_one_name_in_two_spellings_may_be_two_columns() -> None:
    found = rewrite('select * from t order by "A", a', "{} -> b", ["A", "b"], dialect="postgres")
    assert not found.changed
    assert "two ways" in found.notes[0]


@pytest.mark.parametrize(
    ("dialect", "asked", "expected"),
    [
        ("", "order by c, d", "order by d"),
        ("spark", "order by c, d", "order by d"),
        ("spark", "order by c nulls last, d", "order by c nulls last, d"),
        ("spark", "order by c, d nulls last", "order by c, d nulls last"),
        ("spark", "order by c desc, d desc", "order by d desc"),
        ("duckdb", "order by c, d", "order by c, d"),
        ("duckdb", "order by c nulls first, d nulls first", "order by d nulls first"),
        ("duckdb", "order by c desc, d desc", "order by d desc"),
        ("postgres", "order by c desc, d desc", "order by c desc, d desc"),
        ("postgres", "order by c desc nulls last, d desc nulls last", "order by d desc nulls last"),
        ("postgres", "order by c, d", "order by c, d"),
        ("postgres", "order by a, b", "order by a"),
        ("mysql", "order by c, d", "order by d"),
        ("bigquery", "order by c, d", "order by d"),
        ("trino", "order by c, d", "order by c, d"),
        ("snowflake", "order by c, d", "order by c, d"),
    ],
)
def test_where_nulls_are_sorted(dialect: str, asked: str, expected: str) -> None:
    found = rewrite(f"select * from t {asked}", LAWS, NAMES, dialect=dialect)
    assert found.sql == f"select * from t {expected}"
    if asked == expected:
        assert any("null" in note for note in found.notes)
    free = rewrite(f"select * from t {asked}", LAWS, NAMES, dialect=dialect, not_null=["c", "d"])
    assert free.changed
    assert not free.notes


def test_filters_that_leave_no_nulls() -> None:
    asked = "select * from t where c > 1 and d is not null order by c, d"
    assert rewritten(asked, dialect="postgres").endswith("order by d")
    for enough in ("c in (1, 2) and not d is null", "c between 1 and 2 and d like 'x'", "c <> 1 and 5 >= d"):
        assert rewritten(f"select * from t where {enough} order by c, d", dialect="postgres").endswith("order by d")
    for half in (
        "c > 1",
        "d between 1 and 2",
        "c > 1 or d > 1",
        "coalesce(c, d) > 1",
        "c > 1 and not d > 1 is not null",
        "c > 1 and d is not true",
        "c > 1 and not (d is not null)",
        "c > 1 and d is not distinct from b",
        "c > 1 and d is distinct from 5",
    ):
        assert not rewrite(f"select * from t where {half} order by c, d", LAWS, NAMES, dialect="postgres").changed


def typed(laws: str, **types: ColumnType) -> KnownLaws:
    names = ["a", "b", "c"]
    known = KnownLaws.of(parse_laws(laws, names), names)
    columns = tuple(
        KnownColumn(name, types.get(name), may_be_null=types.get(name) is ColumnType.FLOAT) for name in names
    )
    return KnownLaws(columns, known.laws)


@pytest.mark.parametrize(
    ("dialect", "laws", "clause", "shorter"),
    [
        ("duckdb", "[a] -> [b]", "order by b, a", True),
        ("postgres", "[a] -> [b]", "order by b, a", False),
        ("postgres", "a -> b", "order by a, b", True),
        ("mysql", "a -> b", "order by a, b", False),
        ("mysql", "c -> a", "order by c, a", True),
        ("mysql", "key(a)", "order by a, b", False),
        ("tsql", "a -> b", "group by a, b", False),
        ("spark", "a -> b", "group by a, b", True),
        ("mysql", "{a}: b asc ~ c asc; a, b -> c", "order by a, c, b", False),
    ],
)
def test_text_that_a_database_compares_otherwise(dialect: str, laws: str, clause: str, shorter: bool) -> None:
    known = typed(laws, a=ColumnType.STRING)
    found = rewrite(f"select 1 from t {clause}", known, dialect=dialect)
    assert found.changed == shorter
    assert bool(found.refused) == (not shorter)
    assert rewrite(f"select 1 from t {clause}", known, dialect=dialect, exact_text=True).changed


def test_nan_is_not_null_to_a_database() -> None:
    known = typed("a -> b; b -> c", b=ColumnType.FLOAT)
    found = rewrite("select * from t order by a, b", known)
    assert not found.changed
    assert "NaN" in found.refused[0]
    assert rewrite("select * from t order by b, c", known).changed


@pytest.mark.parametrize(
    ("value", "type_", "constant"),
    [
        ("5", ColumnType.INTEGER, True),
        ("-5", ColumnType.INTEGER, True),
        ("5", ColumnType.STRING, False),  # '5' and '05' are both equal to 5
        ("'5'", ColumnType.STRING, True),
        ("'5'", ColumnType.INTEGER, False),
        ("'2020-01-01'", ColumnType.DATE, True),
        ("date '2020-01-01'", ColumnType.DATE, True),
        ("date '2020-01-01'", ColumnType.STRING, False),
        ("true", ColumnType.BOOLEAN, True),
        ("true", ColumnType.INTEGER, False),
        (":value", ColumnType.STRING, True),
    ],
)
def test_filters_that_leave_one_value(value: str, type_: ColumnType, constant: bool) -> None:
    known = typed("key(a, b, c)", a=type_)
    assert rewrite(f"select * from t where a = {value} order by a, b", known).changed == constant


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown SQL dialect 'klingon'"):
        rewrite("select * from t order by a, b", LAWS, NAMES, dialect="klingon")
