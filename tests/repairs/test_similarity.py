"""How alike texts are, against the definition of edit distance."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from lawful.repairs.similarity import similarity

WORDS = st.text("abé𝄞", max_size=6)


def edits(first: str, second: str) -> int:
    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        replaced = between(i - 1, j - 1) + (first[i - 1] != second[j - 1])
        return min(replaced, between(i - 1, j) + 1, between(i, j - 1) + 1)

    return between(len(first), len(second))


@given(WORDS, WORDS)
def test_likeness_is_the_share_that_is_no_edit(first: str, second: str) -> None:
    if first and second:
        assert similarity(first, second) == 1.0 - edits(first, second) / max(len(first), len(second))
    else:
        assert similarity(first, second) == 0.0


def test_nothing_is_like_null() -> None:
    assert similarity(None, "a") == similarity("a", None) == similarity(None, None) == 0.0


def test_long_texts_are_compared_by_their_beginning() -> None:
    assert similarity("x" * 100_000, "x" * 100_000 + "y") == 1.0
