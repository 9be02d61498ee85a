"""Arrow's arrays as NumPy's and back, without pandas: the values that Arrow's own ways give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.tables.arrow_functions import as_arrow, as_numpy

TYPES = [
    pa.bool_(),
    pa.int8(),
    pa.uint8(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
]


@pytest.mark.parametrize("type_", TYPES, ids=str)
@given(st.lists(st.integers(0, 100), max_size=40), st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_numbers_are_those_that_arrow_gives(
    type_: pa.DataType, numbers: list[int], start: int, length: int, has_nulls: bool
) -> None:
    given_numbers: list[int | None] = [None, *numbers] if has_nulls else [*numbers]
    array = pa.array(given_numbers, pa.int64()).cast(type_).slice(start, length)
    expected = array.to_numpy(zero_copy_only=False)
    found = as_numpy(array)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if not array.null_count:
        assert as_arrow(found).equals(array)
        assert as_arrow(found[::2]).equals(pa.array(expected[::2]))


def test_arrays_in_chunks_are_joined() -> None:
    assert as_numpy(pa.chunked_array([[1, 2], [3]])).tolist() == [1, 2, 3]
