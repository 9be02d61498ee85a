from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import UsageError
from lawful.common.sizes import parse_size, shown_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512m", 512 << 20),
        ("4g", 4 << 30),
        ("1.5 GB", 3 << 29),
        ("10GiB", 10 << 30),
        ("2k", 2048),
        ("7", 7),
        ("7b", 7),
        ("1t", 1 << 40),
        (" 0 ", 0),
        ("999999999999999999", 10**18 - 1),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "m", "-1g", "4 gigs", "1e9", "∞", "٣g", "4i", "1.g", ".5g", "4g 2m", "9" * 5000])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


def test_an_error_says_where_the_size_was_written() -> None:
    with pytest.raises(UsageError, match=r"^LIMIT: 'much' is not a size\nWrite 512m or 4g"):
        parse_size("much", "LIMIT")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1 KB"),
        (8_400, "8.2 KB"),
        ((1 << 20) - 1, "1 MB"),
        (20 << 30, "20 GB"),
        (3 << 50, "3072 TB"),
    ],
)
def test_shown_sizes(size: int, text: str) -> None:
    assert shown_size(size) == text


@given(st.integers(1024, 1 << 60))
def test_what_is_shown_is_read_as_nearly_the_same(size: int) -> None:
    assert abs(parse_size(shown_size(size)) - size) <= 0.05 * size
