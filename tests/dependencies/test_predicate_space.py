"""The predicate space and the plain readings of constraints, against brute force over signs."""

from __future__ import annotations

from itertools import product

import oracle
from denial_oracle import COMPARE
from denial_tables import spaces
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, POD, Cell, Constant, Law, Predicate, swapped
from lawful.dependencies.denial_readings import plain_reading, simpler_law
from lawful.dependencies.laws import OPERATORS
from lawful.dependencies.predicate_space import EQUAL, GREATER, LESS, PredicateSpace

KINDS = st.lists(st.sampled_from(["number", "number", "text"]), min_size=1, max_size=3)


@given(st.data(), KINDS)
def test_numbers_groups_and_images_fit_together(data: st.DataObject, kinds: list[str]) -> None:
    space = data.draw(spaces(kinds))
    for number, predicate in enumerate(space.predicates):
        assert space.numbers[predicate] == number
        group = space.groups[space.group_of[number]]
        assert number in group.members
        assert (group.left, group.right) == (predicate.left, predicate.right)
        image = space.mirrored[number]
        assert space.predicates[image] == swapped(DC((predicate,))).predicates[0]
        assert space.mirrored[image] == number
        assert space.mirrored_groups[space.group_of[number]][0] == space.group_of[image]
        negation = space.negated[number]
        assert negation is None or space.signs[negation] == (LESS | EQUAL | GREATER) & ~space.signs[number]
        for other in space.implied[number]:
            assert space.signs[number] & ~space.signs[other] == 0
    assert PredicateSpace.of(space.predicates) == space


def test_a_space_says_what_it_compares() -> None:
    space = PredicateSpace.of(
        [
            *(Predicate(Cell("t", 0), operator, Cell("s", 0)) for operator in OPERATORS),
            Predicate(Cell("t", 0), "=", Cell("s", 1)),
            Predicate(Cell("t", 0), "<", Cell("t", 1)),
            Predicate(Cell("t", 1), "=", Constant("NY")),
        ]
    )
    assert space.describe(["a", "b"]) == [
        "12 predicates in 7 comparisons:",
        "  = < <= > >= !=   on a",
        "  =   on a with b of the other row, b with 'NY'",
        "  <   on a with b of the same row",
    ]
    assert space.compares_across
    assert space.columns == (0, 1)


@given(st.lists(st.sampled_from([None, *OPERATORS]), min_size=1, max_size=4))
def test_a_simpler_law_is_refuted_by_the_same_pairs(operators: list[str | None]) -> None:
    predicates = [
        Predicate(Cell("t", column), operator, Cell("s", column))
        for column, operator in enumerate(operators)
        if operator is not None
    ]
    dc = DC(tuple(predicates))
    law = simpler_law(dc)
    names = [f"c{column}" for column in range(len(operators))]
    reading = plain_reading(dc, names)
    assert (reading is None) == (law is None)
    if law is None:
        assert sum(operator == "!=" for operator in operators) > 1 or not {">", ">=", "<", "<="} & set(operators)
        return
    for s in product((1, 2, 3), repeat=len(operators)):
        rows = [(2,) * len(operators), s]
        expected = oracle.violating_pairs(dc, rows, NullPolicy.EQUAL)
        assert violating_pairs(law, rows) == expected


def violating_pairs(law: Law, rows: list[tuple[int, ...]]) -> set[tuple[int, int]]:
    if not isinstance(law, POD):
        return oracle.violating_pairs(law, rows, NullPolicy.EQUAL)
    column, operator = law.rhs

    def refutes(t: tuple[int, ...], s: tuple[int, ...]) -> bool:
        satisfied = all(COMPARE[mark](t[marked], s[marked]) for marked, mark in law.lhs)
        return satisfied and not COMPARE[operator](t[column], s[column])

    return {(0, 1)} if refutes(rows[0], rows[1]) or refutes(rows[1], rows[0]) else set()
