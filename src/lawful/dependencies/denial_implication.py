"""What follows from denial constraints without looking at a table.

Two values are in one of three relations: less, equal or greater. A predicate allows some of them, and a set
of predicates can be satisfied together if relations can be chosen that fit along every chain of cells. Chains
run through one and the same cell only: t.a != s.b and t.b = s.c say nothing of t.a and s.c.

Constants of one column are told apart but not compared with each other, and never across columns: whether
'1/2/2020' comes before '2020-01-01' is known to the column's type, not to the law.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from lawful.dependencies.laws import DC, NEGATED, Cell, Constant, Operator, Predicate

_LESS, _EQUAL, _GREATER, _ANY = 1, 2, 4, 7
_ALLOWED: Final[Mapping[Operator, int]] = {
    "<": _LESS,
    "<=": _LESS | _EQUAL,
    "=": _EQUAL,
    ">=": _GREATER | _EQUAL,
    ">": _GREATER,
    "!=": _LESS | _GREATER,
}

_Node: TypeAlias = Cell | tuple[int, Constant]


def _converse(relations: int) -> int:
    return (relations & _EQUAL) | (_GREATER if relations & _LESS else 0) | (_LESS if relations & _GREATER else 0)


def _composed(first: int, second: int) -> int:
    """Find the relations of x and z that some y allows with x `first` y and y `second` z."""
    result = 0
    for one in (_LESS, _EQUAL, _GREATER):
        for other in (_LESS, _EQUAL, _GREATER):
            if first & one and second & other:
                result |= other if one == _EQUAL else one if other in (one, _EQUAL) else _ANY
    return result


COMPOSED: Final = tuple(tuple(_composed(first, second) for second in range(8)) for first in range(8))
"""For two sets of relations, as bits, the relations that they leave for a chain through a common value."""


def swapped(dc: DC) -> DC:
    """Exchange t and s: the same constraint, since it speaks of every ordered pair of rows."""
    return DC(tuple(swapped_predicate(predicate) for predicate in dc.predicates))


def negated(predicate: Predicate) -> Predicate:
    """Give the predicate that holds exactly where this one does not, among rows without unknown values."""
    return Predicate(predicate.left, NEGATED[predicate.operator], predicate.right)


def satisfiable(predicates: Iterable[Predicate]) -> bool:
    """Tell whether some pair of rows could satisfy all predicates at once.

    False is always right: each step drops only relations that no values have. Complete over orders without
    gaps or ends and with constants as described above, because for these relations narrowing every triangle
    until nothing changes decides the matter.
    """
    relations: dict[tuple[_Node, _Node], int] = {}
    for predicate in predicates:
        pair = (predicate.left, _node(predicate))
        relations[pair] = relations.get(pair, _ANY) & _ALLOWED[predicate.operator]
    if not all(relations.values()):
        return False
    nodes = list(dict.fromkeys(node for pair in relations for node in pair))
    if len(nodes) == 2 * len(relations):
        return True  # no two comparisons share a cell, so there is nothing to chain
    return _consistent(nodes, relations)


def is_trivial(dc: DC) -> bool:
    """Tell whether a constraint holds on every table, because its predicates exclude each other."""
    return not satisfiable(dc.predicates)


def implies_dc(dcs: Iterable[DC], dc: DC) -> bool:
    """Tell whether a denial constraint is trivial or follows from one of `dcs`.

    It follows from one if a pair that satisfies its predicates must satisfy the premise's one way round or
    the other: no choice of a predicate of the premise that fails for (t, s) and of one that fails for (s, t)
    leaves anything to satisfy. Sound, since the premise denies such a pair; complete for one premise where
    `satisfiable` is, since what is left to satisfy is a table of two rows. Premises are not combined.
    """
    return is_trivial(dc) or any(_follows_from(premise, dc) for premise in dcs)


def _follows_from(premise: DC, conclusion: DC) -> bool:
    given = conclusion.predicates
    one_way, other_way = premise.predicates, swapped(premise).predicates
    if set(given).issuperset(one_way) or set(given).issuperset(other_way):
        return True
    failures = [negated(predicate) for predicate in one_way]
    swapped_failures = [negated(predicate) for predicate in other_way]
    return not any(
        satisfiable((*given, failure, swapped_failure)) for failure in failures for swapped_failure in swapped_failures
    )


def swapped_predicate(predicate: Predicate) -> Predicate:
    """Say of (s, t) what a predicate says of (t, s)."""
    right = predicate.right
    other = right if isinstance(right, Constant) else _swapped_cell(right)
    return Predicate(_swapped_cell(predicate.left), predicate.operator, other)


def _swapped_cell(cell: Cell) -> Cell:
    return Cell("s" if cell.row == "t" else "t", cell.column)


def _node(predicate: Predicate) -> _Node:
    right = predicate.right
    return (predicate.left.column, right) if isinstance(right, Constant) else right


def _consistent(nodes: Sequence[_Node], relations: Mapping[tuple[_Node, _Node], int]) -> bool:
    """Narrow the relations of every two nodes through every third until all of them fit or none is left."""
    place = {node: position for position, node in enumerate(nodes)}
    size = range(len(nodes))
    between = [[_ANY] * len(nodes) for _ in size]
    for (left, right), allowed in relations.items():
        between[place[left]][place[right]] = allowed
        between[place[right]][place[left]] = _converse(allowed)
    changed = True
    while changed:
        changed = False
        for middle in size:
            for first in size:
                for last in size:
                    if first == last or middle in (first, last):
                        continue
                    narrowed = between[first][last] & COMPOSED[between[first][middle]][between[middle][last]]
                    if narrowed == 0:
                        return False
                    if narrowed != between[first][last]:
                        between[first][last] = narrowed
                        between[last][first] = _converse(narrowed)
                        changed = True
    return True
