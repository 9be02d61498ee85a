"""Encoded tables on disk: found again while nothing changed, mapped read-only, forgotten within a limit."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from lawful.common.errors import LawfulError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables import encoded_table, kept_tables
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.spark_pipeline import encode_on_spark
from tables.conftest import Encode, encode_locally
from tables.looking import everything_of, ranks_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n2,\n")
    return path


def folder_of(table: EncodedTable) -> Path:
    assert table.folder is not None
    return table.folder


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    """What would differ if a file had been written again."""
    files = [path for path in folder.rglob("*.*") if path.name != encoded_table.METADATA]
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def test_a_table_is_found_again(source: Path, encode: Encode) -> None:
    first = encode(str(source))
    before = state_of(folder_of(first))
    second = encode(str(source))
    assert second.folder == first.folder
    assert state_of(folder_of(second)) == before
    assert len(before) == 5
    assert everything_of(second) == everything_of(first)
    assert second.settings["separator"] == ","


def _touch(path: Path) -> dict[str, object]:
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    return {}


@pytest.mark.parametrize(
    "change",
    [
        _touch,
        lambda path: path.write_bytes(path.read_bytes() + b"3,z\n") and {},
        lambda _: {"dialect": CsvDialect(null_tokens=("x",))},
        lambda _: {"dialect": CsvDialect(header=False)},
        lambda _: {"dialect": CsvDialect(encoding="latin-1")},
        lambda _: {"dialect": CsvDialect(quote=None)},
        lambda _: {"dialect": CsvDialect(escape="\\")},
        lambda _: {"types": {"a": ColumnType.STRING}},
        lambda _: {"columns": ("a",)},
        lambda _: {"columns": ("b", "a")},
        lambda _: {"limit": 1},
    ],
)
def test_a_table_is_not_reused_when_something_changed(
    source: Path, change: Callable[[Path], dict[str, object]]
) -> None:
    first = encode_locally(source)
    second = encode_locally(source, **change(source))
    assert second.folder != first.folder


def overwrite_unseen(path: Path, data: bytes) -> None:
    """Change what is in a file, but neither its size nor its time of change."""
    found = path.stat()
    assert len(data) == found.st_size
    path.write_bytes(data)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_a_file_of_the_same_size_and_time_is_judged_by_what_is_in_it(source: Path, encode: Encode) -> None:
    first = encode(str(source))
    overwrite_unseen(source, source.read_bytes().replace(b"1,x", b"9,x"))
    second = encode(str(source))
    assert (ranks_of(first)[0], ranks_of(second)[0]) == ([1, 2, 2], [2, 1, 1])
    assert encode(str(source)).folder == second.folder


def test_so_is_a_file_that_took_the_place_of_another(source: Path, encode: Encode) -> None:
    encode(str(source))
    aside = source.with_suffix(".new")
    aside.write_bytes(source.read_bytes())
    overwrite_unseen(aside, source.read_bytes().replace(b"1,x", b"9,x"))
    os.utime(aside, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    aside.replace(source)
    assert ranks_of(encode(str(source)))[0] == [2, 1, 1]


def test_so_is_a_file_that_spark_is_given_as_an_address(source: Path, spark: SparkSession) -> None:
    ranks = []
    for data in (source.read_bytes(), source.read_bytes().replace(b"1,x", b"9,x")):
        overwrite_unseen(source, data)
        ranks.append(ranks_of(encode_on_spark(spark, source.as_uri(), ReadOptions()))[0])
    assert ranks == [[1, 2, 2], [2, 1, 1]]


def test_a_change_in_the_middle_of_a_large_file_is_seen(tmp_path: Path, encode: Encode) -> None:
    path = tmp_path / "large.csv"
    lines = [f"{number:06}\n".encode() for number in range(100_000, 130_000)]
    path.write_bytes(b"".join([b"number\n", *lines]))
    assert encode(str(path)).distinct(0) == len(lines)
    lines[len(lines) // 2] = lines[0]
    overwrite_unseen(path, b"".join([b"number\n", *lines]))
    assert encode(str(path)).distinct(0) == len(lines) - 1


def test_without_reuse_the_source_is_read_again(source: Path, encode: Encode) -> None:
    first = encode(str(source))
    again = encode(str(source), reuse=False)
    assert again.folder != first.folder
    assert everything_of(again) == everything_of(first)


def test_columns_are_mapped_from_one_file_and_cannot_be_written(source: Path) -> None:
    here = encode_locally(source)
    again = EncodedTable.open(folder_of(here))
    for table in (here, again):
        mapped = table.column(0).base
        assert isinstance(mapped, np.memmap)
        assert Path(str(mapped.filename)).samefile(folder_of(here) / "ranks/0.npy")
        with pytest.raises(ValueError, match="read-only"):
            table.column(0)[0] = 5
    assert here.column(0) is here.column(0)


def test_a_table_in_memory_cannot_be_written_either(source: Path) -> None:
    table = encode_locally(source, reuse=False)
    assert table.folder is None
    with pytest.raises(ValueError, match="read-only"):
        table.column(0)[0] = 5


def test_texts_of_rows(source: Path) -> None:
    for reuse in (True, False):
        table = encode_locally(source, reuse=reuse)
        assert table.texts([2, 0, 0], 1).to_pylist() == [None, "x", "x"]
        assert (table.value(2, 1), table.value(1, 1), table.nbytes) == (None, "y", 24)


def test_no_more_rows_than_ids() -> None:
    encoded_table.check_row_count(encoded_table.MOST_ROWS)
    with pytest.raises(LawfulError, match="ranks are 32-bit"):
        encoded_table.check_row_count(encoded_table.MOST_ROWS + 1)


def encoded_and_let_go(source: Path, hours: float, limit: int) -> Path:
    """The folder of a table that nobody uses, and was not used for some hours."""
    folder = folder_of(encode_locally(source, limit=limit))
    moment = time.time() - hours * 3600
    os.utime(folder / encoded_table.METADATA, (moment, moment))
    return folder


def test_the_cache_forgets_what_was_unused_for_longest(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, older, used, recent = (
        encoded_and_let_go(source, hours, limit) for limit, hours in enumerate((3.0, 4.0, 5.0, 0.5))
    )
    assert folder_of(encode_locally(source, limit=2)) == used  # using it makes it young
    monkeypatch.setenv(kept_tables.CACHE_LIMIT_VARIABLE, "1")
    new = folder_of(encode_locally(source, limit=9))
    assert [folder.exists() for folder in (old, older, used, recent, new)] == [False, False, True, True, True]


def test_the_cache_keeps_what_fits(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, older = encoded_and_let_go(source, 2, 1), encoded_and_let_go(source, 3, 2)
    sizes = sum(path.stat().st_size for path in old.rglob("*.*"))
    monkeypatch.setenv(kept_tables.CACHE_LIMIT_VARIABLE, str(int(sizes * 2.5)))
    encode_locally(source, limit=3)
    assert (old.exists(), older.exists()) == (True, False)


def test_a_table_in_use_is_not_forgotten_however_old(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = encoded_and_let_go(source, 0, 1)
    table = encode_locally(source, limit=1)
    assert table.folder == folder
    os.utime(folder / encoded_table.METADATA, (0, 0))
    monkeypatch.setenv(kept_tables.CACHE_LIMIT_VARIABLE, "1")
    encode_locally(source, limit=2)
    assert table.column(1).tolist() == [1]
    del table
    encode_locally(source, limit=3)
    assert not folder.exists()


@pytest.mark.parametrize(("text", "limit"), [("", 20 << 30), ("10g", 10 << 30), ("512M", 512 << 20), ("1000", 1000)])
def test_limits_of_the_cache(monkeypatch: pytest.MonkeyPatch, text: str, limit: int) -> None:
    monkeypatch.setenv(kept_tables.CACHE_LIMIT_VARIABLE, text)
    assert kept_tables.cache_limit() == limit


def test_a_limit_that_is_no_size_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kept_tables.CACHE_LIMIT_VARIABLE, "plenty")
    with pytest.raises(UsageError, match="LAWFUL_CACHE_LIMIT: 'plenty' is not a size\nWrite 512m or 4g"):
        kept_tables.cache_limit()


def test_what_dead_processes_left_is_removed_and_what_lives_is_not(source: Path) -> None:
    parent = kept_tables.tables_folder()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = socket.gethostname()
    dead = parent / f".writing-{host}-{ended.pid}-0"
    alive = parent / f".writing-{host}-{os.getpid()}-0"
    elsewhere, forgotten = (parent / f".writing-another-host-{ended.pid}-{number}" for number in (0, 1))
    for folder in (dead, alive, elsewhere, forgotten):
        (folder / "ranks").mkdir(parents=True)
    os.utime(forgotten, (0, 0))
    encode_locally(source)
    assert [folder.exists() for folder in (dead, alive, elsewhere, forgotten)] == [False, True, True, False]


def test_a_failed_encoding_leaves_nothing(source: Path, encode: Encode) -> None:
    with pytest.raises(LawfulError):
        encode(str(source), types={"b": ColumnType.DATE})
    assert [path for path in kept_tables.tables_folder().iterdir() if path.is_dir()] == []


def test_a_place_that_cannot_be_taken_is_an_error(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A file stands where the table should: it is no table to find, and no folder can replace it.
    table = encode_locally(source)
    folder = folder_of(table)
    kept_tables.discard(folder)
    folder.write_text("in the way")
    with pytest.raises(OSError, match=str(folder)):
        encode_locally(source)
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == []


def test_metadata_are_plain_json(source: Path) -> None:
    document = json.loads((folder_of(encode_locally(source)) / encoded_table.METADATA).read_text())
    assert document["columns"][1] == {
        "name": "b",
        "type": "string",
        "distinct": 2,
        "nulls": 1,
        "min": "x",
        "max": "y",
    }
    assert document["rows"] == 3


def test_values_are_mapped_and_never_copied_as_a_whole(tmp_path: Path) -> None:
    rows = 300_000
    path = tmp_path / "many.csv"
    path.write_text("a\n" + "".join(f"x{row:07}\n" for row in range(rows)))
    table = encode_locally(str(path))
    before = pa.total_allocated_bytes()
    values = table.values(0)
    assert table.value(rows - 1, 0) == f"x{rows - 1:07}"
    assert pa.total_allocated_bytes() - before < 100_000
    (folder_of(table) / encoded_table.values_file(0)).unlink()
    assert values[7].as_py() == "x0000007"  # the map lasts as long as what is in it


def test_a_table_that_is_verified_leaves_nothing_mapped(source: Path, encode: Encode) -> None:
    folder = folder_of(encode(str(source)))
    table = EncodedTable.open(folder)
    assert str(folder) not in Path("/proc/self/maps").read_text()
    assert table.column(0).tolist() == [1, 2, 2]
    assert str(folder) in Path("/proc/self/maps").read_text()
