"""Random laws and random column names, as unpleasant as they may be."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Constant, Key, ListOD, Predicate

NASTY_NAMES = [
    "asc", "ASC", "desc", "key", "Key", "not", "and", "true", "false", "t", "s", "const", "", " ", "\n",
    "a\nb", "\r\n", "\t", '"', '""', "'", 'say "hi"', "a -> b", "{}", "{a}: b", "key(a)", "not(t.a = s.a)",
    "1st", "12", "-5", "a.b", "t.a", "#", "# a", ";", "a;b", "größe", "数量", "e\u0301", "\u200b", "²", "_",
    "__a1", "a b", "\x00", "\x1b[31m", "\u2028", "🙂", "<", "<=", "a<", "~", ",", "[", "]", "K", "İ",
]  # fmt: skip
DIRECTIONS = ("asc", "desc")
LEFT_OPERATORS = ("<", "<=", "=", ">=", ">")
RIGHT_OPERATORS = ("<", "<=", "=")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

names = st.lists(st.sampled_from(NASTY_NAMES) | st.text(max_size=8), min_size=2, max_size=7, unique=True)

constants = st.builds(
    Constant,
    st.text(max_size=8)
    | st.sampled_from(["'", "''", "and", "1", "t.a"])
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(min_value=Decimal("-1e30"), max_value=Decimal("1e30"), allow_nan=False),
)


def column_sets(columns: list[int]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.sampled_from(columns), unique=True, max_size=4).map(tuple) if columns else st.just(())


def keys(width: int) -> st.SearchStrategy[Key]:
    return column_sets(list(range(width))).map(Key)


@st.composite
def fds(draw: st.DrawFn, width: int) -> FD:
    rhs = draw(st.integers(0, width - 1))
    return FD(draw(column_sets([column for column in range(width) if column != rhs])), rhs)


@st.composite
def canonical_ods(draw: st.DrawFn, width: int) -> CanonicalOD:
    left, right = draw(st.permutations(range(width)))[:2]
    context = draw(column_sets([column for column in range(width) if column not in (left, right)]))
    return CanonicalOD(context, left, right, draw(st.sampled_from(DIRECTIONS)))


def _marked(columns: tuple[int, ...], marks: tuple[str, ...]) -> st.SearchStrategy:
    return st.tuples(*(st.tuples(st.just(column), st.sampled_from(marks)) for column in columns))


@st.composite
def list_ods(draw: st.DrawFn, width: int) -> ListOD:
    sides = st.lists(st.integers(0, width - 1), unique=True, max_size=3).map(tuple)
    lhs, rhs = draw(sides), draw(sides)
    return ListOD(draw(_marked(lhs, DIRECTIONS)), draw(_marked(rhs, DIRECTIONS)))


@st.composite
def pods(draw: st.DrawFn, width: int) -> POD:
    rhs = draw(st.integers(0, width - 1))
    lhs = draw(column_sets([column for column in range(width) if column != rhs]))
    return POD(draw(_marked(lhs, LEFT_OPERATORS)), (rhs, draw(st.sampled_from(RIGHT_OPERATORS))))


@st.composite
def predicates(draw: st.DrawFn, width: int, constant: st.SearchStrategy[Constant] | None) -> Predicate:
    cells = st.builds(Cell, st.sampled_from(("t", "s")), st.integers(0, width - 1))
    left = draw(cells)
    others = cells.filter(lambda cell: cell != left)
    right = draw(others if constant is None else others | constant)
    return Predicate(left, draw(st.sampled_from(OPERATORS)), right)


def dcs(width: int, constant: st.SearchStrategy[Constant] | None = constants, size: int = 4) -> st.SearchStrategy[DC]:
    return st.lists(predicates(width, constant), max_size=size).map(tuple).map(DC)


def laws(width: int) -> st.SearchStrategy:
    return st.one_of(keys(width), fds(width), canonical_ods(width), list_ods(width), pods(width), dcs(width))


@st.composite
def named_laws(draw: st.DrawFn) -> tuple:
    """Draw a law and names for its columns."""
    column_names = draw(names)
    return draw(laws(len(column_names))), column_names
