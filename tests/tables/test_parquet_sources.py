"""Parquet files and folders, on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from tables.conftest import Encode, encode_locally
from tables.looking import cells_of, places_of, ranks_of, types_of


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_a_folder_with_folders_in_it(tmp_path: Path, encode: Encode) -> None:
    write(tmp_path / "t/b.parquet", n=[3, 1])
    write(tmp_path / "t/a/deep [1] %41.parquet", n=[2])
    write(tmp_path / "t/_hidden/x.parquet", other=[2])
    write(tmp_path / "t/z.parquet", n=pa.array([], pa.int64()))
    table = encode(str(tmp_path / "t"))
    assert ranks_of(table) == [[2, 3, 1]]
    assert places_of(table) == [("deep [1] %41.parquet", 1), ("b.parquet", 1), ("b.parquet", 2)]


def test_a_partitioned_folder(tmp_path: Path, encode: Encode) -> None:
    for year in ("10.5", "9", "__HIVE_DEFAULT_PARTITION__"):
        for day in ("2024-01-02", "2023-01-01"):
            write(tmp_path / f"t/y={year}/d={day}/p.parquet", n=[1])
    table = encode(str(tmp_path / "t"))
    assert table.names == ["n", "y", "d"]
    assert types_of(table) == [ColumnType.INTEGER, ColumnType.FLOAT, ColumnType.DATE]
    assert ranks_of(table) == [[1] * 6, [2, 2, 1, 1, 0, 0], [1, 2] * 3]
    single = encode(str(tmp_path / "t/y=9/d=2023-01-01/p.parquet"))
    assert single.names == ["n"]


def test_partitions_of_words_and_of_hidden_looking_names(tmp_path: Path) -> None:
    write(tmp_path / "t/_k=a b/p.parquet", n=[1])
    write(tmp_path / "t/_k=1/p.parquet", n=[2])
    assert cells_of(encode_locally(tmp_path / "t")) == [["2", "1"], ["1", "a b"]]


def test_no_rows_keep_their_types(tmp_path: Path, encode: Encode) -> None:
    schema = {"i": pa.int32(), "f": pa.float64(), "d": pa.date32(), "s": pa.string()}
    path = write(tmp_path / "t.parquet", **{name: pa.array([], type_) for name, type_ in schema.items()})
    table = encode(str(path))
    assert table.rows == 0
    assert [type_.value for type_ in types_of(table)] == ["integer", "float", "date", "string"]


def test_columns_types_and_limit(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.pq", a=[1, 2, 3], b=["x", "5", "y"])
    table = encode(str(path), columns=("b", "a"), types={"a": ColumnType.STRING}, limit=2)
    assert (table.names, table.rows, types_of(table)) == (["b", "a"], 2, [ColumnType.STRING, ColumnType.STRING])
    with pytest.raises(SourceError) as refused:
        encode(str(path), types={"b": ColumnType.INTEGER})
    assert refused.value.message == f"{path}, row 1: column 'b' holds 'x', which is not of type integer"
    with pytest.raises(UsageError) as unknown:
        encode(str(path), columns=("z",))
    assert str(unknown.value) == f"{path} has no column 'z'\nIts columns: 'a', 'b'."


def test_broken_files(tmp_path: Path, encode: Encode) -> None:
    whole = write(tmp_path / "t.parquet", a=list(range(1000)))
    truncated = tmp_path / "truncated.parquet"
    truncated.write_bytes(whole.read_bytes()[:-100])
    with pytest.raises(SourceError) as refused:
        encode(str(truncated))
    assert refused.value.message.startswith(f"{truncated}: cannot be read as Parquet: ")
    no_parquet = tmp_path / "no.parquet"
    no_parquet.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"no\.parquet: cannot be read as Parquet"):
        encode(str(no_parquet))


def test_files_with_other_columns(tmp_path: Path, encode: Encode) -> None:
    write(tmp_path / "t/a.parquet", n=[1])
    second = write(tmp_path / "t/b.parquet", n=[1], m=[1])
    with pytest.raises(SourceError) as refused:
        encode(str(tmp_path / "t"))
    assert refused.value.message.startswith(f"{second}: its columns are not those of the first file")
