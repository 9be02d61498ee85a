"""JSON lines: its own types, names that come and go, and lines that are no objects; on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.tables.json_text import parse_json_block
from lawful.tables.options import CsvDialect
from lawful.tables.text_blocks import BlockError, TextBlock
from tables.conftest import Encode, encode_locally
from tables.looking import cells_of, lines_of, ranks_of, types_of


def write(path: Path, *lines: str, encoding: str = "utf-8") -> str:
    path.write_bytes("\n".join(lines).encode(encoding))
    return str(path)


def test_types_missing_names_and_places(tmp_path: Path, encode: Encode) -> None:
    path = write(
        tmp_path / "t.jsonl",
        '\ufeff{"int": 2, "float": 1.50, "flag": true, "text": "007", "mixed": 1, "void": null}',
        "",
        '{"int": 10, "float": 1.5, "late": "x", "mixed": "1"}\r',
        '{"int": 10.0, "float": NaN, "flag": false, "text": "", "mixed": true}',
        '{"float": -Infinity, "mixed": NaN, "text": "\\ud83d\\ude00"}',
    )
    table = encode(path)
    assert table.names == ["int", "float", "flag", "text", "mixed", "void", "late"]
    types = ["decimal", "decimal", "boolean", "string", "string", "null", "string"]
    assert [type_.value for type_ in types_of(table)] == types
    assert ranks_of(table) == [
        [1, 2, 2, 0],
        [2, 2, 0, 1],
        [2, 0, 1, 0],
        [2, 0, 1, 3],
        [1, 1, 2, 0],
        [0, 0, 0, 0],
        [0, 1, 0, 0],
    ]
    assert cells_of(table)[2] == ["10", None, "false", "", "true", None, None]
    assert lines_of(table) == [1, 3, 4, 5]


def test_names_of_many_files_in_order(tmp_path: Path, encode: Encode) -> None:
    (tmp_path / "t").mkdir()
    write(tmp_path / "t/a.json", '{"b": 1}', '{"a": 2}')
    write(tmp_path / "t/b.json", '{"c": 3, "b": 4}')
    table = encode(str(tmp_path / "t"))
    assert table.names == ["b", "a", "c"]
    assert cells_of(table) == [["1", None, None], [None, "2", None], ["4", None, "3"]]


def test_utf_16(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.ndjson", '{"a": "\u00e9"}', '{"a": "e"}', encoding="utf-16")
    assert cells_of(encode(path, dialect=CsvDialect(encoding="utf-16"))) == [["\u00e9"], ["e"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1', "is not valid JSON: Expecting ',' delimiter"),
        ("[1]", "is not a JSON object"),
        ('"a"', "is not a JSON object"),
        ('{"a": 1, "b": 2, "a": 3}', "is not valid JSON: the name 'a' stands twice in one object"),
        ('{"a": "\\ud83d"}', "escapes half of a surrogate pair"),
        ('{"a": ' + "[" * 100_000, "is not valid JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "t.jsonl", '{"a": 1}', "", line, '{"a": 1}')
    with pytest.raises(SourceError) as refused:
        encode_locally(path)
    assert refused.value.message.startswith(f"{path}, line 3: {message}")


def test_spark_says_the_same_of_a_bad_line(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.jsonl", '{"a": 1}', "", "{a: 1}")
    with pytest.raises(SourceError, match=r"t\.jsonl, line 3: is not valid JSON: Expecting property name"):
        encode(path)


def test_a_chosen_type_is_refused_at_the_right_line(tmp_path: Path) -> None:
    # The string "1" and the number 1 are one text here: the misfit must still be found among the lines.
    path = write(tmp_path / "t.jsonl", '{"a": "1"}', '{"a": 1}', '{"a": "x"}')
    with pytest.raises(SourceError) as refused:
        encode_locally(path, types={"a": ColumnType.INTEGER})
    assert refused.value.message == f"{path}, line 3: column 'a' holds 'x', which is not of type integer"
    path = write(tmp_path / "u.jsonl", '{"a": "2"}', '{"a": 2}', '{"a": 10}')
    assert ranks_of(encode_locally(path, types={"a": ColumnType.INTEGER})) == [[1, 1, 2]]


def test_a_name_is_needed(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="a name is empty"):
        encode_locally(write(tmp_path / "t.jsonl", '{"": 1}'))
    with pytest.raises(SourceError, match="there is no JSON object"):
        encode_locally(write(tmp_path / "u.jsonl", "", "{}"))


def test_a_file_that_changes_while_it_is_read_is_refused() -> None:
    with pytest.raises(BlockError, match="holds list under 'a', which it did not when reading began") as refused:
        parse_json_block(TextBlock(b'{"a": 1}\n{"a": []}\n', 7), "utf-8", ["a"])
    assert refused.value.line == 8
