"""What is asked of a discovery of denial constraints, and the predicates that it will look at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import Final, Literal, get_args

from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Cell, Constant, Operator, Predicate
from lawful.dependencies.laws import OPERATORS, number_from_text
from lawful.dependencies.notation import unknown_column
from lawful.dependencies.predicate_space import ORDER_OPERATORS, PredicateSpace, require_operators
from lawful.discovery.denials.means import are_alike
from lawful.discovery.denials.value_facts import facts_of
from lawful.search.denials.literals import CONVENTIONS, Convention
from lawful.search.sets import Look, look_away
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.sample import SampleTable, rows_of_all
from lawful.tables.shared_ranks import NUMBERS, comparable

DenialStrategy = Literal["auto", "full", "hybrid", "completion"]

_TIMES: Final = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME, ColumnType.DURATION})
_ORDERED: Final = NUMBERS | _TIMES
_WRITTEN: Final = NUMBERS | {ColumnType.STRING, ColumnType.BOOLEAN, ColumnType.DATE, ColumnType.TIMESTAMP}
"""The types of which laws have constants."""
_EQUALITY: Final[tuple[Operator, ...]] = ("=", "!=")
_REMEMBERED_SPACES, _MOST_REMEMBERED = 32, 2_000
"""Spaces that are remembered, and the comparisons of the largest of them: others take too much to be kept."""

Comparison = tuple[Cell, Cell | Constant, tuple[Operator, ...]]
"""What is compared, and by which operators."""


@dataclass(frozen=True)
class DenialQuestion:
    """Which denial constraints are wanted.

    Parameters
    ----------
    null_policy
        What null means.
    max_size
        The most predicates of a constraint.
    error
        The share of pairs of rows that may break a constraint (g1); 0 asks for constraints that hold.
    seed
        Where random numbers start; every seed gives the same constraints.
    strategy
        `full` compares all pairs, `hybrid` samples and checks, `completion` samples and lists all violating pairs as
        the paper does; `auto` takes `full` or `hybrid`, whichever is quicker.
    convention
        `set-minimal`: no subset of the predicates is a constraint. `one-per-pair`: of these, the ones that compare no
        two cells twice. `reduced`: of these, the ones that do not follow from another.
    cross_columns
        Whether to compare different columns, across rows and within one.
    least_shared
        Different columns are compared by = and != if this share of all their values is common (paper: 0.2).
    least_mean_ratio
        Numbers of different columns are compared by order if the smaller mean is this share of the larger
        (paper: same order of magnitude, so 0.1).
    order_on_text
        Whether texts are compared by order too.
    constants
        How many of the most frequent values of each column are compared with it by = and !=; none by default.
    least_frequency
        The share of rows that such a value must have.
    columns, operators
        The columns and operators to use; all unless some are named. Operators come with their mirror images: whoever
        asks for < gets >, because `t.a < s.a` and `s.a > t.a` are the same.
    column_operators
        The operators for single columns, by name, in place of `operators`; none leaves a column out. Different
        columns are compared by what both have. An order that is named for a text is used.
    """

    null_policy: NullPolicy = NullPolicy.EQUAL
    max_size: int | None = None
    error: float = 0.0
    seed: int = 0
    strategy: DenialStrategy = "auto"
    convention: Convention = "reduced"
    cross_columns: bool = True
    least_shared: float = 0.2
    least_mean_ratio: float = 0.1
    order_on_text: bool = False
    constants: int = 0
    least_frequency: float = 0.05
    columns: tuple[int, ...] | None = None
    operators: tuple[Operator, ...] = OPERATORS
    column_operators: Mapping[str, Sequence[Operator]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.0 <= self.error < 1.0:
            raise UsageError(f"the error must lie in [0, 1), and is {self.error}", "0.01 allows one in a hundred.")
        if self.max_size is not None and self.max_size < 0:
            raise UsageError(f"the largest size must not be negative, and is {self.max_size}")
        if self.strategy not in get_args(DenialStrategy):
            raise UsageError(f"unknown strategy {self.strategy!r}", f"Use {', '.join(get_args(DenialStrategy))}.")
        if self.convention not in CONVENTIONS:
            raise UsageError(f"unknown convention {self.convention!r}", f"Use {', '.join(CONVENTIONS)}.")
        if self.error and self.strategy not in ("auto", "full"):
            raise UsageError("constraints within an error are counted on all pairs", "Drop --strategy or --error.")
        for name in ("least_shared", "least_mean_ratio", "least_frequency"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} must lie in [0, 1], and is {getattr(self, name)}")
        if self.constants < 0:
            raise UsageError(f"the number of constants must not be negative, and is {self.constants}")
        if not require_operators(self.operators) and not any(self.column_operators.values()):
            raise UsageError("no operator is left to compare with", f"Operators: {' '.join(OPERATORS)}.")
        for name, operators in self.column_operators.items():
            require_operators(operators, f" for column {name!r}")

    def of_single_columns(self) -> DenialQuestion:
        """The same question of predicates that compare one column of two rows."""
        return replace(self, cross_columns=False, constants=0)

    def allowed(self, name: str) -> frozenset[Operator]:
        """The operators that a column may be compared by, if its type allows."""
        own = self.column_operators.get(name)
        return self._allowed_everywhere if own is None else require_operators(own)

    @cached_property
    def _allowed_everywhere(self) -> frozenset[Operator]:
        return require_operators(self.operators)


def predicate_space(
    table: EncodedTable | SampleTable, question: DenialQuestion, look: Look = look_away
) -> PredicateSpace:
    """The predicates that a question allows on a table, with the restrictions of Hydra, section 7.1.

    Departing from it, dates and times are ordered types too, and the order of two such columns needs no mean. `look` is
    called for each two columns that are held against each other, and may raise an error.
    """
    columns = tuple(range(table.width)) if question.columns is None else question.columns
    if any(not 0 <= column < table.width for column in columns):
        raise UsageError(f"the columns to compare must be of 0 to {table.width - 1}, and are {columns}")
    for name in question.column_operators:
        if name not in table.names:
            raise UsageError(*unknown_column(name, table.names))
    same = tuple((column, _same_column_operators(table, column, question)) for column in columns)
    across = [*_across(table, columns, question, look)] if question.cross_columns else []
    with_constants, places = _with_constants(table, columns, question) if question.constants else ([], {})
    others = (*across, *with_constants)
    make = _space if len(others) <= _MOST_REMEMBERED else _space.__wrapped__
    return make(same, others, tuple(places.items()))


@lru_cache(maxsize=_REMEMBERED_SPACES)
def _space(
    same: tuple[tuple[int, tuple[Operator, ...]], ...],
    others: tuple[Comparison, ...],
    places: tuple[tuple[tuple[int, Constant], int], ...],
) -> PredicateSpace:
    """The space of some comparisons; the same one for tables whose columns are alike, with all that it worked out.

    Comparisons of one column in both rows are given by its number alone: every discovery asks for them again.
    """
    comparisons = (*((Cell("t", column), Cell("s", column), operators) for column, operators in same), *others)
    predicates = (Predicate(left, operator, right) for left, right, operators in comparisons for operator in operators)
    return PredicateSpace.of(predicates, dict(places))


@cache
def _operators(allowed: frozenset[Operator], equality: bool, order: bool) -> tuple[Operator, ...]:
    return tuple(op for op in OPERATORS if op in allowed and (equality if op in _EQUALITY else order))


def _is_ordered(table: EncodedTable | SampleTable, column: int, question: DenialQuestion) -> bool:
    type_ = table.type(column)
    is_asked_for = not ORDER_OPERATORS.isdisjoint(question.column_operators.get(table.names[column], ()))
    return type_ in _ORDERED or is_asked_for or (question.order_on_text and type_ is ColumnType.STRING)


def _same_column_operators(
    table: EncodedTable | SampleTable, column: int, question: DenialQuestion
) -> tuple[Operator, ...]:
    return _operators(question.allowed(table.names[column]), True, _is_ordered(table, column, question))


def _across(
    table: EncodedTable | SampleTable, columns: tuple[int, ...], question: DenialQuestion, look: Look
) -> Iterator[Comparison]:
    """Compare t.a with s.b, and a with b of one row."""
    least_shared, facts = Fraction(str(question.least_shared)), facts_of(table)
    for family in _families(table, columns):
        shared = facts.shared(family)
        if shared is None:
            continue
        means = {column: facts.mean(column) for column in family if table.type(column) in NUMBERS}
        values = [shared(place, place) for place in range(len(family))]
        for one, other in combinations(range(len(family)), 2):
            look()
            a, b = family[one], family[other]
            both = shared(one, other)
            either = values[one] + values[other] - both
            shares = either > 0 and both >= least_shared * either
            order = all(_is_ordered(table, column, question) for column in (a, b)) and (
                are_alike(means[a], means[b], question.least_mean_ratio)
                if a in means
                else shares or table.type(a) in _TIMES
            )
            allowed = question.allowed(table.names[a]) & question.allowed(table.names[b])
            operators = _operators(allowed, shares, order)
            yield Cell("t", a), Cell("s", b), operators
            yield Cell("t", a), Cell("t", b), operators


def _families(table: EncodedTable | SampleTable, columns: tuple[int, ...]) -> list[list[int]]:
    """Columns whose types can be compared with each other; those without any value are left out."""
    families: list[list[int]] = []
    for column in columns:
        type_ = table.type(column)
        if type_ is ColumnType.NULL:
            continue
        home = next((family for family in families if comparable(table.type(family[0]), type_)), None)
        if home is None:
            families.append([column])
        else:
            home.append(column)
    return [family for family in families if len(family) > 1]


def _with_constants(
    table: EncodedTable | SampleTable, columns: tuple[int, ...], question: DenialQuestion
) -> tuple[list[Comparison], dict[tuple[int, Constant], int]]:
    """Compare columns with their most frequent values, and tell the places of these."""
    comparisons: list[Comparison] = []
    places: dict[tuple[int, Constant], int] = {}
    facts, least = facts_of(table), max(1.0, question.least_frequency * rows_of_all(table))
    for column in columns:
        if (type_ := table.type(column)) not in _WRITTEN:
            continue
        operators = _operators(question.allowed(table.names[column]), True, False)
        for value in facts.frequent(column, question.constants):
            constant = _constant(value.text, type_) if value.rows >= least else None
            if constant is not None:
                comparisons.append((Cell("t", column), constant, operators))
                places[column, constant] = 2 * value.rank
    return comparisons, places


def _constant(text: str, type_: ColumnType) -> Constant | None:
    """A value as a law writes it, None if it is not finite."""
    if type_ is ColumnType.STRING:
        return Constant(text)
    text = text.strip(" \t")
    if type_ in NUMBERS:
        return number_from_text(text) if math.isfinite(float(text)) else None
    return Constant(text.lower() == "true") if type_ is ColumnType.BOOLEAN else Constant(text)
