"""How a law fares, straight from the definitions: over all pairs of rows of a tiny table, and over all arrangements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

import oracle
from oracle import Row, Table, agree, compare_lists, judged_rows, refutes

from lawful.common.meanings import NullPolicy
from lawful.dependencies.laws import DC, FD, CanonicalOD, Key, Law, ListOD


@dataclass(frozen=True)
class Expected:
    """The pairs that test a law, the share of them that chance loses, and the share that is lost."""

    tested: int
    by_chance: Fraction
    lost: Fraction

    @property
    def strength(self) -> Fraction:
        return max(Fraction(0), 1 - self.lost / self.by_chance) if self.by_chance else Fraction(0)


def mu_plus(law: FD, table: Table, policy: NullPolicy) -> Fraction:
    """mu+ from counts, as the literature writes it; 0 if the left side is a key or the right side is constant."""
    rows = [table[i] for i in judged_rows(law, table, policy)]
    n = len(rows)
    left = Counter(tuple(row[c] for c in law.lhs) for row in rows)
    right = Counter(row[law.rhs] for row in rows)
    both = Counter((tuple(row[c] for c in law.lhs), row[law.rhs]) for row in rows)
    if len(left) == n or len(right) < 2:
        return Fraction(0)
    given = sum(Fraction(count**2, n * left[x]) for (x, _), count in both.items())
    alone = sum(Fraction(count, n) ** 2 for count in right.values())
    mu = 1 - (1 - given) / (1 - alone) * Fraction(n - 1, n - len(left))
    return max(Fraction(0), mu)


def goodman_kruskal_tau(law: FD, table: Table, policy: NullPolicy) -> Fraction:
    """How much better the right side is guessed from the left side than alone."""
    rows = [table[i] for i in judged_rows(law, table, policy)]
    n = len(rows)
    left = Counter(tuple(row[c] for c in law.lhs) for row in rows)
    both = Counter((tuple(row[c] for c in law.lhs), row[law.rhs]) for row in rows)
    right = Counter(row[law.rhs] for row in rows)
    if len(right) < 2:
        return Fraction(0)
    given = sum(Fraction(count**2, n * left[x]) for (x, _), count in both.items())
    alone = sum(Fraction(count, n) ** 2 for count in right.values())
    return (given - alone) / (1 - alone)


def reliable_information(law: FD, table: Table, policy: NullPolicy) -> float:
    """RFI+ from all permutations of the right side: the fraction of information beyond what shuffled columns have."""
    rows = [table[i] for i in judged_rows(law, table, policy)]
    left = [tuple(row[c] for c in law.lhs) for row in rows]
    right = [row[law.rhs] for row in rows]
    entropy = _entropy(right)
    if entropy == 0.0:
        return 0.0

    def fraction(column: Sequence[int]) -> float:
        joint = _entropy(list(zip(left, column, strict=True)))
        return (_entropy(left) + entropy - joint) / entropy

    shuffled = [fraction(column) for column in permutations(right)]
    by_chance = math.fsum(shuffled) / len(shuffled)
    return max(0.0, (fraction(right) - by_chance) / (1.0 - by_chance)) if by_chance < 1.0 - 1e-9 else 0.0


def _entropy(values: Sequence[object]) -> float:
    return -math.fsum(k / len(values) * math.log(k / len(values)) for k in Counter(values).values())


def expected_trial(law: Law, table: Table, policy: NullPolicy) -> Expected:
    """What the definition of a family says, for keys, orders and denial constraints; FDs have `mu_plus`."""
    rows = [table[i] for i in judged_rows(law, table, policy)]
    pairs = [(t, s) for i, t in enumerate(rows) for j, s in enumerate(rows) if i != j]
    if isinstance(law, Key):
        return _of_key(law, rows)
    if isinstance(law, DC):
        return _of_denial(law, pairs)
    if isinstance(law, CanonicalOD):

        def tests(t: Row, s: Row) -> bool:
            return agree(law.context, t, s) and t[law.left] != s[law.left] and t[law.right] != s[law.right]

        return _of_pairs(law, rows, tests, Fraction(1, 2))
    assert isinstance(law, ListOD)

    def differs(t: Row, s: Row) -> bool:
        return compare_lists(law.rhs, t, s) != 0

    alike = _share(lambda t, s: compare_lists(law.lhs, t, s) == 0, pairs)
    return _of_pairs(law, rows, differs, alike + (1 - alike) / 2)


def _of_pairs(law: Law, rows: Table, tests: Callable[[Row, Row], bool], by_chance: Fraction) -> Expected:
    testing = [(t, s) for t, s in combinations(rows, 2) if tests(t, s)]
    lost = sum(refutes(law, t, s) or refutes(law, s, t) for t, s in testing)
    return Expected(len(testing), by_chance if testing else Fraction(0), Fraction(lost, max(1, len(testing))))


def _of_key(law: Key, rows: Table) -> Expected:
    pairs = list(combinations(rows, 2))
    if not pairs or not law.columns:
        return Expected(len(pairs), Fraction(0), Fraction(len(pairs) > 0))
    agreeing = sum(agree(law.columns, t, s) for t, s in pairs)
    if len(law.columns) == 1:
        values = len({row[law.columns[0]] for row in rows})
        return Expected(len(pairs), Fraction(1, values), Fraction(agreeing, len(pairs)))
    options = []
    for column in law.columns:
        others = [c for c in law.columns if c != column]
        tested = sum(agree(others, t, s) for t, s in pairs)
        options.append((tested * _share(lambda t, s, c=column: t[c] == s[c], pairs), tested))
    losing, tested = min(options, key=lambda option: option[0])
    return Expected(tested, losing / max(1, tested), Fraction(agreeing, max(1, tested)))


def _of_denial(law: DC, pairs: Sequence[tuple[Row, Row]]) -> Expected:
    """Ordered pairs, as t and s."""
    if not pairs or not law.predicates:
        return Expected(0, Fraction(0), Fraction(0))
    options = []
    for place, predicate in enumerate(law.predicates):
        others = DC(law.predicates[:place] + law.predicates[place + 1 :])
        tested = sum(refutes(others, t, s) for t, s in pairs)
        alone = DC((predicate,))
        options.append((tested * _share(lambda t, s, one=alone: refutes(one, t, s), pairs), tested))
    losing, tested = min(options)
    lost = sum(refutes(law, t, s) for t, s in pairs)
    return Expected(tested, losing / max(1, tested), Fraction(lost, max(1, tested)))


def _share(holds: Callable[[Row, Row], bool], pairs: Sequence[tuple[Row, Row]]) -> Fraction:
    return Fraction(sum(holds(t, s) for t, s in pairs), max(1, len(pairs)))


def share_of_orders_without_swap(law: CanonicalOD, table: Table, policy: NullPolicy) -> Fraction:
    """How many of all arrangements of the right column within the classes of the context have no swap."""
    share = Fraction(1)
    for members in _classes(law.context, judged_rows(law, table, policy), table):
        left, right = [table[i][law.left] for i in members], [table[i][law.right] for i in members]
        arranged = list(permutations(right))
        good = sum(not _swaps(left, order, law.direction) for order in arranged)
        share *= Fraction(good, len(arranged))
    return share


def chances_of_order(law: CanonicalOD, table: Table, policy: NullPolicy) -> int:
    """Different pairs of values of a class beyond the first, and no more than rows without the commonest value."""
    chances = 0
    for members in _classes(law.context, judged_rows(law, table, policy), table):
        values = [(table[i][law.left], table[i][law.right]) for i in members]
        commonest = max(max(Counter(column).values()) for column in zip(*values, strict=True))
        chances += min(len(set(values)) - 1, len(values) - commonest)
    return chances


def variance_of_orders(law: CanonicalOD, table: Table, policy: NullPolicy) -> Fraction:
    """The variance of (concordant pairs - swaps) over these arrangements."""
    variance = Fraction(0)
    for members in _classes(law.context, judged_rows(law, table, policy), table):
        left, right = [table[i][law.left] for i in members], [table[i][law.right] for i in members]
        other = "desc" if law.direction == "asc" else "asc"
        scores = [_swaps(left, order, other) - _swaps(left, order, law.direction) for order in permutations(right)]
        mean = Fraction(sum(scores), len(scores))
        variance += Fraction(sum(score * score for score in scores), len(scores)) - mean * mean
    return variance


def _classes(columns: Sequence[int], rows: Sequence[int], table: Table) -> list[list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for i in rows:
        found.setdefault(tuple(table[i][c] for c in columns), []).append(i)
    return list(found.values())


def _swaps(left: Sequence[int], right: Sequence[int], direction: str) -> int:
    law = CanonicalOD((), 0, 1, direction)  # type: ignore[arg-type]  # drawn from both
    rows = list(zip(left, right, strict=True))
    return sum(oracle.refutes(law, t, s) or oracle.refutes(law, s, t) for t, s in combinations(rows, 2))
