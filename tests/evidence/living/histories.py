"""Tables that change: batches of deletions and insertions, and what all pairs say after each of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.evidence.living.agree_multiset import AgreeMultiset, CountedSets
from tests.evidence.pairs import ArrayTable, Known, as_known, brute_agree

STRATEGIES = ("auto", "compare", "index", "dynast")
CODES = (0, 1, 2, 3, 255, 256, 257, 65_535, 65_536, 1 << 24, (1 << 31) - 1)
"""Null, few values, and values around every border of a byte."""


@dataclass
class Batch:
    deleted: list[int]
    inserted: np.ndarray
    ids: list[int]


@dataclass
class History:
    """Batches one after the other, and the rows that are there after each."""

    width: int
    batches: list[Batch] = field(default_factory=list)
    states: list[dict[int, tuple[int, ...]]] = field(default_factory=list)

    def add(self, deleted: list[int], rows: list[tuple[int, ...]]) -> None:
        rows_before = self.states[-1] if self.states else {}
        first = sum(len(batch.ids) for batch in self.batches) + 10
        ids = list(range(first, first + len(rows)))
        inserted = np.array(rows, np.int32).reshape(len(rows), self.width).T
        self.batches.append(Batch(deleted, inserted, ids))
        kept = {row_id: row for row_id, row in rows_before.items() if row_id not in deleted}
        self.states.append(kept | dict(zip(ids, rows, strict=True)))


@st.composite
def histories(draw: st.DrawFn, max_width: int = 5, max_rows: int = 6, max_batches: int = 5) -> History:
    """Batches of any kind: empty ones, of duplicates, with nulls, and such that leave no row."""
    history = History(draw(st.integers(1, max_width)))
    cells = [draw(st.sampled_from([CODES[:1], CODES[:2], CODES[1:3], CODES[:4], CODES])) for _ in range(history.width)]
    row = st.tuples(*map(st.sampled_from, cells))
    for _ in range(draw(st.integers(1, max_batches))):
        present = sorted(history.states[-1]) if history.states else []
        everything = draw(st.integers(0, 4)) == 0
        deleted = present if everything else draw(st.lists(st.sampled_from(present), unique=True)) if present else []
        history.add(deleted, draw(st.lists(row, max_size=max_rows)))
    return history


def random_history(seed: int, width: int, rows: int = 12, batches: int = 4) -> History:
    generator = np.random.default_rng(seed)
    kinds = [CODES[: generator.choice([1, 2, 3, 4, len(CODES)])] for _ in range(width)]
    history = History(width)
    for _ in range(batches):
        present = list(history.states[-1]) if history.states else []
        deleted = generator.permutation(present)[: len(present) // 3].astype(int).tolist()
        history.add(deleted, [tuple(int(generator.choice(kind)) for kind in kinds) for _ in range(rows)])
    return history


def as_table(rows: dict[int, tuple[int, ...]], width: int) -> ArrayTable:
    return ArrayTable(np.array(list(rows.values()), np.int32).reshape(len(rows), width).T)


def all_pairs(rows: dict[int, tuple[int, ...]], width: int, policy: NullPolicy) -> Counter[Known]:
    return brute_agree(as_table(rows, width), policy)


def known_sets(found: CountedSets, width: int) -> list[Known]:
    everything = (1 << width) - 1
    if found.known_differ is None:
        return [(agree, everything & ~agree) for agree, _ in as_known(found.agree, found.agree)]
    return as_known(found.agree, found.known_differ)


def counter_of(found: CountedSets, width: int) -> Counter[Known]:
    sets = known_sets(found, width)
    assert len(set(sets)) == len(sets)
    return Counter(dict(zip(sets, found.counts.tolist(), strict=True)))


def counted(multiset: AgreeMultiset) -> Counter[Known]:
    return counter_of(multiset.sets(), multiset.width)
