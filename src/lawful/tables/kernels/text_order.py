"""The type and the order of distinct texts, found in their bytes.

Nothing here decides what only a look at all rules of types can decide (`text_values`): a column of plain numbers
and one with a text that is no value of any other type are known, the rest is left open.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled

Octets = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.uint64]

UNDECIDED, INTEGER, DECIMAL, TEXT = 0, 1, 2, 3
"""The type of a column as far as the kernels can tell."""

_MOST_DIGITS = 18
_FEW = 160
_DIGIT_BITS = 11
_DIGIT_VALUES = 1 << _DIGIT_BITS
_DIGIT_MASK = np.uint64(_DIGIT_VALUES - 1)
_SHORTEST_WORD = len("nan")
_HEAD = 8
_MAY_BE_VALUE = np.array([chr(letter) in "truefalseinfinitynanz" for letter in range(ord("a"), ord("z") + 1)])


@compiled
def order_texts(data: Octets, starts: Int32s, lengths: Int32s) -> tuple[int, Int64s, Int32s, int]:
    """The type of distinct texts, one text for each rank in rank order, each text's rank, how many ranks."""
    kind, numbers = _typed(data, starts, lengths)
    count = starts.size
    ranks = np.empty(count, np.int32)
    if kind == UNDECIDED:
        order = np.arange(count)
        for place in range(count):
            ranks[place] = place + 1
        return kind, order, ranks, count
    if kind == TEXT:
        order = _sorted_texts(data, starts, lengths)
        for place in range(count):
            ranks[order[place]] = place + 1
        return kind, order, ranks, count
    order = _places_in_order(_unsigned(numbers))  # stable: the first of equal numbers came first in the table
    distinct = 0
    for place in range(count):
        text = order[place]
        if place == 0 or numbers[text] != numbers[order[place - 1]]:
            distinct += 1
        ranks[text] = distinct
    representatives = np.empty(distinct, np.int64)
    for place in range(count - 1, -1, -1):
        representatives[ranks[order[place]] - 1] = order[place]
    return kind, representatives, ranks, distinct


@compiled
def _unsigned(numbers: Int64s) -> Keys:
    """Keys in the order of the numbers, the smallest being 0."""
    least = numbers.min()
    keys = np.empty(numbers.size, np.uint64)
    for place in range(numbers.size):
        keys[place] = np.uint64(numbers[place]) - np.uint64(least)
    return keys


@compiled
def _places_in_order(keys: Keys) -> Int64s:
    """Where each key stands, in the order of the keys; equal ones in the order of their places.

    A radix sort, from the lowest digit on, over the digits in which keys differ; a few keys are inserted one by one.
    """
    count = keys.size
    order = np.arange(count)
    if count <= _FEW:
        for fresh in range(1, count):
            moving = fresh
            while moving > 0 and keys[order[moving - 1]] > keys[fresh]:
                order[moving] = order[moving - 1]
                moving -= 1
            order[moving] = fresh
        return order
    differing = np.uint64(0)
    for key in keys:
        differing |= key ^ keys[0]
    spare = np.empty(count, np.int64)
    slots = np.empty(_DIGIT_VALUES + 1, np.int64)
    for shift in range(0, 64, _DIGIT_BITS):
        digit_shift = np.uint64(shift)
        if (differing >> digit_shift) & _DIGIT_MASK == 0:
            continue
        slots[:] = 0
        for key in keys:
            slots[np.int64((key >> digit_shift) & _DIGIT_MASK) + 1] += 1
        for value in range(_DIGIT_VALUES):
            slots[value + 1] += slots[value]
        for place in order:
            digit = np.int64((keys[place] >> digit_shift) & _DIGIT_MASK)
            spare[slots[digit]] = place
            slots[digit] += 1
        order, spare = spare, order
    return order


@compiled
def _typed(data: Octets, starts: Int32s, lengths: Int32s) -> tuple[int, Int64s]:
    """The type that all texts have, and for numbers an integer that stands for each in their order.

    One text that is no number, date, time or boolean makes a column of texts. All other columns that are not of
    plain numbers are undecided.
    """
    count = starts.size
    numbers = np.empty(count, np.int64)
    places_behind_point = np.empty(count, np.int8)
    digits = np.empty(count, np.int8)
    most_behind = 0
    is_number, has_point = count > 0, False
    for text in range(count):
        behind, used, number = _number(data, starts[text], lengths[text])
        if behind < -1:
            is_number = False
            if _is_surely_text(data, starts[text], lengths[text]):
                return TEXT, numbers
            continue
        has_point |= behind >= 0
        behind = max(behind, 0)
        numbers[text], places_behind_point[text], digits[text] = number, behind, used
        most_behind = max(most_behind, behind)
    if not is_number:
        return UNDECIDED, numbers
    if not has_point:
        return INTEGER, numbers
    for text in range(count):
        shift = most_behind - places_behind_point[text]
        if digits[text] + shift > _MOST_DIGITS:
            return UNDECIDED, numbers
        for _ in range(shift):
            numbers[text] *= 10
    return DECIMAL, numbers


@compiled
def _number(data: Octets, start: int, length: int) -> tuple[int, int, np.int64]:
    """A number without blanks, exponent or leading zero: digits behind its point, all digits, its digits' value.

    -1 for the first where there is no point, -2 where the text is no such number.
    """
    end = start + length
    position = start
    is_negative = data[start] == ord("-")
    if is_negative or data[start] == ord("+"):
        position += 1
    first = position
    value, digits, behind = np.int64(0), 0, -1
    while position < end:
        byte = data[position]
        if ord("0") <= byte <= ord("9"):
            value = 10 * value + np.int64(byte) - ord("0")
            digits += 1
            if behind >= 0:
                behind += 1
            if digits > _MOST_DIGITS:
                return -2, 0, np.int64(0)
        elif byte == ord(".") and behind < 0:
            behind = 0
        else:
            return -2, 0, np.int64(0)
        position += 1
    in_front = digits - max(behind, 0)
    if digits == 0 or (in_front > 1 and data[first] == ord("0")):
        return -2, 0, np.int64(0)
    return behind, digits, -value if is_negative else value


@compiled
def _is_surely_text(data: Octets, start: int, length: int) -> bool:
    """Whether a character of the text stands in no number, date, time or boolean; or it is digits after a zero.

    Digits, signs, blanks, `. , : /`, the T and Z of a time, the letters of true, false, infinity and nan, and E do.
    """
    if length > 1 and data[start] == ord("0") and _has_digits_alone(data, start, length):
        return True
    for place in range(start, start + length):
        byte = data[place]
        if byte in (9, 32) or ord("+") <= byte <= ord(":"):
            continue
        letter = byte | 32
        if letter < ord("a") or letter > ord("z") or not _MAY_BE_VALUE[letter - ord("a")]:
            return True
    # Numbers and times have a digit and begin with no letter; words have none, and are not that short.
    begins_with_letter = data[start] >= ord("A")
    return begins_with_letter if _has_digit(data, start, length) else length < _SHORTEST_WORD


@compiled
def _has_digit(data: Octets, start: int, length: int) -> bool:
    for place in range(start, start + length):  # noqa: SIM110  # Numba compiles no generators
        if ord("0") <= data[place] <= ord("9"):
            return True
    return False


@compiled
def _has_digits_alone(data: Octets, start: int, length: int) -> bool:
    for place in range(start, start + length):  # noqa: SIM110
        if not ord("0") <= data[place] <= ord("9"):
            return False
    return True


@compiled
def _sorted_texts(data: Octets, starts: Int32s, lengths: Int32s) -> Int64s:
    """The texts in the order of their bytes, which is that of their characters in UTF-8.

    Sorted by their first eight bytes; those that are equal there, by the next eight; and so on. No two texts are equal,
    so those that have no more bytes differ by zeros at their ends, and the shorter comes first.
    """
    count = starts.size
    order = np.arange(count)
    heads = np.empty(count, np.uint64)
    firsts, lasts, depths = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    firsts[0], lasts[0], depths[0] = 0, count, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        first, last, depth = firsts[waiting], lasts[waiting], depths[waiting]
        group, keys = order[first:last], heads[first:last]
        has_more = _write_heads(data, starts, lengths, group, depth, keys)
        places = _places_in_order(keys)
        group[:] = group[places]
        keys[:] = keys[places]
        begin = 0
        for place in range(1, last - first + 1):
            if place < last - first and keys[place] == keys[begin]:
                continue
            if has_more and place - begin > 1:
                firsts[waiting], lasts[waiting], depths[waiting] = first + begin, first + place, depth + _HEAD
                waiting += 1
            begin = place
    return order


@compiled
def _write_heads(data: Octets, starts: Int32s, lengths: Int32s, group: Int64s, depth: int, heads: Keys) -> bool:
    """Write eight bytes of each text from `depth` on, as a number; where no text has any, their lengths.

    Gives whether there may be more to tell the texts apart by.
    """
    has_more = False
    for place in range(group.size):
        text = group[place]
        start, length = starts[text] + depth, min(lengths[text] - depth, _HEAD)
        head = np.uint64(0)
        for octet in range(length):
            head = (head << np.uint64(8)) | np.uint64(data[start + octet])
        if length > 0:
            has_more = True
            head <<= np.uint64(8 * (_HEAD - length))
        heads[place] = head
    if not has_more:
        for place in range(group.size):
            heads[place] = lengths[group[place]]
    return has_more


@compiled
def gathered_texts(data: Octets, starts: Int32s, lengths: Int32s) -> tuple[Int32s, Octets]:
    """Texts one behind the other, as Arrow keeps them: offsets and bytes."""
    offsets = np.empty(starts.size + 1, np.int32)
    offsets[0] = 0
    for text in range(starts.size):
        offsets[text + 1] = offsets[text] + lengths[text]
    texts = np.empty(offsets[-1], np.uint8)
    for text in range(starts.size):
        for octet in range(lengths[text]):
            texts[offsets[text] + octet] = data[starts[text] + octet]
    return offsets, texts
