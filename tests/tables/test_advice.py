"""What is said of a table that looks as if it was not meant to be read so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lawful
from lawful.common.errors import LawfulWarning
from lawful.tables.advice import advice
from lawful.tables.direct_csv import _SMALLEST_FILE
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions


def told(path: Path, text: str, **dialect: Any) -> list[str]:
    path.write_text(text)
    return advice(encode_in_process(path, ReadOptions(dialect=CsvDialect(**dialect)), reuse=False))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,NA\n2,5\n", ["'b' would be numbers, dates or the like but for 'NA': if that means null, "
                              "give --null-token 'NA'"]),
        ("a,b\nn/a,2024-01-01\n2,?\n", ["'a' would be numbers, dates or the like but for 'n/a': if that means null, "
                                        "give --null-token 'n/a'",
                                        "'b' would be numbers, dates or the like but for '?': if that means null, "
                                        "give --null-token '?'"]),
        ("a,b\nNA,x\nNA,y\n", []),
        ("a,b\nNA,NA\n1,x\n2,1\n007,2\n", []),
    ],
)  # fmt: skip
def test_words_for_null_that_make_a_column_text(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert told(tmp_path / "t.csv", text) == expected


def test_null_tokens_and_json_need_no_advice(tmp_path: Path) -> None:
    assert told(tmp_path / "t.csv", "a,b\n1,NA\n2,5\n", null_tokens=("NA",)) == []
    assert told(tmp_path / "t.jsonl", '{"a": "NA"}\n{"a": "1"}\n') == []


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("a;b\n1;2\n", {}, "a semicolon in it: if that separates columns, read it with --sep ';'"),
        ("a\tb\n1\t2\n", {}, "a tab in it: if that separates columns, read it with --sep '\\t'"),
        ("a|b\n1|2\n", {"header": False}, "a vertical bar in it: if that separates columns, read it with --sep '|'"),
    ],
)
def test_another_separator(tmp_path: Path, text: str, dialect: dict[str, Any], expected: str) -> None:
    assert told(tmp_path / "t.csv", text, **dialect) == [f"there is one column, and its first line has {expected}"]
    assert told(tmp_path / "t.csv", "a\n1;2\n") == []


def test_the_index_of_pandas_is_read_and_named(tmp_path: Path) -> None:
    (one,) = told(tmp_path / "t.csv", ",a,b\n0,5,6\n1,5,7\n")
    assert one.startswith("'Unnamed: 0' looks like the row numbers that pandas writes")
    assert one.endswith("leave it out with --columns a,b")
    table = encode_in_process(tmp_path / "t.csv", ReadOptions(), reuse=False)
    assert table.names == ["Unnamed: 0", "a", "b"]
    (tmp_path / "parts").mkdir()
    for part in "12":
        (tmp_path / "parts" / f"{part}.csv").write_text(",a\n0,5\n")
    assert encode_in_process(tmp_path / "parts", ReadOptions(), reuse=False).rows == 2


def test_a_large_file_is_read_alike(tmp_path: Path) -> None:
    rows = _SMALLEST_FILE // 8
    (tmp_path / "t.csv").write_text(",ab\n" + "12345,NA\n" * rows + "7,8\n")
    assert len(told(tmp_path / "small.csv", ",ab\n12345,NA\n7,8\n")) == 2
    table = encode_in_process(tmp_path / "t.csv", ReadOptions(), reuse=False)
    assert (table.rows, len(advice(table))) == (rows + 1, 2)


def test_python_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "t.csv").write_text("a\tb\n1\t2\n")
    for _ in ("read", "kept"):
        with pytest.warns(LawfulWarning, match=r"read it with CsvDialect\(separator='\\t'\)$"):
            lawful.profile(tmp_path / "t.csv")
