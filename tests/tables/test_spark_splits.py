"""A file that Spark reads in many splits, some of which begin inside quotes, gives the table of one reader."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.tables import spark_pipeline
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import ReadOptions
from lawful.tables.spark_files import as_whole_files
from tables.conftest import encode_locally
from tables.looking import everything_of, lines_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def small_splits(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with splits of a kilobyte, as large files have many; the setting is put back afterwards."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    before = {name: spark.conf.get(name) for name in names}
    for name in names:
        spark.conf.set(name, "1000")
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture
def second_readings(monkeypatch: pytest.MonkeyPatch) -> list[DataFrame]:
    """What is read a second time, with every file as one stream."""
    readings: list[DataFrame] = []

    def noted(lines: DataFrame) -> DataFrame:
        readings.append(lines)
        return as_whole_files(lines)

    monkeypatch.setattr(spark_pipeline, "as_whole_files", noted)
    return readings


def encode(spark: SparkSession, path: Path, **options: object) -> EncodedTable:
    return spark_pipeline.encode_on_spark(spark, str(path), ReadOptions(**options), reuse=False)


def splits_of(spark: SparkSession, path: Path) -> int:
    return spark.read.text(str(path)).selectExpr("_metadata.file_block_start").distinct().count()


def write_rows(path: Path, rows: int, *, quoted_lines: int) -> Path:
    """Rows of which every tenth has a quoted cell over some lines, with lines in it that look like rows."""
    noise = random.Random(rows)
    with path.open("w", newline="") as out:
        out.write("n,text\n")
        for row in range(rows):
            lines = [f"{noise.randrange(99)},looks like a row" for _ in range(quoted_lines)]
            quoted = '"' + "\n".join(["first", *lines, 'with ""quotes""']) + '"'
            out.write(f"{noise.randrange(50)},{quoted if row % 10 == 0 else f'plain {row % 7}'}\n")
            out.write("\n" if row % 13 == 0 else "")
    return path


def test_splits_between_records(small_splits: SparkSession, tmp_path: Path, second_readings: list[DataFrame]) -> None:
    path = write_rows(tmp_path / "t.csv", 300, quoted_lines=0)
    path.write_text(path.read_text().replace('first\nwith ""quotes""', "one line"))
    assert splits_of(small_splits, path) > 3
    assert everything_of(encode(small_splits, path)) == everything_of(encode_locally(path, reuse=False))
    assert not second_readings


def test_splits_inside_quotes_of_several_files(
    small_splits: SparkSession, tmp_path: Path, second_readings: list[DataFrame]
) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    first = write_rows(folder / "a.csv", 60, quoted_lines=40)
    write_rows(folder / "b.csv", 20, quoted_lines=0)
    write_rows(folder / "c.csv", 40, quoted_lines=90)
    assert splits_of(small_splits, first) > 3
    there, here = encode(small_splits, folder), encode_locally(folder, reuse=False)
    assert there.rows == 120
    assert len(second_readings) == 1
    assert everything_of(there) == everything_of(here)


def test_a_limit_within_many_splits(small_splits: SparkSession, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "t.csv", 100, quoted_lines=40)
    limited = encode(small_splits, path, limit=25)
    assert everything_of(limited) == everything_of(encode_locally(path, reuse=False, limit=25))


def test_errors_in_later_splits_have_the_lines_of_the_file(small_splits: SparkSession, tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_bytes(b"a,b\n" + b"1,2\n" * 2000 + b"broken\n" + b"1,2\n" * 2000)
    quoted = write_rows(tmp_path / "quoted.csv", 60, quoted_lines=40)
    quoted.write_text(quoted.read_text() + '1,"never closed\n' + "1,2\n" * 500)
    wrong_type = tmp_path / "type.csv"
    wrong_type.write_bytes(b"a,b\n" + b"1,2\n" * 2000 + b"1,x\n" + b"1,y\n" * 2000)
    for path, options in ((plain, {}), (quoted, {}), (wrong_type, {"types": {"b": ColumnType.INTEGER}})):
        with pytest.raises(SourceError) as here:
            encode_locally(path, **options)
        with pytest.raises(SourceError) as there:
            encode(small_splits, path, **options)
        assert str(there.value) == str(here.value)
    assert "line 2002" in str(here.value)


def test_json_lines_in_many_splits(small_splits: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"a{row // 100}": {row}}}\n\n' for row in range(400)))
    there, here = encode(small_splits, path), encode_locally(path, reuse=False)
    assert there.names == ["a0", "a1", "a2", "a3"]
    assert everything_of(there) == everything_of(here)
    assert lines_of(there)[:2] == [1, 3]
    path.write_text(path.read_text() + "[]\n")
    with pytest.raises(SourceError, match="line 801: is not a JSON object"):
        encode(small_splits, path)
