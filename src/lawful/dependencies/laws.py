"""The laws themselves: small immutable values over column indices.

Each constructor brings its arguments into one normal form, so that two laws are equal exactly when they say
the same thing in the same form, and refuses what is not a law of its family with a `UsageError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from operator import index
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from lawful.common.errors import UsageError
from lawful.common.meanings import Direction

Row: TypeAlias = Literal["t", "s"]
Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
LawKind: TypeAlias = str
"""The name of a family: `key`, `fd`, `canonical-od`, `list-od`, `pod`, `dc`, or what else is registered."""

DIRECTIONS: Final[tuple[Direction, ...]] = ("asc", "desc")
OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=", ">", ">=", "!=")
POD_LEFT_OPERATORS: Final[tuple[Operator, ...]] = ("<", "<=", "=", ">=", ">")
POD_RIGHT_OPERATORS: Final[tuple[Operator, ...]] = ("<", "<=", "=")

MIRRORED: Final[Mapping[Operator, Operator]] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
"""The operator that says the same with its operands exchanged."""

NEGATED: Final[Mapping[Operator, Operator]] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}
"""The operator that holds exactly where the given one does not, between two values that are not unknown."""

_OPERATOR_RANK: Final = {operator: rank for rank, operator in enumerate(OPERATORS)}
_LARGEST_EXPONENT: Final = 400  # every finite float fits, and no constant unfolds into megabytes of zeros
_LARGEST_INTEGER: Final = 10**_LARGEST_EXPONENT
_LONGEST_NUMBER: Final = 1_000
_EXACT: Final = Context(prec=2 * _LARGEST_EXPONENT + 2)

_Mark = TypeVar("_Mark", bound=str)


def _column(column: int) -> int:
    try:
        normal = index(column)
    except TypeError:
        raise UsageError(f"A column of a law must be an index, not {column!r}.") from None
    if normal < 0:
        raise UsageError(f"A column of a law must not be negative, but one is {normal}.")
    return normal


def _column_set(columns: Iterable[int]) -> tuple[int, ...]:
    try:
        normal = tuple(sorted({index(column) for column in columns}))
    except TypeError:
        raise UsageError(f"The columns of a law must be indices, not {columns!r}.") from None
    if normal and normal[0] < 0:
        raise UsageError(f"A column of a law must not be negative, but one is {normal[0]}.")
    return normal


def _marked(
    items: Iterable[tuple[int, _Mark]], allowed: tuple[_Mark, ...], place: str
) -> tuple[tuple[int, _Mark], ...]:
    """Check columns that carry a direction or an operator, and that none occurs twice."""
    try:
        normal = tuple([(_column(column), mark) for column, mark in items])
    except (TypeError, ValueError):
        raise UsageError(f"{place} must be pairs of a column and one of {', '.join(allowed)}.") from None
    for _, mark in normal:
        if mark not in allowed:
            raise UsageError(f"{place} may use {', '.join(allowed)}, but not {mark!r}.")
    if len({column for column, _ in normal}) < len(normal):
        raise UsageError(f"{place} must not name the same column twice.")
    return normal


@dataclass(frozen=True, slots=True)
class Key:
    """No two rows agree on all of `columns`; the empty key holds on tables of at most one row."""

    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _column_set(self.columns))


@dataclass(frozen=True, slots=True)
class FD:
    """Rows that agree on all of `lhs` agree on `rhs`; with an empty `lhs`, `rhs` is constant."""

    lhs: tuple[int, ...]
    rhs: int

    def __post_init__(self) -> None:
        lhs, rhs = _column_set(self.lhs), _column(self.rhs)
        if rhs in lhs:
            raise UsageError("A functional dependency must not have its right side on the left as well.")
        object.__setattr__(self, "lhs", lhs)
        object.__setattr__(self, "rhs", rhs)


@dataclass(frozen=True, slots=True)
class CanonicalOD:
    """Among rows that agree on `context`, no two are ordered one way by `left` and against it by `right`.

    With `direction` "asc" both columns rise together; with "desc" one falls while the other rises. The pair
    is unordered and kept with the smaller column on the left.
    """

    context: tuple[int, ...]
    left: int
    right: int
    direction: Direction

    def __post_init__(self) -> None:
        context, left, right = _column_set(self.context), _column(self.left), _column(self.right)
        if left == right:
            raise UsageError("A canonical order dependency must order two different columns.")
        if left in context or right in context:
            raise UsageError("A canonical order dependency must not order a column of its own context.")
        if self.direction not in DIRECTIONS:
            raise UsageError(f"A direction is asc or desc, not {self.direction!r}.")
        object.__setattr__(self, "context", context)
        object.__setattr__(self, "left", min(left, right))
        object.__setattr__(self, "right", max(left, right))


@dataclass(frozen=True, slots=True)
class ListOD:
    """Rows sorted by the list `lhs` are sorted by the list `rhs`, each column in its own direction."""

    lhs: tuple[tuple[int, Direction], ...]
    rhs: tuple[tuple[int, Direction], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "lhs", _marked(self.lhs, DIRECTIONS, "The left list"))
        object.__setattr__(self, "rhs", _marked(self.rhs, DIRECTIONS, "The right list"))


@dataclass(frozen=True, slots=True)
class POD:
    """A pair of rows that satisfies every marked column of `lhs` satisfies the marked column `rhs`."""

    lhs: tuple[tuple[int, Operator], ...]
    rhs: tuple[int, Operator]

    def __post_init__(self) -> None:
        lhs = _marked(self.lhs, POD_LEFT_OPERATORS, "The left side of a pointwise order dependency")
        (rhs,) = _marked((self.rhs,), POD_RIGHT_OPERATORS, "The right side of a pointwise order dependency")
        if any(column == rhs[0] for column, _ in lhs):
            raise UsageError("A pointwise order dependency must name each column only once.")
        object.__setattr__(self, "lhs", tuple(sorted(lhs)))
        object.__setattr__(self, "rhs", rhs)


class Cell(NamedTuple):
    """The value of one column in one of the two rows that a denial constraint compares."""

    row: Row
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A value written into a denial constraint.

    A number is what its decimal text says: a float stands for the shortest text that names it, so that 0.1
    is one tenth. Whole numbers are kept as int and others as `Decimal`, so equal numbers are one value; true
    and 1 are two.
    """

    value: str | int | float | Decimal

    def __post_init__(self) -> None:
        value: object = self.value
        if isinstance(value, bool):
            return
        if isinstance(value, str):
            object.__setattr__(self, "value", str(value))
        elif isinstance(value, int | float | Decimal):
            object.__setattr__(self, "value", _normal_number(value))
        else:
            raise UsageError(f"A constant is text, a number, true or false, not {value!r}.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value).__name__, self.value))


def _normal_number(number: int | float | Decimal) -> int | Decimal:
    if isinstance(number, int):
        if abs(number) >= _LARGEST_INTEGER:
            raise UsageError(f"A number of a constraint has at most {_LARGEST_EXPONENT} digits.")
        return int(number)
    exact = number if isinstance(number, Decimal) else Decimal(repr(float(number)))
    if not exact.is_finite():
        raise UsageError("A number of a constraint must be finite.")
    smallest_exponent = exact.as_tuple().exponent
    assert isinstance(smallest_exponent, int)
    if exact.adjusted() >= _LARGEST_EXPONENT or smallest_exponent < -_LARGEST_EXPONENT:
        raise UsageError(f"A number of a constraint has at most {_LARGEST_EXPONENT} digits on each side.")
    return int(exact) if exact == exact.to_integral_value() else exact.normalize(_EXACT)


def number_from_text(text: str) -> Constant:
    """Read a number from its decimal text, exactly."""
    if len(text) > _LONGEST_NUMBER:
        raise UsageError(f"A number of {len(text):,} characters is too long; at most {_LONGEST_NUMBER:,} are read.")
    try:
        return Constant(Decimal(text))
    except InvalidOperation:
        raise UsageError(f"{text[:40]!r} is not a number that can be kept exactly.") from None


@dataclass(frozen=True, slots=True)
class Predicate:
    """One comparison of a denial constraint: a cell with a cell, or a cell with a constant.

    `s.a > t.b` and `t.b < s.a` are one value: cells of t stand left of cells of s, and within one row the
    smaller column stands left.
    """

    left: Cell
    operator: Operator
    right: Cell | Constant

    def __post_init__(self) -> None:
        if self.operator not in MIRRORED:
            raise UsageError(f"A comparison is one of {', '.join(OPERATORS)}, not {self.operator!r}.")
        left = _cell(self.left)
        if isinstance(self.right, Constant):
            object.__setattr__(self, "left", left)
            return
        right = _cell(self.right)
        if left == right:
            raise UsageError("A comparison of a value with itself says nothing.")
        if _cell_rank(right) < _cell_rank(left):
            left, right = right, left
            object.__setattr__(self, "operator", MIRRORED[self.operator])
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "right", right)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Equalities first, then by columns, as people write constraints."""
        rank = (_OPERATOR_RANK[self.operator], self.left.column, self.left.row != "t")
        if isinstance(self.right, Constant):
            value = self.right.value
            kind = "number" if isinstance(value, int | Decimal) else "text"
            return (*rank, 1, "boolean" if isinstance(value, bool) else kind, value)
        return (*rank, 0, self.right.column, self.right.row != "t")


def _cell(cell: tuple[Row, int]) -> Cell:
    try:
        row, column = cell
    except (TypeError, ValueError):
        raise UsageError(f"A comparison needs a row and a column, not {cell!r}.") from None
    if row not in ("t", "s"):
        raise UsageError(f"The rows of a denial constraint are t and s, not {row!r}.")
    number = _column(column)
    return cell if type(cell) is Cell and number is column else Cell(row, number)


def _cell_rank(cell: Cell) -> tuple[bool, int]:
    return (cell.row != "t", cell.column)


@dataclass(frozen=True, slots=True)
class DC:
    """No pair of distinct rows (t, s) satisfies all of `predicates`, a set kept as a sorted tuple.

    The constraint with t and s exchanged says the same of a table but is another value, because evidence is
    gathered for ordered pairs; see `swapped`.
    """

    predicates: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        try:
            ordered = sorted(set(self.predicates), key=lambda predicate: predicate.sort_key)
        except (TypeError, AttributeError):
            raise UsageError("A denial constraint is made of predicates.") from None
        object.__setattr__(self, "predicates", tuple(ordered))

    @staticmethod
    def of_sorted(predicates: tuple[Predicate, ...]) -> DC:
        """Make a constraint of predicates that are known to be distinct and sorted, of which there may be millions."""
        constraint = object.__new__(DC)
        object.__setattr__(constraint, "predicates", predicates)
        return constraint


Law: TypeAlias = Key | FD | CanonicalOD | ListOD | POD | DC
