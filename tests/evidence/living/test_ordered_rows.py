"""Rows in order: how many clash, in how many pairs, and with whom, while rows come and go; held against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.evidence.living.pinned import ordered_rows
from lawful.evidence.living.pinned.ordered_rows import OrderedRows, OrderSpec

SPECS = st.sampled_from(
    [
        OrderSpec(2, 1, False, (1,), True),
        OrderSpec(2, 1, True, (1,), True),
        OrderSpec(2, 1, True, (1,), False),
        OrderSpec(3, 2, True, (0, 2), True),
        OrderSpec(3, 2, False, (0, 2), True),
    ]
)


class Brute:
    """The same by comparing all pairs."""

    def __init__(self, spec: OrderSpec) -> None:
        self.spec, self.entries = spec, dict[int, tuple[int, ...]]()

    def place(self, row: int) -> tuple[int, ...]:
        keys, spec = self.entries[row], self.spec
        return (*keys[: spec.leading], *(-key if spec.turned else key for key in keys[spec.leading :]), row)

    def value(self, row: int) -> tuple[int, ...]:
        return tuple(self.entries[row][k] for k in self.spec.by)

    def pairs(self) -> set[tuple[int, int]]:
        rows = sorted(self.entries, key=self.place)
        values = [self.value(row) for row in rows]
        ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
        by_rank = np.array([ranks[value] for value in values], np.int64)
        clashes = np.greater if self.spec.is_strict else np.greater_equal
        found = np.argwhere(np.triu(clashes(by_rank[:, None], by_rank[None, :]), 1)).tolist()
        return {(min(rows[i], rows[j]), max(rows[i], rows[j])) for i, j in found}


def keys_of(brute: Brute, rows: list[int]) -> np.ndarray:
    return np.array([brute.entries[row] for row in rows], np.int64).reshape(-1, brute.spec.keys)


def compare(index: OrderedRows, brute: Brute) -> None:
    pairs = brute.pairs()
    clashing = {row for pair in pairs for row in pair}
    assert index.tally == (len(clashing), len(pairs))
    rows = list(brute.entries)
    if rows:
        partners = index.partners(keys_of(brute, rows), np.array(rows))
        assert {row for row, partner in zip(rows, partners, strict=True) if partner >= 0} == clashing
        assert all((min(r, p), max(r, p)) in pairs for r, p in zip(rows, partners.tolist(), strict=True) if p >= 0)
    witness = index.witness()
    assert (witness is None) == (not pairs)
    assert witness is None or (min(witness), max(witness)) in pairs


@given(spec=SPECS, seed=st.integers(0, 2**32 - 1), noise=st.sampled_from([0.0, 0.02, 0.3, 1.0]), patient=st.booleans())
def test_counts_follow_rows_that_come_and_go(spec: OrderSpec, seed: int, noise: float, patient: bool) -> None:
    random = np.random.default_rng(seed)
    brute, next_row = Brute(spec), 0

    def drawn(count: int) -> list[int]:
        nonlocal next_row
        rows = list(range(next_row, next_row + count))
        next_row += count
        for row in rows:
            x = int(random.integers(0, 60))
            y = int(random.integers(-9, 9)) * 7 if random.random() < noise else x // 3
            brute.entries[row] = (x, y) if spec.keys == 2 else (int(random.integers(0, 3)), x, y)
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_rows, "_BLOCK", 4)
        patch.setattr(ordered_rows, "_FILL", 3)
        if not patient:
            patch.setattr(ordered_rows, "_VISITS_PER_ROW", 0)
            patch.setattr(ordered_rows, "_VISITS_PER_BLOCK", 0)
        first = drawn(int(random.integers(0, 60)))
        keys = keys_of(brute, first)
        in_order = np.array(sorted(range(len(first)), key=lambda at: brute.place(first[at])), np.int32)
        index = OrderedRows(spec, np.ascontiguousarray(keys.T), np.array(first, np.int64), in_order)
        compare(index, brute)
        for _ in range(3):
            gone = [row for row in brute.entries if random.random() < random.choice([0.0, 0.2, 0.9])]
            index.delete(keys_of(brute, gone), np.array(gone, np.int64))
            for row in gone:
                del brute.entries[row]
            compare(index, brute)
            come = drawn(int(random.integers(0, 100)))
            index.insert(keys_of(brute, come), np.array(come, np.int64))
            compare(index, brute)


@given(spec=SPECS, seed=st.integers(0, 2**32 - 1))
def test_many_rows_in_one_place_and_behind_all_others(spec: OrderSpec, seed: int) -> None:
    random = np.random.default_rng(seed)
    brute = Brute(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_rows, "_BLOCK", 4)
        patch.setattr(ordered_rows, "_FILL", 3)
        index = OrderedRows(spec, np.empty((spec.keys, 0), np.int64), np.empty(0, np.int64), np.empty(0, np.int32))
        for batch in range(5):
            rows = list(range(batch * 50, batch * 50 + 50))
            for row in rows:
                x = 7 if batch % 2 else 100 + row
                brute.entries[row] = (x, x - int(random.integers(0, 2))) if spec.keys == 2 else (1, x, x)
            index.insert(keys_of(brute, rows), np.array(rows, np.int64))
            compare(index, brute)
