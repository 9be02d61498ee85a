from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies.laws import Operator
from lawful.evidence.living.orders import ChainIndex, TableKeys
from lawful.evidence.living.orders import chain_index as module
from tests.evidence.living.orders.growing import MEANINGS, ORDERS, Growing, Row, cells, histories
from tests.evidence.pairs import POLICIES

ASKED: tuple[Operator, ...] = (*ORDERS, "=")
CLASS = 2
Marks = tuple[Operator, Operator]
marks = st.tuples(st.sampled_from(ORDERS), st.sampled_from(ORDERS))


classes = st.sampled_from([None, CLASS])
"""The column that chains are sorted within, if any."""


def index_of(
    growing: Growing, operators: Marks, policy: NullPolicy, within: int | None = None
) -> tuple[TableKeys, ChainIndex]:
    keys = TableKeys(growing.table)
    return keys, ChainIndex(keys, (0, operators[0]), (1, operators[1]), policy, within)


def follow(growing: Growing, one: int, other: int, operators: Marks, within: int | None) -> bool:
    """Whether two rows may stand in one chain, one before the other in either order; of different classes, always."""
    if within is not None and growing.rows[one][within] != growing.rows[other][within]:
        return True
    same = growing.rows[one][:2] == growing.rows[other][:2]
    return same or any(
        all(growing.holds(*pair[:1], op, *pair[1:], column, NullPolicy.EQUAL) for column, op in enumerate(operators))
        for pair in ((one, other), (other, one))
    )


def check_chains(growing: Growing, index: ChainIndex, operators: Marks, policy: NullPolicy) -> None:
    """Every row with values is in one chain once, chains are chains, and equal rows of a chain stand side by side."""
    listed: list[int] = []
    compared = (0, 1) if index.within is None else (0, 1, index.within)
    for chains in index.chains:
        assert (np.diff(chains.starts) > 0).all()
        for start, stop in zip(chains.starts[:-1], chains.starts[1:], strict=True):
            rows = chains.rows[start:stop].tolist()
            assert all(follow(growing, one, other, operators, index.within) for one, other in combinations(rows, 2))
            steps = [np.diff(keys[start:stop]) for keys in (chains.x, chains.y)]
            if index.within is not None:
                codes = growing.table.codes.column_of_rows(CLASS, np.array(rows))
                assert chains.classes[start:stop].tolist() == codes.tolist()
                assert (np.diff(chains.classes[start:stop]) >= 0).all()
                steps = [step[np.diff(chains.classes[start:stop]) == 0] for step in steps]
            assert all((step >= 0).all() for step in steps)
            listed += rows
    assert len(set(listed)) == len(listed)
    has_values = [
        row
        for row in growing.live
        if policy is NullPolicy.EQUAL or all(growing.rows[row][column] is not None for column in compared)
    ]
    assert [row for row in sorted(listed) if growing.table.is_live[row]] == has_values


def check_fetches(growing: Growing, index: ChainIndex, policy: NullPolicy, rows: list[int]) -> None:
    for row, one, other in product(rows, ASKED, ASKED):
        asked: list[tuple[int, Operator]] = [(0, one), (1, other)]
        if index.within is not None:
            asked.append((index.within, "="))
        others = [s for s in growing.live if s != row]
        expected = [s for s in others if all(growing.holds(row, op, s, c, policy) for c, op in asked)]
        mirrored = [s for s in others if all(growing.holds(s, op, row, c, policy) for c, op in asked)]
        assert index.fetch(row, one, other).tolist() == expected
        assert index.fetch_mirrored(row, one, other).tolist() == mirrored


@given(histories(3), marks, POLICIES, st.booleans(), classes)
def test_chains_and_fetches_after_every_batch(
    history: tuple[list[Row], list[tuple[list[Row], int]]],
    operators: Marks,
    policy: NullPolicy,
    merges: bool,
    within: int | None,
) -> None:
    first, batches = history
    growing = Growing(first, 3)
    keys, index = index_of(growing, operators, policy, within)
    with pytest.MonkeyPatch.context() as patched:
        if merges:
            patched.setattr(module, "_FEWEST_RECENT", 2)
            patched.setattr(module, "_RECENT_PER_ROOT", 0)
            patched.setattr("lawful.evidence.living.orders.chains._MOST_SHARE", 0)
            patched.setattr("lawful.evidence.living.orders.chains._ROW_STEPS", 1 << 30)
        for come, every in batches:
            growing.change(come, growing.live[::every] if every else ())
            keys.catch_up()
            index.catch_up()
            check_chains(growing, index, operators, policy)
            check_fetches(growing, index, policy, growing.live[-3:])


@given(st.lists(st.tuples(cells(3), cells(3), cells(1)), max_size=10), POLICIES, classes)
def test_all_operators_on_all_indexes(rows: list[Row], policy: NullPolicy, within: int | None) -> None:
    growing = Growing(rows, 3)
    for operators in product(ORDERS, ORDERS):
        _, index = index_of(growing, operators, policy, within)
        check_chains(growing, index, operators, policy)
        check_fetches(growing, index, policy, growing.live[:3])


@given(st.lists(st.tuples(cells(3), cells(3), cells(1)), max_size=9), marks, classes)
def test_no_chains_are_fewer(rows: list[Row], operators: Marks, within: int | None) -> None:
    """By Dilworth's theorem there are as many chains as rows of which no two can stand in one chain."""
    growing = Growing(rows, 3)
    _, index = index_of(growing, operators, NullPolicy.EQUAL, within)
    assert index.rank == max(
        len(some)
        for size in range(len(rows) + 1)
        for some in combinations(range(len(rows)), size)
        if not any(follow(growing, one, other, operators, within) for one, other in combinations(some, 2))
    )


@pytest.mark.parametrize("within", [None, CLASS])
@pytest.mark.parametrize("operators", list(product(ORDERS, ORDERS)))
def test_many_rows_are_sorted_as_few_are(operators: Marks, within: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    growing = Growing([tuple(row) for row in generator.integers(0, 9, (300, 3)).tolist()], 3)
    _, by_labels = index_of(growing, operators, NullPolicy.EQUAL, within)
    monkeypatch.setattr("lawful.evidence.living.orders.chains._MANY_ROWS", 0)
    _, by_ranks = index_of(growing, operators, NullPolicy.EQUAL, within)
    for one, other in zip(by_labels.chains, by_ranks.chains, strict=True):
        assert all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


def test_an_index_stays_near_the_fewest_chains_and_forgets_what_left() -> None:
    generator = np.random.default_rng(2)
    growing = Growing([], 2)
    keys, index = index_of(growing, ("<=", "<="), NullPolicy.EQUAL)
    for _ in range(40):
        a = generator.integers(0, 1000, 60)
        rows = [tuple(row) for row in np.stack([a, a + generator.integers(0, 30, 60)], axis=1).tolist()]
        growing.change(rows, generator.permutation(growing.live)[:40].tolist())
        keys.catch_up()
        index.catch_up()
        fewest = ChainIndex(keys, (0, "<="), (1, "<="), NullPolicy.EQUAL).chains[0].rank
        assert index.chains[0].rank <= 3 * fewest + 8
        assert index.statistics().rows <= 2 * len(growing.live) + 256
    assert len(index.chains[0].rows)


@given(st.lists(cells(4), max_size=10), POLICIES)
def test_one_column_is_one_chain(values: list[int | None], policy: NullPolicy) -> None:
    growing = Growing([(value,) for value in values], 1)
    index = ChainIndex(TableKeys(growing.table), (0, "<"), None, policy)
    assert index.rank <= 1
    for row, op in product(growing.live, ASKED):
        expected = [s for s in growing.live if s != row and growing.holds(row, op, s, 0, policy)]
        assert index.fetch(row, op).tolist() == expected


def test_statistics() -> None:
    growing = Growing([(1, 1), (1, 1), (2, 1), (1, 1), (2, 3), (None, 1)], 2)
    _, index = index_of(growing, ("<=", "<="), NullPolicy.IGNORE)
    statistics = index.statistics()
    assert statistics[:4] == (1, 5, 3, 3)
    assert statistics.memory == index.memory > 0


def test_a_column_that_becomes_text_is_ordered_anew() -> None:
    growing = Growing([(9, 1), (10, 2), (2, 3)], 2)
    keys, index = index_of(growing, ("<", "<"), NullPolicy.EQUAL)
    assert index.rank == 2
    growing.table.columns[0].type = ColumnType.STRING
    keys.catch_up()
    index.catch_up()
    assert index.rank == 2
    assert index.fetch(0, ">", "<").tolist() == [1, 2]
    assert MEANINGS[">"]("9", "10")  # type: ignore[arg-type]  # any values do
