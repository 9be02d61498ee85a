"""Laws bound to names: the same law in every table that has its columns, and refused in every other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import named_laws

from lawful.common.errors import UsageError
from lawful.dependencies import FD, CanonicalOD, Key, NamedLaw, format_law, from_document, kind_of, parse_law


@given(named_laws(), st.randoms())
def test_a_law_says_the_same_wherever_its_columns_stand(drawn: tuple, random) -> None:
    law, names = drawn
    named = NamedLaw(law, names)
    elsewhere = [*names, *(f"other {place}" for place in range(3))]
    random.shuffle(elsewhere)
    moved = named.on(elsewhere)
    again = NamedLaw(moved, elsewhere)
    assert again == named
    assert hash(again) == hash(named)
    assert again.on(names) == law
    assert NamedLaw(parse_law(format_law(law, names), elsewhere), elsewhere) == named


@given(named_laws(), named_laws())
def test_laws_are_equal_if_and_only_if_one_table_takes_them_for_the_same(first: tuple, second: tuple) -> None:
    both = list(dict.fromkeys((*first[1], *second[1])))
    one, other = (NamedLaw(*drawn) for drawn in (first, second))
    assert (one == other) == (one.on(both) == other.on(both))


@given(named_laws())
def test_a_law_shows_itself_as_documents_and_the_notation_do(drawn: tuple) -> None:
    law, names = drawn
    named = NamedLaw(law, names)
    assert str(named) == named.text == format_law(law, names)
    assert named.kind == kind_of(law)
    assert from_document(named.to_dict(), names) == law
    assert set(named.columns) <= set(names)


def test_a_table_without_its_columns_refuses_a_law() -> None:
    law = NamedLaw(FD((0,), 1), ("zip", "city", "state"))
    with pytest.raises(UsageError) as refusal:
        law.on(["zip", "City", "state"])
    assert refusal.value.message == 'zip -> city: There is no column named "city".'
    assert refusal.value.hint == 'Did you mean "City"?'
    with pytest.raises(UsageError) as refusal:
        law.on(["ZIP", "state"])
    assert refusal.value.message == 'zip -> city: There are no columns named "zip", "city".'
    assert refusal.value.hint == 'Did you mean "ZIP" for "zip"?'
    with pytest.raises(UsageError, match="The columns are"):
        law.on(["a", "b"])


def test_pairs_are_unordered_and_other_laws_are_not_equal() -> None:
    one = NamedLaw(CanonicalOD((), 0, 1, "desc"), ("a", "b"))
    other = NamedLaw(CanonicalOD((), 0, 1, "desc"), ("b", "a"))
    assert (one, one.text, other.text) == (other, "{}: a asc ~ b desc", "{}: b asc ~ a desc")
    assert NamedLaw(Key((0,)), ("a",)) != NamedLaw(Key((0,)), ("b",))
    assert NamedLaw(Key((0,)), ("a",)) != Key((0,))


def test_what_cannot_be_bound_is_refused() -> None:
    with pytest.raises(UsageError, match="only 1 names"):
        NamedLaw(FD((0,), 1), ("a",))
    with pytest.raises(UsageError, match="is not a law"):
        NamedLaw("a -> b", ("a", "b"))
    with pytest.raises(UsageError, match="must be a list"):
        NamedLaw(Key((0,)), "abc")
