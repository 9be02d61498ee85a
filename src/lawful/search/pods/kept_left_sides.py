"""What is known of left sides that are kept: what follows from them, and what breaks them.

One law follows from another by containment (oracle: each mark of the weaker left side is implied by the stronger one's
mark of the same column; I1, I2) and by an operator on the right that says more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Words
from lawful.dependencies import POD, Operator
from lawful.evidence.signs import WORD_BITS, SignVectors
from lawful.search.kernels.extensions import find_supersets
from lawful.search.pods.kernels.broken_laws import mark_refuting, satisfied_literals
from lawful.search.pods.kernels.left_sides import (
    AT_LEAST,
    AT_MOST,
    COLUMN_BITS,
    GREATER,
    IS_EQUAL,
    IS_GREATER,
    IS_LESS,
    LESS,
    turned_literals,
)
from lawful.search.pods.left_sides import Goal, literal_words

LeftSides = Mapping[Goal, Words]
"""The left sides of laws, by their right sides."""

_LITERALS: Final[dict[Operator, int]] = {"<=": 1, ">=": 2, "=": 3, "<": 4, ">": 8}
_STRICT = np.uint64(0xCCCCCCCCCCCCCCCC)
_WEAKER = np.uint64(2)
"""How far the literal that a strict one implies is below it."""
_BREAKING: Final[dict[Operator, tuple[int, ...]]] = {
    "=": (IS_LESS, IS_GREATER),
    "<": (IS_EQUAL, IS_GREATER),
    "<=": (IS_GREATER,),
}
_BROKEN_BY: Final[dict[Operator, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "=": ((LESS, GREATER), (LESS, GREATER)),
    "<": ((AT_LEAST,), (AT_MOST,)),
    "<=": ((GREATER,), (LESS,)),
}
"""Literals of which a pair satisfies one if it breaks a right side: as it is, and with its rows exchanged."""
_NIBBLE = np.uint64(15)
_PLACES = WORD_BITS // COLUMN_BITS


class Broken(NamedTuple):
    """Which vectors refute a law, and the right sides of the laws that any refutes."""

    refutes: Flags
    goals: set[Goal]


def pack_left_side(law: POD, columns: int) -> Words:
    """The left side of a law as a set of literals, `uint64[1, words]`."""
    packed = np.zeros((1, literal_words(columns)), np.uint64)
    for column, operator in law.lhs:
        word, place = divmod(column, _PLACES)
        packed[0, word] |= np.uint64(_LITERALS[operator] << COLUMN_BITS * place)
    return packed


def following(goal: Goal, sets: Words, laws: LeftSides) -> Flags:
    """Which left sides make, with a right side, a law that is one of some laws or follows from one of them."""
    premises = _premises(goal, laws)
    if not len(premises) or not len(sets):
        return np.zeros(len(sets), np.bool_)
    follows: Flags = find_supersets(sets | ((sets & _STRICT) >> _WEAKER), premises)
    return follows


def _premises(goal: Goal, laws: LeftSides) -> Words:
    """All left sides whose laws imply one with this right side; with = there, mirror images too (I12)."""
    found = [laws[goal]]
    if goal.operator == "<=":
        found += [laws[goal._replace(operator=operator)] for operator in ("<", "=")]
    if goal.operator in ("=", "<="):
        found.append(turned_literals(laws[goal._replace(operator="=")]))
    return np.concatenate(found)


def broken_by(signs: SignVectors, laws: LeftSides, columns: int) -> Broken:
    """Which vectors, one way round or the other, refute which laws."""
    goals: set[Goal] = set()
    satisfied = satisfied_literals(signs.less, signs.greater, columns)
    refutes = np.zeros(satisfied.shape[1], np.uint64)
    for goal, sets in laws.items():
        for is_turned in (False, True) if len(sets) else ():
            # What a law says of a pair with its rows exchanged, its mirror image says of the pair.
            literals = [COLUMN_BITS * goal.column + place for place in _BROKEN_BY[goal.operator][is_turned]]
            breaking = np.bitwise_or.reduce(satisfied[literals], axis=0)
            if breaking.any() and mark_refuting(
                satisfied, turned_literals(sets) if is_turned else sets, breaking, refutes
            ):
                goals.add(goal)
    return Broken(np.unpackbits(refutes.view(np.uint8), bitorder="little")[: len(signs)].astype(np.bool_), goals)


def breaks(edges: Words, goal: Goal) -> Flags:
    """Which pairs, as literals that they do not satisfy, are known not to satisfy a right side."""
    word, place = divmod(goal.column, _PLACES)
    nibbles = (edges[:, word] >> np.uint64(COLUMN_BITS * place)) & _NIBBLE
    breaking = np.uint64(sum(1 << nibble for nibble in _BREAKING[goal.operator]))
    return np.asarray((breaking >> nibbles) & np.uint64(1), np.bool_)


def touched_by(signs: SignVectors, columns: int) -> set[Goal]:
    """The right sides of which vectors that no pair has any more could have refuted a law, or kept one minimal."""
    less, greater = signs.less, signs.greater
    differ, same = (np.bitwise_or.reduce(found, axis=0, initial=0) for found in (less ^ greater, ~(less | greater)))
    goals: set[Goal] = set()
    for column in range(columns):
        word, bit = column // WORD_BITS, np.uint64(1) << np.uint64(column % WORD_BITS)
        if differ[word] & bit:
            goals |= {Goal(column, "="), Goal(column, "<"), Goal(column, "<=")}
        elif same[word] & bit:
            goals |= {Goal(column, "<"), Goal(column, "<=")}
    return goals


def with_weaker(goals: Iterable[Goal]) -> set[Goal]:
    """Right sides with those that they imply: once X -> B< is refuted, X -> B<= may be minimal."""
    return {weaker for goal in goals for weaker in (goal, Goal(goal.column, "<="))}
