"""Folding loses nothing: what is stated implies all that was listed, and what is folded holds wherever it does."""

from __future__ import annotations

import pytest
from brute_force_laws import holds
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import laws

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, ListOD, parse_law
from lawful.dependencies.folding import folded, follows_from

WIDTH = 4
NAMES = ["a", "b", "c", "d"]
TABLES = st.lists(st.tuples(*[st.integers(0, 2) | st.none()] * WIDTH), max_size=4)


def read(*texts: str) -> list[Law]:
    return [parse_law(text, NAMES) for text in texts]


@given(st.lists(laws(WIDTH), max_size=10), TABLES, st.sampled_from(NullPolicy))
def test_what_is_folded_follows(listed: list[Law], table: list[tuple], nulls: NullPolicy) -> None:
    if nulls is NullPolicy.IGNORE:
        listed = [law for law in listed if not isinstance(law, ListOD)]
    marks = folded(listed, WIDTH, nulls)
    stated = [law for law, is_folded in zip(listed, marks, strict=True) if not is_folded]
    assert all(follows_from(stated, law, WIDTH, nulls) for law in listed)
    ignores = nulls is NullPolicy.IGNORE
    if all(holds(law, table, ignores) for law in stated):
        assert all(holds(law, table, ignores) for law in listed)


@given(st.lists(laws(WIDTH), max_size=10))
def test_nothing_that_is_stated_follows_from_what_stands_before_it(listed: list[Law]) -> None:
    marks = folded(listed, WIDTH)
    for place, (law, is_folded) in enumerate(zip(listed, marks, strict=True)):
        before = [other for other, mark in zip(listed[:place], marks[:place], strict=True) if not mark]
        assert follows_from(before, law, WIDTH) == is_folded


@pytest.mark.parametrize(
    ("stated", "follows"),
    [
        ("key(a)", "a, b -> c"),
        ("key(a)", "key(a, b)"),
        ("key(a)", "{a}: b asc ~ c asc"),
        ("a -> b", "{a}: b asc ~ c asc"),
        ("{} -> b", "{}: b asc ~ c desc"),
        ("a -> b", "not(t.a = s.a and t.b != s.b)"),
        ("{}: a asc ~ b asc", "not(t.a < s.a and t.b > s.b)"),
        ("a -> b", "{a=} -> {b=}"),
    ],
)
def test_families_help_each_other(stated: str, follows: str) -> None:
    assert folded(read(stated, follows), WIDTH) == [False, True]


def test_a_set_that_determines_a_key_is_one() -> None:
    assert folded(read("key(a, b)", "c -> a", "key(b, c)", "key(c, d)"), WIDTH) == [False, False, True, False]
