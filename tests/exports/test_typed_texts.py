"""Laws of a CSV file compare numbers and dates; so do their queries, whether the database has texts or types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lawful

TEXTS = {
    "whole": ["7", "12", "+7", " 12", "-3"],
    "large": ["7", "100000000000000000000", "99999999999999999999"],
    "decimal": ["1.5", "1.50", "10", "2e0", "NaN", "-0.25"],
    "day": ["2024-02-29", "1999-12-31", "2024-03-01"],
    "slashed": ["02/29/2024", "12/31/1999", "03/01/2024"],
    "dotted": ["29.02.2024", "31.12.1999", "01.03.2024"],
    "moment": ["2024-02-29 13:00", "2024-02-29T13:00:00", "1999-12-31 23:59:59.5"],
    "clock": ["13:00", "13:00:00", "09:30", "23:59:59.25"],
    "flag": ["true", "FALSE", "True"],
    "word": ["a", "B", "é", "007", "NA"],
}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        yield connection


@given(data=st.data())
@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_texts_and_types(
    database: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory, null: str, data: st.DataObject
) -> None:
    first, second = data.draw(st.permutations(list(TEXTS)))[:2]
    cells = [st.sampled_from(["", *TEXTS[name]]) for name in (first, second)]
    rows = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=7))
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    path.write_text(f"{first},{second},id\n" + "".join(f"{a},{b},{i}\n" for i, (a, b) in enumerate(rows)), "utf-8")
    laws = [
        f"key({first})",
        f"{first} -> {second}",
        f"{{}}: {first} asc ~ {second} asc",
        f"{{{first}<}} -> {{{second}<=}}",
    ]
    report = lawful.check(str(path), laws, null=null, engine="local", reuse=False)
    database.execute(
        f"create or replace table texts as select * from read_csv('{path}', all_varchar = true, header = true)"
    )
    agrees(database, report, path)


def agrees(database: duckdb.DuckDBPyConnection, report: lawful.results.CheckReport, path: Path) -> None:
    for rows in (False, True):
        found = {query.law: query.query for query in report.export("sql", dialect="duckdb", rows=rows).queries}
        for outcome in report.outcomes:
            broken = bool(database.execute(found[outcome.text]).fetchall())
            assert broken is not outcome.holds, (path.read_text("utf-8"), found[outcome.text])


@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_types_that_the_database_found(database: duckdb.DuckDBPyConnection, tmp_path: Path, null: str) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("day,slashed,n,x,id\n2024-01-02,02/29/2024,9,1.5,0\n2024-01-10,01/31/2023,10,0.5,1\n,,11,,2\n")
    laws = [
        "{}: day asc ~ n asc",
        "{}: slashed asc ~ n desc",
        "{}: n asc ~ x desc",
        "day -> slashed",
        "{}: n asc ~ id asc",
    ]
    report = lawful.check(str(path), laws, null=null, engine="local")
    database.execute(f"create or replace table texts as select * from read_csv('{path}')")
    agrees(database, report, path)


def test_null_tokens_are_null(database: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("a,b\n1,2\nNA,3\nNA,4\n10,5\n")
    dialect = lawful.CsvDialect(null_tokens=("NA",))
    report = lawful.check(str(path), ["key(a)", "{}: a asc ~ b asc"], null="ignore", dialect=dialect, engine="local")
    assert report.holds
    database.execute(f"create or replace table texts as select * from read_csv('{path}', all_varchar = true)")
    agrees(database, report, path)
