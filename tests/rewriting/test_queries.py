"""Queries that are rewritten, with everything else as it was written; and queries that must stay as they are."""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import UsageError
from lawful.rewriting import rewrite

NAMES = ["a", "b", "c", "d", "Unit Price", "Year"]
LAWS = "a -> b; [d] -> [c]; Year -> a"


def rewritten(sql: str, laws: str = LAWS, **options: object) -> str:
    return rewrite(sql, laws, NAMES, **options).sql  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("select * from t order by a, b", "select * from t order by a"),
        ("SELECT *\nFROM t -- all\nORDER  BY a ASC , b DESC", "SELECT *\nFROM t -- all\nORDER  BY a ASC"),
        ("select * from t order by c, d;", "select * from t order by d;"),
        ("select * from t order by a, c, b", "select * from t order by a, c"),
        ("select * from t order by A, B", "select * from t order by A"),
        ("select * from t order by \"a\", b", "select * from t order by \"a\""),
        ("select * from s.t as x order by x.a, X.b", "select * from s.t as x order by x.a"),
        ("select * from s.t order by s.t.a, t.b", "select * from s.t order by s.t.a"),
        ("select b, a from t order by 2, 1", "select b, a from t order by 2"),
        ("select b x, a y from t order by y, x", "select b x, a y from t order by y"),
        ("select a, count(*) from t group by a, b", "select a, count(*) from t group by a"),
        ("select count(*) from t group by b, a", "select count(*) from t group by a"),
        ("select a, sum(b) from t group by b, a, c", "select a, sum(b) from t group by a, c"),
        ("select max(b) from t group by lower(a), a, b", "select max(b) from t group by lower(a), a"),
        ("select 1 from t group by a, b, lower(b)", "select 1 from t group by a, lower(b)"),
        ("select a from t group by 1, b, a", "select a from t group by 1"),
        ("select a, max(c) from t group by a, b order by a, b", "select a, max(c) from t group by a order by a"),
        ("select distinct a, b from t order by a, b", "select distinct a, b from t order by a"),
        ("select * from t where a = 5 order by c, a", "select * from t where a = 5 order by c"),
        ("select * from t where a = 5 order by b", "select * from t where a = 5"),
        ("select * from t where (5 = a) and d > 3 order by b, c", "select * from t where (5 = a) and d > 3 order by c"),
        ("select * from t where a in ('x') order by a, c", "select * from t where a in ('x') order by c"),
        ("select * from t where a is null order by b, c", "select * from t where a is null order by c"),
        ("select * from t where a = ? order by a, c", "select * from t where a = ? order by c"),
        ("select * from t where c in (select a from u order by a, b) order by a, b",
         "select * from t where c in (select a from u order by a, b) order by a"),
        ("select a, row_number() over (order by a, b) from t order by a, b",
         "select a, row_number() over (order by a, b) from t order by a"),
        ("with u as (select 1) select * from t order by a, b", "with u as (select 1) select * from t order by a"),
        ("select * from t order by a, b limit 5, 10", "select * from t order by a limit 5, 10"),
        ("select * from t order by a, b limit 5 offset 2", "select * from t order by a limit 5 offset 2"),
        ("select * from t order by a, b fetch first 3 rows with ties",
         "select * from t order by a fetch first 3 rows with ties"),
        ("select * from t order by a, b for update", "select * from t order by a for update"),
        ("select * from t where a = 1 order by a, b limit 3", "select * from t where a = 1 order by a limit 3"),
        ("select * from t order by year, a, b", "select * from t order by year"),
        ('select * from t order by "Unit Price", "Unit Price" desc', 'select * from t order by "Unit Price"'),
        ("select * from t order by unknown, a, b", "select * from t order by unknown, a"),
        ("select /* order by a, b */ ', order by' from t order by a, b",
         "select /* order by a, b */ ', order by' from t order by a"),
    ],
)  # fmt: skip
def test_rewritten(asked: str, expected: str) -> None:
    assert rewritten(asked) == expected
    assert rewritten(expected) == expected


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("select * from t order by a + 1, b", "is not a column"),
        ("select * from t order by lower(a), b", "is not a column"),
        ("select * from t order by a collate nocase, b", "is not a column"),
        ("select * from t order by (a), b", "is not a column"),
        ("select * from t order by 'a', b", "is not a column"),
        ("select * from t, u order by a, b", "joins"),
        ("select * from t join u using (a) order by a, b", "joins"),
        ("select * from t natural join u order by a, b", "joins"),
        ("select * from (select * from t) x order by a, b", "does not read a table"),
        ("select * from f(1) order by a, b", "does not read a table"),
        ("select 1 order by a, b", "does not read a table"),
        ("select * from t union select * from u order by a, b", "not one SELECT"),
        ("select * from t union all select * from t order by a, b", "not one SELECT"),
        ("(select * from t order by a, b)", "not one SELECT"),
        ("create table x as select * from t order by a, b", "not one SELECT"),
        ("insert into x select * from t order by a, b", "not one SELECT"),
        ("with t as (select * from u) select * from t order by a, b", "a query of its own"),
        ("with T as (select * from u) select * from t as x order by a, b", "a query of its own"),
        ("select * from t as x(b, a) order by a, b", "other names"),
        ("select * from t order by u.a, b", "not a column of the table"),
        ("select * from t as x order by t.a, t.b", "not a column of the table"),
        ("select b as a, a as b from t order by a, b", "something else"),
        ("select c as a from t order by a, b", "something else"),
        ("select *, c as a from t order by a, b", "something else"),
        ("select lower(a) as a, b from t order by a, b", "something else"),
        ("select cast(a as int), b from t order by a, b", "may also mean"),
        ("select a, b + 1 from t order by 1, 2", "position 2 is not a column"),
        ("select * from t order by 1, 2", "cannot be told"),
        ("select a from t order by a, 2", "cannot be told"),
        ("select distinct c from t order by a, b", "do not have"),
        ("select c from t group by c order by a, b", "do not have"),
        ("select count(*) from t order by a, b", "one row"),
        ("select b, count(*) from t group by rollup (a, b)", "several ways"),
        ("select b, count(*) from t group by grouping sets ((a, b), (a))", "several ways"),
        ("select * from t pivot (sum(a) for c in (1, 2)) order by a, b", "as it is"),
    ],
)  # fmt: skip
def test_left_with_the_reason(asked: str, reason: str) -> None:
    found = rewrite(asked, LAWS, NAMES)
    assert found.sql == asked
    assert not found.changed
    assert reason in " ".join(found.notes)


@pytest.mark.parametrize(
    "asked",
    [
        "select * from t where a = 5 or c = 1 order by a, c",
        "select * from t where not a = 5 order by a, c",
        "select * from t where a = c order by a, c",
        "select * from t where a <> 5 order by a, c",
        "select * from t where a in (5, 6) order by a, c",
        "select * from t where a + 1 = 5 order by a, c",
        "select * from t where a = 1e16 order by a, c",
        "select * from t where a is not null order by a, c",
        "select * from t where not a is null order by a, c",
        "select * from t where a not in (5) order by a, c",
        "select * from t where not a in (5) order by a, c",
        "select * from t where a is distinct from 5 order by a, c",
        "select * from t where a is not true order by a, c",
        "select * from t where a is true order by a, c",
        "select * from t where a like 'x' order by a, c",
        "select * from t where a = b = 5 order by a, c",
        "select * from t where a = any (array[5]) order by a, c",
        "select * from t where a = (select max(a) from t) order by a, c",
        "select a, max(b) from t group by a, b, rollup (b)",
        "select c as a from t where a = 5 order by c, d",
        "select c as a from t where a = 5 order by t.a, c",
        "select a, b, count(*) from t group by a, b",
        "select a, lower(b), count(*) from t group by a, b",
        "select a, count(*) from t group by a, b having b > 1",
        "select a, count(*) from t group by a, b order by b",
        "select a, sum(count(*)) over (partition by b) from t group by a, b",
        "select c as b, count(*) from t group by a, b",
        "select * from t order by b, a",
        "select * from t order by d, -c",
        "select * from t",
    ],
)
def test_nothing_to_shorten(asked: str) -> None:
    assert rewritten(asked, "a -> b; [d] -> [c desc]") == asked


def test_a_shown_column_of_a_group_is_noted() -> None:
    found = rewrite("select a, b, count(*) from t group by a, b", "a -> b", NAMES)
    assert found.notes == ("GROUP BY could do without b, if the query did not show it as it is: a -> b",)


def test_a_column_that_takes_the_place_of_others() -> None:
    laws = "[Year] -> [a, c]; a, c -> Year"
    assert rewritten("select * from t order by a, c", laws) == "select * from t order by Year"
    assert rewritten("select * from t order by a desc, c desc", laws) == "select * from t order by Year DESC"
    assert rewritten("select d as Year from t order by a, c", laws) == "select d as Year from t order by t.Year"
    assert rewritten("select year, a from t x order by x.a, c", laws) == "select year, a from t x order by Year"
    for kept in ("select distinct a, c from t order by a, c", "select 1 from t group by a, c order by a, c"):
        assert rewritten(kept, laws) == kept
    distinct = "select distinct a, c, Year from t order by a, c"
    assert rewritten(distinct, laws) == "select distinct a, c, Year from t order by Year"
    quoted = laws.replace("Year", '"Unit Price"')
    assert rewritten("select * from t order by a, c", quoted) == 'select * from t order by "Unit Price"'
    assert (
        rewritten("select * from t order by a, c", quoted, dialect="spark") == "select * from t order by `Unit Price`"
    )
    free = {"dialect": "duckdb", "not_null": ["a", "c"]}
    assert rewritten("select * from t order by a, c", laws, **free) == "select * from t order by Year NULLS FIRST"


def test_indexes() -> None:
    asked, laws = "select * from t order by c, a", "[d] -> [c, a]"
    found = rewrite(asked, laws, NAMES, indexes=["a, c", "d desc, a", "c, a, b"])
    assert found.sql == asked  # one of the indexes is the very order
    assert [(use.suffices, use.backwards, use.alike) for use in found.indexes] == [
        (False, False, False),
        (True, True, False),
        (True, False, True),
    ]
    assert rewritten(asked, laws, indexes=["d desc, a"]) == "select * from t order by d"
    limited = rewrite(f"{asked} limit 5", laws, NAMES, indexes=["d"])
    assert not limited.changed
    assert "ties" in limited.notes[0]
    assert rewrite(f"{asked} limit 5", [laws, "key(c, a)"], NAMES, indexes=["d"]).sql.endswith("order by d limit 5")
    distinct = rewrite("select distinct c, a from t order by c, a", laws, NAMES, indexes=["d"])
    assert not distinct.changed
    assert "do not have" in distinct.notes[0]
    assert rewrite("select a from t", laws, NAMES, indexes=["d"]).notes == (
        "the query has no ORDER BY, so no index is needed for it",
    )
    constant = rewrite("select * from t where a = 1 order by a limit 3", laws, NAMES, indexes=["a desc"])
    assert not constant.changed
    assert constant.notes == ("all rows tie, so no index is needed for the ORDER BY",)
    postgres = rewrite(asked, laws, NAMES, dialect="postgres", indexes=["d"])
    assert not postgres.changed
    assert "null" in postgres.notes[0]


@pytest.mark.parametrize("index", ["", "a b c", "a +", "lower(a)", "a; drop table t", "a limit 3", "a) --"])
def test_indexes_that_are_none(index: str) -> None:
    with pytest.raises(UsageError, match="does not list the columns of an index"):
        rewrite("select * from t order by a", LAWS, NAMES, indexes=[index])


@pytest.mark.parametrize("sql", ["select * from", "select * from t; select 1", "", "select (((("])
def test_what_is_no_query_is_refused(sql: str) -> None:
    with pytest.raises(UsageError):
        rewrite(sql, LAWS, NAMES)


def test_a_query_that_nests_too_deep_is_refused() -> None:
    with pytest.raises(UsageError):
        rewrite(f"select {'(' * 5_000}1{')' * 5_000} from t order by a, b", LAWS, NAMES)


def test_words_quote_names_that_are_no_words() -> None:
    found = rewrite('select * from t order by "Unit Price", a, "7"', '"Unit Price" -> a; a -> "7"', [*NAMES, "7"])
    assert [step.text for step in found.steps] == [
        'a asc is dropped: rows that agree on "Unit Price" agree on it',
        '"7" asc is dropped: rows that agree on "Unit Price" agree on it',
    ]


def test_columns_that_no_law_knows_are_named_where_nothing_is_gained() -> None:
    assert "do not know yaer" in rewrite("select * from t order by yaer, a", LAWS, NAMES).notes[0]
    assert not rewrite("select * from t order by yaer, a, b", LAWS, NAMES).notes


def test_results_tell_what_was_done() -> None:
    found = rewrite("select * from t order by a, b", LAWS, NAMES, indexes=["a", "c"], dialect="spark")
    assert found.to_dict() == {
        "format": "lawful/1",
        "query": "select * from t order by a, b",
        "rewritten": "select * from t order by a",
        "changed": True,
        "dialect": "spark",
        "steps": [
            {
                "clause": "order by",
                "text": "b asc is dropped: rows that agree on a agree on it",
                "before": ["a asc", "b asc"],
                "after": ["a asc"],
                "laws": ["a -> b"],
            }
        ],
        "indexes": [
            {
                "index": "a",
                "suffices": True,
                "order_by": ["a asc"],
                "backwards": False,
                "alike": True,
                "laws": ["a -> b"],
            },
            {"index": "c", "suffices": False},
        ],
        "notes": [],
        "refused": [],
    }
    assert "a -&gt; b" in found._repr_html_()


@given(
    st.lists(st.sampled_from(["a", "b desc", "c", "d", "t.a", '"b"', "year"]), min_size=1, max_size=5), st.booleans()
)
def test_everything_around_the_clause_stays(terms: list[str], limited: bool) -> None:
    before = "select  a, 'order by x,'  /* , */ from  t  where  c > 1 order by "
    after = "  limit 3 -- end" if limited else "  -- end"
    found = rewrite(before + ", ".join(terms) + after, LAWS, NAMES).sql
    assert found.startswith(before)
    assert found.endswith(after)
    kept = found[len(before) : len(found) - len(after)].split(", ")
    assert set(kept) <= set(terms)
    assert len(sqlglot.parse(found)) == 1
