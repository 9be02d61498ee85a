"""Laws are values: one normal form each, refusals that say why, safe to send to other processes."""

from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from law_strategies import laws

from lawful.common.errors import UsageError
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
    columns_of,
    kind_of,
    kinds,
    mirrored,
    swapped,
)

T, S = (lambda column: Cell("t", column)), (lambda column: Cell("s", column))


def test_sets_of_columns_are_sorted_and_unique():
    assert Key((3, 1, 3)).columns == (1, 3)
    assert FD((3, 1, 3), 0) == FD((1, 3), 0)
    assert CanonicalOD((5, 2), 4, 1, "desc") == CanonicalOD((2, 5), 1, 4, "desc")
    assert POD(((3, "<"), (1, ">")), (0, "=")).lhs == ((1, ">"), (3, "<"))


def test_numpy_integers_become_plain_ones():
    assert all(type(column) is int for column in Key(np.array([2, 0])).columns)
    assert type(FD((), np.int64(3)).rhs) is int


def test_lists_keep_their_order():
    assert ListOD(((2, "asc"), (1, "desc")), ()) != ListOD(((1, "desc"), (2, "asc")), ())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Predicate(S(0), "=", T(0)), Predicate(T(0), "=", S(0))),
        (Predicate(S(0), ">", T(1)), Predicate(T(1), "<", S(0))),
        (Predicate(T(1), ">=", T(0)), Predicate(T(0), "<=", T(1))),
        (Predicate(S(1), "!=", S(0)), Predicate(S(0), "!=", S(1))),
        (Predicate(T(0), "=", Constant(1.50)), Predicate(T(0), "=", Constant(Decimal("1.5")))),
    ],
)
def test_one_meaning_is_one_predicate(one, other):
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Predicate(T(0), "<", S(0)), Predicate(T(0), ">", S(0))),
        (Predicate(T(0), "<", S(1)), Predicate(S(0), "<", T(1))),
        (Predicate(T(0), "=", Constant(1)), Predicate(T(0), "=", Constant(True))),
        (Predicate(T(0), "=", Constant(1)), Predicate(T(0), "=", Constant("1"))),
        (Predicate(T(0), "=", Constant(1)), Predicate(S(0), "=", Constant(1))),
    ],
)
def test_different_meanings_are_different_predicates(one, other):
    assert one != other


def test_a_denial_constraint_is_a_set():
    equal, differ = Predicate(T(1), "=", S(1)), Predicate(T(0), "!=", S(0))
    assert DC((differ, equal, equal)) == DC((equal, differ))
    assert DC((differ, equal)).predicates == (equal, differ)


def test_numbers_are_what_their_decimal_text_says():
    assert Constant(0.1) == Constant(Decimal("0.1"))
    assert Constant(1.0).value == 1
    assert type(Constant(Decimal("100.00")).value) is int
    many_digits = Decimal("0.1234567890123456789012345678901234567891")
    assert Constant(many_digits).value == many_digits
    assert Constant(5e-324) != Constant(0)
    assert Constant(np.float64(0.25)) == Constant(0.25)


REFUSED = [
    (lambda: Key((-1,)), "negative"),
    (lambda: Key(("a",)), "indices"),
    (lambda: Key((1.5,)), "indices"),
    (lambda: Key(3), "indices"),
    (lambda: FD((0, 1), 1), "right side"),
    (lambda: FD((0,), "b"), "index"),
    (lambda: CanonicalOD((), 1, 1, "asc"), "two different columns"),
    (lambda: CanonicalOD((1,), 1, 2, "asc"), "context"),
    (lambda: CanonicalOD((), 1, 2, "up"), "asc or desc"),
    (lambda: ListOD(((0, "asc"), (0, "desc")), ()), "same column twice"),
    (lambda: ListOD((), ((0, "up"),)), "asc, desc"),
    (lambda: ListOD((0, 1), ()), "pairs"),
    (lambda: POD(((0, "!="),), (1, "<")), "may use"),
    (lambda: POD((), (1, ">")), "may use"),
    (lambda: POD(((1, "<"),), (1, "<")), "only once"),
    (lambda: POD(((0, "<"), (0, ">")), (1, "<")), "same column twice"),
    (lambda: Predicate(T(0), "=", T(0)), "itself"),
    (lambda: Predicate(T(0), "==", S(0)), "one of"),
    (lambda: Predicate(("u", 0), "=", S(0)), "t and s"),
    (lambda: Predicate(T(0), "=", 5), "row and a column"),
    (lambda: Constant(float("nan")), "finite"),
    (lambda: Constant(float("inf")), "finite"),
    (lambda: Constant(Decimal("1e500")), "digits"),
    (lambda: Constant(10**400), "digits"),
    (lambda: Constant(None), "text, a number"),
    (lambda: DC(("t.a = s.a",)), "predicates"),
    (lambda: DC(7), "predicates"),
    (lambda: kind_of("a -> b"), "not a law"),
    (lambda: columns_of("a -> b"), "not a law"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED)
def test_what_is_no_law_is_refused(make, reason):
    with pytest.raises(UsageError, match=reason):
        make()


def test_kinds_and_columns():
    examples = [
        (Key((2, 0)), (0, 2)),
        (FD((5,), 1), (1, 5)),
        (CanonicalOD((3,), 9, 1, "asc"), (1, 3, 9)),
        (ListOD(((2, "asc"),), ((2, "desc"), (0, "asc"))), (0, 2)),
        (POD(((4, "<"),), (0, "=")), (0, 4)),
        (DC((Predicate(T(3), "=", Constant("x")), Predicate(T(1), "<", S(2)))), (1, 2, 3)),
    ]
    assert tuple(kind_of(law) for law, _ in examples) == kinds()
    assert [columns_of(law) for law, _ in examples] == [columns for _, columns in examples]


@given(laws(5))
def test_laws_survive_pickling_and_hash_alike(law):
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law
    assert hash(copy) == hash(law)


def test_swapping_and_mirroring_twice_changes_nothing():
    dc = DC((Predicate(T(0), "<", S(1)), Predicate(T(0), "=", Constant(1))))
    assert swapped(dc) == DC((Predicate(S(0), "<", T(1)), Predicate(S(0), "=", Constant(1))))
    assert swapped(swapped(dc)) == dc
    pod = POD(((0, "<"), (1, ">=")), (2, "="))
    assert mirrored(pod) == POD(((0, ">"), (1, "<=")), (2, "="))
    assert mirrored(POD((), (2, "<="))) is None
