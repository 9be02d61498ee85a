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

import numpy as np
import pyarrow as pa
import pytest

from lawful.common.errors import LawfulError
from lawful.common.meanings import ColumnType
from lawful.tables import encoded_table, storage
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import CsvDialect
from tables.conftest import Encode, encode_locally
from tables.looking import everything_of, ranks_of


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


def test_without_reuse_the_source_is_read_again(source: Path, encode: Encode) -> None:
    first = encode(str(source))
    found = source.stat()
    source.write_bytes(source.read_bytes().replace(b"1,x", b"9,x"))
    os.utime(source, ns=(found.st_atime_ns, found.st_mtime_ns))  # nothing tells that the file changed
    assert ranks_of(encode(str(source))) == ranks_of(first)
    assert ranks_of(encode(str(source), reuse=False))[0] == [2, 1, 1]


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


def age(table: EncodedTable, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(folder_of(table) / encoded_table.METADATA, (moment, moment))


def test_the_cache_forgets_what_was_unused_for_longest(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, older, used, recent = (encode_locally(source, limit=limit) for limit in range(4))
    for table, hours in ((old, 3), (older, 4), (used, 5), (recent, 0.5)):
        age(table, hours * 3600)
    assert encode_locally(source, limit=2).folder == used.folder  # using it makes it young
    monkeypatch.setenv(storage.CACHE_LIMIT_VARIABLE, "1")
    new = encode_locally(source, limit=9)
    kept = {path.name for path in folder_of(new).parent.iterdir() if not path.name.startswith(".")}
    assert kept == {folder_of(table).name for table in (used, recent, new)}


def test_the_cache_keeps_what_fits(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, older = encode_locally(source, limit=1), encode_locally(source, limit=2)
    age(old, 2 * 3600)
    age(older, 3 * 3600)
    sizes = sum(path.stat().st_size for path in folder_of(old).rglob("*.*"))
    monkeypatch.setenv(storage.CACHE_LIMIT_VARIABLE, str(int(sizes * 2.5)))
    encode_locally(source, limit=3)
    assert folder_of(old).exists()
    assert not folder_of(older).exists()


def test_what_dead_processes_left_is_removed_and_what_lives_is_not(source: Path) -> None:
    parent = storage.tables_folder()
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
    assert [path for path in storage.tables_folder().iterdir() if path.is_dir()] == []


def test_a_place_that_cannot_be_taken_is_an_error(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A file stands where the table should: it is no table to find, and no folder can replace it.
    table = encode_locally(source)
    folder = folder_of(table)
    storage.discard(folder)
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
