"""Text files that are encoded by shuffles give the table that this process gives."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shuffled_tables import Gathered, typed_table, write_parts

from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.engines.placement import estimated_rows, placed_source
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.shuffled.encode import encode_by_shuffles
from lawful.tables.spark_files import list_on_spark
from tables.conftest import encode_locally
from tables.looking import everything_of
from tables.text_strategies import text_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(1800)]  # dozens of jobs on a busy machine


@pytest.fixture
def small_splits(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with splits of some bytes, as large files have many; the setting is put back afterwards."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    before = {name: spark.conf.get(name) for name in names}
    for name in names:
        spark.conf.set(name, "300")
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def assert_same(spark: SparkSession, path: Path, **options: object) -> None:
    shuffled = encode_by_shuffles(spark, str(path), ReadOptions(**options), reuse=False)
    whole = encode_locally(path, reuse=False, **options)
    assert everything_of(Gathered(shuffled)) == everything_of(whole)
    assert list(shuffled.names) == list(whole.names)


HOSTILE = """n,plus,d,iso,day,ts,zone,clock,truth,text,mixed,quoted,none
1,+5,1.0,2020-01-02,31/12/2020,2020-01-01T10:00:00.5,2020-01-01T10:00Z,10:30,true,x,1,"a
b",
-3, 5,1.00,2019-01-02,01/12/2020,2020-01-01 10:00,2020-01-01T11:00+01:00,10:30:00,TRUE,,x,"a, ""b""\r
",NA
2,7,-2.5e3,2020-01-02,02/01/2021,0001-01-01T00:00:00.000000001,2020-01-01T10:00-01,09:00,false,007,2020-01-01,c,

3,NA,nan,,05/05/2020,2020-01-01T10:00:00.500,2020-01-02T10:00+00,09:00:00.1,False,é,,"",NA
"""


def test_hostile_cells_in_many_splits(small_splits: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text(HOSTILE + HOSTILE.partition("\n")[2] * 3, newline="")
    assert_same(small_splits, path, dialect=CsvDialect(null_tokens=("NA",)))


def test_several_files_other_marks_and_chosen_types(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "a.csv.gz").write_bytes(gzip.compress(b"1;'x;y';2\n?;'it\\'s';10\n"))
    (folder / "b.csv").write_bytes(b"")
    (folder / "c.csv").write_bytes(b"+1;z;010\n\n2;z;\n")
    dialect = CsvDialect(separator=";", header=False, quote="'", escape="\\", null_tokens=("?",))
    types = {"c1": ColumnType.DECIMAL, "c3": ColumnType.STRING}
    assert_same(spark, folder, dialect=dialect, types=types, columns=("c3", "c1", "c2"))
    assert_same(spark, folder, dialect=dialect, limit=3)
    assert_same(spark, folder, dialect=dialect, limit=0)


def test_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"a": 1, "b": "1", "c": true, "d": [1], "e": 1.50, "f": 1}\n'
        '{"a": "1", "b": "x", "e": -2, "f": true}\n\n{"b": null, "c": false, "e": 1.5e0, "a": 10}\n'
    )
    assert_same(spark, path)


def test_types_of_parquet_files_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_parts(typed_table(40), tmp_path / "typed", 3)
    types = {"small": "string", "decimal": "float", "float": "decimal", "date": "string", "text": "string"}
    assert_same(spark, folder, types={name: ColumnType(type_) for name, type_ in types.items()})
    wrong = {"text": ColumnType.INTEGER}
    with pytest.raises(SourceError) as expected:
        encode_locally(folder, types=wrong)
    with pytest.raises(SourceError) as refused:
        encode_by_shuffles(spark, str(folder), ReadOptions(types=wrong))
    assert refused.value.message == expected.value.message


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"a,b\n1,2\n3\n", {}, "line 3: has 1 cells where 2 were expected"),
        (b'a,b\n1,2\n\n3,"\n', {}, "line 4: a quoted cell of the record that starts here is never closed"),
        (b"a,b\n1,2\n\n3,x\n4,y\n", {"types": {"b": ColumnType.INTEGER}}, "line 4: column 'b' holds 'x'"),
        (b"", {}, "the file is empty"),
    ],
    ids=["ragged", "open quote", "another type", "empty"],
)
def test_errors_name_their_line(
    data: bytes, options: dict[str, object], message: str, spark: SparkSession, tmp_path: Path, cache: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(SourceError) as expected:
        encode_locally(path, **options)
    with pytest.raises(SourceError) as refused:
        encode_by_shuffles(spark, str(path), ReadOptions(**options))
    assert refused.value.message == expected.value.message
    assert message in refused.value.message
    assert not list((cache / "shuffled").glob("*/*")), "what was written has gone"


def test_rows_have_numbers_where_lines_are_broken_too_often(small_splits: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + '"x\ny"\n' * 60)
    with patch("lawful.tables.shuffled.reading._MOST_RUNS", 3):
        table = encode_by_shuffles(small_splits, str(path), ReadOptions(), reuse=False)
    assert [str(table.place(row)) for row in (0, 59)] == [f"{path}, row 1", f"{path}, row 60"]


def test_rows_of_text_files_are_estimated(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "12345,x\n" * 5_000)
    files = list_on_spark(spark, str(path))
    assert estimated_rows(spark, files, ReadOptions(format="csv")) == (pytest.approx(5_000, rel=0.02), 2)
    assert not placed_source(spark, path, ReadOptions()).is_shuffled
    with (
        patch("lawful.engines.placement._SMALL", 100),
        patch("lawful.engines.placement.node_of", lambda _: (100_000, 2)),
    ):
        assert placed_source(spark, path, ReadOptions(types={"a": ColumnType.STRING})).is_shuffled
        assert not placed_source(spark, path, ReadOptions(limit=100)).is_shuffled


_cells = st.one_of(st.none(), st.text('ab",\n\r ;1', max_size=4))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6)
@given(st.lists(text_columns(), min_size=1, max_size=2), st.lists(_cells, max_size=12), st.booleans())
def test_random_tables(
    small_splits: SparkSession, tmp_path: Path, columns: list[list[str | None]], cells: list[str | None], joins: bool
) -> None:
    """Columns of every kind of text, and cells with quotes, newlines, blanks and null tokens."""
    path = tmp_path / "t.csv"
    rows = max(map(len, [*columns, cells]))
    padded = [[*column, *[None] * (rows - len(column))] for column in (*columns, cells)]
    lines = [[f"c{n}" for n in range(len(padded))], *zip(*padded, strict=True)]
    path.write_bytes("".join(",".join(map(_written, line)) + "\n" for line in lines).encode())
    with patch("lawful.tables.shuffled.encode._BROADCAST_VALUES", 0 if joins else 1_000):
        assert_same(small_splits, path, dialect=CsvDialect(null_tokens=("NULL",)))


def _written(cell: str | None) -> str:
    if cell is None:
        return "NULL"
    return '"' + cell.replace('"', '""') + '"'
