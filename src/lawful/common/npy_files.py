"""Arrays of `.npy` files, mapped.

`np.load` parses a file's header with `ast.literal_eval`, and in Python 3.11 two threads that do so at once may get a
`SystemError` (python/cpython#106905: they share one count of the depth). The header is read by its form instead.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_MAGIC = b"\x93NUMPY"
_LENGTHS = {1: struct.Struct("<H"), 2: struct.Struct("<I"), 3: struct.Struct("<I")}
"""How each version of the format tells the length of its header."""
_MOST_BYTES = 10_000
_HEADER = re.compile(
    r"\{'descr': '([<>|=]?[a-zA-Z][0-9]*)', 'fortran_order': (True|False), 'shape': \(((?:[0-9]+, ?)*[0-9]*)\), \} *\n",
    re.ASCII,
)


def map_npy(path: Path) -> npt.NDArray[Any]:
    """The array of a file as NumPy writes it, to be read only.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, or holds no array of plain values.
    """
    with path.open("rb") as file:
        start = file.read(len(_MAGIC) + 2)
        if len(start) < len(_MAGIC) + 2 or not start.startswith(_MAGIC) or start[-2] not in _LENGTHS:
            raise ValueError("the file is not a .npy file")
        length = _LENGTHS[start[-2]]
        told = file.read(length.size)
        size = length.unpack(told)[0] if len(told) == length.size else _MOST_BYTES + 1
        text = file.read(min(size, _MOST_BYTES))
        begin, end = file.tell(), file.seek(0, 2)
    header = _HEADER.fullmatch(text.decode("latin-1")) if size <= _MOST_BYTES else None
    if header is None:
        raise ValueError("the header of the .npy file cannot be read")
    dtype = _dtype(header[1])
    shape = tuple(int(number) for number in header[3].replace(" ", "").split(",") if number)
    order: Any = "F" if header[2] == "True" else "C"
    count = math.prod(shape)
    if end - begin != count * dtype.itemsize:
        raise ValueError(f"the .npy file has {end - begin:,} bytes of values instead of {count * dtype.itemsize:,}")
    if not count:
        return np.empty(shape, dtype, order)
    return np.asarray(np.memmap(path, dtype, "r", begin, shape, order))


def _dtype(text: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(text)
    except TypeError as error:
        raise ValueError(str(error)) from None
    if dtype.hasobject:
        raise ValueError("the array holds objects")
    return dtype
