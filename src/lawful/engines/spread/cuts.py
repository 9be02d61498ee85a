"""Buckets by range: a tree of cuts, each at a value of one of the keys that a law compares (`boxes`).

The cuts are taken from a sample, one key after the other, so that rows of a bucket lie near each other in all of them.
A bucket is a leaf, and its number never changes its meaning: where the table grows beyond the greatest value of a
bucket, that one is cut there, and only what is above it goes to a new bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s, Int64s
from lawful.engines.spread.boxes import Box, Ranking
from lawful.engines.spread.met_rows import Cells


@dataclass(frozen=True)
class Cut:
    """What is up to a value of a key is in one part, what is above it in the other."""

    key: int
    end: Cells
    low: Tree
    high: Tree


Tree = int | Cut


def tree_of(ranking: Ranking, sample: pa.Array, leaves: int, first: int) -> Tree:
    """Cut rows as those of a sample lie, into so many buckets at most; they are numbered from `first` on."""
    ranked, comparisons = ranking.ranked(sample), ranking.comparisons
    ranks = {key: ranked.key(key) for key in comparisons.cut_by}
    place_of = {column: place for place, column in enumerate(ranking.kept.columns)}
    places = {key: [place_of[column] for column, _ in comparisons.keys[key]] for key in ranks}
    next_leaf = iter(range(first, first + leaves))

    def grown(rows: Int64s, leaves: int, depth: int) -> Tree:
        order = [comparisons.cut_by[(depth + n) % len(ranks)] for n in range(len(ranks))]
        for key in order if leaves > 1 and len(rows) > 1 else ():
            own = np.sort(ranks[key][rows])
            if own[0] == own[-1]:
                continue
            end = min(own[(len(own) - 1) // 2], own[np.searchsorted(own, own[-1]) - 1])
            is_low = ranks[key][rows] <= end
            share = int(np.clip(round(leaves * is_low.mean()), 1, leaves - 1))
            texts = sample[int(rows[np.flatnonzero(ranks[key][rows] == end)[0]])].as_py()
            low = grown(rows[is_low], share, depth + 1)
            high = grown(rows[~is_low], leaves - share, depth + 1)
            return Cut(key, tuple(texts[place] for place in places[key]), low, high)
        return next(next_leaf)

    return grown(np.arange(len(sample)), leaves, 0)


def ends_of(tree: Tree) -> list[tuple[int, Cells]]:
    """The values of the cuts with their keys, from the top."""
    if isinstance(tree, int):
        return []
    return [(tree.key, tree.end), *ends_of(tree.low), *ends_of(tree.high)]


def leaves_of(tree: Tree) -> list[int]:
    """The buckets."""
    return [tree] if isinstance(tree, int) else [*leaves_of(tree.low), *leaves_of(tree.high)]


def placed(ranking: Ranking, tree: Tree, cells: pa.Array) -> Int64s:
    """The bucket of each row."""
    ranked = ranking.ranked(cells, ends_of(tree))
    ranks = {key: ranked.key(key) for key in ranking.comparisons.cut_by}
    found: Int64s = np.empty(len(cells), np.int64)
    ends = iter(range(len(cells), len(cells) + len(ends_of(tree))))
    _place(tree, np.arange(len(cells)), ranks, ends, found)
    return found


def _place(tree: Tree, rows: Int64s, ranks: dict[int, Int32s], ends: Iterator[int], found: Int64s) -> None:
    if isinstance(tree, int):
        found[rows] = tree
        return
    own = ranks[tree.key]
    is_low = own[rows] <= own[next(ends)]
    _place(tree.low, rows[is_low], ranks, ends, found)
    _place(tree.high, rows[~is_low], ranks, ends, found)


def with_leaf(tree: Tree, bucket: int, key: int, end: Cells, new: int) -> Tree:
    """Cut a bucket at the greatest value of its rows: these stay, and what is above goes to a new one.

    Nothing changes where it is cut there already.
    """
    if isinstance(tree, int):
        return Cut(key, end, tree, new) if tree == bucket else tree
    if tree.low == bucket and (tree.key, tree.end) == (key, end):
        return tree
    return replace(
        tree, low=with_leaf(tree.low, bucket, key, end, new), high=with_leaf(tree.high, bucket, key, end, new)
    )


def tree_document(tree: Tree) -> Any:
    """Plain JSON values."""
    if isinstance(tree, int):
        return tree
    return [tree.key, list(tree.end), tree_document(tree.low), tree_document(tree.high)]


def read_tree(document: Any) -> Tree:
    """Read what `tree_document` wrote."""
    if isinstance(document, int):
        return document
    key, end, low, high = document
    return Cut(key, tuple(end), read_tree(low), read_tree(high))


def depth_of(tree: Tree) -> int:
    """How many cuts there are above a bucket at most."""
    return 0 if isinstance(tree, int) else 1 + max(depth_of(tree.low), depth_of(tree.high))


@dataclass(frozen=True)
class Ranges:
    """The buckets of a law: the cuts, and the boxes of those that have rows.

    `rows` and `leaves` are how many rows the table and how many buckets the law had when it was cut.
    """

    tree: Tree
    boxes: Mapping[int, Box]
    rows: int
    leaves: int

    @property
    def first(self) -> int:
        """The first bucket; those before it are of cuts that were made earlier, and are read no more."""
        return min(leaves_of(self.tree))

    @property
    def next(self) -> int:
        """The number of the next bucket."""
        return 1 + max(leaves_of(self.tree))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        boxes = [[bucket, *box.to_list()] for bucket, box in sorted(self.boxes.items())]
        return {"tree": tree_document(self.tree), "boxes": boxes, "rows": self.rows, "leaves": self.leaves}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Ranges:
        """Read what `to_dict` wrote."""
        boxes = {bucket: Box.from_list(box) for bucket, *box in document["boxes"]}
        return Ranges(read_tree(document["tree"]), boxes, document["rows"], document["leaves"])
