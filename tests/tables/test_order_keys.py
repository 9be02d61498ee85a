"""The type and the order of texts that no process holds, found part by part, against all texts in one place."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.tables.ranking import NotConvertibleError, RankedColumn, rank_column
from lawful.tables.shuffled.order_keys import order_keys
from lawful.tables.shuffled.text_types import Misfit, failed, settled
from tables.text_oracle import READERS
from tables.text_strategies import text_columns

Texts = Sequence[str | None]


def misfits(column: Texts, cuts: Sequence[int]) -> dict[str, Misfit]:
    """The first row of a column that fails each test, found in parts that are cut at the given places."""
    found: dict[str, Misfit] = {}
    places = [0, *sorted(min(cut, len(column)) for cut in cuts), len(column)]
    for first, last in itertools.pairwise(places):
        texts = pa.array([text for text in column[first:last] if text is not None], pa.string()).unique()
        for name, place in failed(texts):
            text = texts[place].as_py()
            misfit = Misfit(column.index(text, first), text)
            found[name] = min(misfit, found.get(name, misfit))
    return found


def ranked_or_refused(column: Texts, asked: ColumnType | None) -> RankedColumn | NotConvertibleError:
    """All texts in one place, ranked, or what is wrong with one of them."""
    try:
        return rank_column([pa.array(list(column), pa.string()).dictionary_encode()], asked=asked, is_text=True)
    except NotConvertibleError as error:
        return error


def assert_read_alike(column: Texts, cuts: Sequence[int], asked: ColumnType | None) -> None:
    expected = ranked_or_refused(column, asked)
    if isinstance(expected, NotConvertibleError):
        with pytest.raises(NotConvertibleError) as refused:
            settled(misfits(column, cuts), asked)
        assert (refused.value.row, refused.value.text) == (expected.row, expected.text)
        return
    reading = settled(misfits(column, cuts), asked)
    assert reading.type is expected.type
    texts = pa.array([text for text in column if text is not None], pa.string())
    keys = order_keys(texts, reading)
    assert keys.type == reading.form.arrow_type
    known = sorted(set(keys.drop_null().to_pylist()))
    ranks = iter([0 if key is None else known.index(key) + 1 for key in keys.to_pylist()])
    assert [0 if text is None else next(ranks) for text in column] == expected.ranks.tolist()
    if reading.is_plain and len(texts):
        assert keys.cast(pa.string()).to_pylist() == texts.to_pylist()


@given(text_columns(), st.lists(st.integers(0, 12), max_size=4))
@example(["9007199254740993", "9007199254740992", "9007199254740992.0"], [])
@example(["1e400", "inf", "1e401", "-1e400", "-inf"], [])
@example(["1.0", "1.00", "+1", "1e0", "10e-1", ".1e1", "0.1", ".01", "-.01", "-0.1", "-0.11", "-10", "-9"], [])
@example(["1e999999999", "-1e999999999", "1e-999999999", "0", "10e999999998", "inf", "nan", "5."], [2])
@example(["-0", "0", "+0", "-0.0"], [])
@example(["0001-01-01", "0000-12-31", "0000-01-01"], [1])
@example(["01/02/2020", "13/02/2020", "02/13/2020"], [1, 2])
@example(["2020-01-01T00:00:00+01:00", "2019-12-31T23:00"], [1])
@example(["2020-01-01T00:00:00.000000001", "0000-01-01T00:00"], [])
def test_parts_tell_the_type_and_the_order_of_a_column(column: Texts, cuts: list[int]) -> None:
    assert_read_alike(column, cuts, None)


@given(text_columns(), st.lists(st.integers(0, 12), max_size=4), st.sampled_from(sorted(READERS)))
@example(["2023-02-30", "2024-02-30"], [1], ColumnType.DATE)
@example(["13/02/2020", "02/13/2020", "32/01/2020"], [1, 2], ColumnType.DATE)
@example(["02/13/2020", "13/02/2020"], [1], ColumnType.DATE)
@example(["2020-01-01T00:00Z", None, "2020-01-01T00:00"], [1], ColumnType.TIMESTAMP)
@example(["x", "y"], [], ColumnType.DECIMAL)
def test_a_type_that_was_asked_for_is_kept_or_refused_at_the_same_row(
    column: Texts, cuts: list[int], asked: ColumnType
) -> None:
    assert_read_alike(column, cuts, asked)
