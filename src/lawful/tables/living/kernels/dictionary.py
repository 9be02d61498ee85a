"""Texts looked up, added and fetched by their codes.

The texts of a dictionary lie in two places, each of them bytes and the ends of the texts in them: the *base*, which is
only read and may be a map of a file, and behind it the *tail*, which has room to grow. Slots hold codes, 0 where they
are free; each code, from 1 on, went into the first slot that was free from that of its text's hash on.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Bytes, Flags, Int32s, Int64s, Words
from lawful.common.compiled import compiled, inlined

UNKNOWN = -1

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_WORD = 8
_AHEAD = 1024


@compiled
def fill_slots(base: Bytes, base_offsets: Int64s, tail: Bytes, tail_offsets: Int64s, codes: int, slots: Int32s) -> None:
    """Put the codes from 1 to `codes` into free slots; their texts are distinct, so none is compared."""
    base_codes = base_offsets.size - 1
    mask = np.uint64(slots.size - 1)
    for code in range(1, min(codes, base_codes) + 1):
        start = base_offsets[code - 1]
        slot = _hash(base, start, base_offsets[code] - start) & mask
        while slots[slot] != 0:
            slot = (slot + _ONE) & mask
        slots[slot] = code
    for code in range(base_codes + 1, codes + 1):
        start = tail_offsets[code - base_codes - 1]
        slot = _hash(tail, start, tail_offsets[code - base_codes] - start) & mask
        while slots[slot] != 0:
            slot = (slot + _ONE) & mask
        slots[slot] = code


@compiled
def find_codes(
    data: Bytes,
    offsets: Int64s,
    is_value: Flags,
    base: Bytes,
    base_offsets: Int64s,
    tail: Bytes,
    tail_offsets: Int64s,
    slots: Int32s,
    codes: Int32s,
) -> None:
    """The code of each text, 0 for null and `UNKNOWN` for a text that has none."""
    homes = np.empty(_AHEAD, np.uint64)
    for row in range(codes.size):
        if row % _AHEAD == 0:
            _look_ahead(data, offsets, row, slots, homes, codes)
        if not is_value[row]:
            codes[row] = 0
            continue
        start, home = offsets[row], homes[row % _AHEAD]
        slot = _slot_of(data, start, offsets[row + 1] - start, home, base, base_offsets, tail, tail_offsets, slots)
        code = slots[slot]
        codes[row] = code if code != 0 else UNKNOWN


@compiled
def add_codes(
    data: Bytes,
    offsets: Int64s,
    is_value: Flags,
    base: Bytes,
    base_offsets: Int64s,
    tail: Bytes,
    tail_offsets: Int64s,
    known: int,
    most: int,
    slots: Int32s,
    row: int,
    codes: Int32s,
) -> tuple[int, int]:
    """As `find_codes` from `row` on, giving codes to new texts until there is no room for the next.

    `known` codes are given, and slots have room for `most`. Gives the next row and the codes that are given by then.
    """
    base_codes = base_offsets.size - 1
    homes = np.empty(_AHEAD, np.uint64)
    first = row
    while row < codes.size:
        ahead = (row - first) % _AHEAD
        if ahead == 0:
            _look_ahead(data, offsets, row, slots, homes, codes)
        if not is_value[row]:
            codes[row] = 0
            row += 1
            continue
        start = offsets[row]
        length = offsets[row + 1] - start
        slot = _slot_of(data, start, length, homes[ahead], base, base_offsets, tail, tail_offsets, slots)
        code = slots[slot]
        if code == 0:
            place = known - base_codes
            end = tail_offsets[place]
            if known == most or place + 1 == tail_offsets.size or end + length > tail.size:
                return row, known
            for octet in range(length):
                tail[end + octet] = data[start + octet]
            tail_offsets[place + 1] = end + length
            known += 1
            code = np.int32(known)
            slots[slot] = code
        codes[row] = code
        row += 1
    return row, known


@compiled
def free_slots(
    base: Bytes, base_offsets: Int64s, tail: Bytes, tail_offsets: Int64s, known: int, kept: int, slots: Int32s
) -> None:
    """Free the slots of the codes above `kept`, of `known` ones.

    The last code first: no text that is still there was ever moved on by one that came after it.
    """
    base_codes = base_offsets.size - 1
    mask = np.uint64(slots.size - 1)
    for code in range(known, kept, -1):
        if code <= base_codes:
            start = base_offsets[code - 1]
            slot = _hash(base, start, base_offsets[code] - start) & mask
        else:
            start = tail_offsets[code - base_codes - 1]
            slot = _hash(tail, start, tail_offsets[code - base_codes] - start) & mask
        while slots[slot] != code:
            slot = (slot + _ONE) & mask
        slots[slot] = 0


@compiled
def text_offsets(base_offsets: Int64s, tail_offsets: Int64s, codes: Int32s) -> Int64s:
    """Where the text of each code begins and ends if they are put one behind the other; that of 0 is empty."""
    base_codes = base_offsets.size - 1
    offsets = np.empty(codes.size + 1, np.int64)
    offsets[0] = 0
    for row in range(codes.size):
        code = codes[row]
        length = np.int64(0)
        if code > base_codes:
            length = tail_offsets[code - base_codes] - tail_offsets[code - base_codes - 1]
        elif code > 0:
            length = base_offsets[code] - base_offsets[code - 1]
        offsets[row + 1] = offsets[row] + length
    return offsets


@compiled
def gather_texts(
    base: Bytes, base_offsets: Int64s, tail: Bytes, tail_offsets: Int64s, codes: Int32s, offsets: Int64s
) -> Bytes:
    """The texts of codes one behind the other, which are at `offsets` then."""
    base_codes = base_offsets.size - 1
    data = np.empty(offsets[-1], np.uint8)
    for row in range(codes.size):
        code = codes[row]
        to, length = offsets[row], offsets[row + 1] - offsets[row]
        if code > base_codes:
            start = tail_offsets[code - base_codes - 1]
            for octet in range(length):
                data[to + octet] = tail[start + octet]
        elif code > 0:
            start = base_offsets[code - 1]
            for octet in range(length):
                data[to + octet] = base[start + octet]
    return data


@compiled
def _look_ahead(data: Bytes, offsets: Int64s, row: int, slots: Int32s, homes: Words, codes: Int32s) -> None:
    """Find the slots where the search for the next rows begins, and read them.

    The search would wait for each slot by itself; a loop that does nothing else has many reads under way. What it reads
    is written to `codes` so that it is read at all: the search finds its slots in the processor's cache.
    """
    mask = np.uint64(slots.size - 1)
    rows = min(homes.size, codes.size - row)
    for place in range(rows):
        start = offsets[row + place]
        homes[place] = _hash(data, start, offsets[row + place + 1] - start) & mask
    for place in range(rows):
        codes[row + place] = slots[homes[place]]


@compiled
def _slot_of(
    data: Bytes,
    start: int,
    length: int,
    home: np.uint64,
    base: Bytes,
    base_offsets: Int64s,
    tail: Bytes,
    tail_offsets: Int64s,
    slots: Int32s,
) -> np.uint64:
    """The slot of a text, or the free one where it would be; hashes only say where to look, bytes decide."""
    base_codes = base_offsets.size - 1
    mask = np.uint64(slots.size - 1)
    slot = home
    while True:
        code = slots[slot]
        if code == 0:
            return slot
        if code <= base_codes:
            if _is_text(base, base_offsets[code - 1], base_offsets[code], data, start, length):
                return slot
        elif _is_text(tail, tail_offsets[code - base_codes - 1], tail_offsets[code - base_codes], data, start, length):
            return slot
        slot = (slot + _ONE) & mask


@compiled
def _is_text(texts: Bytes, begin: int, end: int, data: Bytes, start: int, length: int) -> bool:
    if end - begin != length:
        return False
    for octet in range(length):  # noqa: SIM110  # Numba compiles no generators
        if texts[begin + octet] != data[start + octet]:
            return False
    return True


@compiled
def _hash(data: Bytes, start: int, length: int) -> np.uint64:
    """A hash of a text whose low bits are as good as the others."""
    key = np.uint64(length) * _GOLDEN
    place, end = start, start + length
    while place + _WORD <= end:
        word = np.uint64(0)
        for octet in range(_WORD):
            word = (word << _EIGHT) | np.uint64(data[place + octet])
        key = _mixed(key, word)
        place += _WORD
    word = np.uint64(0)
    while place < end:
        word = (word << _EIGHT) | np.uint64(data[place])
        place += 1
    return _mixed(_mixed(key, word), _GOLDEN)


@inlined
def _mixed(key: np.uint64, word: np.uint64) -> np.uint64:
    mixed = (key ^ word) * _PRIME
    return mixed ^ (mixed >> _HALF)
