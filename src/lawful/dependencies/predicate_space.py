"""The predicate space: which comparisons the denial constraints of a discovery may be made of.

Predicates that compare the same two cells, or the same cell with the same constant, form a group. A pair of rows
has one sign in a group (less, equal or greater), and every predicate of the group allows some of the signs. So what
a pair says about a whole space is one sign per group, and implication within a group is inclusion of signs.

A space is closed under exchanging t and s: whatever holds for (t, s) can be said of (s, t).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from lawful.common.errors import UsageError
from lawful.dependencies.denial_implication import negated, swapped_predicate
from lawful.dependencies.laws import DC, MIRRORED, OPERATORS, Cell, Constant, Operator, Predicate

LESS, EQUAL, GREATER = 1, 2, 4
"""The signs of a group, as bits of a mask."""
ANY_SIGN: Final = LESS | EQUAL | GREATER

SIGNS_OF: Final[Mapping[Operator, int]] = {
    "=": EQUAL,
    "!=": LESS | GREATER,
    "<": LESS,
    "<=": LESS | EQUAL,
    ">": GREATER,
    ">=": GREATER | EQUAL,
}
"""The signs that each operator allows."""

ORDER_OPERATORS: Final[frozenset[Operator]] = frozenset(("<", "<=", ">", ">="))


@dataclass(frozen=True)
class Group:
    """What the predicates of a group compare, and the numbers of these predicates in the space."""

    left: Cell
    right: Cell | Constant
    members: tuple[int, ...]
    is_ordered: bool
    """Whether any member tells less from greater."""

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns that are compared, once each."""
        if isinstance(self.right, Constant):
            return (self.left.column,)
        return tuple(sorted({self.left.column, self.right.column}))

    @cached_property
    def same_column(self) -> bool:
        """Whether one column of both rows is compared."""
        return isinstance(self.right, Cell) and self.left.column == self.right.column

    @cached_property
    def row(self) -> str | None:
        """The one row that the group looks at, if it does not look at both."""
        is_single = isinstance(self.right, Constant) or self.right.row == self.left.row
        return self.left.row if is_single else None


@dataclass(frozen=True)
class PredicateSpace:
    """Predicates in a fixed order, group by group; make one with `PredicateSpace.of`.

    Attributes
    ----------
    predicates
        The predicates; the place of one is its number.
    groups
        The groups, in the order of their first predicates.
    constant_places
        Where constants stand in the order of their columns, as far as it is known: only the type of a column tells
        whether '2/1/2020' comes before '10/1/2020'.
    """

    predicates: tuple[Predicate, ...]
    groups: tuple[Group, ...]
    constant_places: Mapping[tuple[int, Constant], int] = field(default_factory=dict)
    worked_out: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What others have worked out of this space, kept as long as the space is; see `worked_out_once`."""

    @staticmethod
    def of(
        predicates: Iterable[Predicate], constant_places: Mapping[tuple[int, Constant], int] | None = None
    ) -> PredicateSpace:
        """Make a space of some predicates and of the same with t and s exchanged."""
        wanted: dict[tuple[Cell, Cell | Constant], set[Operator]] = {}
        for predicate in predicates:
            wanted.setdefault((predicate.left, predicate.right), set()).add(predicate.operator)
        for cells, named in list(wanted.items()):
            image, turns = _swapped(*cells)
            wanted.setdefault(image, set()).update(MIRRORED[one] if turns else one for one in list(named))
        ordered: list[Predicate] = []
        groups = []
        for left, right in sorted(wanted, key=_group_order):
            operators = [operator for operator in OPERATORS if operator in wanted[left, right]]
            members = tuple(range(len(ordered), len(ordered) + len(operators)))
            ordered.extend(Predicate(left, operator, right) for operator in operators)
            groups.append(Group(left, right, members, not ORDER_OPERATORS.isdisjoint(operators)))
        return PredicateSpace(tuple(ordered), tuple(groups), constant_places or {})

    def __len__(self) -> int:
        return len(self.predicates)

    def __reduce__(self) -> tuple[object, ...]:
        # What was worked out would make a message to other processes many times as large.
        return PredicateSpace, (self.predicates, self.groups, self.constant_places)

    def __hash__(self) -> int:
        # Equal spaces have equal signs, which are hashed alike in every process and much quicker than predicates.
        return hash(self.signs)

    @cached_property
    def numbers(self) -> Mapping[Predicate, int]:
        """The number of each predicate."""
        return {predicate: number for number, predicate in enumerate(self.predicates)}

    @cached_property
    def group_of(self) -> tuple[int, ...]:
        """The group of each predicate."""
        return tuple(place for place, group in enumerate(self.groups) for _ in group.members)

    @cached_property
    def signs(self) -> tuple[int, ...]:
        """The signs that each predicate allows in its group, as a mask."""
        return tuple(SIGNS_OF[predicate.operator] for predicate in self.predicates)

    @cached_property
    def mirrored(self) -> tuple[int, ...]:
        """For each predicate the one that says the same of the pair turned round."""
        result = []
        for group, (place, turns) in zip(self.groups, self.mirrored_groups, strict=True):
            images = {self.predicates[member].operator: member for member in self.groups[place].members}
            for member in group.members:
                operator = self.predicates[member].operator
                result.append(images[MIRRORED[operator] if turns else operator])
        return tuple(result)

    @cached_property
    def mirrored_groups(self) -> tuple[tuple[int, bool], ...]:
        """For each group the one that it becomes for the pair turned round, and whether less becomes greater."""
        places = {(group.left, group.right): place for place, group in enumerate(self.groups)}
        images = (_swapped(group.left, group.right) for group in self.groups)
        return tuple((places[image], turns) for image, turns in images)

    @cached_property
    def negated(self) -> tuple[int | None, ...]:
        """For each predicate the one that holds exactly where it does not, if it is in the space."""
        return tuple(self.numbers.get(negated(predicate)) for predicate in self.predicates)

    @cached_property
    def implied(self) -> tuple[tuple[int, ...], ...]:
        """For each predicate all predicates of its group, itself included, that hold wherever it does."""
        signs = self.signs
        return tuple(
            tuple(other for other in self.groups[group].members if signs[number] & ~signs[other] == 0)
            for number, group in enumerate(self.group_of)
        )

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns that any predicate looks at."""
        return tuple(sorted({column for group in self.groups for column in group.columns}))

    @cached_property
    def linked_columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns that are compared with others, together with all that any chain of groups links them to."""
        linked: list[set[int]] = []
        for columns in {group.columns for group in self.groups if len(group.columns) > 1}:
            joined = set(columns).union(*(other for other in linked if not other.isdisjoint(columns)))
            linked = [*(other for other in linked if not other & joined), joined]
        return tuple(sorted(tuple(sorted(columns)) for columns in linked))

    @cached_property
    def compares_across(self) -> bool:
        """Whether any predicate does something else than to compare one column of both rows."""
        return not all(group.same_column for group in self.groups)

    @cached_property
    def _reading_places(self) -> tuple[tuple[int, ...], tuple[Predicate, ...]]:
        """For each predicate its place as constraints are written, and the predicates in that order."""
        order = sorted(range(len(self)), key=lambda number: self.predicates[number].sort_key)
        places = {number: place for place, number in enumerate(order)}
        return tuple(places[number] for number in range(len(self))), tuple(self.predicates[number] for number in order)

    def only(self, numbers: Iterable[int]) -> PredicateSpace:
        """Some of the predicates, ascending, numbered anew; what they say with t and s exchanged may not be there."""
        predicates: list[Predicate] = []
        members: dict[int, list[int]] = {}
        for number in numbers:
            members.setdefault(self.group_of[number], []).append(len(predicates))
            predicates.append(self.predicates[number])
        groups = tuple(replace(self.groups[group], members=tuple(some)) for group, some in members.items())
        return PredicateSpace(tuple(predicates), groups, self.constant_places)

    def dc(self, numbers: Iterable[int]) -> DC:
        """The constraint made of numbered predicates, no two of which are the same."""
        places, predicates = self._reading_places
        return DC.of_sorted(tuple([predicates[place] for place in sorted([places[number] for number in numbers])]))

    def describe(self, names: Sequence[str]) -> list[str]:
        """Say in a few lines what will be compared, for a person to look at before a search."""
        return list(_description(self, tuple(names)))


Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")


def worked_out_once(
    work: Callable[Concatenate[PredicateSpace, Inputs], Result],
) -> Callable[Concatenate[PredicateSpace, Inputs], Result]:
    """Let what a function works out of a space be remembered with the space; its other arguments are given in place."""
    name = f"{work.__module__}.{work.__qualname__}"

    @wraps(work)
    def remembering(space: PredicateSpace, /, *inputs: Inputs.args, **named: Inputs.kwargs) -> Result:
        key = (name, inputs)
        if key not in space.worked_out:
            space.worked_out[key] = work(space, *inputs, **named)
        result: Result = space.worked_out[key]
        return result

    return remembering


@worked_out_once
def _description(space: PredicateSpace, names: tuple[str, ...]) -> tuple[str, ...]:
    both_ways: dict[str, list[str]] = {}
    for place, group in enumerate(space.groups):
        if space.mirrored_groups[place][0] < place:
            continue  # its mirror image was told
        operators = " ".join(space.predicates[member].operator for member in group.members)
        both_ways.setdefault(operators, []).append(_comparison_text(group, names))
    return (
        f"{len(space):,} predicates in {len(space.groups):,} comparisons:",
        *(f"  {operators}   on {', '.join(texts)}" for operators, texts in both_ways.items()),
    )


def _swapped(left: Cell, right: Cell | Constant) -> tuple[tuple[Cell, Cell | Constant], bool]:
    """What a comparison compares with t and s exchanged, and whether its operands change sides by that."""
    # "<" shows it; it need not be in the space for that.
    image = swapped_predicate(Predicate(left, "<", right))
    return (image.left, image.right), image.operator != "<"


def _group_order(cells: tuple[Cell, Cell | Constant]) -> tuple[object, ...]:
    """Same columns first, then across, then within one row, then constants."""
    left, right = cells
    if isinstance(right, Constant):
        return (3, left.column, str(type(right.value)), str(right.value), left.row != "t")
    if left.column == right.column:
        return (0, left.column)
    kind = 2 if left.row == right.row else 1
    smaller, larger = sorted((left.column, right.column))
    return (kind, smaller, larger, left.row != "t", left.column)


def _comparison_text(group: Group, names: Sequence[str]) -> str:
    left = names[group.left.column]
    if isinstance(group.right, Constant):
        value = group.right.value
        return f"{left} with {value!r}" if isinstance(value, str) else f"{left} with {value}"
    right = names[group.right.column]
    if group.same_column:
        return left
    return f"{left} with {right} of the same row" if group.row else f"{left} with {right} of the other row"


def require_operators(operators: Iterable[str], where: str = "") -> frozenset[Operator]:
    """The operators that a user names and their mirror images, refusing what is none."""
    named = frozenset(operators)
    if unknown := sorted(named - MIRRORED.keys()):
        raise UsageError(f"unknown operator {unknown[0]!r}{where}", f"Operators: {' '.join(OPERATORS)}.")
    return _with_mirror_images(named)


@cache
def _with_mirror_images(operators: frozenset[str]) -> frozenset[Operator]:
    return frozenset(operator for operator in OPERATORS if {operator, MIRRORED[operator]} & operators)
