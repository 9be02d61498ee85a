from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.evidence.living.orders import OrderKeys
from lawful.evidence.living.orders import order_keys as module
from lawful.tables.living.codes import Codes
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.living.living_table import LivingColumn, LivingTable


def column_of(type_: ColumnType) -> tuple[Dictionary, OrderKeys]:
    dictionary = Dictionary()
    column = LivingColumn("c", type_, dictionary)
    return dictionary, OrderKeys(LivingTable("t", [column], Codes(np.empty((1, 0), np.int32))), 0)


def check(keys: OrderKeys, dictionary: Dictionary, type_: ColumnType) -> None:
    ranks = dictionary.ranks(type_)
    assert np.array_equal(keys.ranks(), ranks)
    assert (np.diff(keys.labels[np.argsort(ranks)]) > 0).all()


@given(
    st.lists(st.lists(st.integers(-60, 60), max_size=9), max_size=6),
    st.sampled_from([ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.STRING]),
    st.booleans(),
)
def test_labels_are_in_the_order_of_the_values(batches: list[list[int]], type_: ColumnType, searches: bool) -> None:
    dictionary, keys = column_of(type_)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_MANY", 0 if searches else 4)
        for batch in batches:
            dictionary.add(pa.array([str(value) for value in batch], pa.string()))
            keys.catch_up()
            check(keys, dictionary, type_)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("bounds", [("-1000000", "1000000"), ("5000000", "-5000000"), ()])
def test_values_that_come_one_after_the_other_seldom_use_up_a_gap(bounds: tuple[str, ...], step: int) -> None:
    """Between two values that stay, or beyond all: growing or falling."""
    dictionary, keys = column_of(ColumnType.INTEGER)
    dictionary.add(pa.array([*bounds, *map(str, range(2_000_000, 2_000_100))], pa.string()))
    keys.catch_up()
    before = keys.labelled
    for batch in range(100):
        start = step * batch * 20
        dictionary.add(pa.array([str(start + step * k) for k in range(20)], pa.string()))
        keys.catch_up()
    check(keys, dictionary, ColumnType.INTEGER)
    assert keys.ordered == 0
    assert keys.labelled - before <= 10


def test_values_that_are_forgotten_or_of_another_type_are_ordered_anew() -> None:
    dictionary, keys = column_of(ColumnType.INTEGER)
    dictionary.add(pa.array(["10", "9", "8"]))
    keys.catch_up()
    dictionary.truncate(2)
    keys.catch_up()
    assert keys.known == 2
    assert keys.ordered == 1
    check(keys, dictionary, ColumnType.INTEGER)
