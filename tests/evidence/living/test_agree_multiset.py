from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.evidence import all_agree_sets
from lawful.evidence.living import compared_rows, value_index
from lawful.evidence.living.agree_multiset import AgreeMultiset, MultisetChange
from lawful.evidence.living.costs import index_is_cheaper
from tests.evidence.living.histories import (
    STRATEGIES,
    History,
    all_pairs,
    as_table,
    counted,
    counter_of,
    histories,
    known_sets,
    random_history,
)
from tests.evidence.pairs import POLICIES, WIDTHS, Known, as_known, known, signs_of

Rows = dict[int, tuple[int, ...]]


def check_change(
    change: MultisetChange, before: Counter[Known], after: Counter[Known], rows: Rows, width: int, policy: NullPolicy
) -> None:
    sets = known_sets(change, width)
    came = counter_of(change, width)
    grew = after.total() >= before.total()
    assert came == (after - before if grew else before - after)
    assert [one for one, new in zip(sets, change.is_new, strict=True) if new] == [s for s in sets if s not in before]
    assert [one for one, gone in zip(sets, change.is_gone, strict=True) if gone] == [s for s in sets if s not in after]
    ids, table = list(rows), as_table(rows, width)
    for expected, (t, s) in zip(sets, change.witnesses.tolist(), strict=True):
        if t < 0:  # the rows that stay were counted anew
            assert not grew
            continue
        assert t != s
        assert known(signs_of(table, ids.index(t), ids.index(s), policy)) == expected


def follow(history: History, policy: NullPolicy, multiset: AgreeMultiset) -> None:
    """Hold every batch against all pairs of the rows that are there."""
    rows: Rows = {}
    before: Counter[Known] = Counter()
    for batch, state in zip(history.batches, history.states, strict=True):
        change = multiset.delete(np.array(batch.deleted, np.int64))
        left = {row_id: row for row_id, row in rows.items() if row_id not in batch.deleted}
        after = all_pairs(left, history.width, policy)
        check_change(change, before, after, rows, history.width, policy)
        assert counted(multiset) == after
        before, rows = after, state
        change = multiset.insert(batch.inserted, np.array(batch.ids, np.int64))
        after = all_pairs(rows, history.width, policy)
        check_change(change, before, after, rows, history.width, policy)
        assert counted(multiset) == after
        assert (multiset.rows, len(multiset)) == (len(rows), len(after))
        before = after


@given(histories(), POLICIES, st.sampled_from(STRATEGIES))
def test_every_batch_leaves_the_multiset_of_all_pairs(history: History, policy: NullPolicy, strategy: str) -> None:
    follow(history, policy, AgreeMultiset(history.width, policy, strategy=strategy))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", WIDTHS)
def test_tables_of_every_width(width: int, policy: NullPolicy, strategy: str) -> None:
    history = random_history(width, width, rows=7, batches=3)
    follow(history, policy, AgreeMultiset(width, policy, strategy=strategy))


@given(histories(max_batches=3), POLICIES, st.sampled_from(STRATEGIES), st.booleans())
def test_a_table_can_be_counted_at_once_or_restored(
    history: History, policy: NullPolicy, strategy: str, restored: bool
) -> None:
    """What comes after is the same as if all rows had come in batches."""
    rows = history.states[0]
    codes, ids = history.batches[0].inserted, np.array(list(rows), np.int64)
    multiset = AgreeMultiset.of(codes, ids, policy, strategy=strategy)
    if restored:
        multiset = AgreeMultiset.from_arrays(multiset.arrays(), codes, ids, policy, strategy=strategy)
    assert counted(multiset) == all_pairs(rows, history.width, policy)
    for batch, state in zip(history.batches[1:], history.states[1:], strict=True):
        multiset.delete(np.array(batch.deleted, np.int64))
        multiset.insert(batch.inserted, np.array(batch.ids, np.int64))
        assert counted(multiset) == all_pairs(state, history.width, policy)


@given(histories(), POLICIES)
def test_counts_of_sets(history: History, policy: NullPolicy) -> None:
    multiset = AgreeMultiset(history.width, policy)
    for batch in history.batches:
        multiset.delete(np.array(batch.deleted, np.int64))
        multiset.insert(batch.inserted, np.array(batch.ids, np.int64))
    found = multiset.sets()
    assert multiset.count_of(found.agree, found.known_differ).tolist() == found.counts.tolist()
    absent = np.full((1, 1), 1 << 60, np.uint64)
    assert multiset.count_of(absent, None if policy is NullPolicy.EQUAL else absent).tolist() == [0]


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("strategy", ["compare", "index", "dynast"])
def test_tables_of_thousands_of_rows_grow_and_shrink(
    strategy: str, policy: NullPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the first room and the longest run, in threads, with an index that is made anew on the way."""
    monkeypatch.setattr(compared_rows, "_PAIRS_A_THREAD", 1 << 12)
    monkeypatch.setattr(value_index, "_MOST_WASTE", 3)
    generator = np.random.default_rng(5)
    highest = [2, 30, 700, 5000, 5000]
    parts = 8 if strategy == "dynast" else 1  # which is slow, and knows neither rooms nor runs
    codes = np.stack([generator.integers(0, most, 5_200) for most in highest]).astype(np.int32)
    multiset = AgreeMultiset(5, policy, strategy=strategy)
    live = np.arange(0)
    for came, goes in ((4_400, 0), (400, 300), (400, 4_000), (0, 500)):
        multiset.delete(gone := generator.permutation(live)[: goes // parts])
        live = np.setdiff1d(live, gone)
        new = np.arange(first := live.max(initial=-1) + 1, first + came // parts)
        multiset.insert(codes[:, new], new)
        live = np.concatenate([live, new])
        expected = all_agree_sets(as_table({i: tuple(codes[:, i]) for i in live}, 5), policy)
        sets = as_known(expected.agree, expected.differ)
        assert counted(multiset) == dict(zip(sets, expected.counts.tolist(), strict=True))


def test_the_cheaper_way_is_chosen() -> None:
    rows, width = 100_000, 10
    pairs = math.comb(rows, 2)
    assert index_is_cheaper(width, rows, shared_cells=pairs // 10_000, sharing_pairs=pairs // 10_000)
    assert not index_is_cheaper(width, rows, shared_cells=pairs, sharing_pairs=pairs)
    assert not index_is_cheaper(width, 0, 0, 0)
    generator = np.random.default_rng(3)
    codes = generator.integers(1, 1000, (3, 2_000)).astype(np.int32)
    multiset = AgreeMultiset.of(codes, np.arange(2_000), NullPolicy.EQUAL)
    multiset.insert(codes[:, :5], np.arange(2_000, 2_005))
    multiset.insert(np.ones((3, 600), np.int32), np.arange(3_000, 3_600))
    multiset.insert(codes[:, 5:9], np.arange(4_000, 4_004))
    again = AgreeMultiset.of(multiset._rows.codes, multiset._rows.ids, NullPolicy.EQUAL)
    assert counted(multiset) == counted(again)
    assert multiset._counters.keys() == {"index", "compare"}


def test_what_cannot_be_changed_is_refused_and_changes_nothing() -> None:
    multiset = AgreeMultiset.of(np.array([[1, 1, 2]], np.int32), np.array([5, 6, 7]), NullPolicy.EQUAL)
    before = counted(multiset)
    with pytest.raises(ValueError, match="there already"):
        multiset.insert(np.array([[1]], np.int32), np.array([6]))
    with pytest.raises(ValueError, match="there already"):
        multiset.insert(np.array([[1, 1]], np.int32), np.array([8, 8]))
    with pytest.raises(ValueError, match="negative"):
        multiset.insert(np.array([[-1]], np.int32), np.array([8]))
    with pytest.raises(ValueError, match="announced"):
        multiset.insert(np.array([[1], [1]], np.int32), np.array([8]))
    with pytest.raises(ValueError, match="no row of the id 9"):
        multiset.delete(np.array([5, 9]))
    with pytest.raises(ValueError, match="twice"):
        multiset.delete(np.array([5, 5]))
    with pytest.raises(ValueError, match="known to differ"):
        multiset.count_of(np.zeros((1, 1), np.uint64), np.zeros((1, 1), np.uint64))
    with pytest.raises(ValueError, match="strategy must be"):
        AgreeMultiset(1, NullPolicy.EQUAL, strategy="guess")
    assert counted(multiset) == before
    assert multiset.rows == 3


def test_wrong_counts_are_never_clipped() -> None:
    codes, ids = np.array([[1, 1, 2]], np.int32), np.array([5, 6, 7])
    arrays = AgreeMultiset.of(codes, ids, NullPolicy.EQUAL).arrays()
    wrong = arrays | {"counts": arrays["counts"] + 1}
    with pytest.raises(AssertionError, match="not those of all pairs"):
        AgreeMultiset.from_arrays(wrong, codes, ids, NullPolicy.EQUAL)
    # As many pairs as there should be, but other ones.
    turned = arrays | {"counts": arrays["counts"][::-1].copy()}
    multiset = AgreeMultiset.from_arrays(turned, codes, ids, NullPolicy.EQUAL, strategy="compare")
    with pytest.raises(AssertionError, match="more pairs were taken away"):
        multiset.delete(np.array([7, 6, 5]))
