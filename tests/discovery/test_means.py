"""Which columns are of like size, and so compared by order: decided exactly."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.discovery.denials.means import Mean, are_alike
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions


def alike(table: EncodedTable, ratio: float = 0.1) -> bool:
    return are_alike(Mean.of(table, 0), Mean.of(table, 1), ratio)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(20, 1)])
def test_a_tenth_is_a_tenth_in_any_order_of_rows(order: tuple[int, ...], kind: pa.DataType) -> None:
    a, b = (pa.array([numbers[row] for row in order]).cast(kind) for numbers in ([0, 0, 1], [0, 0, 10]))
    assert alike(encode_arrow(pa.table({"a": a, "b": b}), ReadOptions()))


def test_floats_are_what_their_shortest_texts_say() -> None:
    assert alike(encode_arrow(pa.table({"a": [0.1, 0.2, 0.3], "b": [1.0, 2.0, 3.0]}), ReadOptions()))
    assert not alike(encode_arrow(pa.table({"a": [0.1, 0.2, 0.3], "b": [1.0, 2.0, 3.000000000000001]}), ReadOptions()))


def test_the_largest_floats() -> None:
    large = [1e308, 1.7e308, 1.7e308]
    assert alike(encode_arrow(pa.table({"a": large, "b": [1.6e308, 1.6e308, 1.7e308]}), ReadOptions()))
    assert not alike(encode_arrow(pa.table({"a": large, "b": [-1.6e308, -1.6e308, 1.0]}), ReadOptions()))


numbers = st.one_of(
    st.integers(-30, 30).map(Decimal),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-100, max_value=100, places=2),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: Decimal(repr(number))),
    st.sampled_from([Decimal("1e308"), Decimal("-1e308"), Decimal("1e-320"), Decimal("1e400")]),
)


@given(
    st.lists(st.tuples(numbers, numbers, st.booleans()), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]),
    st.sampled_from([Decimal(1), Decimal(10), Decimal("0.1"), Decimal(3)]),
)
def test_means_are_compared_exactly(rows: list[tuple[Decimal, Decimal, bool]], ratio: float, factor: Decimal) -> None:
    with localcontext(prec=2000):
        columns = [[a for a, _, _ in rows], [a * factor if is_multiple else b for a, b, is_multiple in rows]]
    texts = {name: [str(number) for number in column] for name, column in zip("ab", columns, strict=True)}
    table = encode_arrow(pa.table(texts), ReadOptions(types=dict.fromkeys("ab", ColumnType.DECIMAL)))
    means = []
    for column in columns:
        counted = [
            Fraction(number) if float(number) else Fraction() for number in column if math.isfinite(float(number))
        ]
        means.append(sum(counted, Fraction()) / (len(counted) or 1))
    smaller, larger = sorted(map(abs, means))
    expected = means[0] * means[1] >= 0 and smaller >= Fraction(str(ratio)) * larger
    assert alike(table, ratio) == expected
