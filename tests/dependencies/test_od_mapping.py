"""List-based order dependencies read off the canonical ones, against brute force on the tables themselves."""

from __future__ import annotations

from canonical_oracle import minimal_pairs
from checks.tables import ArrayTable, tables
from hypothesis import given
from hypothesis import strategies as st
from list_oracle import ListOracle
from oracle import holds, minimal_fds

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, ListOD
from lawful.dependencies.od_mapping import CanonicalTheory, list_ods_from_canonical

LISTS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["asc", "desc"])), max_size=3, unique_by=lambda m: m[0])


def canonical_laws(table: ArrayTable) -> tuple[set[FD], set[CanonicalOD]]:
    rows = table.as_rows()
    return set(minimal_fds(rows, table.width, NullPolicy.EQUAL)), minimal_pairs(rows, table.width, NullPolicy.EQUAL)


@given(tables(max_rows=7, max_width=4), st.booleans(), st.sampled_from([None, 1, 2]))
def test_the_minimal_lists_follow_from_the_canonical_laws(
    table: ArrayTable, bidirectional: bool, largest: int | None
) -> None:
    fds, pairs = canonical_laws(table)
    found = list_ods_from_canonical(fds, pairs, table.width, bidirectional=bidirectional, max_size=largest)
    assert len(found) == len(set(found))
    expected = ListOracle(table.as_rows(), table.width, bidirectional=bidirectional, largest=largest)
    assert set(found) == expected.minimal()


@given(tables(max_rows=7, max_width=4, min_width=4), LISTS, LISTS)
def test_the_canonical_laws_decide_every_list(table: ArrayTable, lhs: list, rhs: list) -> None:
    """Also lists that share columns, in the same direction or not, and empty ones."""
    law = ListOD(tuple(lhs), tuple(rhs))
    theory = CanonicalTheory(*canonical_laws(table), table.width)
    assert theory.orders(law.lhs, law.rhs) == holds(law, table.as_rows(), NullPolicy.EQUAL)


def test_the_most_telling_come_first() -> None:
    fds = [FD((0,), 1), FD((0,), 2), FD((1, 2), 0), FD((2, 3), 1)]
    pairs = [CanonicalOD((), 0, 1, "asc"), CanonicalOD((), 0, 2, "asc"), CanonicalOD((), 1, 2, "asc")]
    found = list_ods_from_canonical(fds, pairs, 4, bidirectional=False)
    assert found[0] == ListOD(((0, "asc"),), ((1, "asc"), (2, "asc")))
    assert [len(law.lhs) for law in found] == sorted(len(law.lhs) for law in found)
