"""What is concluded about orders is true, and all that is true is concluded from all laws."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.dependencies import FD, CanonicalOD, Key, ListOD, parse_laws
from lawful.rewriting.orders import Term, Terms, fit_index, orders, shorten, shorten_grouping, sorts_alike
from lawful.rewriting.reasoning import AgreementRule, Given, Reasoner, rules_of
from rewriting.true_laws import (
    really_alike,
    really_orders,
    rows_and_width,
    terms_over,
    true_list_laws,
    true_set_laws,
)

NAMES = list("abcdef")


def reasoner(laws: str) -> Reasoner:
    return Reasoner([rule for law in parse_laws(laws, NAMES) for rule in rules_of(law)])


def terms(text: str) -> Terms:
    """`a -b c!` is a ascending, b descending, c with nulls as the largest value."""
    return tuple(
        Term(NAMES.index(word.strip("-!")), "desc" if "-" in word else "asc", "!" in word) for word in text.split()
    )


def shortened(laws: str, asked: str) -> str:
    steps = shorten(reasoner(laws), terms(asked), [Term(column) for column in range(6)])
    found = steps[-1].after if steps else terms(asked)
    return " ".join(f"{'-' * (term.direction == 'desc')}{NAMES[term.column]}{'!' * term.nulls_high}" for term in found)


@pytest.mark.parametrize(
    ("laws", "asked", "expected"),
    [
        ("", "a b", "a b"),
        ("a -> b", "a b", "a"),
        ("a -> b", "b a", "b a"),  # agreement alone does not make a follow b
        ("key(a)", "a b c", "a"),
        ("key(a, b)", "b -a c", "b -a"),
        ("{} -> a", "a b", "b"),
        ("{} -> a", "a", ""),
        ("key()", "a b", ""),
        ("a -> b; b -> c", "a c", "a"),
        ("a, b -> c", "a d b c", "a d b"),
        ("[a] -> [b]", "b a", "a"),
        ("[a] -> [b]", "-b -a", "-a"),
        ("[a] -> [b]", "-b a", "-b a"),
        ("[a] -> [b desc]", "-b a", "a"),
        ("[a] -> [b]; [b] -> [c]", "c a", "a"),
        ("[a] -> [b, c]; [b, c] -> [d]", "d a", "a"),  # by cases: b rises, or b stays and c does not fall
        ("{c}: a asc ~ b asc; a, c -> b", "c b a", "c a"),
        ("{c}: a asc ~ b asc; a, c -> b", "b a", "b a"),
        ("{}: a asc ~ b asc", "b a", "b a"),  # compatible, but a does not determine b
        ("[a] -> [b, c, d]; b, c, d -> a", "b c d", "a"),
        ("[a] -> [b, c, d]", "b c d", "b c d"),  # a would break ties
        ("[a] -> [b, c, d]; b, c, d -> a", "-b -c -d e", "-a e"),
        ("a -> b", "a! b!", "a!"),
        ("[a] -> [b]", "b! a!", "b! a!"),
        ("[a] -> [b]", "b a!", "b a!"),
        ("", "a -a", "a"),
        ("", "a a! b", "a b"),
    ],
)
def test_shortest(laws: str, asked: str, expected: str) -> None:
    assert shortened(laws, asked) == expected


def test_steps_name_no_more_laws_than_they_need() -> None:
    (step,) = shorten(reasoner("e -> f; a -> c; c -> b; a -> b; key(a, e)"), terms("a b"))
    assert step.proof == (FD((0,), 1),)
    (step,) = shorten(reasoner("[a] -> [b, c]; [a] -> [b]"), terms("b a"))
    assert len(step.proof) == 1


def test_a_fact_of_the_query_is_a_ground_too() -> None:
    constant = AgreementRule(frozenset(), 0, Given("where a = 5"))
    steps = shorten(Reasoner([constant, *rules_of(FD((0, 1), 2))]), terms("a b c"))
    assert [step.proof for step in steps] == [(Given("where a = 5"),), (FD((0, 1), 2), Given("where a = 5"))]


@pytest.mark.parametrize(
    ("laws", "index", "asked", "expected"),
    [
        ("", "a b", "a", ("a", False, True)),
        ("", "a b", "-a -b", ("-a -b", True, True)),
        ("", "a b", "a -b", None),
        ("", "a b", "b", None),
        ("[c, d] -> [a, b]", "c d e", "a b", ("c d", False, False)),
        ("[c, d] -> [a, b]", "-c -d e", "a b", ("c d", True, False)),
        ("[c, d] -> [a, b]; key(a, b)", "c d", "a b", ("c d", False, True)),
        ("", "a!", "a", None),
        ("", "a!", "-a!", ("-a!", True, True)),
    ],
)
def test_which_index_suffices(laws: str, index: str, asked: str, expected: tuple[str, bool, bool] | None) -> None:
    fit = fit_index(reasoner(laws), terms(index), terms(asked))
    if expected is None:
        assert fit is None
    else:
        assert fit is not None
        assert (fit.terms, fit.backwards, fit.alike) == (terms(expected[0]), *expected[1:])


@pytest.mark.parametrize(
    ("laws", "columns", "needed", "dropped"),
    [
        ("a -> b", [0, 1], [], {1}),
        ("a -> b", [0, 1], [0], {1}),
        ("a -> b", [0, 1], [1], set()),
        ("a -> b; b -> a", [0, 1], [1], {0}),
        ("a -> b, c; b, c -> a", [1, 2, 0], [], {1, 2}),
        ("{} -> a", [0], [], set()),  # without any column a query makes a row of no rows
        ("{} -> a; {} -> b", [0, 1], [], {1}),
        ("key(a)", [2, 1, 0], [], {1, 2}),
    ],
)
def test_groups(laws: str, columns: list[int], needed: list[int], dropped: set[int]) -> None:
    assert set(shorten_grouping(reasoner(laws), columns, needed)) == dropped


def test_a_large_grouping_is_shortened_too() -> None:
    fds = [FD((number,), number + 1) for number in range(29)]
    kept = Reasoner([rule for fd in fds for rule in rules_of(fd)])
    assert set(shorten_grouping(kept, list(range(30)), [])) == set(range(1, 30))


@given(st.data())
def test_what_is_concluded_from_some_laws_is_true(data: st.DataObject) -> None:
    rows, width = data.draw(rows_and_width())
    true = true_set_laws(rows, width) + true_list_laws(rows, width)
    some = data.draw(st.lists(st.sampled_from(true), max_size=8)) if true else []
    knowing = Reasoner([rule for law in some for rule in rules_of(law)])
    first, second = data.draw(terms_over(width)), data.draw(terms_over(width))
    proof = orders(knowing, first, second)
    if proof is not None:
        assert really_orders(rows, first, second)
        assert set(proof) <= set(some)
    others = [Term(column) for column in range(width)]
    before = first
    for step in shorten(knowing, first, others):
        assert step.before == before
        assert len(step.after) < len(step.before)
        assert really_alike(rows, step.before, step.after)
        alone = Reasoner([rule for ground in step.proof for rule in rules_of(ground)])
        assert sorts_alike(alone, step.after, step.before) is not None
        before = step.after
    fit = fit_index(knowing, first, second)
    if fit is not None:
        assert really_orders(rows, fit.terms, second)
        assert really_alike(rows, fit.terms, second) or not fit.alike
    columns = [term.column for term in first]
    dropped = shorten_grouping(knowing, columns, [])
    kept = [column for column in columns if column not in dropped]
    assert kept
    assert len({tuple(row[c] for c in columns) for row in rows}) == len({tuple(row[c] for c in kept) for row in rows})


@given(st.data())
def test_all_laws_together_decide_every_order(data: st.DataObject) -> None:
    rows, width = data.draw(rows_and_width())
    knowing = Reasoner([rule for law in true_set_laws(rows, width) for rule in rules_of(law)])
    first, second = (tuple(term._replace(nulls_high=False) for term in data.draw(terms_over(width))) for _ in range(2))
    assert (orders(knowing, first, second) is not None) == really_orders(rows, first, second)


@given(st.data())
def test_nothing_shorter_sorts_alike(data: st.DataObject) -> None:
    rows, width = data.draw(rows_and_width(max_width=3))
    knowing = Reasoner([rule for law in true_set_laws(rows, width) for rule in rules_of(law)])
    asked = tuple(term._replace(nulls_high=False) for term in data.draw(terms_over(width)))
    steps = shorten(knowing, asked, [Term(column) for column in range(width)])
    shortest = steps[-1].after if steps else asked
    for size in range(len(shortest)):
        for columns in permutations(range(width), size):
            for directions in product(("asc", "desc"), repeat=size):
                shorter = tuple(map(Term, columns, directions))
                assert not really_alike(rows, shorter, asked), shorter


def test_rules_of_laws_that_say_nothing_of_order() -> None:
    assert [rules_of(law) for law in parse_laws("{a<} -> {b<}; not(t.a = s.a)", NAMES)] == [[], []]
    assert len(rules_of(Key((0,)))) == 1
    assert len(rules_of(CanonicalOD((), 0, 1, "asc"))) == 1
    assert len(rules_of(ListOD(((0, "asc"),), ((1, "asc"),)))) == 2
