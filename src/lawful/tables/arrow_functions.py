"""Arrow's functions, loaded when one is first called, and its arrays as NumPy's: small tables wait for neither."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class _Functions:
    """Stands for `pyarrow.compute`."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        return getattr(pyarrow.compute, name)


pc = _Functions()


def as_numpy(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The values of an array as NumPy has them: no copy of numbers without nulls, which must not be written to.

    Arrow's own `to_numpy` imports pandas where it is installed, which takes longer than everything else that a small
    table needs.
    """
    type_ = array.type
    if isinstance(array, pa.Array) and array.null_count == 0 and len(array):
        start, end = array.offset, array.offset + len(array)
        if pa.types.is_boolean(type_):
            bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), count=end, bitorder="little")
            return bits[start:].view(np.bool_)
        if pa.types.is_integer(type_) or type_ in _FLOATS:
            return np.frombuffer(array.buffers()[1], _FLOATS.get(type_) or str(type_))[start:end]
    return cast(npt.NDArray[Any], array.to_numpy(zero_copy_only=False))


_FLOATS = {pa.float64(): np.float64, pa.float32(): np.float32}


def as_arrow(numbers: npt.NDArray[Any]) -> pa.Array:
    """Numbers of NumPy as an array of Arrow's, without a copy; `pa.array` imports pandas too."""
    if numbers.dtype == np.bool_:
        packed = np.packbits(numbers, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(numbers), [None, pa.py_buffer(packed)])
    contiguous = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(contiguous.dtype), len(contiguous), [None, pa.py_buffer(contiguous)]
    )
