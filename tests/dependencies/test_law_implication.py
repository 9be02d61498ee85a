"""What is said to follow does follow: on every small table where the premises hold.

The completeness that is claimed is tested too, against all tables of two rows: each family speaks of pairs,
so where a law does not follow two rows show it.
"""

from __future__ import annotations

from itertools import combinations, permutations, product
from random import Random

import pytest
from brute_force_laws import holds
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import LEFT_OPERATORS, OPERATORS, RIGHT_OPERATORS, dcs, fds, keys, laws, list_ods

from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import (
    DC,
    FD,
    POD,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    ListOD,
    Predicate,
    canonical_parts,
    closure,
    implies,
    is_trivial,
    negated,
    parse_law,
    satisfiable,
    swapped,
)

NAMES = ["a", "b", "c", "d"]
BINARY_PAIRS_OF_ROWS = [[row[:4], row[4:]] for row in product(range(2), repeat=8)]
PAIRS_OF_ROWS_WITH_TWO_COLUMNS = [[row[:2], row[2:]] for row in product(range(4), repeat=4)]


def law(text):
    return parse_law(text, NAMES)


def tables(width, values):
    return st.lists(st.tuples(*[values] * width), max_size=4)


def subsets(items):
    return [chosen for size in range(len(items) + 1) for chosen in combinations(items, size)]


def every_fd(width):
    return [
        FD(lhs, rhs) for rhs in range(width) for lhs in subsets([column for column in range(width) if column != rhs])
    ]


def every_canonical_od(width):
    return [
        CanonicalOD(context, left, right, direction)
        for left, right in combinations(range(width), 2)
        for context in subsets([column for column in range(width) if column not in (left, right)])
        for direction in ("asc", "desc")
    ]


def every_list_od(width):
    lists = [
        tuple(zip(columns, directions, strict=True))
        for size in range(3)
        for columns in permutations(range(width), size)
        for directions in product(("asc", "desc"), repeat=size)
    ]
    return [ListOD(lhs, rhs) for lhs in lists for rhs in lists]


def every_pod(width):
    return [
        POD(tuple(zip(lhs, marks, strict=True)), (rhs, right_mark))
        for rhs in range(width)
        for lhs in subsets([column for column in range(width) if column != rhs])
        for marks in product(LEFT_OPERATORS, repeat=len(lhs))
        for right_mark in RIGHT_OPERATORS
    ]


def every_dc_of_two_predicates(width):
    cells = [Cell(row, column) for row in "ts" for column in range(width)]
    others = [*combinations(cells, 2), *product(cells, [Constant(0), Constant(1)])]
    comparisons = [Predicate(left, sign, right) for left, right in others for sign in OPERATORS]
    return [DC(pair) for pair in combinations(comparisons, 2)] + [DC((each,)) for each in comparisons]


UNIVERSES = {
    "keys": [Key(columns) for columns in subsets(range(4))],
    "fds": every_fd(4),
    "set-based": every_fd(4) + every_canonical_od(4),
    "lists": every_fd(3) + every_canonical_od(3) + every_list_od(3),
    "pods": every_pod(3),
    "dcs": every_dc_of_two_predicates(2),
}


@pytest.mark.parametrize("nulls", NullPolicy)
@pytest.mark.parametrize("family", UNIVERSES)
@given(choice=st.randoms(use_true_random=False), table=tables(4, st.none() | st.integers(0, 2)))
def test_no_law_that_a_table_breaks_follows_from_laws_that_it_obeys(family, nulls, choice, table):
    ignore = nulls is NullPolicy.IGNORE
    universe = UNIVERSES[family]
    drawn = Random(choice.getrandbits(32)).sample(universe, min(30, len(universe)))
    if ignore:
        drawn = [each for each in drawn if not isinstance(each, ListOD)]
    obeyed = [each for each in drawn if holds(each, table, ignore)]
    for broken in set(drawn).difference(obeyed):
        assert not implies(obeyed, broken, nulls)


@given(laws(4))
def test_a_law_follows_from_itself(drawn):
    assert implies([drawn], drawn)


@given(st.lists(keys(4), max_size=3), keys(4))
def test_keys_are_decided(premises, key):
    assert implies(premises, key) == _follows(premises, key, BINARY_PAIRS_OF_ROWS)


@given(st.lists(fds(4), max_size=5), fds(4))
def test_fds_are_decided(premises, fd):
    assert implies(premises, fd) == _follows(premises, fd, BINARY_PAIRS_OF_ROWS)


@given(dcs(2, None, size=3), dcs(2, None, size=3))
def test_denial_constraints_are_decided_for_one_premise(premise, dc):
    assert is_trivial(dc) == _follows([], dc, PAIRS_OF_ROWS_WITH_TWO_COLUMNS)
    assert implies([premise], dc) == _follows([premise], dc, PAIRS_OF_ROWS_WITH_TWO_COLUMNS)
    assert implies([dc], swapped(dc))


def _follows(premises, conclusion, pairs_of_rows):
    return all(
        holds(conclusion, table) for table in pairs_of_rows if all(holds(premise, table) for premise in premises)
    )


@given(list_ods(3), tables(3, st.none() | st.integers(0, 2)))
def test_a_list_od_and_its_parts_hold_on_the_same_tables(list_od, table):
    parts = [part for family in canonical_parts(list_od) for part in family]
    assert holds(list_od, table) == all(holds(part, table) for part in parts)


def test_the_parts_of_a_list_od():
    assert canonical_parts(law("[a, b] -> [c, d desc]")) == (
        (FD((0, 1), 2), FD((0, 1), 3)),
        (
            CanonicalOD((), 0, 2, "asc"),
            CanonicalOD((2,), 0, 3, "desc"),
            CanonicalOD((0,), 1, 2, "asc"),
            CanonicalOD((0, 2), 1, 3, "desc"),
        ),
    )
    assert canonical_parts(law("[a] -> [a desc]")) == ((FD((), 0),), ())
    assert canonical_parts(law("[a, b] -> [a]")) == ((), ())
    assert canonical_parts(law("[] -> [a]")) == ((FD((), 0),), ())


FOLLOWS = [
    (["key(a)"], "key(a, b)", True),
    (["key(a, b)"], "key(a)", False),
    (["a -> b", "b -> c"], "a -> c", True),
    (["{} -> b", "b, c -> d"], "c -> d", True),
    (["a -> b"], "b -> a", False),
    (["{}: a ~ b desc"], "{c}: a ~ b desc", True),
    (["{}: a ~ b desc"], "{c}: a ~ b", False),
    (["{c}: a ~ b"], "{}: a ~ b", False),
    (["c -> a"], "{c}: a ~ b", True),
    (["d -> c", "{c}: a ~ b"], "{d}: a ~ b", True),
    (["[a] -> [b]"], "a -> b", True),
    (["[a] -> [b]"], "[a desc] -> [b desc]", True),
    (["[a] -> [b]", "[b] -> [a]"], "[a, c] -> [b, c]", True),
    (["[a] -> [b]"], "[b] -> [a]", False),
    (["{a}: b ~ c"], "[a, b] -> [a, c]", False),  # order compatible is not ordered: the FD is missing
    (["{a}: b ~ c", "a, b -> c"], "[a, b] -> [a, c]", True),
    (["{a<=} -> {b<=}"], "{a=} -> {b<=}", True),
    (["{a<=} -> {b<}"], "{a<, c>} -> {b<=}", True),
    (["{a<} -> {b<=}"], "{a<=} -> {b<=}", False),
    (["{a<} -> {b=}"], "{a>} -> {b<=}", True),
    (["{a<} -> {b<=}"], "{a>} -> {b<=}", False),
    (["not(t.a = s.a)"], "not(t.a = s.a and t.b < s.b)", True),
    (["not(t.a <= s.a)"], "not(t.a < s.a)", True),
    (["not(t.a = s.a and t.b != s.b)"], "not(t.a = s.a and t.b < s.b)", True),
    (["not(t.a = s.a and t.b < s.b)"], "not(t.a = s.a and t.b != s.b)", True),
    (["not(t.a < s.a and t.b > s.b)"], "not(t.a > s.a and t.b < s.b)", True),
    (["not(t.a < s.a and t.b != s.b)"], "not(t.a != s.a and t.b < s.b)", True),
    (["not(t.a < s.a and t.b < s.b)"], "not(t.a != s.a and t.b < s.b)", False),
    (["not(t.a = s.a)"], "not(t.a <= s.a and t.a >= s.a)", True),
    ([], "not(t.a <= s.a and t.a >= s.a and t.a != s.a)", True),
    ([], "not(t.a < s.b and s.b < t.c and t.c < t.a)", True),
    (["not(t.a != s.c)"], "not(t.a != s.b and t.b = s.c)", False),
    (["not(t.a != s.c)"], "not(t.a != s.b and s.b = s.c)", True),
    (["not(t.a = s.a)"], "not(t.a = 'x' and s.a = 'x')", True),
    (["not(t.a = s.b)"], "not(t.a = 'x' and s.b = 'x')", False),  # each column reads 'x' by its own type
    (["not()"], "not(t.a < s.b)", True),
]  # fmt: skip


@pytest.mark.parametrize(("premises", "conclusion", "follows"), FOLLOWS)
def test_known_cases(premises, conclusion, follows):
    assert implies(map(law, premises), law(conclusion)) == follows


def test_a_chain_through_a_column_that_may_be_null_does_not_follow_when_nulls_are_ignored():
    premises = [law("a -> b"), law("b -> c")]
    table = [(1, None, 1, 0), (1, None, 2, 0)]
    assert all(holds(premise, table, ignore_nulls=True) for premise in premises)
    assert not holds(law("a -> c"), table, ignore_nulls=True)
    assert not implies(premises, law("a -> c"), NullPolicy.IGNORE)
    assert implies(premises, law("a, b -> c"), NullPolicy.IGNORE)


def test_list_ods_refuse_to_ignore_nulls():
    with pytest.raises(UsageError, match="ORDER BY"):
        implies([law("[a] -> [b]")], law("a -> b"), NullPolicy.IGNORE)


@given(st.lists(laws(4), max_size=4), keys(4))
def test_premises_of_other_families_are_passed_over(premises, key):
    assert implies(premises, key) == implies([each for each in premises if isinstance(each, Key)], key)


def test_closure():
    dependencies = [FD((0,), 1), FD((1, 2), 3), FD((), 4)]
    assert closure((), dependencies) == {4}
    assert closure((0,), dependencies) == {0, 1, 4}
    assert closure((0, 2), dependencies) == {0, 1, 2, 3, 4}


def entails(predicates, predicate):
    return not satisfiable((*predicates, negated(predicate)))


def test_predicates_that_follow_or_exclude_each_other():
    less, at_most, differ = (Predicate(Cell("t", 0), sign, Cell("s", 0)) for sign in ("<", "<=", "!="))
    assert entails([less], at_most)
    assert entails([less], differ)
    assert entails([at_most, differ], less)
    assert not entails([at_most], less)
    # Between x <= v <= y and x <= w <= y with v != w, x cannot equal y.
    diamond = law("not(t.a <= t.b and t.b <= s.a and t.a <= t.c and t.c <= s.a and t.b != t.c)").predicates
    assert satisfiable(diamond)
    assert entails(diamond, less)
