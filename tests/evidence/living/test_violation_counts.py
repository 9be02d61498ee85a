from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.evidence.living.agree_multiset import AgreeMultiset
from lawful.evidence.living.agree_set_tree import AgreeSetTree
from lawful.evidence.living.packed_agree_sets import PackedAgreeSets, SubsetCounts, violation_counts
from lawful.evidence.living.violation_masks import KEY
from lawful.evidence.signs import words_for
from tests.evidence.living.histories import History, all_pairs, histories, random_history
from tests.evidence.pairs import POLICIES, WIDTHS, Known, as_numbers


def packed(sets: list[int], width: int) -> np.ndarray:
    """Sets of columns, given as numbers, as words."""
    length = 8 * words_for(width)
    return np.frombuffer(b"".join(one.to_bytes(length, "little") for one in sets), np.uint64).reshape(len(sets), -1)


def broken_by(pairs: dict[Known, int], left: int, right: int) -> int:
    return sum(
        count
        for (agree, differ), count in pairs.items()
        if agree & left == left and (right == KEY or differ >> right & 1)
    )


def followed(history: History, policy: NullPolicy) -> tuple[AgreeMultiset, AgreeSetTree]:
    """A multiset and a tree after all batches, the tree told of changes only."""
    multiset, tree = AgreeMultiset(history.width, policy), AgreeSetTree(history.width, policy)
    for batch in history.batches:
        deleted = multiset.delete(np.array(batch.deleted, np.int64))
        inserted = multiset.insert(batch.inserted, np.array(batch.ids, np.int64))
        for change, sign in ((deleted, -1), (inserted, 1)):
            tree.change(change.keys, sign * change.counts)
    return multiset, tree


def check_counts(history: History, policy: NullPolicy, candidates: list[tuple[int, int]]) -> None:
    multiset, tree = followed(history, policy)
    pairs = all_pairs(history.states[-1], history.width, policy)
    left = packed([one for one, _ in candidates], history.width)
    right = np.array([one for _, one in candidates], np.int64)
    expected = [broken_by(pairs, *candidate) for candidate in candidates]
    keys, counts = multiset.arrays().values()
    assert len(tree) == len(pairs)
    assert tree.violations(left, right).tolist() == expected
    assert PackedAgreeSets(keys, counts, policy).violations(left, right).tolist() == expected
    assert multiset.violation_counts().violations(left, right).tolist() == expected
    if history.width <= 10:
        tabled = SubsetCounts(keys, counts, history.width, policy)
        assert tabled.violations(left, right).tolist() == expected


@given(histories(), POLICIES)
def test_every_candidate_of_a_small_table(history: History, policy: NullPolicy) -> None:
    everything = range(1 << history.width)
    fds = [(left, right) for left in everything for right in range(history.width) if not left >> right & 1]
    check_counts(history, policy, [(left, KEY) for left in everything] + fds)


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", WIDTHS)
def test_candidates_over_tables_of_every_width(width: int, policy: NullPolicy) -> None:
    generator = np.random.default_rng(width)
    candidates = []
    for size in generator.integers(0, min(5, width), 40).tolist():
        *left, right = generator.permutation(width)[: size + 1].tolist()
        candidates.append((sum(1 << column for column in left), right if generator.integers(2) else KEY))
    check_counts(random_history(width, width, rows=8, batches=3), policy, candidates)


@given(histories(), POLICIES, st.data())
def test_the_tree_finds_the_sets_that_break_a_candidate(
    history: History, policy: NullPolicy, data: st.DataObject
) -> None:
    _, tree = followed(history, policy)
    right = data.draw(st.integers(KEY, history.width - 1))
    left = data.draw(st.integers(0, (1 << history.width) - 1)) & ~(1 << right if right >= 0 else 0)
    keys, counts = tree.violating(packed([left], history.width)[0], right)
    pairs = all_pairs(history.states[-1], history.width, policy)
    if policy is NullPolicy.EQUAL:
        found = dict(zip(as_numbers(keys), counts.tolist(), strict=True))
        assert found == {
            agree: n for (agree, differ), n in pairs.items() if broken_by({(agree, differ): 1}, left, right)
        }
    assert counts.sum() == broken_by(pairs, left, right)


def test_a_table_is_made_where_it_pays() -> None:
    keys, counts = np.arange(1_000, dtype=np.uint64)[:, None], np.ones(1_000, np.int64)
    assert isinstance(violation_counts(keys, counts, 10, NullPolicy.EQUAL), SubsetCounts)
    assert isinstance(violation_counts(keys[:3], counts[:3], 10, NullPolicy.EQUAL), PackedAgreeSets)
    assert isinstance(violation_counts(keys, counts, 21, NullPolicy.EQUAL), PackedAgreeSets)


def test_no_table_is_made_over_the_sets_of_many_columns() -> None:
    with pytest.raises(AssertionError, match="too large"):
        SubsetCounts(np.zeros((0, 1), np.uint64), np.zeros(0, np.int64), 21, NullPolicy.EQUAL)


def test_an_fd_does_not_have_its_right_side_on_the_left() -> None:
    multiset = AgreeMultiset(30, NullPolicy.EQUAL)
    with pytest.raises(AssertionError, match="on its left"):
        multiset.violation_counts().violations(packed([3], 30), np.array([1]))
