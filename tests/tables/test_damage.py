"""Damaged and hostile folders: never opened, never used, and made anew from the source."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful.common.errors import DamagedTableError
from lawful.tables.encoded_table import METADATA, ORIGINS, EncodedTable, checksum, write_metadata
from tables.conftest import encode_locally
from tables.looking import everything_of

FILES = [METADATA, ORIGINS, "ranks/0.npy", "ranks/1.npy", "values/0.arrow", "values/1.arrow"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n2,\n\n3,x\n")
    return path


@pytest.fixture
def folder(source: Path) -> Path:
    found = encode_locally(source).folder
    assert found is not None
    return found


def refuse(folder: Path, reason: str = "is damaged") -> None:
    with pytest.raises(DamagedTableError, match=reason) as refused:
        EncodedTable.open(folder)
    assert str(folder) in refused.value.message


def test_the_files_are_those_that_are_damaged_here(folder: Path) -> None:
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_is_found(folder: Path, source: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    places = range(len(whole)) if len(whole) < 150 else random.Random(1).sample(range(len(whole)), 150)
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1
        (folder / name).write_bytes(damaged)
        refuse(folder)
    rebuilt = encode_locally(source)
    assert rebuilt.folder == folder
    assert (folder / name).read_bytes() == whole


@pytest.mark.parametrize("name", FILES)
def test_missing_and_shortened_files_are_found(folder: Path, source: Path, name: str) -> None:
    expected = everything_of(encode_locally(source, reuse=False))
    whole = (folder / name).read_bytes()
    for size in (0, len(whole) // 2, len(whole) - 1):
        (folder / name).write_bytes(whole[:size])
        refuse(folder)
    (folder / name).write_bytes(whole + b"\n\0")
    refuse(folder)
    (folder / name).unlink()
    refuse(folder, "missing|has no")
    assert everything_of(encode_locally(source)) == expected


def test_another_format_version(folder: Path, source: Path) -> None:
    document = json.loads((folder / METADATA).read_text())
    write_metadata(folder, document | {"format": "lawful-table/999"})
    refuse(folder, "its format is 'lawful-table/999', and this version of lawful reads 'lawful-table/1'")
    assert encode_locally(source).folder == folder
    EncodedTable.open(folder)


def _with_file(name: str) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["files"][name] = {"bytes": 0, "crc32": "00000000"}

    return change


def _with(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document[name] = value

    return change


def _with_column(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["columns"][0][name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _with_file("nul\0byte"),
        _with("files", []),
        _with("files", {}),
        _with("files", {"ranks/0.npy": 7}),
        _with("rows", "many"),
        _with("rows", 10**12),
        _with("rows", 1e999),
        _with("rows", -1),
        _with("rows", None),
        _with("columns", {"a": 1}),
        _with("columns", [1, 2]),
        _with("settings", 3),
        _with("origins", {}),
        _with("origins", {"files": 5, "unit": "line"}),
        _with("origins", {"files": [], "unit": "line"}),
        _with_column("type", "colour"),
        _with_column("distinct", 2),
        _with_column("distinct", 4),
        _with_column("distinct", "x"),
    ],
)
def test_hostile_metadata_are_refused(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads((folder / METADATA).read_text())
    change(document)
    write_metadata(folder, document)  # whoever forges metadata can forge their checksum too
    refuse(folder)


def test_files_outside_of_the_folder_are_refused_even_if_they_match(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.write_bytes(b"42")
    whole = json.loads((folder / METADATA).read_text())
    for name in (str(outside), "../../../secret"):
        assert (folder / name).read_bytes() == b"42"
        entry = {"bytes": 2, "crc32": checksum(b"42")}
        write_metadata(folder, whole | {"files": whole["files"] | {name: entry}})
        refuse(folder, "its metadata name a file outside of it")


@pytest.mark.parametrize("text", ["", "null", "[]", "{", "[" * 100_000, '{"format": "lawful-table/1"}', "\0"])
def test_metadata_that_are_none(folder: Path, text: str) -> None:
    (folder / METADATA).write_text(text)
    refuse(folder)


@pytest.mark.parametrize(
    "ranks",
    [
        np.array([1, 2, 2, 2**31 - 1], np.int32),
        np.array([1, 2, -5, 3], np.int32),
        np.array([1, 2, 2, 2], np.int32),
        np.array([1, 2, 3], np.int32),
        np.array([1, 2, 2, 3], np.int64),
        np.array([[1, 2, 2, 3]], np.int32),
        np.array([1, 2, 2, 3], object),
    ],
)
def test_forged_ranks_are_refused(folder: Path, ranks: np.ndarray[Any, Any]) -> None:
    """Compiled loops trust the ranks: one beyond the distinct values would read and write foreign memory."""
    path = folder / "ranks/0.npy"
    np.save(path, ranks, allow_pickle=True)
    document = json.loads((folder / METADATA).read_text())
    data = path.read_bytes()
    document["files"]["ranks/0.npy"] = {"bytes": len(data), "crc32": checksum(data)}
    write_metadata(folder, document)
    refuse(folder)


def test_a_folder_that_is_none(tmp_path: Path, folder: Path) -> None:
    refuse(tmp_path / "missing", "it has no table.json")
    shutil.rmtree(folder / "ranks")
    refuse(folder, "is missing")
