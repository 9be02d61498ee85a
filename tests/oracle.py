"""What a right answer is: every law judged by brute force over all pairs of rows of a tiny table.

A table is a sequence of rows, a row a sequence of ranks, 0 for null. A family joins by registering one
function: `refutes`, whether the ordered pair (t, s) of rows breaks the law. All else follows from it. Nothing
here is fast, and nothing here knows how the product does it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial, singledispatch
from itertools import combinations

from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies.forms import columns_of
from lawful.dependencies.laws import DC, FD, CanonicalOD, Cell, Constant, Key, Law, ListOD

Row = Sequence[int]
Table = Sequence[Row]
Pair = tuple[int, int]

COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@singledispatch
def refutes(law: Law, t: Row, s: Row) -> bool:
    """Say whether the pair (t, s), in this order, breaks the law; nulls are values here."""
    raise NotImplementedError(type(law))


@refutes.register
def _(law: Key, t: Row, s: Row) -> bool:
    return agree(law.columns, t, s)


@refutes.register
def _(law: FD, t: Row, s: Row) -> bool:
    return agree(law.lhs, t, s) and t[law.rhs] != s[law.rhs]


@refutes.register
def _(law: CanonicalOD, t: Row, s: Row) -> bool:
    if not agree(law.context, t, s) or not t[law.left] < s[law.left]:
        return False
    if law.direction == "asc":
        return t[law.right] > s[law.right]
    return t[law.right] < s[law.right]


@refutes.register
def _(law: ListOD, t: Row, s: Row) -> bool:
    """A split in either order of the rows, a swap in the one that sorts t before s."""
    by_left, by_right = compare_lists(law.lhs, t, s), compare_lists(law.rhs, t, s)
    return (by_left == 0 and by_right != 0) or (by_left < 0 < by_right)


@refutes.register
def _(law: DC, t: Row, s: Row) -> bool:
    """Cells are compared across columns and with constants as they stand: give rows of values, 0 for null."""
    rows = {"t": t, "s": s}

    def value(side: Cell | Constant) -> object:
        return rows[side.row][side.column] if isinstance(side, Cell) else side.value

    return all(COMPARE[each.operator](value(each.left), value(each.right)) for each in law.predicates)


def compare_lists(marked: Sequence[tuple[int, str]], t: Row, s: Row) -> int:
    """Below 0 if the list sorts t before s, above 0 if after, 0 if they tie."""
    for column, direction in marked:
        if t[column] != s[column]:
            return -1 if (t[column] < s[column]) == (direction == "asc") else 1
    return 0


def agree(columns: Sequence[int], t: Row, s: Row) -> bool:
    return all(t[column] == s[column] for column in columns)


def judged_rows(law: Law, table: Table, policy: NullPolicy) -> list[int]:
    """The ids of the rows on which the law is judged."""
    if policy is NullPolicy.EQUAL:
        return list(range(len(table)))
    return [i for i, row in enumerate(table) if all(row[column] != NULL_RANK for column in columns_of(law))]


def violating_pairs(law: Law, table: Table, policy: NullPolicy) -> set[Pair]:
    """The unordered pairs of row ids, the smaller first, that break the law in one order or the other."""
    return {
        (i, j)
        for i, j in combinations(judged_rows(law, table, policy), 2)
        if refutes(law, table[i], table[j]) or refutes(law, table[j], table[i])
    }


def holds(law: Law, table: Table, policy: NullPolicy) -> bool:
    return not violating_pairs(law, table, policy)


def fewest_removals(law: Law, table: Table, policy: NullPolicy) -> int:
    """The size of the smallest set of rows without which the law holds (g3 times the number of rows)."""
    pairs = violating_pairs(law, table, policy)
    involved = sorted({row for pair in pairs for row in pair})
    for count in range(len(involved) + 1):
        for removed in combinations(involved, count):
            if all(i in removed or j in removed for i, j in pairs):
                return count
    raise AssertionError("a table without rows breaks no law")


def agreeing_classes(columns: Sequence[int], table: Table, policy: NullPolicy) -> list[list[int]]:
    """The sets of two or more rows that agree on the columns, each ascending, by their first rows."""
    classes: dict[tuple[int, ...], list[int]] = {}
    for i in judged_rows(Key(tuple(columns)), table, policy):
        classes.setdefault(tuple(table[i][column] for column in columns), []).append(i)
    return [rows for rows in classes.values() if len(rows) >= 2]


def error(law: Law, table: Table, policy: NullPolicy, measure: str) -> float:
    """The share of all pairs that break the law (g1), or of all rows that must go to mend it (g3)."""
    if measure == "g1":
        pairs = len(table) * (len(table) - 1) // 2
        return len(violating_pairs(law, table, policy)) / max(1, pairs)
    return fewest_removals(law, table, policy) / max(1, len(table))


def minimal_keys(
    table: Table,
    width: int,
    policy: NullPolicy,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
    measure: str = "g1",
) -> dict[Key, float]:
    """Every minimal set of columns whose error as a key is allowed, with that error."""
    return _minimal(range(width), Key, table, policy, largest, allowed, measure)


def minimal_fds(
    table: Table,
    width: int,
    policy: NullPolicy,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
    measure: str = "g1",
) -> dict[FD, float]:
    """Every minimal FD whose error is allowed, with that error."""
    found: dict[FD, float] = {}
    for rhs in range(width):
        others = [column for column in range(width) if column != rhs]
        found |= _minimal(others, partial(_fd, rhs), table, policy, largest, allowed, measure)
    return found


def _fd(rhs: int, lhs: tuple[int, ...]) -> FD:
    return FD(lhs, rhs)


def _minimal(
    columns: Sequence[int],
    make: Callable[[tuple[int, ...]], Law],
    table: Table,
    policy: NullPolicy,
    largest: int | None,
    allowed: float,
    measure: str,
) -> dict[Law, float]:
    found: dict[Law, float] = {}
    sets: list[set[int]] = []
    for size in range(len(columns) + 1 if largest is None else min(largest, len(columns)) + 1):
        for chosen in combinations(columns, size):
            if any(smaller <= set(chosen) for smaller in sets):
                continue
            law = make(chosen)
            wrong = error(law, table, policy, measure)
            if wrong <= allowed:
                found[law] = wrong
                sets.append(set(chosen))
    return found
