"""Denial constraints against brute force: every strategy, convention and policy, exact and within an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import denial_oracle
import numpy as np
import pyarrow as pa
import pytest
from denial_tables import ValueTable, value_tables
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, format_law, parse_law
from lawful.dependencies.laws import OPERATORS
from lawful.discovery import compared_pairs
from lawful.discovery.denials.discover import discover_denial_constraints
from lawful.discovery.denials.questions import DenialQuestion, DenialStrategy, predicate_space
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.search import hitting_sets, pack_sets, unpack_sets
from lawful.search.denials import reduction as denial_reduction
from lawful.search.denials.literals import CONVENTIONS, Convention
from lawful.search.denials.reduction import is_possible
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow, encode_arrow_into_folder, encode_in_process
from lawful.tables.options import ReadOptions

MOST_PREDICATES = 16
POLICIES = st.sampled_from(NullPolicy)


def run(table: EncodedTable, question: DenialQuestion, watch: Watch | None = None, engine: Any = None) -> Findings:
    engine = engine or LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    emitted: list[Any] = []
    told: list[str] = []
    found = discover_denial_constraints(
        Search(table, engine, watch, emit=emitted.append, progress=told.append), question
    )
    assert found.listings == emitted
    assert "predicates" in told[0]
    (listing,) = found.listings
    assert listing.kind == "dc"
    assert len(listing) == len(listing.interests) == len(list(listing.laws())) == len(list(listing.readings()))
    assert ((listing.interests >= 0) & (listing.interests <= 1)).all()
    return found


def laws(found: Findings) -> list[DC]:
    (listing,) = found.listings
    return list(listing.laws())


@st.composite
def questions(draw: st.DrawFn, **fixed: Any) -> DenialQuestion:
    options: dict[str, Any] = {
        "null_policy": draw(POLICIES),
        "max_size": draw(st.sampled_from([None, 0, 1, 2, 3])),
        "convention": draw(st.sampled_from(CONVENTIONS)),
        "cross_columns": draw(st.booleans()),
        "least_shared": draw(st.sampled_from([0.0, 0.2, 0.5])),
        "order_on_text": draw(st.booleans()),
        "constants": draw(st.sampled_from([0, 0, 1, 2])),
        "operators": draw(st.sampled_from([OPERATORS, OPERATORS, ("=", "!="), ("=", "<", ">")])),
        "column_operators": draw(st.sampled_from([{}, {}, {"c0": ("<",)}, {"c0": ("<=", "!=")}, {"c0": ()}])),
        "seed": draw(st.integers(0, 3)),
    }
    return DenialQuestion(**(options | fixed))


def finds_the_right_constraints(table: ValueTable, question: DenialQuestion) -> None:
    encoded = table.encoded()
    space = predicate_space(encoded, question)
    if len(space) > MOST_PREDICATES:
        return
    watch = Watch(seconds=3_600.0) if question.seed % 2 else Watch()  # under a limit small ones are sought first
    found = run(encoded, question, watch)
    assert found.complete
    how = {"largest": question.max_size, "allowed": question.error}
    expected = denial_oracle.constraints(table.rows, space.predicates, question.null_policy, question.convention, **how)
    assert len(laws(found)) == len(expected)
    assert set(laws(found)) == set(expected)
    if question.error:
        (listing,) = found.listings
        assert listing.errors is not None
        assert dict(zip(listing.laws(), listing.errors.tolist(), strict=True)) == pytest.approx(expected)


SMALL = value_tables(max_rows=6, max_width=2)


@given(SMALL, questions(strategy="full"))
def test_full_evidence_gives_exactly_the_minimal_constraints(table: ValueTable, question: DenialQuestion) -> None:
    finds_the_right_constraints(table, question)


@given(SMALL, questions(strategy="hybrid"))
def test_sampling_and_checking_gives_the_same(table: ValueTable, question: DenialQuestion) -> None:
    finds_the_right_constraints(table, question)


@given(SMALL, questions(strategy="completion"))
def test_completion_gives_the_same(table: ValueTable, question: DenialQuestion) -> None:
    finds_the_right_constraints(table, question)


@given(SMALL, st.sampled_from([0.05, 0.2, 0.5]), st.data())
def test_constraints_within_an_error_have_it(table: ValueTable, error: float, data: st.DataObject) -> None:
    finds_the_right_constraints(table, data.draw(questions(error=error)))


@given(value_tables(max_rows=8, max_width=3), st.sampled_from(["full", "hybrid", "completion"]), st.data())
def test_the_minimal_constraints_of_larger_tables(table: ValueTable, strategy: str, data: st.DataObject) -> None:
    finds_the_right_constraints(table, data.draw(questions(strategy=strategy)))


def test_constants_have_the_order_of_their_column(tmp_path: Path) -> None:
    texts = ("a", "a", "a", "a", "b", "c", None)
    question = DenialQuestion(strategy="full", cross_columns=False, order_on_text=True, constants=2)
    for operators in (OPERATORS, ("=", "<", ">")):
        finds_the_right_constraints(ValueTable(("text",), (texts,)), replace(question, operators=operators))
    days = tmp_path / "days.csv"
    days.write_text("day\n02/01/2021\n02/01/2021\n10/01/2020\n10/01/2020\n12/01/2020\n")
    table = encode_in_process(days, ReadOptions(), reuse=False)
    space = predicate_space(table, question)
    texts_of = [format_law(space.dc((number,)), table.names) for number in range(len(space))]
    later = [texts_of.index(f"not({text})") for text in ("t.day = '02/01/2021'", "s.day = '10/01/2020'")]
    orders = [texts_of.index(f"not(t.day {operator} s.day)") for operator in ("<", ">")]
    sets = pack_sets([[*later, order] for order in orders], len(space))
    assert is_possible(sets, space).tolist() == [False, True]


def staff() -> pa.Table:
    """Table 1 of Hydra."""
    return pa.table(
        {
            "id": [103, 197, 338, 631, 664],
            "name": ["J. Miller", "J. Miller", "P. Smith", "S. Blake", "P. Dean"],
            "department": ["Sales", "Accounting", "Sales", "Accounting", "Sales"],
            "d_code": ["SAL", "ACT", "SAL", "ACT", "SAL"],
            "hired": [2008, 2012, 2012, 2016, 2016],
            "salary": [3200, 3500, 2900, 3200, 2700],
        }
    )


@pytest.mark.parametrize("strategy", ["full", "hybrid", "completion"])
def test_the_constraints_of_the_paper_are_found_with_their_readings(strategy: str) -> None:
    table = encode_arrow(staff(), ReadOptions())
    question = DenialQuestion(cross_columns=False, convention="one-per-pair", strategy=strategy)
    (listing,) = run(table, question).listings
    readings = dict(zip(listing.laws(), listing.readings(), strict=True))
    # The fourth is what the paper says in words: the newer does not earn more. Its formula has > and is broken by the
    # paper's own table.
    expected = {
        "not(t.name = s.name and t.hired = s.hired)": "key: key(name, hired)",
        "not(t.department = s.department and t.d_code != s.d_code)": "functional dependency: department -> d_code",
        "not(t.id <= s.id and t.hired > s.hired)": "order dependency: [id asc] -> [hired asc]",
        "not(t.d_code = s.d_code and t.hired < s.hired and t.salary < s.salary)": (
            "order compatibility: {d_code}: hired asc ~ salary desc"
        ),
    }
    for text, reading in expected.items():
        law = parse_law(text, table.names)
        assert readings[law] == reading


def test_the_planted_constraints_of_the_tax_table_are_found() -> None:
    table = encode_arrow(make_tax_table(1_500).table, ReadOptions())
    found = {
        format_law(law, table.names)
        for law in laws(run(table, DenialQuestion(cross_columns=False, max_size=3, convention="one-per-pair")))
    }
    for text in (
        "not(t.zip = s.zip and t.state != s.state)",
        "not(t.state = s.state and t.salary < s.salary and t.rate > s.rate)",
    ):
        assert format_law(parse_law(text, table.names), table.names) in found


def test_strategies_agree_on_a_table_that_is_sampled() -> None:
    table = encode_arrow(make_tax_table(600).table.select(["city", "state", "zip", "salary", "rate"]), ReadOptions())
    everything = [laws(run(table, DenialQuestion(strategy=how))) for how in ("full", "hybrid", "completion")]
    assert len(everything[0]) > 10
    assert everything[0] == everything[1] == everything[2]


def test_a_time_limit_keeps_what_is_certain() -> None:
    table = encode_arrow(make_tax_table(3_000).table, ReadOptions())
    found = run(table, DenialQuestion(), Watch(seconds=1e-6))
    assert not found.complete
    assert found.stopped_because is not None
    assert "time limit" in found.stopped_because
    assert len(found.listings[0]) == 0


@pytest.mark.parametrize(("error", "convention", "patience"), [(0.0, "one-per-pair", 6), (0.02, "reduced", 12)])
def test_a_limit_within_the_search_gives_small_constraints_first(
    error: float, convention: Convention, patience: int
) -> None:
    columns = ["first_name", "last_name", "city", "state", "zip", "salary", "rate", "has_child"]
    table = encode_arrow(make_tax_table(150).table.select(columns), ReadOptions())
    question = DenialQuestion(cross_columns=False, convention=convention, error=error)
    (complete,) = run(table, question).listings
    all_laws = set(complete.laws())
    looks = iter(range(10_000))

    class Impatient(Watch):
        """Gives up after some looks."""

        @property
        def is_limited(self) -> bool:
            return True

        def reason(self) -> str | None:
            return "enough" if next(looks) > patience else None

    found = run(table, question, Impatient())
    kept = laws(found)
    assert not found.complete
    if error:
        errors = dict(zip(complete.laws(), complete.errors.tolist(), strict=True))
        assert found.listings[0].errors.tolist() == [errors[law] for law in kept]
    assert 0 < len(kept) < len(all_laws)
    assert set(kept) <= all_laws
    largest = max(len(law.predicates) for law in kept)
    assert {law for law in all_laws if len(law.predicates) < largest - 1} <= set(kept)


@pytest.mark.parametrize("strategy", ["full", "hybrid"])
def test_a_limit_at_any_moment_leaves_constraints_that_hold(
    strategy: DenialStrategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While edges are searched, candidates are checked, or what was found is sorted out."""
    monkeypatch.setattr(hitting_sets, "_SLICE_WORDS", 1 << 12)
    monkeypatch.setattr(denial_reduction, "_SETS_AT_ONCE", 50)
    table = encode_arrow(
        make_tax_table(40).table.select(["state", "salary", "rate", "single_exemption"]), ReadOptions()
    )
    question = DenialQuestion(least_mean_ratio=0.0, strategy=strategy)
    complete = run(table, question)
    all_laws, looks, patience = set(laws(complete)), 0, 0

    class Impatient(Watch):
        """Gives up after some looks."""

        def reason(self) -> str | None:
            nonlocal looks
            looks += 1
            return "enough" if looks > patience else None

    seen: set[bool] = set()
    engine = LocalEngine(threads=2)
    while True not in seen:
        looks = 0
        found = run(table, question, Impatient(), engine)
        seen.add(found.complete)
        assert found.complete == (looks <= patience)
        assert found.complete == (found.stopped_because is None)
        assert set(laws(found)) == all_laws or not found.complete
        verdicts = engine.check(CheckTask(place, law) for place, law in enumerate(laws(found)))
        assert all(verdict.witness is None for verdict in verdicts)
        patience = 2 * patience + 1
    assert seen == {False, True}


def test_all_pairs_are_compared_when_checking_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    table = encode_arrow(make_tax_table(200).table, ReadOptions())
    question = DenialQuestion(cross_columns=False, max_size=3)
    expected = run(table, question)
    assert expected.counts["full_evidence"]
    monkeypatch.setattr(compared_pairs, "_FULL_SECONDS", 0.0)
    monkeypatch.setattr(compared_pairs, "_PATIENCE", 0.0)
    found = run(table, question)
    assert (found.counts["checks"], found.counts["full_evidence"]) == (0, 1)
    assert laws(found) == laws(expected)
    monkeypatch.setattr(compared_pairs, "_PATIENCE", 1e9)
    patient = run(table, question)
    assert patient.counts["checks"] > 1
    assert not patient.counts["full_evidence"]
    assert laws(patient) == laws(expected)


@pytest.mark.cluster  # takes long
def test_spark_finds_what_this_process_finds(spark: Any) -> None:
    from lawful.engines.spark import SparkEngine

    source = make_tax_table(300).table.select(["city", "state", "zip", "salary", "rate", "has_child"])
    table = encode_arrow_into_folder(source, ReadOptions())
    for question in (
        DenialQuestion(strategy="full"),
        DenialQuestion(strategy="hybrid", constants=1, max_size=3),
        DenialQuestion(error=0.001, max_size=2),
    ):
        assert laws(run(table, question, engine=SparkEngine(spark))) == laws(run(table, question))


def space_of(table_columns: dict[str, Any], **options: Any) -> list[str]:
    table = encode_arrow(pa.table(table_columns), ReadOptions())
    space = predicate_space(table, DenialQuestion(**options))
    return [format_law(space.dc((number,)), table.names) for number in range(len(space))]


def test_the_space_follows_types_and_thresholds() -> None:
    numbers = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [1000, 2000, 3000], "d": ["x", "y", "z"], "e": ["x", "q", "r"]}
    same = space_of(numbers, cross_columns=False)
    assert len(same) == 3 * 6 + 2 * 2
    both = space_of(numbers)
    assert "not(t.a < s.b)" in both
    assert "not(t.a = t.b)" in both
    assert "not(s.a = s.b)" in both
    assert "not(t.d = s.e)" in both  # one of five values is common
    assert not any("t.c" in text and "t.a" in text for text in both)
    assert "not(t.d = s.e)" not in space_of(numbers, least_shared=0.3)
    assert "not(t.a < s.c)" in space_of(numbers, least_mean_ratio=0.0)
    assert "not(t.d < s.d)" in space_of(numbers, order_on_text=True)
    assert space_of(numbers, columns=(3,), operators=("=",)) == ["not(t.d = s.d)"]


def test_single_columns_have_operators_of_their_own() -> None:
    columns = {"a": [1, 2, 3], "b": [2, 3, 4], "c": ["x", "y", "z"]}
    own = {"a": ("<",), "b": (), "c": ("=", ">")}
    expected = ["not(t.a < s.a)", "not(t.a > s.a)", "not(t.c = s.c)", "not(t.c < s.c)", "not(t.c > s.c)"]
    assert space_of(columns, column_operators=own) == expected
    assert space_of(columns, column_operators={"c": ("=",)}, operators=()) == ["not(t.c = s.c)"]
    both = space_of(columns, operators=("=", "<"), column_operators={"b": ("<", "!=")})
    across = [text for text in both if ".a" in text and ".b" in text]
    assert across
    assert all("<" in text or ">" in text for text in across)  # what both columns have
    constants = space_of(columns, constants=1, column_operators={"a": ("<",), "b": ("!=",)}, cross_columns=False)
    assert [text for text in constants if text[-2].isdigit()] == ["not(t.b != 2)", "not(s.b != 2)"]
    with pytest.raises(UsageError, match='Did you mean "salary"'):
        space_of({"salary": [1, 2]}, column_operators={"salry": ("=",)})


def test_constants_are_the_frequent_values() -> None:
    columns = {"a": ["x"] * 6 + ["y"] * 3 + ["z"], "b": [7] * 10}
    found = space_of(columns, cross_columns=False, constants=2, least_frequency=0.2, operators=("=",))
    assert [text for text in found if "'" in text or "7" in text] == [
        "not(t.a = 'x')",
        "not(s.a = 'x')",
        "not(t.a = 'y')",
        "not(s.a = 'y')",
        "not(t.b = 7)",
        "not(s.b = 7)",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DenialQuestion(error=1.0),
        lambda: DenialQuestion(max_size=-1),
        lambda: DenialQuestion(strategy="quick"),  # type: ignore[arg-type]
        lambda: DenialQuestion(convention="few"),  # type: ignore[arg-type]
        lambda: DenialQuestion(error=0.1, strategy="hybrid"),
        lambda: DenialQuestion(least_shared=2.0),
        lambda: DenialQuestion(operators=()),
        lambda: DenialQuestion(operators=("~",)),  # type: ignore[arg-type]
        lambda: DenialQuestion(operators=(), column_operators={"a": ()}),
        lambda: DenialQuestion(column_operators={"a": ("~",)}),  # type: ignore[dict-item]  # the mistake to be refused
        lambda: DenialQuestion(constants=-1),
    ],
)
def test_questions_that_mean_nothing_are_refused(make: Callable[[], DenialQuestion]) -> None:
    with pytest.raises(UsageError):
        make()


@pytest.mark.parametrize("error", [0.0, 0.05])
def test_interest_is_succinctness_and_coverage(error: float) -> None:
    """The definition of Chu, Ilyas and Papotti, over all pairs of rows instead of some."""
    columns = {"a": [k % 7 for k in range(60)], "b": [k % 3 for k in range(60)], "c": [k // 5 for k in range(60)]}
    table = encode_arrow(pa.table(columns), ReadOptions())
    (listing,) = run(table, DenialQuestion(cross_columns=False, error=error, convention="set-minimal")).listings
    rows = list(zip(*columns.values(), strict=True))
    space = denial_oracle.comparisons(listing.space.predicates)
    seen = [denial_oracle.evidence(space, t, s, NullPolicy.EQUAL) for t in rows for s in rows if t is not s]
    assert len(listing) > 3
    for numbers, interest in zip(unpack_sets(listing.sets), listing.interests, strict=True):
        satisfied = [len(one & set(numbers)) for one in seen]
        near = [(k + 1) / len(numbers) for k in satisfied if k < len(numbers)]
        symbols = {listing.space.predicates[n].operator for n in numbers} | {listing.space.group_of[n] for n in numbers}
        expected = 0.5 * (2 / len(symbols) + sum(near) / len(near))
        assert interest == pytest.approx(expected, abs=0.05)


def test_listings_choose_in_the_order_that_is_asked_for() -> None:
    table = encode_arrow(staff(), ReadOptions())
    (listing,) = run(table, DenialQuestion(error=0.1, cross_columns=False)).listings
    places = np.array([2, 0])
    chosen = listing.chosen(places)
    every = list(listing.laws())
    assert list(chosen.laws()) == [every[2], every[0]]
    assert chosen.errors is not None
    assert chosen.errors.tolist() == listing.errors[places].tolist()
