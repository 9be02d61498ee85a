"""Codes of texts that never change, against a Python dict that remembers what came first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lawful.common.meanings import ColumnType
from lawful.tables.living.canonical import canonical_texts
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.text_values import sort_texts
from tables.text_strategies import KINDS, strings

Texts = Sequence[str | None]

_short = st.text("abc", max_size=3)
_long = st.builds(lambda text, times: text * times, st.text("ab", min_size=1, max_size=3), st.integers(1, 40))
some_texts = st.lists(st.one_of(st.none(), _short, _short, _long, strings), max_size=30)
many_texts = st.builds(
    lambda first, count, step: [str(number) for number in range(first, first + count * step, step)],
    st.integers(0, 400),
    st.integers(0, 300),
    st.integers(1, 3),
)
layouts = st.sampled_from([pa.string(), pa.large_string(), pa.string_view()])


def array(texts: Texts, layout: pa.DataType | None = None, before: int = 0) -> pa.Array:
    """Texts as Arrow has them, as the end of an array that begins with some others."""
    return pa.array([*["xyz"] * before, *texts], layout or pa.string()).slice(before)


class Codes(RuleBasedStateMachine):
    """A dictionary that is looked up, added to, cut, saved and opened in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.dictionary = Dictionary()
        self.known: list[str] = []

    def expected(self, texts: Texts) -> list[int]:
        codes = {None: 0, **{text: code for code, text in enumerate(self.known, 1)}}
        return [codes.get(text, -1) for text in texts]

    @rule(texts=some_texts | many_texts, layout=layouts, before=st.integers(0, 9))
    def add(self, texts: Texts, layout: pa.DataType, before: int) -> None:
        self.known.extend(dict.fromkeys(text for text in texts if text is not None and text not in set(self.known)))
        assert self.dictionary.add(array(texts, layout, before)).tolist() == self.expected(texts)

    @rule(texts=some_texts | many_texts, layout=layouts, before=st.integers(0, 9))
    def find(self, texts: Texts, layout: pa.DataType, before: int) -> None:
        assert self.dictionary.find(array(texts, layout, before)).tolist() == self.expected(texts)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        kept = data.draw(st.integers(0, len(self.known)))
        self.dictionary.truncate(kept)
        del self.known[kept:]

    @rule()
    def open_again(self) -> None:
        self.dictionary = Dictionary.from_arrays(*self.dictionary.arrays())

    @rule()
    def make_again(self) -> None:
        self.dictionary = Dictionary.of(array(self.known, before=1))

    @rule(data=st.data())
    def since(self, data: st.DataObject) -> None:
        known = data.draw(st.integers(0, len(self.known)))
        assert self.dictionary.since(known).to_pylist() == self.known[known:]

    @rule(data=st.data())
    def texts(self, data: st.DataObject) -> None:
        codes = data.draw(st.lists(st.integers(0, len(self.known)), max_size=20))
        texts = self.dictionary.texts(np.array(codes, np.int32))
        texts.validate(full=True)
        assert texts.to_pylist() == [None if code == 0 else self.known[code - 1] for code in codes]

    @rule(data=st.data())
    def ranks(self, data: st.DataObject) -> None:
        live = data.draw(
            st.none() | st.lists(st.booleans(), min_size=len(self.known) + 1, max_size=len(self.known) + 1)
        )
        among = [text for code, text in enumerate(self.known, 1) if live is None or live[code]]
        rank = {text: place for place, text in enumerate(sorted(among), 1)}
        found = self.dictionary.ranks(ColumnType.STRING, None if live is None else np.array(live, np.bool_))
        assert found.dtype == np.int32
        assert found.tolist() == [0, *(rank.get(text, 0) if text in rank else 0 for text in self.known)]

    @invariant()
    def length(self) -> None:
        assert len(self.dictionary) == len(self.known)

    @invariant()
    def saved(self) -> None:
        data, offsets = self.dictionary.arrays()
        assert data.tobytes() == "".join(self.known).encode()
        assert offsets.tolist() == np.cumsum([0, *(len(text.encode()) for text in self.known)]).tolist()


TestCodes = Codes.TestCase


@given(
    st.sampled_from(
        [
            (ColumnType.INTEGER, "integers"),
            (ColumnType.DECIMAL, "decimals"),
            (ColumnType.DATE, "iso dates"),
            (ColumnType.TIMESTAMP, "instants"),
            (ColumnType.BOOLEAN, "booleans"),
        ]
    ).flatmap(lambda kind: st.tuples(st.just(kind[0]), st.lists(KINDS[kind[1]], min_size=1, max_size=12))),
)
def test_ranks_are_in_the_order_of_the_type(column: tuple[ColumnType, list[str]]) -> None:
    type_, texts = column
    distinct = pa.array(texts).unique()
    distinct = distinct.filter(pa.array(canonical_texts(distinct, type_).fits))
    dictionary = Dictionary()
    codes = dictionary.add(canonical_texts(distinct, type_).texts)
    assert dictionary.ranks(type_)[codes].tolist() == sort_texts(distinct, type_).ranks.tolist()


def test_a_mapped_file_stays_where_it_is(tmp_path: Path) -> None:
    data, offsets = Dictionary.of(pa.array(["one", "", "three"])).arrays()
    np.save(tmp_path / "data.npy", data)
    np.save(tmp_path / "offsets.npy", offsets)
    maps = [np.load(tmp_path / name, mmap_mode="r") for name in ("data.npy", "offsets.npy")]
    dictionary = Dictionary.from_arrays(*maps)
    assert all(np.shares_memory(*pair) for pair in zip(dictionary.arrays(), maps, strict=True))
    assert dictionary.add(pa.array(["three", "four", "", None, "four"])).tolist() == [3, 4, 2, 0, 4]
    assert np.shares_memory(dictionary._base, maps[0])
    assert dictionary.since(2).to_pylist() == ["three", "four"]
    assert (np.load(tmp_path / "data.npy") == data).all()


def test_what_is_no_dictionary_is_refused() -> None:
    data, offsets = np.zeros(3, np.uint8), np.array([0, 2, 3])
    for wrong in [(data[:2], offsets), (data, offsets[:0]), (data, offsets[1:]), (data, offsets.astype(np.int32))]:
        with pytest.raises(ValueError, match="offsets"):
            Dictionary.from_arrays(*wrong)


def test_codes_that_were_not_given_have_no_texts() -> None:
    dictionary = Dictionary.of(pa.array(["a"]))
    for codes in ([2], [-1], [0, 1, 2]):
        with pytest.raises(IndexError):
            dictionary.texts(np.array(codes, np.int32))
    for kept in (-1, 2):
        with pytest.raises(IndexError):
            dictionary.truncate(kept)


def test_texts_of_before_do_not_change_when_others_take_their_place() -> None:
    dictionary = Dictionary()
    dictionary.add(pa.array(["kept", "gone"]))
    before = dictionary.since(0)
    dictionary.truncate(1)
    dictionary.add(pa.array(["here"]))
    assert before.to_pylist() == ["kept", "gone"]
    assert dictionary.since(0).to_pylist() == ["kept", "here"]


def test_null_columns_and_empty_ones() -> None:
    dictionary = Dictionary()
    assert dictionary.add(pa.nulls(2)).tolist() == [0, 0]
    assert dictionary.find(pa.array([], pa.string())).tolist() == []
    assert dictionary.find(pa.array(["", None])).tolist() == [-1, 0]
    assert dictionary.ranks(ColumnType.NULL).tolist() == [0]
    assert Dictionary.of(pa.array([], pa.string())).since(0).to_pylist() == []
