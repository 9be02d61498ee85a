"""Keys and rules of other tools come back as laws, and what is none is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lawful
from lawful.common.errors import LawfulError

LAWS = [
    "key(id)",
    "key(a, b)",
    "a -> b",
    "{a}: id asc ~ b desc",
    "[id asc] -> [a asc]",
    "not(t.a < s.b)",
    "{a<} -> {b<=}",
]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("target", ["gx", "odcs"])
@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_what_lawful_wrote_comes_back_as_it_was(target: str, null: str, tmp_path: Path) -> None:
    laws = [law for law in LAWS if null == "equal" or not law.startswith("[")]
    (path,) = lawful.export(laws, target, null=null, table="shop").write(tmp_path)
    found = lawful.import_laws(path)
    assert [law.text for law in found.laws] == laws
    assert found.null == null
    assert found.unsaid == ()


def test_keys_and_dependencies_come_back_from_dbt(tmp_path: Path) -> None:
    lawful.export(LAWS, "dbt", null="ignore", table="shop").write(tmp_path)
    found = lawful.import_laws(tmp_path / "models/lawful/shop.yml", table="shop")
    assert [law.text for law in found.laws] == ["key(id)", "key(a, b)", "a -> b"]


def test_dbt(tmp_path: Path) -> None:
    text = """
models:
  - name: orders
    constraints: [{type: primary_key, columns: [number, line]}, {type: check, expression: "a > 0"}]
    data_tests:
      - dbt_utils.unique_combination_of_columns: {combination_of_columns: [day, till]}
      - my_own: {arguments: {x: 1}}
    columns:
      - {name: id, tests: [unique, not_null]}
  - name: customers
    columns: [{name: id, data_tests: [{unique: {config: {severity: warn}}}]}]
"""
    path = written(tmp_path, "schema.yml", text)
    with pytest.raises(LawfulError, match="several tables: customers, orders"):
        lawful.import_laws(path)
    found = lawful.import_laws(path, table="orders")
    assert [law.text for law in found.laws] == ["key(day, till)", "key(number, line)", "key(id)"]
    assert {each.law for each in found.unsaid} == {"orders: my_own", "orders: constraint check", "orders: not_null(id)"}


def test_great_expectations(tmp_path: Path) -> None:
    expectations = [
        {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "id"}},
        {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "x", "mostly": 0.9}},
        {"type": "expect_compound_columns_to_be_unique", "kwargs": {"column_list": ["a", "b c"]}},
        {
            "type": "expect_column_pair_values_a_to_be_greater_than_b",
            "kwargs": {"column_A": "end", "column_B": "begin"},
        },
        {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "a"}},
        {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}},
    ]
    path = written(tmp_path, "suite.json", json.dumps({"name": "s", "expectations": expectations}))
    found = lawful.import_laws(path)
    assert [law.text for law in found.laws] == ["key(id)", 'key(a, "b c")', "not(t.end <= t.begin)"]
    assert len(found.unsaid) == 3


def test_odcs(tmp_path: Path) -> None:
    text = """
kind: DataContract
apiVersion: v3.1.0
schema:
  - name: orders
    properties:
      - {name: line, primaryKey: true, primaryKeyPosition: 2}
      - {name: number, primaryKey: true, primaryKeyPosition: 1}
      - {name: code, unique: true, quality: [{metric: nullValues, mustBe: 0}]}
    quality:
      - {type: library, metric: duplicateValues, mustBe: 0, arguments: {properties: [day, till]}}
      - {type: library, metric: duplicateValues, mustBeLessThan: 5, arguments: {properties: [x]}}
"""
    found = lawful.import_laws(written(tmp_path, "contract.yaml", text))
    assert [law.text for law in found.laws] == ["key(number, line)", "key(code)", "key(day, till)"]
    assert len(found.unsaid) == 2


def test_sql(tmp_path: Path) -> None:
    text = """
CREATE TABLE shop.orders (
  id INT PRIMARY KEY, code TEXT UNIQUE, begin_ INT NOT NULL, end_ INT REFERENCES other (x),
  CONSTRAINT pair UNIQUE (begin_, end_), CHECK (begin_ <= end_ AND 0 < begin_), CHECK (length(code) > 3)
);
CREATE UNIQUE INDEX i ON shop.orders (code, end_ DESC);
ALTER TABLE shop.orders ADD CONSTRAINT k PRIMARY KEY (code, begin_);
SELECT 1;
"""
    found = lawful.import_laws(written(tmp_path, "schema.sql", text), dialect="postgres")
    assert {law.text for law in found.laws} == {
        "key(id)",
        "key(code)",
        "key(begin_, end_)",
        "not(t.begin_ > t.end_)",
        "not(t.begin_ <= 0)",
        "key(code, end_)",
        "key(code, begin_)",
    }
    assert len(found.unsaid) == 3
    found.save(tmp_path / "laws.json")
    assert lawful.load(tmp_path / "laws.json").null_policy == "ignore"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yml", "a: &x [1]\nb: *x\n", "aliases"),
        ("a.yml", "[" * 1000, "deep|YAML"),
        ("a.yml", "!!python/object/apply:os.system ['true']", "YAML"),
        ("a.yml", "models: 3", "none of the files"),
        ("a.json", "{", "JSON"),
        ("a.sql", "CREATE TABLE (", "SQL"),
        ("b.json", "[]", "none of the files"),
    ],
)
def test_files_that_are_refused(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(LawfulError, match=said) as refused:
        lawful.import_laws(written(tmp_path, name, text))
    assert name in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LawfulError, match="no such file"):
        lawful.import_laws(tmp_path / "a.yml")
