"""Packed text files: the same table as unpacked; archives that hold something else are refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from lawful.common.errors import SourceError
from lawful.tables import files
from tables.conftest import Encode, encode_locally
from tables.looking import cells_of

TEXT = b"a,b\n1,x\n\n2,y\n"


def zipped(*members: tuple[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return held.getvalue()


def zstd(data: bytes) -> bytes:
    held = pa.BufferOutputStream()
    with pa.CompressedOutputStream(held, "zstd") as packing:
        packing.write(data)
    return held.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv.zip", zipped(("t.csv", TEXT))),
        ("t.csv.ZIP", zipped(("folder/", b""), ("folder/t.csv", TEXT), ("__MACOSX/._t.csv", b"x"))),
        ("t.csv.zst", zstd(TEXT)),
        ("t.csv.zstd", zstd(TEXT)),
        ("t.csv.zst", zstd(TEXT[:6]) + zstd(TEXT[6:])),
    ],
)
def test_packed_files_are_read_as_unpacked_ones(tmp_path: Path, encode: Encode, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert cells_of(encode(str(tmp_path / name))) == [["1", "x"], ["2", "y"]]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.csv.zip", zipped(("a.csv", TEXT), ("b.csv", TEXT)), "holds 2 files, and a table is one"),
        ("t.csv.zip", zipped(), "holds 0 files"),
        ("t.csv.zip", b"no archive", "cannot be read: File is not a zip file"),
        ("t.csv.zst", b"no archive", "cannot be read: "),
        ("t.csv.zst", zstd(TEXT * 1000)[:-9], "cannot be read: "),
    ],
)
def test_archives_that_are_no_table_are_refused(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=message):
        encode_locally(str(tmp_path / name))


@pytest.mark.parametrize(("suffix", "pack"), [("zip", lambda data: zipped(("t.csv", data))), ("zst", zstd)])
def test_archives_that_unpack_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(files, "_HARMLESS_SIZE", 1 << 20)
    (tmp_path / f"t.csv.{suffix}").write_bytes(pack(b"a\n" + b"0\n" * (4 << 20)))
    with pytest.raises(SourceError, match="unpacks to more than 500 times its size"):
        encode_locally(str(tmp_path / f"t.csv.{suffix}"))


def test_blank_lines_are_passed_over_unless_there_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_bytes(b"a,b\n\n1,x\n\n\n2,y\n\n")
    (tmp_path / "one.csv").write_bytes(b"a\n1\n\n2\n")
    (tmp_path / "t.jsonl").write_bytes(b'{"a": 1}\n\n{"a": 2}\n')
    assert cells_of(encode_locally(str(tmp_path / "two.csv"))) == [["1", "x"], ["2", "y"]]
    assert cells_of(encode_locally(str(tmp_path / "one.csv"))) == [["1"], [None], ["2"]]
    assert cells_of(encode_locally(str(tmp_path / "t.jsonl"))) == [["1"], ["2"]]
