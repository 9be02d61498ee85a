"""Keys and FDs that are kept while pairs come and go, against brute force, and both ways against each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.arrays import Words
from lawful.common.errors import StoppedError
from lawful.discovery.keys_and_fds.thinking import Thoughts
from lawful.discovery.questions import Watch
from lawful.search import GoalChange, KeptDeterminants, pack_sets, sorted_sets
from lawful.search.keys_and_fds.kept_edges import KeptEdges
from tests.search.families import Sets, all_subsets, as_sets, brute_minimal

Pair = tuple[frozenset[int], frozenset[int]]
"""The columns on which two rows agree, and are known to differ."""


class Story(NamedTuple):
    """A family of pairs that changes, over a few of the columns of a table; rows agree on all others."""

    width: int
    columns: list[int]
    goals: range
    steps: list[list[Pair]]
    differences_are_known: bool

    def packed(self, pairs: list[Pair]) -> tuple[Words, Words | None]:
        others = frozenset(range(self.width)) - frozenset(self.columns)
        agree = pack_sets([agree | others for agree, _ in pairs], self.width)
        if not self.differences_are_known:
            return agree, None
        return agree, pack_sets([differ for _, differ in pairs], self.width)

    def changed(self, before: list[Pair], after: list[Pair]) -> Words:
        touched = [pair for pair in {*before, *after} if (pair in before) != (pair in after)]
        return self.packed(touched)[0]


@st.composite
def stories(draw: st.DrawFn, widths: tuple[int, ...] = (1, 2, 5, 15, 16, 63, 64, 65, 130)) -> Story:
    width = draw(st.sampled_from(widths))
    near_borders = [c for c in (0, 1, 62, 63, 64, 65, 127, 128, 129) if c < width]
    columns = sorted(draw(st.sets(st.sampled_from([*near_borders, width - 1]), min_size=1, max_size=5)))
    goals = draw(st.sampled_from([range(-1, width), range(width), range(-1, 0)]))
    known = draw(st.booleans())
    signs = st.lists(st.sampled_from("=!?" if known else "=!"), min_size=len(columns), max_size=len(columns))
    pool = [
        (
            frozenset(c for c, sign in zip(columns, drawn, strict=True) if sign == "="),
            frozenset(c for c, sign in zip(columns, drawn, strict=True) if sign == "!"),
        )
        for drawn in draw(st.lists(signs, max_size=14))
    ]
    steps = draw(st.lists(st.lists(st.sampled_from(pool), max_size=14) if pool else st.just([]), max_size=5))
    return Story(width, columns, goals, steps, known)


def brute_laws(story: Story, pairs: list[Pair], goal: int, max_size: int | None) -> set[frozenset[int]]:
    """All minimal laws; columns on which all rows agree are in none, and are determined by nothing at all."""
    refuting: Sets = [agree for agree, differ in pairs if goal < 0 or goal in differ]
    subsets = all_subsets(c for c in story.columns if c != goal)
    left = brute_minimal(x for x in subsets if not any(x <= agree for agree in refuting))
    return {x for x in left if max_size is None or len(x) <= max_size}


def laws_by_goal(kept: KeptDeterminants, goals: range) -> dict[int, set[frozenset[int]]]:
    return {goal: as_sets(kept.laws(goal)) for goal in goals}


def check_changes(
    changes: list[GoalChange], before: dict[int, set[frozenset[int]]], after: dict[int, set[frozenset[int]]]
) -> None:
    assert len({change.goal for change in changes}) == len(changes)
    removed = {change.goal: as_sets(change.removed) for change in changes}
    added = {change.goal: as_sets(change.added) for change in changes}
    assert removed == {goal: before[goal] - after[goal] for goal in before if before[goal] != after[goal]}
    assert added == {goal: after[goal] - before[goal] for goal in before if before[goal] != after[goal]}


@given(stories(), st.sampled_from([None, 0, 1, 2, 3]), st.booleans())
def test_laws_follow_pairs_that_come_and_go(story: Story, max_size: int | None, hinted: bool) -> None:
    methods = ["search", "bitmap"] if story.width <= 15 else ["search"]
    kept = [KeptDeterminants(story.width, story.goals, max_size, method=method) for method in methods]
    known: list[Pair] = []
    for pairs in story.steps:
        agree, differ = story.packed(pairs)
        changed = story.changed(known, pairs) if hinted else None
        known = pairs
        scratch = dict(Thoughts(story.goals, story.width, max_size, Watch()).candidates(agree, differ))
        for each in kept:
            before = laws_by_goal(each, story.goals)
            changes = each.update(agree, differ, changed)
            after = laws_by_goal(each, story.goals)
            check_changes(changes, before, after)
            assert after == {goal: as_sets(laws) for goal, laws in scratch.items()}
            for goal in {*story.columns, -1} & {*story.goals}:
                assert after[goal] == brute_laws(story, pairs, goal, max_size)


@given(stories(), st.sampled_from([1, 1 << 30]))
def test_edges_are_the_minimal_ones(story: Story, few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lawful.search.keys_and_fds.kept_edges._FEW_OF_ALL", few)
        check_edges(story)


def check_edges(story: Story) -> None:
    kept = KeptEdges(story.width, story.goals)
    everything = frozenset(story.columns)
    before: list[set[frozenset[int]]] = [set() for _ in story.goals]
    for pairs in story.steps:
        update = kept.think(*story.packed(pairs), None, lambda: None)
        assert [as_sets(edges) for edges in kept.edges()] == before
        kept.make(update)
        after = [as_sets(edges) for edges in kept.edges()]
        for k, goal in enumerate(story.goals):
            differences = [everything - agree - {goal} for agree, differ in pairs if goal < 0 or goal in differ]
            assert after[k] == brute_minimal(differences)
            assert as_sets(update.gone[k]) == before[k] - after[k]
            assert as_sets(update.come[k]) == after[k] - before[k]
        before = after


@given(stories(), st.sampled_from([None, 2]))
def test_saved_laws_are_gone_on_with(story: Story, max_size: int | None) -> None:
    kept = KeptDeterminants(story.width, story.goals, max_size)
    agree, differ = story.packed([])
    for pairs in story.steps:
        again = KeptDeterminants.from_arrays(kept.arrays(), story.width, story.goals, max_size, agree, differ)
        before = laws_by_goal(kept, story.goals)
        assert laws_by_goal(again, story.goals) == before
        agree, differ = story.packed(pairs)
        kept.update(agree, differ)
        check_changes(again.update(agree, differ), before, laws_by_goal(kept, story.goals))
        assert laws_by_goal(again, story.goals) == laws_by_goal(kept, story.goals)


def random_agree_sets(seed: int, width: int, count: int) -> Words:
    rng = np.random.default_rng(seed)
    return pack_sets([np.flatnonzero(rng.random(width) < 0.6) for _ in range(count)], width)


def check_against_scratch(kept: KeptDeterminants, goals: range, agree: Words, width: int, largest: int | None) -> None:
    for goal, laws in Thoughts(goals, width, largest, Watch()).candidates(agree, None):
        assert np.array_equal(sorted_sets(kept.laws(goal)), sorted_sets(laws))


@pytest.mark.parametrize("width", [20, 70])
@pytest.mark.parametrize("few", [1, 1 << 30])
def test_many_pairs_are_exchanged(width: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawful.search.keys_and_fds.kept_edges._FEW_OF_ALL", few)
    agree = random_agree_sets(3, width, 400) if width == 20 else random_agree_sets(4, width, 24)
    shown = len(agree) * 3 // 4
    goals = range(-1, 4)
    kept = KeptDeterminants(width, goals, 4)
    for start in range(0, len(agree) - shown, 3):
        changed = np.concatenate([agree[start - 3 : start], agree[start + shown - 3 : start + shown]])
        now = agree[start : start + shown]
        kept.update(now, None, changed if start else None)
        check_against_scratch(kept, goals, now, width, 4)


def test_a_stopped_update_changes_nothing() -> None:
    width, goals = 19, range(-1, 19)
    agree = random_agree_sets(5, width, 100)
    kept = KeptDeterminants(width, goals)
    kept.update(agree[:80], None)
    before = [kept.laws(goal) for goal in goals]
    asked = stop_at = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > stop_at

    finished = False
    while not finished:
        asked = 0
        try:
            kept.update(agree[20:], None, should_stop=should_stop)
            finished = True
        except StoppedError:
            assert all(np.array_equal(kept.laws(goal), laws) for goal, laws in zip(goals, before, strict=True))
            stop_at = 2 * stop_at + 1
    assert stop_at > 8
    check_against_scratch(kept, goals, agree[20:], width, None)


def test_threads_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawful.search.keys_and_fds.kept_determinants._WORTH_THREADS", 0)
    agree = random_agree_sets(6, 18, 100)
    kept = KeptDeterminants(18, range(18))
    for now in (agree[:80], agree[20:]):
        kept.update(now, None)
        check_against_scratch(kept, range(18), now, 18, None)
    with pytest.raises(StoppedError):
        kept.update(agree[:10], None, should_stop=lambda: True)


def test_goals_that_nothing_touches_are_not_thought_about() -> None:
    kept = KeptDeterminants(20, range(20))
    agree = pack_sets([range(2, 20), range(1, 20)], 20)
    kept.update(agree, None)
    more = np.concatenate([agree, pack_sets([range(19)], 20)])
    assert [change.goal for change in kept.update(more, None, more[2:])] == [19]
    assert kept.update(more, None, more[:0]) == []
