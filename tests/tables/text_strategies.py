"""Random columns of texts, each of one kind, with now and then a text that does not belong."""

from __future__ import annotations

from hypothesis import strategies as st

_DIGITS = "0123456789"
_blank = st.sampled_from(["", "", "", "", " ", "\t", "  "])


def _padded(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("".join, st.tuples(_blank, texts, _blank))


_small = st.integers(-30, 30).map(str)
_wide = st.integers(-(10**30), 10**30).map(str)
_around_64_bits = st.builds(lambda sign, off: str(sign * 2**63 + off), st.sampled_from([-1, 1]), st.integers(-3, 3))
_signed = st.integers(0, 30).map(lambda number: f"+{number}")
integers = _padded(st.one_of(_small, _small, _wide, _around_64_bits, _signed))

_fraction = st.text("0123", max_size=3)
_plain = st.builds(
    lambda sign, whole, rest: f"{sign}{whole}.{rest}", st.sampled_from(["", "-"]), st.integers(0, 12), _fraction
)
_no_whole = st.text("012", min_size=1, max_size=3).map(lambda rest: f".{rest}")
_powers = st.builds(
    lambda number, mark, exponent: f"{number}{mark}{exponent}",
    st.sampled_from(["1", "10", "0.1", "1.00", "-1", "0", "-0", "9007199254740993", "9007199254740992", "1."]),
    st.sampled_from(["e", "E", "e+", "e-"]),
    st.integers(0, 3) | st.integers(300, 330),
)
_close = st.builds(lambda tail: f"0.1000000000000000055511151231257827{tail}", st.text(_DIGITS, max_size=3))
_special = st.sampled_from(["nan", "NaN", "inf", "-inf", "+Infinity", "-INFINITY", "0", "-0", "-0.0", "0.00"])
decimals = _padded(st.one_of(_plain, _no_whole, _powers, _close, _special, _small))

identifiers = st.one_of(_small, st.integers(0, 30).map(lambda number: f"{number:03}"), st.just("00"), st.just("-07"))

_days = st.dates().map(lambda day: day.isoformat())
_near_days = st.builds(
    lambda year, month, day: f"{year:04}-{month:02}-{day:02}",
    st.integers(1999, 2001),
    st.integers(1, 2),
    st.integers(26, 31),
)
iso_dates = _padded(_days | _near_days)
day_first_dates = _padded(st.dates().map(lambda day: f"{day.day:02}/{day.month:02}/{day.year:04}"))
dotted_dates = _padded(st.dates().map(lambda day: f"{day.day:02}.{day.month:02}.{day.year:04}"))
times = _padded(
    st.builds(
        lambda time, ending: time.strftime("%H:%M") + ending,
        st.times(),
        st.sampled_from(["", ":00", ":59", ":07.5", ":07.500000000", ":07,000", ":07.000000001"]),
    )
)
us_dates = _padded(st.dates().map(lambda day: f"{day.month:02}/{day.day:02}/{day.year:04}"))

_clock = st.builds(
    lambda moment, mark, form: moment.strftime("%Y-%m-%d").rjust(10, "0") + mark + moment.strftime(form),
    st.datetimes(),
    st.sampled_from("T "),
    st.sampled_from(["%H:%M", "%H:%M:%S", "%H:%M:%S.0", "%H:%M:%S.000000001", "%H:%M:%S,5", "%H:%M:%S.50"]),
)
_one_hour = st.builds(
    lambda minute, second, fraction: f"2024-01-01T10:{minute:02}:{second:02}{fraction}",
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(["", ".5", ".50", ".05", ",1", ".000000001", ".100000000"]),
)
_zone = st.sampled_from(["Z", "+00", "+0000", "-00:00", "+01", "+0130", "-01:30", "+18:00", "-12"])
wall_clocks = _padded(_clock | _one_hour)
instants = _padded(
    st.builds(
        lambda clock, zone: clock + zone, _clock.filter(lambda text: "0002" < text[:4] < "9998") | _one_hour, _zone
    )
)

booleans = _padded(st.sampled_from(["true", "false", "True", "FALSE"]))
not_numbers = _padded(st.sampled_from(["nan", "NaN", "NAN"]))

# Astral and combining characters, and the end of the two-byte range, where UTF-16 sorts otherwise than code points.
strings = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab\u0301e\ufffd\U0001f600\x00\ue000"),
    min_size=1,
    max_size=4,
)
odd_ones = st.sampled_from(
    [
        "x", "-", "+", ".", "e5", "1e", "0x1f", "1_000", "1,5", "١٢", "1e1234567890", "infinit", "--1", "1 2",
        "2023-02-30", "2023-2-3", "02/30/2023", "13/01/2020",
        "31.02.2020", "1.2.2020", "24:00", "9:30", "12:60", "12:30:60", "12:30.5",
        "2020-01-01T24:00:00", "2020-01-01T10:30.5",
        "2020-01-01T10:30:60", "2020-01-01T10:30:00+19:00", "2020-01-01", "tru", "1", "007", " ", "\n1", "1\n",
    ]
)  # fmt: skip

KINDS = {
    "integers": integers,
    "decimals": decimals,
    "identifiers": identifiers,
    "iso dates": iso_dates,
    "us dates": us_dates,
    "day-first dates": day_first_dates,
    "dotted dates": dotted_dates,
    "times": times,
    "wall clocks": wall_clocks,
    "instants": instants,
    "booleans": booleans,
    "not numbers": not_numbers,
    "strings": strings,
}


@st.composite
def text_columns(draw: st.DrawFn, rows: int | None = None) -> list[str | None]:
    """A column: mostly texts of one kind, some nulls, and sometimes one text of another kind."""
    kind = draw(st.sampled_from(list(KINDS.values())))
    size = {"min_size": rows, "max_size": rows} if rows is not None else {"max_size": 12}
    column: list[str | None] = draw(st.lists(st.one_of(kind, kind, kind, st.none()), **size))
    if column and draw(st.integers(0, 3)) == 0:
        other = draw(st.one_of(odd_ones, *KINDS.values()))
        column[draw(st.integers(0, len(column) - 1))] = other
    return column
