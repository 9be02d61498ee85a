"""Arrays of `.npy` files: read as NumPy reads them, and never by what evaluates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.npy_files import map_npy


@given(
    st.sampled_from(["<i4", "<i8", "|u1", "|b1", "<f8", ">u2", "<U3"]),
    st.lists(st.integers(0, 4), max_size=3),
    st.booleans(),
)
def test_what_numpy_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, kind: str, shape: list[int], turned: bool
) -> None:
    path = tmp_path_factory.mktemp("npy") / "a.npy"
    count = int(np.prod(shape, dtype=np.int64))
    array = np.asarray(np.arange(count).astype(kind).reshape(shape), order="F" if turned else "C")
    np.save(path, array)
    found = map_npy(path)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert np.array_equal(found, array)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:7],
        lambda data: data[:9],
        lambda data: data[:40],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: b"\x93NUMPY\x07\x00" + data[8:],
        lambda data: data.replace(b"(3,)", b"(9,)"),
        lambda data: data.replace(b"'<i8'", b"'|O8'"),
        lambda data: data.replace(b"'<i8'", b"'<q9'"),
        lambda data: data.replace(b"(3,)", b"f() "),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(3))
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError):  # noqa: PT011  # each is another damage, with words of its own
        map_npy(path)
