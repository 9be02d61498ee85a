"""The reactive lattice, answered by brute force, in every order in which outcomes can come."""

from __future__ import annotations

import copy
import random
from itertools import combinations

import oracle
from canonical_oracle import minimal_canonical_laws
from checks.tables import POLICIES, ArrayTable, tables
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD
from lawful.search import unpack_sets
from lawful.search.canonical_ods.lattice import (
    Ask,
    Job,
    Lattice,
    Node,
    Outcome,
    Pairs,
    members,
    packed_contexts,
    pair_columns,
    react,
    to_bits,
)

CHANCE = st.integers(0, 2**32).map(random.Random)


def numbers(width: int) -> st.SearchStrategy[int]:
    return st.integers(0, width - 1) if width else st.nothing()


class Answers:
    """Answers jobs by brute force over all pairs of rows, and keeps the laws that they find."""

    def __init__(self, table: ArrayTable, policy: NullPolicy) -> None:
        self.rows = table.as_rows()
        self.policy = policy
        self.pairs = Pairs(table.width)
        self.found: list[FD | CanonicalOD] = []

    def law(self, job: Job, candidate: int) -> FD | CanonicalOD:
        context = tuple(members(job.context))
        if job.ask is Ask.CONSTANTS:
            return FD(context, candidate)
        return CanonicalOD(context, *self.pairs.candidate(candidate))

    def outcome(self, job: Job) -> Outcome:
        held = [c for c in members(job.candidates) if oracle.holds(self.law(job, c), self.rows, self.policy)]
        return Outcome(job.context, job.ask, to_bits(held))

    def note(self, job: Job) -> None:
        outcome = self.outcome(job)
        self.found.extend(self.law(job, candidate) for candidate in members(outcome.held))


def lattice_of(table: ArrayTable, policy: NullPolicy, largest: int | None = None) -> Lattice:
    ignores = policy is NullPolicy.IGNORE
    droppable = [column for column in range(table.width) if not ignores or table.column(column).all()]
    return Lattice(table.width, droppable=to_bits(droppable), largest=largest)


@given(tables(max_width=5), POLICIES, CHANCE, st.sampled_from([None, 0, 1, 2]))
def test_any_order_of_outcomes_repeated_and_late_ones_included_finds_exactly_the_minimal_laws(
    table: ArrayTable, policy: NullPolicy, chance: random.Random, largest: int | None
) -> None:
    lattice, answers = lattice_of(table, policy, largest), Answers(table, policy)
    waiting, answered = lattice.start(), []
    while waiting:
        job = waiting.pop(chance.randrange(len(waiting)))
        if chance.random() < 0.2:
            waiting.append(job)  # its outcome is lost on the way, and it is asked again
            continue
        answers.note(job)
        answered.append(job)
        waiting.extend(lattice.accept(answers.outcome(job)))
        assert lattice.accept(answers.outcome(chance.choice(answered))) == []
    expected = minimal_canonical_laws(table.as_rows(), table.width, policy, largest=largest)
    assert len(answers.found) == len(set(answers.found))
    assert set(answers.found) == expected


@given(tables(max_width=4, min_width=2), POLICIES, CHANCE)
def test_jobs_that_were_out_together_may_be_answered_in_either_order(
    table: ArrayTable, policy: NullPolicy, chance: random.Random
) -> None:
    """Outcomes commute: after two of them the lattice is the same, whichever came first."""
    lattice, answers = lattice_of(table, policy), Answers(table, policy)
    waiting = lattice.start()
    while len(waiting) > 1 or (waiting and chance.random() < 0.9):
        chance.shuffle(waiting)
        if len(waiting) > 1:
            first, second = (answers.outcome(job) for job in waiting[:2])
            one, other = copy.deepcopy(lattice), copy.deepcopy(lattice)
            jobs_one = one.accept(first) + one.accept(second)
            jobs_other = other.accept(second) + other.accept(first)
            assert sorted(jobs_one) == sorted(jobs_other)
            assert one._levels == other._levels
        waiting.extend(lattice.accept(answers.outcome(waiting.pop())))


@given(tables(max_width=4), POLICIES)
def test_reacting_changes_nothing_until_the_delta_is_applied(table: ArrayTable, policy: NullPolicy) -> None:
    lattice, answers = lattice_of(table, policy), Answers(table, policy)
    waiting = lattice.start()
    while waiting:
        outcome = answers.outcome(waiting.pop())
        before = copy.deepcopy(lattice._levels)
        delta = react(lattice, outcome)
        assert lattice._levels == before
        assert react(lattice, outcome) == delta
        lattice.apply(delta)
        for context, packed in delta.nodes.items():
            assert lattice.level(context.bit_count()).get(context) in (packed, None)
        waiting.extend(delta.jobs)


@given(tables(max_width=5), POLICIES, st.integers(0, 31))
def test_dull_contexts_take_their_supersets_with_them_and_nothing_else(
    table: ArrayTable, policy: NullPolicy, dull: int
) -> None:
    """Whatever is called dull upwards of some set is left out; what remains is minimal in the whole table."""
    lattice, answers = lattice_of(table, policy), Answers(table, policy)
    waiting = lattice.start()
    while waiting:
        job = waiting.pop()
        if dull & ~job.context:
            answers.note(job)
            waiting.extend(lattice.accept(answers.outcome(job)))
        else:
            waiting.extend(lattice.accept(Outcome(job.context, job.ask, 0, is_dull=True)))
    everything = minimal_canonical_laws(table.as_rows(), table.width, policy)
    wanted = {law for law in everything if dull & ~to_bits(law.lhs if isinstance(law, FD) else law.context)}
    assert set(answers.found) == wanted


def test_constants_run_ahead_of_pairs_without_waiting_for_a_level() -> None:
    lattice = Lattice(4)
    [root] = lattice.start()
    waiting = lattice.accept(Outcome(0, Ask.CONSTANTS, 0))
    orders = [job for job in waiting if job.ask is Ask.ORDERS]
    assert [job.context for job in orders] == [0]
    assert orders[0].candidates == Pairs(4).all
    singles = {job.context: job for job in waiting if job.ask is Ask.CONSTANTS}
    assert sorted(singles) == [1, 2, 4, 8]
    assert root.candidates == 0b1111
    # Two of the four singles are answered: their union is ready, though neither level is done.
    assert lattice.accept(Outcome(1, Ask.CONSTANTS, 0)) == []
    assert lattice.accept(Outcome(2, Ask.CONSTANTS, 0)) == [Job(3, Ask.CONSTANTS, 0b1100)]


def test_levels_that_nobody_looks_at_again_are_let_go() -> None:
    width = 8
    lattice = Lattice(width)
    waiting, most = lattice.start(), 0
    while waiting:
        job = waiting.pop(0)
        waiting.extend(lattice.accept(Outcome(job.context, job.ask, 0)))
        most = max(most, len(lattice))
    assert most < 2**width
    assert len(lattice) <= width
    assert 0 not in lattice.level(0)
    assert lattice.accept(Outcome(0, Ask.CONSTANTS, 0b11)) == []


def test_a_node_takes_no_more_than_its_bits() -> None:
    lattice = Lattice(20)
    node = Node((1 << 20) - 1, lattice.pairs.all, 7, 6, 3, 1)
    packed = node.packed(20)
    assert Node.unpacked(packed, 20) == node
    assert packed.bit_length() <= 20 + 2 * len(list(combinations(range(20), 2))) + 40


@given(
    st.sampled_from([0, 5, 64, 130]).flatmap(lambda width: st.tuples(st.just(width), st.lists(st.sets(numbers(width)))))
)
def test_contexts_are_packed_as_the_sets_that_they_are(given_sets: tuple[int, list[set[int]]]) -> None:
    width, sets = given_sets
    packed = packed_contexts([to_bits(columns) for columns in sets], width)
    assert unpack_sets(packed) == [tuple(sorted(columns)) for columns in sets]


def test_the_columns_of_all_pairs_are_those_of_each() -> None:
    pairs = Pairs(5)
    listed = [(left, right, "desc" if descends else "asc") for left, right, descends in pair_columns(5).tolist()]
    assert listed == [pairs.candidate(number) for number in range(2 * len(pairs.columns))]
