"""CSV sources as people have them, each read by both engines."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.options import CsvDialect, ReadOptions, parse_column_types
from tables.conftest import Encode, encode_locally
from tables.looking import cells_of, everything_of, lines_of, places_of, ranks_of, types_of

SMALL = b"name,age\nann,30\nbob,4\n"
SMALL_CELLS = [["ann", "30"], ["bob", "4"]]


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv.gz", gzip.compress(SMALL)),
        ("t.csv.bz2", bz2.compress(SMALL)),
        ("one of many [1] {x} 100%20 #?.csv", SMALL),
        ("marked.csv", b"\xef\xbb\xbf" + SMALL),
        ("mac \u00fc'\".tsv", SMALL.replace(b"\n", b"\r\n")),
    ],
    ids=["gzip", "bzip2", "odd name", "marked", "carriage returns"],
)
def test_packed_files_odd_names_marks_and_line_ends(tmp_path: Path, encode: Encode, name: str, data: bytes) -> None:
    table = encode(str(write(tmp_path / name, data)))
    assert table.name == name
    assert cells_of(table) == SMALL_CELLS
    assert types_of(table) == [ColumnType.STRING, ColumnType.INTEGER]
    assert ranks_of(table) == [[1, 2], [2, 1]]
    assert [str(table.place(row)) for row in (0, 1)] == [f"{tmp_path / name}, line {line}" for line in (2, 3)]


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("latin-1", "t.csv"),
        ("cp1252", "t.csv"),
        ("utf-16", "100%41 sure.csv"),
        ("utf-16-le", "t.csv.gz"),
        ("shift_jis", "t.csv"),
    ],
)
def test_encodings(tmp_path: Path, encode: Encode, encoding: str, name: str) -> None:
    # In Shift-JIS the second bytes of these two characters are a backslash and a bar.
    word = {"shift_jis": "\u8868|\u30dd", "cp1252": "\u20ac|\u00fc"}.get(encoding, "\u00e9|\u00fc")
    text = f'k|l|m\n"{word}"|"a\nb"|1\n\n{word}|2\n'
    data = text.encode(encoding)
    path = write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    table = encode(str(path), dialect=CsvDialect(separator="|", escape="\\", encoding=encoding))
    first, second = word.split("|")
    assert cells_of(table) == [[word, "a\nb", "1"], [first, second, "2"]]
    assert lines_of(table) == [2, 5]


def test_one_column_of_utf_16_has_no_row_after_its_last_newline(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.csv", "a\n\n1\n".encode("utf-16"))
    table = encode(str(path), dialect=CsvDialect(encoding="utf-16"))
    assert cells_of(table) == [[None], ["1"]]


def test_a_dialect_without_header_with_null_tokens_and_quoted_empty_cells(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.data", b"1;'';NA\n;' ';'NA'\n'2;3';?;x\n")
    dialect = CsvDialect(separator=";", header=False, quote="'", escape="'", null_tokens=("NA", "?"))
    table = encode(str(path), dialect=dialect)
    assert table.names == ["c1", "c2", "c3"]
    assert cells_of(table) == [["1", None, None], [None, " ", None], ["2;3", None, "x"]]
    assert lines_of(table) == [1, 2, 3]


def test_a_folder_of_files(tmp_path: Path, encode: Encode) -> None:
    folder = tmp_path / "sales"
    write(folder / "_SUCCESS", b"")
    write(folder / ".hidden.csv", b"other,header\n")
    write(folder / "_temporary/x.csv", b"other,header\n")
    write(folder / "a-0.csv", b"")
    write(folder / "a-1.csv.gz", gzip.compress(b""))
    write(folder / "a-2.csv", b"n,s\n2,x\n\n10,y\n")
    write(folder / "b/c.csv", b"n,s\n1,z\n")
    write(folder / "z.csv.bz2", bz2.compress(b"n,s\n"))
    table = encode(str(folder))
    assert cells_of(table) == [["2", "x"], ["10", "y"], ["1", "z"]]
    assert ranks_of(table)[0] == [2, 3, 1]
    assert places_of(table) == [("a-2.csv", 2), ("a-2.csv", 4), ("c.csv", 2)]


def test_a_folder_whose_files_have_other_headers(tmp_path: Path, encode: Encode) -> None:
    write(tmp_path / "t/a.csv", b"n,s\n1,x\n")
    second = write(tmp_path / "t/b.csv", b"\nn,t\n1,x\n")
    with pytest.raises(SourceError) as refused:
        encode(str(tmp_path / "t"))
    assert refused.value.message == f"{second}, line 2: the header is not that of the first file: it differs at 's'"


def test_a_relative_path_names_its_places_relatively(
    tmp_path: Path, encode: Encode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("t/a.csv"), SMALL)
    assert str(encode("t").place(1)) == "t/a.csv, line 3"
    write(Path("t/b.csv"), b"name,age\nx\n")
    with pytest.raises(SourceError, match=r"^t/b\.csv, line 2: has 1 cells where 2 were expected"):
        encode("t")


def test_columns_types_and_limit(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.csv", b"a,b,c\n1,010,x\n2,9,y\n3,oops,z\n")
    table = encode(str(path), columns=("c", "b"), types={"b": ColumnType.INTEGER}, limit=2)
    assert (table.names, table.rows) == (["c", "b"], 2)
    assert ranks_of(table) == [[1, 2], [2, 1]]
    assert lines_of(table) == [2, 3]
    with pytest.raises(SourceError) as refused:
        encode(str(path), types={"b": ColumnType.INTEGER})
    assert refused.value.message == f"{path}, line 4: column 'b' holds 'oops', which is not of type integer"


def test_a_limit_of_no_rows_and_one_that_ends_before_a_broken_line(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.csv", SMALL)
    none = encode(str(path), limit=0)
    assert (none.rows, none.names, types_of(none)) == (0, ["name", "age"], [ColumnType.NULL, ColumnType.NULL])
    # A line that breaks after the first block, of some megabytes, is not looked at for the sake of the first rows.
    row = b"1," + b"x" * 997 + b"\n"
    long = write(tmp_path / "long.csv", b"a,b\n" + row * 13_000 + b"broken\n" + row * 16_000)
    assert encode(str(long), limit=3).rows == 3


def test_one_column_has_a_row_for_every_blank_line(tmp_path: Path, encode: Encode) -> None:
    table = encode(str(write(tmp_path / "t.csv", b'\r\n\na\n\n1\n\r\n""\nx\n\n')))
    assert cells_of(table) == [[None], ["1"], [None], [None], ["x"], [None]]
    assert lines_of(table) == [4, 5, 6, 7, 8, 9]


def test_cells_with_nul_bytes(tmp_path: Path, encode: Encode) -> None:
    table = encode(str(write(tmp_path / "t.csv", b"a,b\nx\0y,1\nx,\0\n")))
    assert ranks_of(table) == [[2, 1], [2, 1]]
    assert table.value(0, 0) == "x\0y"


def test_what_spark_cannot_read_by_its_name_is_said(tmp_path: Path, encode: Encode) -> None:
    for name, message in (("_hidden.csv", "Spark passes over"), ("10:30.csv", "Spark cannot read a file with a colon")):
        path = write(tmp_path / name, SMALL)
        if encode is encode_locally:
            assert cells_of(encode(str(path))) == SMALL_CELLS
        else:
            with pytest.raises(SourceError, match=message):
                encode(str(path))


def test_both_engines_share_the_tables_that_they_keep(tmp_path: Path, spark: object) -> None:
    from lawful.tables.spark_pipeline import encode_on_spark

    path = write(tmp_path / "t.csv", SMALL)
    there = encode_on_spark(spark, str(path), ReadOptions())
    here = encode_locally(path)
    assert here.folder == there.folder
    assert everything_of(here) == everything_of(there)


@pytest.mark.parametrize("encoding", ["no-such", "rot13", "undefined", "a\0b"])
def test_encodings_that_are_none(encoding: str) -> None:
    with pytest.raises(UsageError, match="there is no encoding called"):
        CsvDialect(encoding=encoding)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"separator": ""}, "the separator must be one ASCII character"),
        ({"separator": "ab"}, "the separator must be one ASCII character"),
        ({"quote": "\u00ab"}, "the quote must be one ASCII character"),
        ({"escape": "\n"}, "the escape must be one ASCII character"),
        ({"separator": '"'}, "cannot also be the quote or the escape"),
    ],
)
def test_dialects_that_are_none(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CsvDialect(**settings)


def test_options_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="unknown format 'xls'"):
        ReadOptions(format="xls")
    with pytest.raises(UsageError, match="must not be negative"):
        ReadOptions(limit=-1)
    with pytest.raises(UsageError, match="a column is chosen twice"):
        ReadOptions(columns=("a", "a"))


def test_types_as_the_command_line_gives_them() -> None:
    assert parse_column_types(["a=string", "b=c=date"]) == {"a": ColumnType.STRING, "b=c": ColumnType.DATE}
    for choice, message in (("a", "does not choose a type"), ("=date", "does not choose"), ("a=int", "unknown type")):
        with pytest.raises(UsageError, match=message):
            parse_column_types([choice])
