"""Each target's files are well formed, whatever the columns are called, and hold every law or say why not."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest
import sqlglot
import yaml

import lawful
from exports.tables_with_laws import NAMES
from lawful.common.errors import LawfulError
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Constant, Key, ListOD, NamedLaw, Predicate
from lawful.exports.dialects import DIALECTS
from lawful.exports.targets_named import DIALECT_NAMES, TARGETS

WIDE = tuple(NAMES)
HOSTILE = [
    NamedLaw(Key((1, 3)), WIDE),
    NamedLaw(FD((2, 5), 4), WIDE),
    NamedLaw(CanonicalOD((7,), 8, 9, "desc"), WIDE),
    NamedLaw(ListOD(((0, "asc"), (3, "desc")), ((6, "asc"),)), WIDE),
    NamedLaw(
        DC((Predicate(Cell("t", 1), "<", Cell("s", 2)), Predicate(Cell("t", 3), "=", Constant("'{{ x }}\\")))), WIDE
    ),
]
TYPES = dict.fromkeys(NAMES, "string")


def test_names_of_targets_and_dialects_are_listed() -> None:
    assert tuple(DIALECTS) == DIALECT_NAMES
    for target in TARGETS:
        assert (
            lawful.export("a -> b; key(a)", target, table="t").said
            + len(lawful.export("a -> b; key(a)", target, table="t").unsaid)
            == 2
        )


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("rows", [False, True])
def test_queries_are_of_their_dialect(dialect: str, rows: bool) -> None:
    for null in ("equal", "ignore"):
        found = lawful.export(HOSTILE, "sql", dialect=dialect, table="t", types=TYPES, rows=rows, null=null)
        assert len(found.queries) + len(found.unsaid) == len(HOSTILE)
        for query in found.queries:
            (tree,) = sqlglot.parse(query.query, dialect=dialect)
            assert isinstance(tree, sqlglot.exp.Select)
            assert {each.name for each in tree.find_all(sqlglot.exp.Table)} == {"t"}
            known = {each.name for each in tree.find_all(sqlglot.exp.Column)}
            assert known & set(NAMES)


def test_a_file_of_queries_has_no_more_statements_than_laws() -> None:
    text = lawful.export(HOSTILE, "sql", dialect="duckdb", table="t").files["violations.sql"]
    assert len([tree for tree in sqlglot.parse(text, dialect="duckdb") if tree is not None]) == len(HOSTILE)


def test_pyspark_is_a_module() -> None:
    text = lawful.export(HOSTILE, "pyspark", table="t").files["violations.py"]
    ast.parse(text)
    module: dict[str, Any] = {"__name__": "violations"}
    exec(
        compile(text.replace("from pyspark.sql import DataFrame", "DataFrame = None"), "violations.py", "exec"), module
    )
    assert list(module["QUERIES"]) == [law.text for law in HOSTILE]
    for law, query in module["QUERIES"].items():
        filled = query.format(table="t")
        assert "{{ e }}" in filled or "{{ e }}" not in law


def test_dbt_runs_nothing_that_columns_are_called() -> None:
    found = lawful.export([*HOSTILE, "a -> b"], "dbt", table="t")
    assert found.said == len(HOSTILE) + 1
    for name, text in found.files.items():
        if name.startswith("tests/lawful"):
            rendered = jinja2.Environment(autoescape=False).from_string(text).render(ref=lambda model: f"<{model}>")
            assert "<t>" in rendered
            assert sqlglot.parse_one(rendered.replace("<t>", "t"), dialect="duckdb")
    properties = yaml.safe_load(found.files["models/lawful/t.yml"])
    (test,) = properties["models"][0]["data_tests"]
    assert test["lawful_fd"]["arguments"] == {"determinants": ["a"], "dependent": "b", "nulls": "equal"}


def test_great_expectations_formats_the_batch_alone() -> None:
    suite = json.loads(lawful.export(HOSTILE, "gx", table="t").files["suite.json"])
    for expectation in suite["expectations"]:
        query = expectation["kwargs"]["unexpected_rows_query"].format(batch="batch_table")
        (tree,) = sqlglot.parse(query, dialect="duckdb")
        assert {each.name for each in tree.find_all(sqlglot.exp.Table)} == {"batch_table"}


@pytest.mark.parametrize("target", ["dqx", "soda", "odcs"])
def test_yaml_holds_every_law(target: str) -> None:
    found = lawful.export(HOSTILE, target, table="t")
    (text,) = found.files.values()
    document = yaml.safe_load(text)
    listed = (
        document if target == "dqx" else document["checks"] if target == "soda" else document["schema"][0]["quality"]
    )
    assert len(listed) == len(HOSTILE)


def test_unique_takes_nulls_as_the_laws_do() -> None:
    for null, distinct in (("equal", False), ("ignore", True)):
        (check,) = yaml.safe_load(lawful.export("key(a, b)", "dqx", null=null).text)
        assert check["check"]["arguments"] == {"columns": ["a", "b"], "nulls_distinct": distinct}


def test_only_one_key_of_a_contract_is_told_by_the_metric(tmp_path: Path) -> None:
    """Several metrics of one table get one verdict from datacontract-cli 1.2."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,2\n")
    report = lawful.check(str(tmp_path / "t.csv"), ["key(a)", "key(b)", "key(a, b)"], engine="local")
    rules = yaml.safe_load(report.export("odcs").text)["schema"][0]["quality"]
    assert [rule["type"] for rule in rules] == ["library", "sql", "sql"]


def test_constraints_say_keys_alone_and_rely_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n2,,3\n3,4,3\n")
    report = lawful.check(str(tmp_path / "t.csv"), ["key(a)", "key(b)", "a -> b"], engine="local")
    text = report.export("ddl", dialect="snowflake").text
    assert 'PRIMARY KEY ("a") NOT ENFORCED;' in text
    assert "RELY" not in text
    assert "RELY" in report.export("ddl", dialect="snowflake", rely=True).text
    assert 'UNIQUE NULLS NOT DISTINCT ("b")' in report.export("ddl", dialect="postgres").text
    assert {each.law for each in report.export("ddl", dialect="trino").unsaid} == {"key(a)", "key(b)", "a -> b"}
    assert "not here, because a constraint of a table says keys alone: a -> b" in text


def test_files_are_not_written_over_and_stay_in_their_folder(tmp_path: Path) -> None:
    found = lawful.export("a -> b", "sql")
    (path,) = found.write(tmp_path / "out")
    path.write_text("mine")
    with pytest.raises(LawfulError, match="is there already, and nothing was written"):
        found.write(tmp_path / "out")
    assert path.read_text() == "mine"
    found.write(tmp_path / "out", overwrite=True)
    assert "SELECT" in path.read_text()
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LawfulError, match=r"leads out|there already"):
        found.write(tmp_path / "out", overwrite=True)


def test_choosing() -> None:
    document = {
        "format": "lawful/1",
        "dependencies": [
            {"kind": "key", "columns": ["a"], "strength": 0.5},
            {"kind": "key", "columns": ["b"], "strength": 0.9},
            {"kind": "fd", "lhs": ["a"], "rhs": "c"},
        ],
    }

    def laws(**how: Any) -> list[str]:
        return [query.law for query in lawful.export(document, "sql", **how).queries]

    assert laws() == ["key(a)", "key(b)", "a -> c"]
    assert laws(top=1) == ["key(b)"]
    assert laws(min_strength=0.5) == ["key(a)", "key(b)"]
    assert laws(select=["a -> c", "key(a)"]) == ["a -> c", "key(a)"]
    with pytest.raises(LawfulError, match="not among the laws"):
        laws(select=["key(c)"])
    with pytest.raises(LawfulError, match="no laws to export"):
        laws(min_strength=2)


@pytest.mark.parametrize("table", ["x(1)", "", 'x" --', "x" * 2_000])
def test_a_table_is_a_name(table: str) -> None:
    with pytest.raises(LawfulError, match="not the name of a table"):
        lawful.export("a -> b", "sql", table=table)


@pytest.mark.parametrize("table", ["a b; drop table x", "(select 1)", "a as b", "a.b", "{{ x }}"])
def test_a_name_of_a_table_is_nothing_else(table: str) -> None:
    query = lawful.export("a -> b", "sql", dialect="duckdb", table=table).queries[0].query
    (tree,) = sqlglot.parse(query, dialect="duckdb")
    (found,) = tree.find_all(sqlglot.exp.Table)
    assert ".".join(part.name for part in found.parts) == table


def test_listings_do_without_sqlglot() -> None:
    """In a process where sqlglot cannot be imported; other targets say what to install."""
    program = (
        "import sys; sys.modules['sqlglot'] = None; import lawful\n"
        "print(lawful.export('a -> b', 'markdown', table='x.t_1').text + lawful.export('a -> b', 'csv').text)\n"
        "try:\n    lawful.export('a -> b', 'sql')\nexcept lawful.LawfulError as error:\n    print(error)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.startswith("# Laws of x.t\\_1\n")
    assert "| `a -> b` |" in told
    assert "a -> b,fd," in told
    assert "lawful[exports]" in told


def test_unknown_words_are_refused() -> None:
    with pytest.raises(LawfulError, match="exports to no 'excel'"):
        lawful.export("a -> b", "excel")
    with pytest.raises(LawfulError, match="unknown SQL dialect 'mysql'"):
        lawful.export("a -> b", "sql", dialect="mysql")
    with pytest.raises(LawfulError, match="runs on Spark"):
        lawful.export("a -> b", "dqx", dialect="duckdb")
