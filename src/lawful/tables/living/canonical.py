"""One text for each value: all spellings of a value come down to its *canonical text*.

The type of a column is given here, never found. Two texts have the same canonical text where `sort_texts` gives them
the same rank under that type, and a canonical text is of the type itself and is its own canonical text:

| type | canonical texts |
|---|---|
| boolean | `true`, `false` |
| integer | `0`, `-12`, of any size |
| decimal, float | `0`, `-1.5`, `inf`, `-inf`; beyond 40 digits on either side of the point `1.5e100` |
| date | `2020-03-01` |
| timestamp | `2020-03-01 12:30:00.5`, at UTC and with `Z` behind it where the column has zones |
| time | `12:30:00.5` |
| duration | a number of nanoseconds |
| binary | `00ff` |
| string | every text |

What fits a type is what `sort_texts` takes when it is asked for that type, and this beyond it:

- An integer column takes numbers without a fraction (`1.0`, `1e3`), and NaN as null: pandas makes floats of integers
  with nulls. A text that an exponent would make longer than 400 digits does not fit.
- A date column takes all formats, in one batch too, and midnights without a zone; a timestamp column without zones
  takes dates. pandas makes timestamps of dates, and writes timestamps as dates to CSV where all are midnights.
- Duration and binary have no texts in `sort_texts`: those fit that are written as `typed_to_text` writes values.
- Which timestamps fit is settled for the life of a column and not batch by batch: with a zone everywhere or nowhere. So
  is whether the day or the month comes first in dates with slashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.meanings import ColumnType
from lawful.tables.living.numbers import DECIMAL_STEPS, INTEGER_STEPS, NAN
from lawful.tables.living.steps import Step, as_it_is, stepwise
from lawful.tables.living.times import DURATION_STEPS, TIME_STEPS, TIMESTAMP_STEPS, common_unit, date_steps, has_zone
from lawful.tables.ranking import dictionary_piece, typed_to_text
from lawful.tables.text_values import BLANKS, BOOLEAN_TEXT, SLASHED_DATE_TEXT, is_day_first, sort_texts


class CanonicalTexts(NamedTuple):
    """The canonical texts of some texts, which of those fit the type, and what is settled.

    A text that does not fit has null for its canonical text, as those have that stand for null and fit. `settled` says
    of timestamps whether they have zones, and of dates with slashes whether the day comes first. It is None where
    nothing came that would settle it, and in columns of other types.
    """

    texts: pa.Array
    fits: npt.NDArray[np.bool_]
    settled: bool | None


_STEPS: dict[ColumnType, Sequence[Step]] = {
    ColumnType.NULL: (),
    ColumnType.BOOLEAN: (
        (r"^(true|false)$", as_it_is),
        (BOOLEAN_TEXT, lambda texts: pc.utf8_lower(pc.utf8_trim(texts, BLANKS))),
    ),
    ColumnType.INTEGER: INTEGER_STEPS,
    ColumnType.DECIMAL: DECIMAL_STEPS,
    ColumnType.FLOAT: DECIMAL_STEPS,
    ColumnType.TIMESTAMP: TIMESTAMP_STEPS,
    ColumnType.TIME: TIME_STEPS,
    ColumnType.DURATION: DURATION_STEPS,
    ColumnType.BINARY: ((r"^([0-9a-f]{2})*$", as_it_is),),
}
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT)


def canonical_texts(texts: pa.Array, type_: ColumnType, *, settled: bool | None = None) -> CanonicalTexts:
    """The canonical texts of `texts` as values of a type.

    Parameters
    ----------
    texts
        Texts of any Arrow layout, null where there is no value.
    type_
        The type of the column.
    settled
        Whether the timestamps of the column have zones, or the day comes first in its dates; where this is None, the
        first timestamp that fits settles it, or all dates do.
    """
    if not pa.types.is_string(texts.type):
        texts = pc.cast(texts, pa.string())
    if texts.null_count == 0:
        return _canonical_of_values(texts, type_, settled)
    is_value = pc.is_valid(texts).to_numpy(zero_copy_only=False)
    known = _canonical_of_values(texts.drop_null(), type_, settled)
    places = np.cumsum(is_value) - 1
    fits = np.ones(len(texts), np.bool_)
    fits[is_value] = known.fits
    return CanonicalTexts(known.texts.take(pa.array(places, mask=~is_value)), fits, known.settled)


def _canonical_of_values(texts: pa.Array, type_: ColumnType, settled: bool | None) -> CanonicalTexts:
    """As above, for texts that are not null."""
    if type_ is ColumnType.STRING:
        return CanonicalTexts(texts, np.ones(len(texts), np.bool_), None)
    if type_ is ColumnType.DATE:
        settled = _day_first(texts) if settled is None else settled
        canonical = stepwise(texts, date_steps(day_first=bool(settled)))
    else:
        canonical = stepwise(texts, _STEPS[type_])
        settled = settled if type_ is ColumnType.TIMESTAMP else None
    if type_ is ColumnType.TIMESTAMP:
        canonical, settled = _of_one_kind(canonical, settled)
    fits = pc.is_valid(canonical).to_numpy(zero_copy_only=False)
    if type_ in _NUMBERS:
        canonical = _replaced_by_null(canonical, pc.equal(canonical, NAN))
    return CanonicalTexts(canonical, fits, settled)


def _day_first(dates: pa.Array) -> bool | None:
    """Whether the day comes first in dates with slashes; None where there is none to settle it."""
    slashed = dates.filter(pc.match_substring_regex(dates, SLASHED_DATE_TEXT))
    return is_day_first(slashed) if len(slashed) else None


def _of_one_kind(timestamps: pa.Array, settled: bool | None) -> tuple[pa.Array, bool | None]:
    """Null for timestamps that have a zone where the column has none, or the other way round."""
    if timestamps.null_count == len(timestamps):
        return timestamps, settled
    zones = has_zone(timestamps)
    if settled is None:
        settled = bool(zones.drop_null()[0].as_py())
    return _replaced_by_null(timestamps, pc.not_equal(zones, settled)), settled


def _replaced_by_null(texts: pa.Array, where: pa.Array) -> pa.Array:
    if not pc.any(where).as_py():
        return texts
    return pc.if_else(pc.fill_null(where, True), pa.scalar(None, pa.string()), texts)


def canonical_values(values: pa.Array, type_: ColumnType, *, settled: bool | None = None) -> CanonicalTexts:
    """The canonical texts of typed values, which are read as the texts that people are shown.

    Floats are those of 64 bits, -0.0 is 0 and NaN is null; timestamps with a zone are brought to UTC, lengths of
    time to nanoseconds.
    """
    if pa.types.is_null(values.type):
        return canonical_texts(values, type_, settled=settled)
    pieces = dictionary_piece(values)
    if pa.types.is_dictionary(values.type):  # which may have entries that no row has
        pieces = pieces.dictionary_decode().dictionary_encode()
    entries = common_unit(pieces.dictionary)
    known = canonical_texts(typed_to_text(entries), type_, settled=settled)
    fits = np.ones(len(values), np.bool_)
    is_value = pc.is_valid(pieces.indices).to_numpy(zero_copy_only=False)
    fits[is_value] = known.fits[pieces.indices.drop_null().to_numpy()]
    return CanonicalTexts(known.texts.take(pieces.indices), fits, known.settled)


def canonical_order(texts: pa.Array, type_: ColumnType) -> npt.NDArray[np.int64]:
    """The places of distinct canonical texts, none of them null, in the order of their type."""
    order = sort_texts(texts, _sorted_as(type_)).representatives
    assert len(order) == len(texts), "canonical texts are of different values"
    return order


def _sorted_as(type_: ColumnType) -> ColumnType:
    """The type whose order `sort_texts` knows: hexadecimal digits sort as their texts do."""
    return {ColumnType.DURATION: ColumnType.INTEGER, ColumnType.BINARY: ColumnType.STRING}.get(type_, type_)
