"""What is asked of a discovery of denial constraints, and the predicates that it will look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Cell, Constant, Operator, Predicate
from lawful.dependencies.laws import OPERATORS, number_from_text
from lawful.dependencies.notation import unknown_column
from lawful.dependencies.predicate_space import ORDER_OPERATORS, PredicateSpace, require_operators
from lawful.discovery.denials.means import Mean, are_alike
from lawful.search.denials.literals import CONVENTIONS, Convention
from lawful.search.sets import Look, look_away
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranking import typed_to_text
from lawful.tables.sample import SampleTable
from lawful.tables.shared_ranks import comparable, constant_place, shared_codes

DenialStrategy = Literal["auto", "full", "hybrid", "completion"]

_NUMBERS: Final = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
_TIMES: Final = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME, ColumnType.DURATION})
_ORDERED: Final = _NUMBERS | _TIMES
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
    if not isinstance(table, EncodedTable):
        return _space(same, (), ())  # what else there is needs the values of all rows
    across = [*_across(table, columns, question, look)] if question.cross_columns else []
    with_constants = [*_with_constants(table, columns, question)] if question.constants else []
    constants = {(cell.column, right) for cell, right, _ in with_constants if isinstance(right, Constant)}
    places = tuple((constant, constant_place(table, *constant)) for constant in constants)
    others = (*across, *with_constants)
    return (_space if len(others) <= _MOST_REMEMBERED else _space.__wrapped__)(same, others, places)


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
    table: EncodedTable, columns: tuple[int, ...], question: DenialQuestion, look: Look
) -> Iterator[Comparison]:
    """Compare t.a with s.b, and a with b of one row."""
    least_shared = Fraction(str(question.least_shared))
    for family in _families(table, columns):
        try:
            codes = shared_codes(table, family)
        except UsageError:  # times with a zone and without
            continue
        present = np.zeros((len(family), max(int(code.max(initial=0)) for code in codes) + 1), np.bool_)
        for place, code in enumerate(codes):
            present[place, code[1:]] = True
        means = {column: Mean.of(table, column) for column in family if table.type(column) in _NUMBERS}
        for one, other in combinations(range(len(family)), 2):
            look()
            a, b = family[one], family[other]
            either = int(np.count_nonzero(present[one] | present[other]))
            shares = either > 0 and np.count_nonzero(present[one] & present[other]) >= least_shared * either
            order = all(_is_ordered(table, column, question) for column in (a, b)) and (
                are_alike(means[a], means[b], question.least_mean_ratio)
                if a in means
                else bool(shares) or table.type(a) in _TIMES
            )
            allowed = question.allowed(table.names[a]) & question.allowed(table.names[b])
            operators = _operators(allowed, bool(shares), order)
            yield Cell("t", a), Cell("s", b), operators
            yield Cell("t", a), Cell("t", b), operators


def _families(table: EncodedTable, columns: tuple[int, ...]) -> list[list[int]]:
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


def _with_constants(table: EncodedTable, columns: tuple[int, ...], question: DenialQuestion) -> Iterator[Comparison]:
    for column in columns:
        operators = _operators(question.allowed(table.names[column]), True, False)
        for constant in frequent_values(table, column, question):
            yield Cell("t", column), constant, operators


def frequent_values(table: EncodedTable, column: int, question: DenialQuestion) -> list[Constant]:
    """The most frequent values of a column, as constants."""
    type_ = table.type(column)
    if type_ not in _NUMBERS | {ColumnType.STRING, ColumnType.BOOLEAN, ColumnType.DATE, ColumnType.TIMESTAMP}:
        return []
    rows = np.bincount(table.column(column), minlength=table.distinct(column) + 1)[1:]
    frequent = np.argsort(-rows, kind="stable")[: question.constants]
    frequent = frequent[rows[frequent] >= max(1.0, question.least_frequency * table.rows)]
    texts = typed_to_text(table.values(column).take(pa.array(frequent))) if len(frequent) else pa.array([], pa.string())
    constants = []
    for text in pc.utf8_trim(texts, " \t").to_pylist() if type_ is not ColumnType.STRING else texts.to_pylist():
        if type_ in _NUMBERS:
            if np.isfinite(float(text)):
                constants.append(number_from_text(text))
        elif type_ is ColumnType.BOOLEAN:
            constants.append(Constant(text.lower() == "true"))
        else:
            constants.append(Constant(text))
    return constants
