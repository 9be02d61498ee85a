"""Types and orders of text columns, against an oracle that reads every text with Python's own types."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import describe
from lawful.tables.ranking import NotConvertibleError, RankedColumn, rank_column
from lawful.tables.text_values import NotThatTypeError, sort_texts
from tables.text_oracle import READERS, fits, rank_texts
from tables.text_strategies import text_columns

Texts = Sequence[str | None]


def rank(column: Texts, cuts: Sequence[int] = (), asked: ColumnType | None = None) -> RankedColumn:
    """Rank a column that comes in pieces, cut at the given places."""
    places = [0, *sorted(min(cut, len(column)) for cut in cuts), len(column)]
    pieces = [
        pa.array(list(column[first:last]), pa.string()).dictionary_encode()
        for first, last in itertools.pairwise(places)
    ]
    return rank_column(pieces, asked=asked, is_text=True)


@given(text_columns())
@example(["9007199254740993", "9007199254740992", "9007199254740992.0"])
@example(["1e400", "inf", "1e401", "-1e400", "-inf"])
@example(["1.0", "1.00", "+1", "1e0", "10e-1", ".1e1"])
@example(["-0", "0", "+0", "-0.0"])
@example(["nan", "NaN"])
@example(["nan", "1", "nan"])
@example(["007", "7"])
@example(["2020-01-01T00:00:00+01:00", "2019-12-31T23:00Z"])
@example(["2020-01-01T00:00:00+01:00", "2019-12-31T23:00"])
@example(["2020-01-01T00:00+19:00", "2020-01-01T00:00Z"])
@example(["2020-01-01T00:00+01:60", "2020-01-01T00:00Z"])
@example(["2020-01-01T00:00:00.5", "2020-01-01T00:00:00.05", "2020-01-01T00:00:00,500"])
@example(["1", "1\n"])
@example(["01", "1"])
@example(["1.5", "-01.5"])
@example(["\U0001f600", "\ufffd", "\ue000", "e\u0301", "\u00e9"])
def test_type_and_ranks_are_those_of_the_oracle(column: Texts) -> None:
    ranked = rank(column)
    expected_type, expected_ranks = rank_texts(column)
    assert (ranked.type, ranked.ranks.tolist()) == (expected_type, expected_ranks)


@given(text_columns(), st.lists(st.integers(0, 12), max_size=4))
def test_cutting_a_column_into_pieces_changes_nothing(column: Texts, cuts: list[int]) -> None:
    whole, pieces = rank(column), rank(column, cuts)
    assert pieces.ranks.tobytes() == whole.ranks.tobytes()
    assert (pieces.type, pieces.nulls, pieces.values.to_pylist()) == (whole.type, whole.nulls, whole.values.to_pylist())


@given(text_columns())
def test_statistics_and_values(column: Texts) -> None:
    ranked = rank(column)
    _, ranks = rank_texts(column)
    assert ranked.nulls == ranks.count(0)
    assert ranked.distinct == max(ranks, default=0)
    # The value of a rank is the first text in the column that has it.
    first_texts = [column[ranks.index(wanted)] for wanted in range(1, ranked.distinct + 1)]
    assert ranked.values.to_pylist() == first_texts
    described = describe("name", ranked)
    assert (described.minimum, described.maximum) == (
        (first_texts[0], first_texts[-1]) if first_texts else (None, None)
    )


@given(text_columns(), st.sampled_from(sorted(READERS)))
@example(["2023-02-30", "2024-02-30"], ColumnType.DATE)
@example(["2020-01-01T00:00Z", None, "2020-01-01T00:00"], ColumnType.TIMESTAMP)
def test_a_chosen_type_is_kept_or_refused_at_a_row_that_does_not_have_it(column: Texts, asked: ColumnType) -> None:
    texts = [text for text in column if text is not None]
    if fits(asked, texts):
        ranked = rank(column, asked=asked)
        assert (ranked.type, ranked.ranks.tolist()) == rank_texts(column, asked)
        return
    with pytest.raises(NotConvertibleError) as refused:
        rank(column, asked=asked)
    row, text = refused.value.row, refused.value.text
    assert column[row] == text
    assert column.index(text) == row
    # The column without texts that cannot be read with the one at fault is what is left of the type.
    assert not fits(asked, [text]) or any(not fits(asked, [text, other]) for other in texts)


@given(st.lists(st.integers(-(10**25), 10**25), min_size=1, max_size=30))
def test_integers_of_any_size_are_ordered_exactly(numbers: list[int]) -> None:
    ranked = rank([str(number) for number in numbers])
    places = {number: place for place, number in enumerate(sorted(set(numbers)), 1)}
    assert ranked.type is ColumnType.INTEGER
    assert ranked.ranks.tolist() == [places[number] for number in numbers]


def test_exponents_beyond_every_float() -> None:
    ranked = rank(["1e999999999", "-1e999999999", "1e-999999999", "0", "10e999999998", "inf"])
    assert ranked.type is ColumnType.DECIMAL
    assert ranked.ranks.tolist() == [4, 1, 3, 2, 4, 5]


def test_the_year_zero_is_a_year_before_the_first() -> None:
    ranked = rank(["0001-01-01", "0000-12-31", "0000-01-01"])
    assert (ranked.type, ranked.ranks.tolist()) == (ColumnType.DATE, [3, 2, 1])


def test_no_type_can_be_made_of_text_that_no_reader_knows() -> None:
    with pytest.raises(NotConvertibleError):
        rank(["1 day"], asked=ColumnType.DURATION)


def test_a_column_without_values_has_the_type_null_or_the_one_asked_for() -> None:
    assert rank([None, None]).type is ColumnType.NULL
    assert rank([], asked=ColumnType.DATE).type is ColumnType.DATE


def test_the_first_misfit_of_many_is_found_quickly() -> None:
    days = [
        f"{year:04}-{month:02}-{day:02}" for year in range(1, 1000) for month in range(1, 13) for day in range(1, 29)
    ]
    with pytest.raises(NotConvertibleError) as refused:
        rank([*days, "2023-02-30", "2023-02-31"], asked=ColumnType.DATE)
    assert (refused.value.row, refused.value.text) == (len(days), "2023-02-30")


@pytest.mark.parametrize("kept", [0, 1, 2, 5])
def test_rows_beyond_the_limit_take_no_part(kept: int) -> None:
    column = ["3", "1", None, "x"]
    pieces = [pa.array(column[:2]).dictionary_encode(), pa.array(column[2:]).dictionary_encode()]
    ranked = rank_column(pieces, is_text=True, limit=kept)
    assert (ranked.type, ranked.ranks.tolist()) == rank_texts(column[:kept])


@pytest.mark.parametrize(
    ("texts", "type_", "order"),
    [
        (["02/01/2024", "31/12/2023"], ColumnType.DATE, [2, 1]),
        (["12/11/2024", "11/12/2024"], ColumnType.DATE, [2, 1]),  # both ways are possible: month first
        (["31/12/2023", "12/31/2023"], ColumnType.STRING, [2, 1]),
        (["31.01.2024", "01.02.2024"], ColumnType.DATE, [1, 2]),
        (["31.02.2024", "01.02.2024"], ColumnType.STRING, [2, 1]),
        (["09:30", "09:30:00", "23:59:59.5", "00:00"], ColumnType.TIME, [2, 2, 3, 1]),
        (["9:30", "10:15"], ColumnType.STRING, [2, 1]),
    ],
)
def test_dates_of_other_countries_and_times_of_day(texts: list[str], type_: ColumnType, order: list[int]) -> None:
    found = sort_texts(pa.array(texts))
    assert (found.type, found.ranks.tolist()) == (type_, order)


def test_the_date_that_spoils_a_chosen_type_is_named() -> None:
    for texts, index in ((["31/12/2023", "12/31/2023"], 1), (["12/31/2023", "31/12/2023"], 1), (["13/13/2023"], 0)):
        with pytest.raises(NotThatTypeError) as misfit:
            sort_texts(pa.array(texts), ColumnType.DATE)
        assert misfit.value.index == index
