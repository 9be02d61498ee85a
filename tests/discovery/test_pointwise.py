"""Pointwise order dependencies against brute force: both strategies and policies, exact and within an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pod_oracle
import pyarrow as pa
import pytest
from denial_tables import ValueTable, value_tables
from discovered_tables import TABLE
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.checks import CheckTask, Workspace, check
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import FD, POD, CanonicalOD, Law, Operator, as_denial, format_law, parse_law
from lawful.dependencies.implication import implies_pod
from lawful.discovery import compared_pairs
from lawful.discovery.denials.discover import discover_denial_constraints
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.pods.questions import PointwiseQuestion
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.search.pods import goals as goal_searches
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

TABLES = value_tables(max_rows=7, max_width=3)
POLICIES = st.sampled_from(NullPolicy)


def run(table: EncodedTable, question: PointwiseQuestion, watch: Watch | None = None) -> Findings:
    engine = LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    emitted: list[Any] = []
    found = discover_pointwise(Search(table, engine, watch, emit=emitted.append), question)
    assert found.listings == emitted
    for listing in found.listings:
        assert listing.kind == "pod"
        assert len(listing) == len(listing.interests) == len(list(listing.laws())) == len(list(listing.readings()))
        assert ((listing.interests >= 0) & (listing.interests <= 1)).all()
    return found


def laws(found: Findings) -> list[POD]:
    return [law for listing in found.listings for law in listing.laws()]


@st.composite
def questions(draw: st.DrawFn, **fixed: Any) -> PointwiseQuestion:
    options: dict[str, Any] = {
        "null_policy": draw(POLICIES),
        "max_size": draw(st.sampled_from([None, None, 0, 1, 2])),
        "seed": draw(st.integers(0, 3)),
    }
    return PointwiseQuestion(**(options | fixed))


def finds_the_right_laws(table: ValueTable, question: PointwiseQuestion) -> None:
    watch = Watch(seconds=3_600.0) if question.seed % 2 else Watch()  # under a limit small ones are sought first
    found = run(table.encoded(), question, watch)
    assert found.complete
    how = {"largest": question.max_size, "allowed": question.error}
    expected = pod_oracle.minimal_laws(table.rows, len(table.columns), question.null_policy, **how)
    named = [(law.lhs, law.rhs) for law in laws(found)]
    assert len(named) == len(set(named))
    assert set(named) == set(expected)
    if question.error:
        errors = [error for listing in found.listings for error in listing.errors.tolist()]
        assert dict(zip(named, errors, strict=True)) == pytest.approx(expected)


@given(TABLES, questions(strategy="full"), st.sampled_from([0, 16]))
def test_all_pairs_give_exactly_the_minimal_laws(table: ValueTable, question: PointwiseQuestion, patience: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goal_searches, "_EDGES_A_CELL", patience)  # without any, boxes of cells are searched for at once
        finds_the_right_laws(table, question)


@given(TABLES, questions(strategy="hybrid"))
def test_sampling_and_checking_gives_the_same(table: ValueTable, question: PointwiseQuestion) -> None:
    finds_the_right_laws(table, question)


@given(TABLES, st.sampled_from([0.05, 0.2, 0.5]), st.data())
def test_laws_within_an_error_have_it(table: ValueTable, error: float, data: st.DataObject) -> None:
    finds_the_right_laws(table, data.draw(questions(error=error)))


@pytest.mark.parametrize("columns", [7, 17])
def test_both_searches_and_both_strategies_agree(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seventeen columns need a second word of literals, and are too many for cells."""
    random = np.random.default_rng(4)
    rows = 60 if columns < 10 else 40
    table = encode_arrow(
        pa.table({f"c{place}": random.integers(0, 2 + 5 * (place % 4), rows) for place in range(columns)}),
        ReadOptions(),
    )
    size = None if columns < 10 else 2
    results = [set(laws(run(table, PointwiseQuestion(strategy=how, max_size=size)))) for how in ("full", "hybrid")]
    monkeypatch.setattr(goal_searches, "_EDGES_A_CELL", 0 if columns < 10 else 1 << 30)
    results.append(set(laws(run(table, PointwiseQuestion(strategy="full", max_size=size)))))
    assert len(results[0]) > 10
    assert results[0] == results[1] == results[2]


# What other families say of the same tables


def holds(law: Law, table: EncodedTable, policy: NullPolicy) -> bool:
    return check(CheckTask(0, law), table, Workspace(table, policy)).holds


def on_columns(table: ValueTable, data: st.DataObject) -> tuple[int, int, tuple[int, ...]]:
    """Two columns and some of the others."""
    left, right, *rest = data.draw(st.permutations(range(len(table.columns))))
    return left, right, tuple(data.draw(st.sets(st.sampled_from(rest)))) if rest else ()


WIDE = TABLES.filter(lambda table: len(table.columns) > 1)


@given(WIDE, POLICIES, st.data())
def test_laws_of_equalities_are_functional_dependencies(
    table: ValueTable, policy: NullPolicy, data: st.DataObject
) -> None:
    encoded = table.encoded()
    _, right, context = on_columns(table, data)
    pod = POD(tuple((column, "=") for column in context), (right, "="))
    assert holds(pod, encoded, policy) == holds(FD(context, right), encoded, policy)
    search = Search(encoded, LocalEngine(threads=1))
    search.engine.open(encoded, policy)
    blocks = discover_keys_and_fds(search, Question(keys=False, fds=True, null_policy=policy)).fds()
    minimal = {law for block in blocks for law in block.laws()}
    found = [law for law in laws(run(encoded, PointwiseQuestion(null_policy=policy))) if law.rhs[1] == "="]
    equal = {FD(tuple(dict(law.lhs)), law.rhs[0]) for law in found if {*dict(law.lhs).values()} <= {"="}}
    # An FD that is missing follows from a law that asks for <= only where the FD asks for =.
    assert equal <= minimal
    assert all(any(implies_pod([law], as_pod(fd)) for law in found) for fd in minimal)


def as_pod(fd: FD) -> POD:
    return POD(tuple((column, "=") for column in fd.lhs), (fd.rhs, "="))


@given(WIDE, POLICIES, st.data())
def test_an_order_compatibility_is_a_law_with_one_strict_order(
    table: ValueTable, policy: NullPolicy, data: st.DataObject
) -> None:
    left, right, context = on_columns(table, data)
    pod = POD((*((column, "=") for column in context), (left, "<")), (right, "<="))
    od = CanonicalOD(context, left, right, "asc")
    assert holds(pod, table.encoded(), policy) == holds(od, table.encoded(), policy)


@given(value_tables(max_rows=7, max_width=2), POLICIES)
def test_the_restricted_search_for_denial_constraints_agrees(table: ValueTable, policy: NullPolicy) -> None:
    """What the paper calls BatchPOD: minimal constraints over single columns, of which one predicate becomes a right
    side. Each follows from minimal laws, and each law that is found is a constraint that such a one implies."""
    encoded = table.encoded()
    engine = LocalEngine(threads=1)
    engine.open(encoded, policy)
    question = DenialQuestion(null_policy=policy, cross_columns=False, order_on_text=True, convention="set-minimal")
    (listing,) = discover_denial_constraints(Search(encoded, engine), question).listings
    constraints = [set(dc.predicates) for dc in listing.laws()]
    for law in laws(run(encoded, PointwiseQuestion(null_policy=policy))):
        given_by = set(as_denial(law).predicates)
        closed = {
            type(one)(one.left, implied, one.right) for one in given_by for implied in IMPLIED_SIGNS[one.operator]
        }
        assert any(constraint <= closed for constraint in constraints)


IMPLIED_SIGNS: dict[Operator, tuple[Operator, ...]] = {
    "=": ("=", "<=", ">="),
    "<": ("<", "<=", "!="),
    ">": (">", ">=", "!="),
    "<=": ("<=",),
    ">=": (">=",),
    "!=": ("!=",),
}


# The paper's examples

COLUMNS = "fname lname date ssn num ac ph st zip sal rate txa".split()
D1 = """
Ali Sadam 20140410 719975883 1448 719 6059466 CO 80612 32000 1.24 3000
Eser Duparc 20140224 303975883 1401 303 5872027 CO 80612 50000 1.42 1500
Hennie Hannen 20140413 701178073 1486 701 1638673 ND 58671 30000 1.21 3400
Rene Beke 20130403 801350874 1386 801 6192334 UT 84308 55000 2.04 1300
Ali Sadam 20140329 719975883 1427 719 6059466 CO 80612 7500 1.21 0
Hennie Hannen 20130404 701178073 1386 701 1638673 ND 58671 6500 0.24 900
PerOlof Motwani 20150324 970122634 1547 970 8484643 CO 80209 95000 2.85 1100
"""
MORE = """
Yuichiro Uckun 20130322 435849162 1368 435 5872027 UT 84308 40000 1.42 3300
Hennie Hannen 20140218 701178073 1478 701 1638673 ND 58671 33000 2.04 1400
Rene Beke 20150213 801350874 1533 801 6192334 UT 84308 32000 1.23 3200
"""
SIGMA = ["{zip=} -> {st=}", "{ph=} -> {ssn=}", "{txa>, sal<} -> {rate<}", "{ssn=, date<} -> {num<}"]


def tax(text: str) -> pa.Table:
    cells = zip(*(line.split() for line in text.strip().splitlines()), strict=True)
    numbers = {"date", "ssn", "num", "ac", "ph", "zip", "sal", "txa"}
    kinds = {**dict.fromkeys(numbers, int), "rate": float}
    return pa.table(
        {name: [kinds.get(name, str)(cell) for cell in column] for name, column in zip(COLUMNS, cells, strict=True)}
    )


def written(text: str) -> str:
    """A law as it is written out, with its columns in their order."""
    return format_law(parse_law(text, COLUMNS), COLUMNS)


def oracle_of(text: str) -> pod_oracle.Pointwise:
    law = parse_law(text, COLUMNS)
    assert isinstance(law, POD)
    return law.lhs, law.rhs


GROWN = pa.concat_tables([tax(D1), tax(MORE)])
REFINED = ["{st=, txa>, sal<} -> {rate<}", "{txa>, sal<} -> {rate<=}"]


def test_the_laws_of_example_1_hold_and_two_of_them_break_as_example_2_says() -> None:
    assert all(outcome.holds for outcome in lawful.check(tax(D1), SIGMA + REFINED).outcomes)
    outcomes = lawful.check(GROWN, SIGMA + REFINED).outcomes
    assert [outcome.holds for outcome in outcomes] == [True, False, False, True, True, True]
    assert [outcome.pairs for outcome in outcomes if not outcome.holds] == [1, 2]
    broken = lawful.check(GROWN, SIGMA[1:3])
    assert {row.row for row in broken.outcomes[0].witness} == {1, 7}
    rows = list(zip(*GROWN.to_pydict().values(), strict=True))
    third = oracle_of(SIGMA[2])
    pairs = {(i, j) for i in range(10) for j in range(10) if pod_oracle.violates(third, rows[i], rows[j], "equal")}
    assert pairs == {(7, 1), (8, 3)}


def test_how_rows_compare_and_why_a_law_holds_as_examples_3_and_4_say() -> None:
    rows = list(zip(*tax(D1).to_pydict().values(), strict=True))
    sal, ac = COLUMNS.index("sal"), COLUMNS.index("ac")
    assert pod_oracle.satisfies((sal, ">"), rows[1], rows[0])
    assert pod_oracle.satisfies((ac, "="), rows[2], rows[5])
    left, right = oracle_of(SIGMA[3])
    pairs = [(s, t) for s in rows for t in rows if all(pod_oracle.satisfies(mark, s, t) for mark in left)]
    assert [(rows.index(s), rows.index(t)) for s, t in pairs] == [(4, 0), (5, 2)]
    assert all(pod_oracle.satisfies(right, s, t) for s, t in pairs)


def test_a_stricter_left_side_and_a_weaker_right_side_follow_as_examples_5_and_14_say() -> None:
    known = parse_law(SIGMA[2], COLUMNS)
    assert isinstance(known, POD)
    for text in REFINED:
        law = parse_law(text, COLUMNS)
        assert isinstance(law, POD)
        assert implies_pod([known], law)
        assert not implies_pod([law], known)
    candidates = ["{ph=, txa>, sal<} -> {rate<}", "{st=, ph=, txa>, sal<} -> {rate<}"]
    assert [outcome.holds for outcome in lawful.check(GROWN, candidates).outcomes] == [False, True]
    assert {row.row for row in lawful.check(GROWN, candidates).outcomes[0].witness} == {1, 7}
    assert lawful.explain(GROWN, candidates[1]).minimal is False


def test_what_follows_is_not_minimal_as_example_6_says() -> None:
    for law in REFINED:
        explained = lawful.explain(tax(D1), law)
        assert explained.holds
        assert explained.minimal is False


@pytest.mark.parametrize("table", [tax(D1), GROWN], ids=["D1", "D1 and more"])
@pytest.mark.parametrize("strategy", ["full", "hybrid"])
def test_the_minimal_laws_of_the_tax_data(table: pa.Table, strategy: str) -> None:
    columns = ["st", "sal", "rate", "txa"]
    some = table.select(columns)
    rows = list(zip(*some.to_pydict().values(), strict=True))
    expected = {format_law(POD(*law), columns) for law in pod_oracle.minimal_laws(rows, 4, "equal")}
    found = lawful.discover(some, "pod", strategy=strategy)
    assert {law.text for law in found} == expected
    # On the first table the law of the paper has a more general one, and on the grown one its two refinements do.
    assert written(SIGMA[2]) not in expected


# What every search can be asked


def test_the_strategies_agree_on_a_table_that_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    table = encode_arrow(make_tax_table(600).table.select(["city", "state", "zip", "salary", "rate"]), ReadOptions())
    everything = [set(laws(run(table, PointwiseQuestion(strategy=how)))) for how in ("full", "hybrid")]
    assert len(everything[0]) > 10
    assert everything[0] == everything[1]
    monkeypatch.setattr(compared_pairs, "_FULL_SECONDS", 0.0)
    for patience, is_full in ((0.0, 1), (1e9, 0)):
        monkeypatch.setattr(compared_pairs, "_PATIENCE", patience)
        found = run(table, PointwiseQuestion())
        assert found.counts["full_evidence"] == is_full
        assert len(laws(found)) == len(everything[0])
        assert set(laws(found)) == everything[0]


def test_a_limit_gives_small_laws_first() -> None:
    columns = ["first_name", "city", "state", "zip", "salary", "rate", "has_child"]
    table = encode_arrow(make_tax_table(150).table.select(columns), ReadOptions())
    everything = set(laws(run(table, PointwiseQuestion())))
    for strategy in ("full", "hybrid"):
        looks = iter(range(100_000))

        class Impatient(Watch):
            """Gives up after some looks."""

            @property
            def is_limited(self) -> bool:
                return True

            def reason(self) -> str | None:
                return "enough" if next(looks) > 60 else None  # noqa: B023

        found = run(table, PointwiseQuestion(strategy=strategy), Impatient())
        assert not found.complete
        assert found.stopped_because == "enough"
        assert set(laws(found)) < everything


def test_interests_of_equalities_are_those_of_functional_dependencies() -> None:
    some = TABLE.select(["c1", "c3", "c4", "half"])
    fds = {law.text: law.interest for law in lawful.discover(some, "fd")}
    pods = {law.reading: law.interest for law in lawful.discover(some, "pod") if law.reading}
    shared = [text for text in fds if f"functional dependency: {text}" in pods]
    assert shared
    assert [pods[f"functional dependency: {text}"] for text in shared] == pytest.approx([fds[text] for text in shared])


def test_a_least_interest_and_a_size_leave_laws_out_and_no_others() -> None:
    some = TABLE.select(["c1", "c3", "c4", "half"])
    everything = {law.text: law for law in lawful.discover(some, "pod")}
    covering = {law.text for law in lawful.discover(some, "pod", min_interest=0.2)}
    assert covering == {text for text, law in everything.items() if law.interest >= 0.2}
    small = {law.text for law in lawful.discover(some, "pod", max_size=1)}
    assert small == {text for text, law in everything.items() if len(law.law.to_dict()["lhs"]) <= 1}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"error": 1.0}, "must lie in"),
        ({"max_size": -1}, "must not be negative"),
        ({"strategy": "quick"}, "unknown strategy"),
        ({"error": 0.1, "strategy": "hybrid"}, "counted on all pairs"),
    ],
)
def test_questions_that_make_no_sense_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        PointwiseQuestion(**wrong)
