"""Input that cannot be read: the error names the file, the line and what is wrong, and is the same on both engines."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lawful.common.errors import LawfulError, SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.common.python_words import in_pythons_words
from lawful.tables import files
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.spark_pipeline import encode_on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from tables.conftest import Encode, encode_locally
from tables.looking import types_of

RAGGED_HINT = in_pythons_words("\nMend the line, or check --sep, --quote and --escape.")
CLOSE_HINT = in_pythons_words("\nClose the quote, or say how quotes are written with --quote and --escape.")
CARRIAGE_RETURN = ": a carriage return without a newline ends a record inside this line"


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def message_of(encode: Encode, path: Path, **options: object) -> str:
    """What is said of a file, with its path taken off the front."""
    with pytest.raises(LawfulError) as refused:
        encode(str(path), **options)
    said = str(refused.value)
    assert said.startswith(str(path))
    return said.removeprefix(str(path))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", ", line 1: the file is empty"),
        (b"\n\r\n\n", ", line 1: the file is empty"),
        (b"a,b,a\n1,2,3\n", ", line 1: columns 1 and 3 of the header are both named 'a'"),
        (b"\na,,c\n1,2,3\n", ", line 2: column 2 of the header has no name"),
        (b"a,\xff\n1,2\n", ", line 1: byte 0xff is not utf-8 text"),
        (b'"a,b\n1,2\n', ", line 1: a quoted cell of the record that starts here is never closed" + CLOSE_HINT),
        (b"a,b\n1,2\n3\n", ", line 3: has 1 cells where 2 were expected" + RAGGED_HINT),
        (b"a,b\n\n1,2\n\n3,4,5\n", ", line 5: has 3 cells where 2 were expected" + RAGGED_HINT),
        (b'a,b\n"x\n\ny",2\n\n3,4,5\n', ", line 6: has 3 cells where 2 were expected" + RAGGED_HINT),
        (b'a,b\n1,2\n"\n\n', ", line 3: a quoted cell of the record that starts here is never closed" + CLOSE_HINT),
        (b"a,b\n1,2\n1,\xc3\n", ", line 3: byte 0xc3 is not utf-8 text"),
        (b"a,b\r1,2\r3,4\r", ", line 1" + CARRIAGE_RETURN),
        (b"a,b\n1,2\n1,2\r3\n", ", line 3" + CARRIAGE_RETURN),
        (b'a,b\n"1\r",2\n1,2\r3,4\n', ", line 3" + CARRIAGE_RETURN),
        (b"x" * 200_000 + b",b\n1,2\n", ", line 1: cannot be read as CSV: field larger than field limit"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value.partition("\n")[0][2:40],
)
def test_broken_text(tmp_path: Path, data: bytes, message: str) -> None:
    said = message_of(encode_locally, write(tmp_path / "t.csv", data))
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.csv", b""),
        ("header.csv", b"a,b,a\n1,2,3\n"),
        ("ragged.csv", b'a,b\n"x\n\ny",2\n\n3,4,5\n'),
        ("open.csv", b'a,b\n1,2\n"\n\n'),
        ("bytes.csv", b"a,b\n1,2\n1,\xc3\n"),
        ("returns.csv", b'a,b\n"1\r",2\n1,2\r3,4\n'),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9]),
        ("plain.csv.gz", b"a,b\n1,2\n"),
        ("odd.csv", "a,b\n1,2\n".encode("utf-16") + b"x"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_spark_says_the_same(tmp_path: Path, spark: SparkSession, name: str, data: bytes) -> None:
    path = write(tmp_path / name, data)
    options = ReadOptions(dialect=CsvDialect(encoding="utf-16")) if name == "odd.csv" else ReadOptions()
    with pytest.raises(SourceError) as here:
        encode_in_process(path, options)
    with pytest.raises(SourceError) as there:
        encode_on_spark(spark, str(path), options)
    assert str(there.value) == str(here.value)
    assert str(path) in str(here.value)


def test_a_ragged_line_in_a_later_block(tmp_path: Path, encode: Encode) -> None:
    rows = 17_000
    long = write(tmp_path / "t.csv", b"a,b\n" + (b'1,"' + b"x" * 500 + b'\n"\n') * rows + b"1\n" + b"1,2\n" * 10)
    assert message_of(encode, long) == f", line {2 * rows + 2}: has 1 cells where 2 were expected" + RAGGED_HINT


def test_an_undecodable_line_beyond_the_first_chunk_of_utf_16(tmp_path: Path) -> None:
    good = ("a,b\n" + "1,\U0001f600\n" * 600_000).encode("utf-16-le")
    path = write(tmp_path / "t.csv", good + b"\x00\xd8" + "x\n1,2\n".encode("utf-16-le"))
    assert len(good) > files._CHUNK
    said = message_of(encode_locally, path, dialect=CsvDialect(encoding="utf-16-le"))
    assert said.startswith(", line 600002: not utf-16-le text: illegal UTF-16 surrogate")


def test_a_packed_file_that_breaks_after_its_first_megabytes(tmp_path: Path, encode: Encode) -> None:
    noise = random.Random(1)
    rows = b"".join(b"%d,%d\n" % (noise.getrandbits(60), noise.getrandbits(60)) for _ in range(150_000))
    path = write(tmp_path / "t.csv.gz", gzip.compress(b"a,b\n" + rows, 1)[:-1000])
    assert len(rows) > files._CHUNK
    said = message_of(encode, path)
    assert said == ": cannot be read: Compressed file ended before the end-of-stream marker was reached"


def test_a_header_alone_is_an_empty_table(tmp_path: Path, encode: Encode) -> None:
    table = encode(str(write(tmp_path / "t.csv", b"a,b")))
    assert (table.rows, table.names, types_of(table)) == (0, ["a", "b"], [ColumnType.NULL, ColumnType.NULL])


def test_paths_without_data(tmp_path: Path, encode: Encode) -> None:
    assert message_of(encode, tmp_path / "missing.csv") == ": there is no such file or folder"
    write(tmp_path / "folder/_SUCCESS", b"")
    assert message_of(encode, tmp_path / "folder").startswith(": the folder has no data files")
    unknown = write(tmp_path / "t.xls", b"")
    assert message_of(encode, unknown).startswith(": cannot tell the format of t.xls")
    write(tmp_path / "mixed/a.csv", b"a\n1\n")
    write(tmp_path / "mixed/b.parquet", b"")
    assert message_of(encode, tmp_path / "mixed").startswith(": the folder mixes formats")
    assert message_of(encode_locally, Path("/dev/null")) == ": is neither a file nor a folder"


def test_unknown_columns(tmp_path: Path, encode: Encode) -> None:
    folder = write(tmp_path / "t/a.csv", b"a,b\n1,2\n").parent
    said = f"{folder} has no column 'z'\nIts columns: 'a', 'b'."
    for options in ({"columns": ("a", "z")}, {"types": {"z": ColumnType.DATE}}):
        with pytest.raises(UsageError) as refused:
            encode(str(folder), **options)
        assert str(refused.value) == said
    with pytest.raises(UsageError, match="no columns to read"):
        encode(str(folder), columns=())


def test_a_format_can_be_said(tmp_path: Path) -> None:
    path = write(tmp_path / "export.xls", b"a\tb\n1\t2\n")
    assert encode_locally(path, format="csv", dialect=CsvDialect(separator="\t")).names == ["a", "b"]


def test_many_columns_are_named_in_part(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ",".join(f"c{number}" for number in range(100)).encode())
    with pytest.raises(UsageError, match="'c29' and 70 more"):
        encode_locally(path, columns=("z",))


def test_a_file_without_newlines_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_RECORD", 8 << 20)
    path = write(tmp_path / "t.csv", b"a,b\n1,2\n" + bytes(17 << 20))
    assert message_of(encode_locally, path).startswith(", line 3: is longer than 8 MiB")


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_gigabytes_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as out:
        out.write(b"a,b\n")
        for _ in range(1300):
            out.write(b"\n" * (1 << 20))
    assert path.stat().st_size < 2 << 20
    assert message_of(encode_locally, path).startswith(": unpacks to more than 500 times its size")


def test_the_limit_on_unpacking_holds_at_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_HARMLESS_SIZE", 1 << 20)
    path = write(tmp_path / "t.csv.gz", gzip.compress(b"a,b\n" + b"\n" * (5 << 20)))
    assert message_of(encode_locally, path).startswith(": unpacks to more than 500 times its size")
    modest = write(tmp_path / "u.csv", b"a,b\n" + b"1,2\n" * 500_000)
    assert encode_locally(modest).rows == 500_000


def test_errors_are_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        encode_locally(tmp_path / "missing.csv")
