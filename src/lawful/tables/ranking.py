"""Rank encoding of one column: the heart of the pipeline, the same code on Spark and in this process.

A column arrives as dictionary-encoded pieces in row order. Their dictionaries are unified, the distinct
values sorted as their type sorts, and every row gets the dense rank of its value: 1 to `distinct`, and 0 for
null. Dense ranks are a pure function of the column, so every way of cutting it into pieces gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.errors import SourceError
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.tables.arrow_functions import as_arrow, as_numpy, pc
from lawful.tables.text_values import NotThatTypeError, SortedTexts, sort_texts

JSON_NUMBER, JSON_BOOLEAN, JSON_STRING = "n", "b", "s"
"""The first character of a text that came from JSON says what it was there: JSON has types of its own."""


_DECIMAL_BITS = 128


class RankedColumn(NamedTuple):
    """A column as ranks, read-only, with the value that each rank stands for (`values[rank - 1]`, as text or typed)."""

    type: ColumnType
    ranks: npt.NDArray[np.int32]
    distinct: int
    nulls: int
    values: pa.Array


class NotConvertibleError(Exception):
    """A value that does not have the type asked for, with the first row that holds it."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(row, text)
        self.row = row
        self.text = text


def dictionary_piece(values: pa.Array) -> pa.DictionaryArray:
    """Dictionary-encode a piece of a typed column; NaN becomes null and -0.0 becomes 0.0."""
    if pa.types.is_dictionary(values.type):
        plain = _view_free(values.dictionary.type)
        if plain != values.dictionary.type:  # polars' categories are views, which Arrow cannot decode
            values = pa.DictionaryArray.from_arrays(values.indices, pc.cast(values.dictionary, plain))
        if not _has_distinct_entries(values):
            return dictionary_piece(values.dictionary_decode())
        return values
    if pa.types.is_floating(values.type):
        values = pc.cast(values, pa.float64())
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
        values = pc.add(values, 0.0)
    elif _view_free(values.type) != values.type:
        values = pc.cast(values, _view_free(values.type))
    return values.dictionary_encode()


def _has_distinct_entries(values: pa.DictionaryArray) -> bool:
    """Whether each entry is a value of its own: Arrow allows entries that are null or that repeat."""
    entries = values.dictionary
    if pa.types.is_floating(entries.type):
        return False
    return entries.null_count == 0 and len(entries.unique()) == len(entries)


def _view_free(type_: pa.DataType) -> pa.DataType:
    """Types that differ only in layout come down to one, so that pieces always fit together."""
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_) or pa.types.is_fixed_size_binary(type_):
        return pa.binary()
    if pa.types.is_decimal(type_) and type_.bit_width < _DECIMAL_BITS:  # Arrow cannot encode the narrow ones
        return pa.decimal128(type_.precision, type_.scale)
    return type_


def column_type(arrow_type: pa.DataType) -> ColumnType | None:
    """The type that lawful gives to an Arrow type, or None where its values have no order."""
    if pa.types.is_dictionary(arrow_type):
        return column_type(arrow_type.value_type)
    for matches, ours in _ARROW_TYPES:
        if matches(arrow_type):
            return ours
    return None


_ARROW_TYPES = (
    (pa.types.is_null, ColumnType.NULL),
    (pa.types.is_boolean, ColumnType.BOOLEAN),
    (pa.types.is_integer, ColumnType.INTEGER),
    (pa.types.is_floating, ColumnType.FLOAT),
    (pa.types.is_decimal, ColumnType.DECIMAL),
    (pa.types.is_date, ColumnType.DATE),
    (pa.types.is_timestamp, ColumnType.TIMESTAMP),
    (pa.types.is_time, ColumnType.TIME),
    (pa.types.is_duration, ColumnType.DURATION),
    (
        lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t),
        ColumnType.STRING,
    ),
    (
        lambda t: (
            pa.types.is_binary(t)
            or pa.types.is_large_binary(t)
            or pa.types.is_binary_view(t)
            or pa.types.is_fixed_size_binary(t)
        ),
        ColumnType.BINARY,
    ),
)


def rank_column(
    pieces: Sequence[pa.DictionaryArray],
    *,
    asked: ColumnType | None = None,
    is_text: bool = False,
    is_json: bool = False,
    limit: int | None = None,
) -> RankedColumn:
    """Rank a whole column from its pieces in row order.

    Parameters
    ----------
    pieces
        Dictionary arrays over one value type.
    asked
        The type to read or convert the column to, where the user chose one.
    is_text
        The values are texts whose type is still to be found (CSV); with `is_json` each is marked by its
        JSON type.
    limit
        Keep only this many rows.

    Raises
    ------
    NotConvertibleError
        For the first row whose value does not have the type asked for.
    """
    dictionary, codes, is_null = _unify(pieces, limit)
    try:
        if is_text:
            ordered, values = _order_texts(dictionary, asked, is_json)
        else:
            ordered, values = _order_typed(dictionary, asked)
    except NotThatTypeError as error:
        row = int(np.flatnonzero((codes == error.index) & ~is_null)[0])
        text = str(dictionary[error.index].as_py())
        raise NotConvertibleError(row, text[1:] if is_json else text) from None
    ranks = _apply(ordered.ranks, codes, is_null)
    ranks.setflags(write=False)
    return RankedColumn(ordered.type, ranks, len(values), int(np.count_nonzero(ranks == NULL_RANK)), values)


def _unify(
    pieces: Sequence[pa.DictionaryArray], limit: int | None
) -> tuple[pa.Array, npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """One dictionary of the values that occur, a code for each row, and which rows are null."""
    if not pieces:
        return pa.array([], pa.string()), np.zeros(0, np.int32), np.zeros(0, np.bool_)
    column = pa.chunked_array([_with_wide_codes(piece) for piece in pieces])
    if pa.types.is_null(column.type.value_type):  # Arrow does not unify dictionaries without values
        rows = len(column) if limit is None else min(limit, len(column))
        return pa.nulls(0), np.zeros(rows, np.int32), np.ones(rows, np.bool_)
    if limit is not None and limit < len(column):
        # Decoding drops the dictionary entries of rows beyond the limit: they must not take part.
        column = pa.chunked_array(
            [chunk.dictionary_decode().dictionary_encode() for chunk in column.slice(0, limit).chunks],
            type=column.type,
        )
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return pa.array([], column.type.value_type), np.zeros(0, np.int32), np.zeros(0, np.bool_)
    coded = [_codes(chunk) for chunk in column.chunks]
    codes, is_null = (np.concatenate([part[place] for part in coded]) for place in range(2))
    return _only_used(column.chunk(0).dictionary, codes, is_null)


def _codes(piece: pa.DictionaryArray) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """The codes of a piece, 0 where it is null, and where that is."""
    if piece.indices.null_count == 0:
        return as_numpy(piece.indices).astype(np.int32, copy=False), np.zeros(len(piece), np.bool_)
    codes = as_numpy(pc.fill_null(piece.indices, 0)).astype(np.int32, copy=False)
    return codes, as_numpy(pc.is_null(piece.indices))


def _only_used(
    dictionary: pa.Array, codes: npt.NDArray[np.int32], is_null: npt.NDArray[np.bool_]
) -> tuple[pa.Array, npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Drop dictionary entries that no row has: a categorical column may carry them."""
    used = np.zeros(len(dictionary), np.bool_)
    used[codes[~is_null]] = True
    if used.all():
        return dictionary, codes, is_null
    renumbered = np.cumsum(used, dtype=np.int32) - 1
    codes = renumbered[codes] if len(dictionary) else codes
    return dictionary.filter(as_arrow(used)), codes, is_null


def _with_wide_codes(piece: pa.DictionaryArray) -> pa.DictionaryArray:
    """The piece with 32-bit codes; the order of a categorical column's entries is not that of its values."""
    if piece.indices.type == pa.int32() and not piece.type.ordered:
        return piece
    return pa.DictionaryArray.from_arrays(pc.cast(piece.indices, pa.int32()), piece.dictionary)


def _apply(
    rank_of_code: npt.NDArray[np.int32], codes: npt.NDArray[np.int32], is_null: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    if len(rank_of_code) == 0:
        return np.full(len(codes), NULL_RANK, np.int32)
    ranks = rank_of_code[codes]
    ranks[is_null] = NULL_RANK
    return ranks


def _order_texts(texts: pa.Array, asked: ColumnType | None, is_json: bool) -> tuple[SortedTexts, pa.Array]:
    if is_json:
        marks = set(pc.utf8_slice_codeunits(texts, 0, 1).to_pylist())
        texts = pc.utf8_slice_codeunits(texts, 1)
        if asked is None and marks - {JSON_NUMBER} and marks != {JSON_BOOLEAN}:
            asked = ColumnType.STRING
        if JSON_STRING in marks and len(marks) > 1:
            return _order_repeated_texts(texts, asked)
    ordered = sort_texts(texts, asked)
    return ordered, texts.take(as_arrow(ordered.representatives))


def _order_repeated_texts(texts: pa.Array, asked: ColumnType | None) -> tuple[SortedTexts, pa.Array]:
    """As above where the string "1" and the number 1 came down to the same text."""
    encoded = texts.dictionary_encode()
    codes = as_numpy(encoded.indices)
    try:
        ordered = sort_texts(encoded.dictionary, asked)
    except NotThatTypeError as error:
        raise NotThatTypeError(int(np.flatnonzero(codes == error.index)[0])) from None
    ranks = ordered.ranks[codes]
    values = encoded.dictionary.take(as_arrow(ordered.representatives))
    return SortedTexts(ordered.type, ranks, ordered.representatives), values


def _order_typed(values: pa.Array, asked: ColumnType | None) -> tuple[SortedTexts, pa.Array]:
    own = column_type(values.type)
    if own is None:
        raise SourceError(f"values of type {values.type} have no order")
    if len(values) == 0:
        return SortedTexts(asked or own, np.zeros(0, np.int32), np.zeros(0, np.int64)), values
    if asked is not None and asked is not own:
        texts = values if own is ColumnType.STRING else typed_to_text(values)
        return _order_repeated_texts(texts, asked)
    order = as_numpy(pc.sort_indices(values)).astype(np.int64)
    in_order = values.take(as_arrow(order))
    ranks = np.empty(len(values), np.int32)
    ranks[order] = np.arange(1, len(values) + 1, dtype=np.int32)
    return SortedTexts(own, ranks, order), in_order


def typed_to_text(values: pa.Array) -> pa.Array:
    """How a typed value is shown to people, and how it is read when another type is asked for."""
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "true", "false")
    if pa.types.is_string(values.type):
        return values
    if pa.types.is_binary(values.type):
        return pa.array([None if value is None else value.hex() for value in values.to_pylist()], pa.string())
    try:
        return pc.cast(values, pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
