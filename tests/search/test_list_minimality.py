"""The tree of candidates and minimal lists, by the examples of FindOD's paper as corrected, and against brute force."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lawful.search.list_ods.minimality import OrderedLists, SuffixIndex
from lawful.search.list_ods.od_tree import MarkedList, Node, ODTree, State, bits

A, B, C, D, E = range(5)


def asc(*columns: int) -> MarkedList:
    return tuple(2 * column for column in columns)


def desc(column: int) -> int:
    return 2 * column + 1


def turned(marked: MarkedList) -> MarkedList:
    return tuple(mark ^ 1 for mark in marked)


def grown(tree: ODTree, node: Node) -> set[tuple[MarkedList, MarkedList]]:
    return {node.child(mark, State.SPLIT).law for mark in bits(tree.extensions(node))}


def test_a_split_grows_on_the_left_and_a_valid_candidate_on_the_right() -> None:
    """Example 6: B -> A splits, so it has four children; B, C desc -> A is valid, so it has two."""
    tree = ODTree((1, 1, 1, 1))
    split = Node(asc(B), asc(A), State.SPLIT)
    assert grown(tree, split) == {((2 * B, mark), asc(A)) for mark in (2 * C, desc(C), 2 * D, desc(D))}
    valid = Node((2 * B, desc(C)), asc(A), State.VALID)
    assert grown(tree, valid) == {((2 * B, desc(C)), (2 * A, mark)) for mark in (2 * D, desc(D))}


def test_one_path_leads_to_each_candidate() -> None:
    """Example 7: [A, C] -> [B, D, E] comes from [A, C] -> [B, D], which comes from [A] -> [B, D]."""
    tree = ODTree((1,) * 6, bidirectional=False)
    top = Node(asc(A), asc(B), State.VALID)
    middle = top.child(2 * D, State.SPLIT)
    lower = middle.child(2 * C, State.VALID)
    assert lower.child(2 * E, State.SPLIT).law == (asc(A, C), asc(B, D, E))
    assert asc(A, C) not in {lhs for lhs, _ in grown(tree, top)}


def test_the_tree_begins_with_right_sides() -> None:
    """Example 8: the first column of a path is the right side, the second the left side."""
    tree = ODTree((1, 1, 1))
    roots = tree.roots()
    assert [root.law for root in roots] == [((), asc(A)), ((), asc(B)), ((), asc(C))]
    assert all(root.state is State.SPLIT for root in roots)
    assert grown(tree, roots[A]) == {((mark,), asc(A)) for mark in (2 * B, desc(B), 2 * C, desc(C))}
    assert ODTree((1, 1), longest=0).roots() == []


def test_columns_that_stand_for_several_may_be_on_both_sides() -> None:
    tree = ODTree((2, 1), bidirectional=False)
    assert grown(tree, tree.roots()[A]) == {(asc(A), asc(A)), (asc(B), asc(A))}
    assert grown(tree, tree.roots()[B]) == {(asc(A), asc(B))}
    assert grown(tree, Node(asc(B), asc(A), State.SPLIT)) == {(asc(B, A), asc(A))}
    assert grown(tree, Node(asc(A), asc(B), State.VALID)) == {(asc(A), asc(B, A))}


def test_right_sides_grow_one_longer_than_laws_may_be() -> None:
    """Whether a law is minimal depends on that."""
    tree = ODTree((1, 1, 1, 1), bidirectional=False, longest=1)
    valid = Node(asc(A), asc(B), State.VALID)
    longer = valid.child(2 * C, State.VALID)
    assert grown(tree, valid) == {(asc(A), asc(B, C)), (asc(A), asc(B, D))}
    assert grown(tree, longer) == grown(tree, Node(asc(A), asc(B), State.SPLIT)) == set()
    assert grown(tree, valid.child(2 * C, State.SPLIT)) == set()
    assert tree.is_wanted(valid)
    assert not tree.is_wanted(longer)


def test_no_part_may_follow_what_it_orders() -> None:
    """Example 3 (2): if [A, C] -> [B], then neither [B, A, C] nor the same with all directions turned is minimal."""
    index = SuffixIndex()
    index.add(asc(A, C), asc(B))
    assert index.prunes(asc(B, A, C))
    assert index.prunes(turned(asc(B, A, C)))
    assert not index.prunes((desc(B), *asc(A, C)))
    assert not index.prunes(asc(B, C, A))
    assert not index.prunes(asc(A, C))


def test_ends_are_looked_up_by_suffix() -> None:
    """Examples 9 and 10: of three laws, [C, D] -> [B] rules out [A, B, C, D]."""
    index = SuffixIndex()
    index.add(asc(C, A), asc(D))
    index.add(asc(D), asc(A, C))
    assert not index.prunes(asc(A, B, C, D))
    assert index.prunes(asc(B, A, C, D))
    index.add(asc(C, D), asc(B))
    assert index.prunes(asc(A, B, C, D))
    assert index.prunes(turned(asc(A, B, C, D)))
    assert index.holds(turned(asc(C, D)), turned(asc(B)))
    assert not index.holds(asc(C, D), turned(asc(B)))
    assert not index.holds(asc(A, D), asc(B))


def test_the_older_forward_rule_knows_order_only() -> None:
    lists = OrderedLists("od")
    lists.learn(asc(A, B), asc(D))
    assert lists.minimal_ends(asc(C, A, B), [2 * D, desc(D), 2 * E]) == [desc(D), 2 * E]
    assert lists.minimal_ends(asc(A, B, C), [2 * D]) == []
    assert lists.minimal_ends(asc(A, C, B), [2 * D]) == [2 * D]
    assert OrderedLists().minimal_ends(asc(C, A, B), [2 * D]) == [2 * D]


@given(
    st.lists(
        st.tuples(st.permutations(range(5)), st.integers(1, 3), st.integers(1, 2), st.integers(0, 31)), max_size=8
    ),
    st.permutations(range(5)),
    st.integers(0, 31),
)
def test_the_index_prunes_like_a_search_through_all_laws(
    drawn: list[tuple[list[int], int, int, int]], columns: list[int], directions: int
) -> None:
    """`prunes` looks at the ends of a list; all of its beginnings together show every adjacent pair of parts."""
    index, laws = SuffixIndex(), set()
    for order, left, right, falls in drawn:
        marks = tuple(2 * column + (falls >> column & 1) for column in order)
        lhs, rhs = marks[:left], marks[left : left + right]
        index.add(lhs, rhs)
        laws |= {(lhs, rhs), (turned(lhs), turned(rhs))}
    marked = tuple(2 * column + (directions >> column & 1) for column in columns)
    parts = combinations(range(len(marked) + 1), 3)
    expected = any((marked[middle:end], marked[start:middle]) in laws for start, middle, end in parts)
    assert any(index.prunes(marked[:length]) for length in range(1, len(marked) + 1)) == expected
