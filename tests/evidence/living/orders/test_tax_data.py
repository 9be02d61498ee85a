"""The examples of IncPOD on its tax data, tables I and II."""

from __future__ import annotations

import numpy as np
import pytest

from lawful.common.meanings import NullPolicy
from lawful.dependencies.laws import POD, Operator
from lawful.evidence.living.orders import ChainIndex, TableKeys, choose_indexes, violating_candidates
from lawful.evidence.living.orders.sampled_pairs import correlation
from tests.evidence.living.orders.growing import Growing

DATE, SSN, NUM, PH, ST, ZIP, SAL, RATE, TXA = range(9)
D1 = [
    (20140410, 719975883, 1448, 6059466, 1, 80612, 32000, 124, 3000),
    (20140224, 303975883, 1401, 5872027, 1, 80612, 50000, 142, 1500),
    (20140413, 701178073, 1486, 1638673, 2, 58671, 30000, 121, 3400),
    (20130403, 801350874, 1386, 6192334, 3, 84308, 55000, 204, 1300),
    (20140329, 719975883, 1427, 6059466, 1, 80612, 7500, 121, 0),
    (20130404, 701178073, 1386, 1638673, 2, 58671, 6500, 24, 900),
    (20150324, 970122634, 1547, 8484643, 1, 80209, 95000, 285, 1100),
]
T7 = (20130322, 435849162, 1368, 5872027, 3, 84308, 40000, 142, 3300)
T8 = (20140218, 701178073, 1478, 1638673, 2, 58671, 33000, 204, 1400)
T9 = (20150213, 801350874, 1533, 6192334, 3, 84308, 32000, 123, 3200)
LAWS = (
    POD(((ZIP, "="),), (ST, "=")),
    POD(((PH, "="),), (SSN, "=")),
    POD(((TXA, ">"), (SAL, "<")), (RATE, "<")),
    POD(((SSN, "="), (DATE, "<")), (NUM, "<")),
)


def index_with_t8(one: tuple[int, Operator], other: tuple[int, Operator] | None) -> tuple[ChainIndex, int]:
    """An index of the first table, then with t8, and the number of that row."""
    growing = Growing(D1, 9)
    keys = TableKeys(growing.table)
    index = ChainIndex(keys, one, other, NullPolicy.EQUAL)
    (row,) = growing.change([T8])
    keys.catch_up()
    index.catch_up()
    return index, int(row)


def chains_of(index: ChainIndex) -> list[list[int]]:
    chains = index.chains[0]
    return [part.tolist() for part in np.split(chains.rows, chains.starts[1:-1])]


def test_example_7_each_comparison_alone_visits_all_rows() -> None:
    by_exemption, row = index_with_t8((TXA, ">"), None)
    by_salary, _ = index_with_t8((SAL, "<"), None)
    assert by_exemption.fetch(row, ">").tolist() == [3, 4, 5, 6]
    assert by_salary.fetch(row, "<").tolist() == [1, 3, 6]
    assert by_exemption.fetch_mirrored(row, ">").tolist() == [0, 1, 2]
    assert by_salary.fetch_mirrored(row, "<").tolist() == [0, 2, 4, 5]


def test_examples_8_and_9_two_chains() -> None:
    index, row = index_with_t8((TXA, ">"), (SAL, "<"))
    assert sorted(chains_of(index)) == [[4, 5], [6, 3, 1, 0, 2]]
    assert index.fetch(row, ">", "<").tolist() == [3, 6]
    assert index.fetch_mirrored(row, ">", "<").tolist() == [0, 2]


def test_example_10_ties_need_a_second_chain_only_where_operators_are_strict() -> None:
    strict, _ = index_with_t8((DATE, "<"), (NUM, "<"))
    assert sorted(map(len, chains_of(strict))) == [1, 6]
    ties, _ = index_with_t8((DATE, "<="), (NUM, "<="))
    assert chains_of(ties) == [[3, 5, 1, 4, 0, 2, 6]]


def test_examples_11_and_13_an_index_used_reversely_and_a_row_put_in() -> None:
    index, row = index_with_t8((DATE, "<"), (NUM, "<"))
    assert index.fetch(row, "<", ">").tolist() == [0, 1, 4]
    assert index.fetch_mirrored(row, "<", ">").tolist() == []
    growing = Growing(D1, 9)
    keys = TableKeys(growing.table)
    index = ChainIndex(keys, (DATE, "<"), (NUM, "<"), NullPolicy.EQUAL)
    new = growing.change([T9])
    keys.catch_up()
    assert index.order.insert(index.chains[0], new, growing.table.is_live).rank == 2


def test_example_12_dates_and_serial_numbers_rise_together() -> None:
    dates, numbers = (np.array([row[column] for row in D1], np.float64) for column in (DATE, NUM))
    assert correlation(dates, numbers) == pytest.approx(0.88, abs=0.005)
    growing = Growing(D1, 9)
    plan = choose_indexes(growing.table, [POD(((DATE, "<"), (ST, ">")), (NUM, "<"))], NullPolicy.EQUAL)
    assert [each.rank for each in plan.indexes] == [1]


@pytest.mark.parametrize("scoring", ["share", "correlation"])
def test_example_2_what_breaks_the_laws_is_found(scoring: str) -> None:
    growing = Growing(D1, 9)
    # A text of the parameters.
    plan = choose_indexes(growing.table, LAWS, NullPolicy.EQUAL, scoring=scoring)  # type: ignore[arg-type]
    new = growing.change([T7, T8, T9])
    plan.catch_up()
    found = {
        (int(one), int(other))
        for some in violating_candidates(plan, new)
        for one, other in zip(some.left, some.right, strict=True)
    }
    broken = {
        number: {
            pair for pair in found for order in (pair, pair[::-1]) if growing.breaks(law, *order, NullPolicy.EQUAL)
        }
        for number, law in enumerate(LAWS)
    }
    assert broken == {0: set(), 1: {(1, 7)}, 2: {(1, 7), (3, 8)}, 3: set()}
    assert len(found) < 12
