"""The values of a column that changes: a text gets a code when it first comes, and keeps it."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.arrays import Bytes, Flags, Int32s, Int64s
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.tables.living.canonical import canonical_order
from lawful.tables.living.kernels.dictionary import (
    UNKNOWN,
    add_codes,
    fill_slots,
    find_codes,
    free_slots,
    gather_texts,
    text_offsets,
)

__all__ = ["NULL_CODE", "UNKNOWN", "Dictionary"]

NULL_CODE = 0
"""The code of null. Texts have the codes 1, 2, 3 and so on in the order in which they came."""

_FEWEST_SLOTS = 64
_SLOTS_PER_CODE = 2
_FEWEST_BYTES = 256
_MOST_BYTES_OF_STRINGS = (1 << 31) - 1

_Array = TypeVar("_Array", Bytes, Int64s)
_Texts = tuple[Bytes, Int64s, Flags]
"""Texts as kernels read them: bytes, where each begins and ends, and whether it is one at all."""


class Dictionary:
    """Texts and their codes; both are only added, but for `truncate`.

    Beyond its text a value takes 8 bytes for where it ends, 8 to 16 for the slots that find it (from the first `find`
    or `add` on) and 4 for the order (from the first `ranks` on). What was added since the dictionary was made or opened
    has room to grow, at most as much again as its texts and ends take. When slots get scarce they are doubled and
    filled anew, which reads all texts.
    """

    def __init__(self) -> None:
        self._open(np.zeros(0, np.uint8), np.zeros(1, np.int64))

    def _open(self, data: Bytes, offsets: Int64s) -> None:
        self._base, self._base_offsets = _read_only(data), _read_only(offsets)
        self._tail, self._tail_offsets = np.empty(0, np.uint8), np.zeros(1, np.int64)
        self._known = len(offsets) - 1
        self._slots: Int32s | None = None
        self._order: tuple[ColumnType, Int32s] | None = None

    @staticmethod
    def of(texts: pa.Array) -> Dictionary:
        """The dictionary of distinct texts, none of them null: the first gets code 1."""
        data, offsets, is_value = _as_arrays(texts)
        assert is_value.all(), "null has a code already"
        return Dictionary.from_arrays(data[offsets[0] : offsets[-1]], offsets - offsets[0])

    @staticmethod
    def from_arrays(data: Bytes, offsets: Int64s) -> Dictionary:
        """The dictionary of arrays that `arrays` gave; they may be maps of files, and are read where they are.

        Whoever kept them answers for what is in them: texts that are distinct and offsets that rise.
        """
        if data.dtype != np.uint8 or offsets.dtype != np.int64 or offsets.size == 0:
            raise ValueError("a dictionary is bytes and 64-bit offsets, one more than there are texts")
        if offsets[0] != 0 or offsets[-1] != data.size:
            raise ValueError(f"the offsets go from {offsets[0]} to {offsets[-1]}, and there are {data.size} bytes")
        dictionary = Dictionary()
        dictionary._open(data, offsets)
        return dictionary

    def arrays(self) -> tuple[Bytes, Int64s]:
        """The bytes of all texts and where each begins and ends: only to be read, and before the next change."""
        end = int(self._tail_offsets[self._tail_codes])
        offsets = self._tail_offsets[: self._tail_codes + 1]
        if self._tail_codes == 0:
            return self._base, self._base_offsets
        if self._base_codes == 0:
            return _read_only(self._tail[:end]), _read_only(offsets)
        data = np.concatenate([self._base, self._tail[:end]])
        return data, np.concatenate([self._base_offsets, offsets[1:] + len(self._base)])

    def __len__(self) -> int:
        """How many codes are given."""
        return self._known

    @property
    def _base_codes(self) -> int:
        return len(self._base_offsets) - 1

    @property
    def _tail_codes(self) -> int:
        return self._known - self._base_codes

    def find(self, texts: pa.Array) -> Int32s:
        """The code of each text: 0 for null, -1 for a text that has none."""
        data, offsets, is_value = _as_arrays(texts)
        codes = np.empty(len(texts), np.int32)
        find_codes(data, offsets, is_value, *self._stored(), self._filled_slots(), codes)
        return codes

    def add(self, texts: pa.Array) -> Int32s:
        """The code of each text; texts that have none get the next ones, in the order in which they are here."""
        data, offsets, is_value = _as_arrays(texts)
        codes = np.empty(len(texts), np.int32)
        row = 0
        while True:
            slots = self._filled_slots()
            most = len(slots) // _SLOTS_PER_CODE
            row, self._known = add_codes(
                data, offsets, is_value, *self._stored(), self._known, most, slots, row, codes
            )  # fmt: skip
            if row == len(codes):
                return codes
            self._make_room(int(offsets[row + 1] - offsets[row]))

    def texts(self, codes: Int32s) -> pa.Array:
        """The texts of codes, null for 0."""
        codes = np.ascontiguousarray(codes, np.int32)
        if len(codes) and not 0 <= codes.min() <= codes.max() <= self._known:
            raise IndexError(f"codes go from 0 to {self._known}, and these from {codes.min()} to {codes.max()}")
        offsets = text_offsets(self._base_offsets, self._tail_offsets, codes)
        return _as_texts(gather_texts(*self._stored(), codes, offsets), offsets, codes == NULL_CODE)

    def since(self, known: int) -> pa.Array:
        """The texts of all codes above `known`, in their order."""
        return self.texts(np.arange(known + 1, self._known + 1, dtype=np.int32))

    def truncate(self, kept: int) -> None:
        """Forget the codes above `kept`, as after a batch that was coded and then refused."""
        if not 0 <= kept <= self._known:
            raise IndexError(f"there are {self._known} codes: {kept} of them cannot be kept")
        if self._slots is not None:
            free_slots(*self._stored(), self._known, kept, self._slots)
        if self._order is not None:
            type_, order = self._order
            self._order = type_, order[order <= kept]
        if kept < self._base_codes:
            self._base_offsets = self._base_offsets[: kept + 1]
            self._base = self._base[: self._base_offsets[-1]]
        self._known = kept

    def ranks(self, type_: ColumnType, live: Flags | None = None) -> Int32s:
        """The dense rank of each code's value among the live ones, in the order of the type; 0 for null and the others.

        `live` says of every code from 0 on whether any row has it; without it all are live. Only the first call after
        new codes sorts.
        """
        if self._order is None or self._order[0] is not type_ or len(self._order[1]) != self._known:
            in_order = canonical_order(_as_texts(*self.arrays()), type_)
            self._order = type_, (in_order + 1).astype(np.int32)
        order = self._order[1]
        if live is not None:
            order = order[live[order]]
        ranks = np.full(self._known + 1, NULL_RANK, np.int32)
        ranks[order] = np.arange(1, len(order) + 1, dtype=np.int32)
        return ranks

    def _stored(self) -> tuple[Bytes, Int64s, Bytes, Int64s]:
        return self._base, self._base_offsets, self._tail, self._tail_offsets

    def _filled_slots(self) -> Int32s:
        if self._slots is None:
            count = _FEWEST_SLOTS
            while count < _SLOTS_PER_CODE * (self._known + 1):  # one more at least will fit
                count *= 2
            self._slots = np.zeros(count, np.int32)
            fill_slots(*self._stored(), self._known, self._slots)
        return self._slots

    def _make_room(self, length: int) -> None:
        """Room for one more text of this length, and for as many again as have come."""
        if self._slots is not None and len(self._slots) < _SLOTS_PER_CODE * (self._known + 1):
            self._slots = None
        if self._tail_codes + 1 == len(self._tail_offsets):
            self._tail_offsets = _with_room(self._tail_offsets, 2 * len(self._tail_offsets) + _FEWEST_SLOTS)
        end = int(self._tail_offsets[self._tail_codes])
        if end + length > len(self._tail):
            self._tail = _with_room(self._tail, max(2 * len(self._tail), end + length, _FEWEST_BYTES))


def _with_room(array: _Array, size: int) -> _Array:
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger


def _read_only(array: _Array) -> _Array:
    """The same memory as one type of array for the kernels, whether it is an array or a map of a file."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def _as_arrays(texts: pa.Array) -> _Texts:
    """Texts of any Arrow layout as the kernels read them, without a copy of their bytes."""
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        texts = pc.cast(texts, pa.string())
    if len(texts) == 0:  # for which Arrow may have no buffers
        return _read_only(np.zeros(0, np.uint8)), np.zeros(1, np.int64), np.zeros(0, np.bool_)
    _, places, octets = texts.buffers()
    width = np.int32 if pa.types.is_string(texts.type) else np.int64
    offsets = np.frombuffer(places, width)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    data = np.zeros(0, np.uint8) if octets is None or octets.size == 0 else np.frombuffer(octets, np.uint8)
    if texts.null_count == 0:
        return _read_only(data), offsets, np.ones(len(texts), np.bool_)
    return _read_only(data), offsets, pc.is_valid(texts).to_numpy(zero_copy_only=False)


def _as_texts(data: Bytes, offsets: Int64s, is_null: Flags | None = None) -> pa.Array:
    """Bytes and offsets as texts, of which Arrow holds two billion bytes in a `string` and more in a `large_string`."""
    is_large = len(data) > _MOST_BYTES_OF_STRINGS
    ends = offsets if is_large else offsets.astype(np.int32)
    valid = None
    if is_null is not None and is_null.any():
        valid = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string() if is_large else pa.string(), len(offsets) - 1, buffers)
