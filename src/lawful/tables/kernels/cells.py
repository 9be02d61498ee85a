"""From the bytes of a CSV file to ranks without a text in between: cells found, coded and ranked.

These kernels read what nearly every file looks like (see `direct_csv`) and say so where a file is different.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled, inlined
from lawful.tables.kernels.text_order import (
    DECIMAL,
    INTEGER,
    TEXT,
    UNDECIDED,
    gathered_texts,
    order_texts,
)

__all__ = [
    "DECIMAL",
    "INTEGER",
    "NO_QUOTE",
    "PLAIN",
    "TEXT",
    "UNDECIDED",
    "count_lines",
    "find_cells",
    "key_of",
    "rank_columns",
]

Octets = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.uint64]

PLAIN, UNUSUAL = 0, 1
"""What a walk over the bytes found: cells as expected, or something that the general reader has to look at."""

NO_QUOTE = 256
"""Stands for a quote or escape character that the dialect does not have: no byte equals it."""

_NEWLINE, _CARRIAGE_RETURN = 10, 13
_BYTES = 256
_SHORT = 7
_LONG_MARK = np.uint64(0xFF << 56)
_LOW_BYTES = np.uint64((1 << 56) - 1)
_PRIME = np.uint64(0x100000001B3)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_EIGHT = np.uint64(8)
_FREE = -1
_FEW_TEXTS = 128


@compiled
def count_lines(data: Octets, begin: int, end: int) -> int:
    """The newlines in `data[begin:end]`."""
    lines = 0
    for byte in data[begin:end]:
        lines += byte == _NEWLINE
    return lines


@compiled
def find_cells(
    data: Octets,
    begin: int,
    end: int,
    first_row: int,
    separator: int,
    quote: int,
    escape: int,
    width: int,
    keep: Int32s,
    texts: Octets,
    starts: Int32s,
    lengths: Int32s,
    keys: Keys,
) -> tuple[int, int]:
    """Find the cells of the records of `width` cells in `data[begin:end]`, which ends in a newline.

    Line k of the last arrays is for the column `keep[k]`. A cell of at most 7 bytes is told by its key alone; the key
    of a longer one is a hash. Where there are quotes, `texts` is a copy of `data` for cells whose text is not all of
    the bytes between two quotes: such a text is written over its cell. Gives the number of rows, and whether all was
    `PLAIN`: records of the right width, no line break inside a cell, blank lines at the end alone.
    """
    places = np.full(width, -1, np.int32)
    for place in range(keep.size):
        places[keep[place]] = place
    ends = np.zeros((2, _BYTES + 1), np.bool_)  # of plain and of quoted cells
    ends[0, separator] = ends[1, quote] = ends[1, escape] = True
    ends[:, _NEWLINE] = ends[:, _CARRIAGE_RETURN] = True
    row = first_row
    position = begin
    while position < end:
        if width > 1 and (
            data[position] == _NEWLINE or (data[position] == _CARRIAGE_RETURN and data[position + 1] == _NEWLINE)
        ):
            return row - first_row, _only_blank(data, position, end)
        for column in range(width):
            start = position
            key = np.uint64(0)
            byte = data[position]
            quoted = 1 if byte == quote else 0
            if quoted:
                start += 1
                position = start
                byte = data[position]
            short_end = start + _SHORT
            while position < short_end and not ends[quoted, byte]:
                key = (key << _EIGHT) | np.uint64(byte)
                position += 1
                byte = data[position]
            while not ends[quoted, byte]:
                key = (key ^ np.uint64(byte)) * _PRIME
                position += 1
                byte = data[position]
            length = position - start
            if quoted:
                if byte == quote and ends[0, data[position + 1]]:
                    position += 1
                else:
                    position, length, key = _rewrite(data, position, length, key, separator, quote, escape, texts)
                    if length < 0:
                        return row - first_row, UNUSUAL
                byte = data[position]
            if byte == _CARRIAGE_RETURN:
                position += 1
                byte = data[position]
                if byte != _NEWLINE:
                    return row - first_row, UNUSUAL
            if byte != (_NEWLINE if column == width - 1 else separator):
                return row - first_row, UNUSUAL
            position += 1
            place = places[column]
            if place >= 0:
                starts[place, row] = start
                lengths[place, row] = length
                keys[place, row] = _finished(key, length)
        row += 1
    return row - first_row, PLAIN


@compiled
def _rewrite(
    data: Octets, position: int, length: int, key: np.uint64, separator: int, quote: int, escape: int, texts: Octets
) -> tuple[int, int, np.uint64]:
    r"""Write the rest of a quoted cell's text behind its first `length` bytes, which end before `position`.

    Inside the quotes `""` and `\"` stand for a quote and `\\` for one backslash, and any other escape is kept (as
    `double_escaped_quotes` has it); what follows the closing quote is text as it stands. Gives the end of the cell, the
    length of its text and its key; a negative length where a line breaks inside the quotes.
    """
    place = position
    quoted = True
    while True:
        byte = data[position]
        if quoted:
            if byte in (_NEWLINE, _CARRIAGE_RETURN):
                return position, -1, key
            following = data[position + 1]
            if byte == quote and following != quote:
                quoted = False
                position += 1
                continue
            if byte == quote or (byte == escape and following in (quote, escape)):
                byte = following
                position += 1
        elif byte in (separator, _NEWLINE, _CARRIAGE_RETURN):
            return position, length, key
        texts[place] = byte
        key = _with_byte(key, byte, length)
        place += 1
        length += 1
        position += 1


@inlined
def _with_byte(key: np.uint64, byte: np.uint8, length: int) -> np.uint64:
    """The key of a cell with one more byte than the `length` it had; in the end it is `_finished`."""
    if length < _SHORT:
        return (key << _EIGHT) | np.uint64(byte)
    return (key ^ np.uint64(byte)) * _PRIME


@inlined
def _finished(key: np.uint64, length: int) -> np.uint64:
    """The key of a whole cell: the length of a short one stands above its bytes, so that no other cell has this key."""
    if length <= _SHORT:
        return key | (np.uint64(length) << np.uint64(56))
    return (key & _LOW_BYTES) | _LONG_MARK


@compiled
def _only_blank(data: Octets, position: int, end: int) -> int:
    for place in range(position, end):
        if data[place] != _NEWLINE and data[place] != _CARRIAGE_RETURN:
            return UNUSUAL
    return PLAIN


@compiled
def key_of(data: Octets, start: int, length: int) -> np.uint64:
    """The key of a cell that stands at this place."""
    key = np.uint64(0)
    for place in range(length):
        key = _with_byte(key, data[start + place], place)
    return np.uint64(_finished(key, length))


@compiled
def rank_columns(
    data: Octets,
    rows: int,
    starts: Int32s,
    lengths: Int32s,
    keys: Keys,
    token_starts: Int32s,
    token_lengths: Int32s,
    first: int,
    last: int,
    ranks: Int32s,
) -> tuple[Int64s, Int32s, Octets]:
    """Rank the columns from `first` up to and without `last` into `ranks`.

    Gives, in a line each, their types, numbers of distinct values, numbers of nulls and first values; and the values in
    rank order, those of one column behind those of another, as Arrow keeps them: offsets and bytes. The ranks of an
    `UNDECIDED` column are the numbers of its distinct texts from 1, in the order of their first rows. Null tokens,
    distinct and not empty, stand somewhere in `data`.
    """
    about = np.empty((4, last - first), np.int64)
    token_keys = np.empty(token_starts.size, np.uint64)
    for token in range(token_keys.size):
        token_keys[token] = key_of(data, token_starts[token], token_lengths[token])
    room = _FEW_TEXTS
    while room < 2 * token_keys.size:
        room *= 2
    table = _table_of_texts(room)
    value_starts, value_lengths = np.empty(rows * (last - first), np.int32), np.empty(rows * (last - first), np.int32)
    values = 0
    for column in range(first, last):
        codes = ranks[column]
        text_starts, text_lengths = _code(
            data, starts[column], lengths[column], keys[column], rows,
            token_starts, token_lengths, token_keys, table, codes,
        )  # fmt: skip
        kind, order, rank_of_text, distinct = order_texts(data, text_starts, text_lengths)
        nulls = 0
        for row in range(rows):
            code = codes[row]
            if code == 0:
                nulls += 1
            else:
                codes[row] = rank_of_text[code - 1]
        about[0, column - first], about[1, column - first] = kind, distinct
        about[2, column - first], about[3, column - first] = nulls, values
        for place in range(distinct):
            value_starts[values], value_lengths[values] = text_starts[order[place]], text_lengths[order[place]]
            values += 1
    offsets, texts = gathered_texts(data, value_starts[:values], value_lengths[:values])
    return about, offsets, texts


@compiled
def _table_of_texts(room: int) -> tuple[Int32s, Int32s, Int32s, Keys]:
    """Slots that hash to texts, and for each text its start, length and key; room is a power of two."""
    return np.empty(2 * room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint64)


@compiled
def _code(
    data: Octets,
    starts: Int32s,
    lengths: Int32s,
    keys: Keys,
    rows: int,
    token_starts: Int32s,
    token_lengths: Int32s,
    token_keys: Keys,
    table: tuple[Int32s, Int32s, Int32s, Keys],
    codes: Int32s,
) -> tuple[Int32s, Int32s]:
    """Number the distinct texts of a column from 1, null being 0; gives where each text stands first.

    `table` is used as long as there is room in it for the texts.
    """
    slots, text_starts, text_lengths, text_keys = table
    slots[:] = _FREE
    tokens = token_keys.size
    token_codes = np.empty(tokens, np.int32)
    _, count = _code_cells(
        data, token_starts, token_lengths, token_keys, 0, tokens, 0,
        slots, text_starts, text_lengths, text_keys, 0, token_codes,
    )  # fmt: skip
    row = 0
    while True:
        row, count = _code_cells(
            data, starts, lengths, keys, row, rows, tokens,
            slots, text_starts, text_lengths, text_keys, count, codes,
        )  # fmt: skip
        if row == rows:
            return text_starts[tokens:count], text_lengths[tokens:count]
        slots, text_starts, text_lengths, text_keys = _grown(text_starts, text_lengths, text_keys)


@compiled
def _code_cells(
    data: Octets,
    starts: Int32s,
    lengths: Int32s,
    keys: Keys,
    row: int,
    rows: int,
    tokens: int,
    slots: Int32s,
    text_starts: Int32s,
    text_lengths: Int32s,
    text_keys: Keys,
    count: int,
    codes: Int32s,
) -> tuple[int, int]:
    """Give codes from `row` on, until there is no room for one more text; gives the next row and the texts known.

    The first `tokens` texts mean null. Arrays that a loop replaces would be counted anew at every use, so the table
    of texts grows outside of this one.
    """
    mask = np.uint64(slots.size - 1)  # unsigned, so that nobody asks whether an index counts from the end
    while row < rows:
        key, length = keys[row], lengths[row]
        if length == 0:
            codes[row] = 0
            row += 1
            continue
        slot = ((key * _GOLDEN) >> np.uint64(32)) & mask
        code = slots[slot]
        while code != _FREE and not (
            text_keys[code] == key
            and (length <= _SHORT or _same_bytes(data, text_starts[code], text_lengths[code], starts[row], length))
        ):
            slot = (slot + np.uint64(1)) & mask
            code = slots[slot]
        if code == _FREE:
            if count == text_starts.size:
                return row, count
            code = count
            slots[slot] = code
            text_starts[code], text_lengths[code], text_keys[code] = starts[row], length, key
            count += 1
        codes[row] = max(code + 1 - tokens, 0)
        row += 1
    return row, count


@compiled
def _same_bytes(data: Octets, one: int, one_length: int, other: int, other_length: int) -> bool:
    if one_length != other_length:
        return False
    for place in range(one_length):  # noqa: SIM110  # Numba compiles no generators
        if data[one + place] != data[other + place]:
            return False
    return True


@compiled
def _grown(text_starts: Int32s, text_lengths: Int32s, text_keys: Keys) -> tuple[Int32s, Int32s, Int32s, Keys]:
    """The table of texts with four times as many slots."""
    count = text_starts.size
    slots, more_starts, more_lengths, more_keys = _table_of_texts(4 * count)
    slots[:] = _FREE
    mask = slots.size - 1
    for code in range(count):
        slot = np.int64((text_keys[code] * _GOLDEN) >> np.uint64(32)) & mask
        while slots[slot] != _FREE:
            slot = (slot + 1) & mask
        slots[slot] = code
    more_starts[:count], more_lengths[:count], more_keys[:count] = text_starts, text_lengths, text_keys
    return slots, more_starts, more_lengths, more_keys
