"""Run with NUMBA_DISABLE_JIT=1: the kernels as plain Python, against brute force, with warnings as errors."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from lawful.search import (
    GrowingEdges,
    HittingSets,
    KeptDeterminants,
    SetTrie,
    determinants_of_few_columns,
    distinct_sets,
    easy_hitting_sets,
    full_set,
    minimal_hitting_sets,
    minimal_sets,
    pack_sets,
)
from lawful.search.canonical_ods.goals import keep_minimal_goals
from lawful.search.canonical_ods.kernels.goals import sets_of_goal
from lawful.search.kernels.sets import transpose
from lawful.search.kernels.supersets import count_supersets
from lawful.search.sets import order_by_size
from tests.search.families import as_sets, brute_hitting_sets, brute_minimal


def main() -> None:
    generator = random.Random(5)
    for universe in (7, 63, 66):
        columns = sorted(generator.sample(range(universe), 7))
        sets = [frozenset(generator.sample(columns, generator.randint(1, 4))) for _ in range(9)]
        packed = pack_sets(sets, universe)
        assert as_sets(minimal_sets(packed)) == brute_minimal(sets)
        expected = brute_hitting_sets(sets, columns)
        assert as_sets(minimal_hitting_sets(packed, method="search")) == expected
        assert as_sets(minimal_hitting_sets(packed, method="bitmap")) == expected
        assert as_sets(easy_hitting_sets([minimal_sets(packed)], None)[0]) == expected
        maintained = HittingSets(universe)
        for i in range(0, len(sets), 2):
            maintained.add_edges(packed[i : i + 2])
        assert as_sets(maintained.solutions) == expected
        few = minimal_sets(packed[3:])
        maintained.update(maintained.edges, few)
        assert as_sets(maintained.solutions) == brute_hitting_sets(sets[3:], columns)
        maintained.FREE_STEPS = 1 << 30
        maintained.update(few[:1], few[:0])
        assert as_sets(maintained.solutions) == as_sets(minimal_hitting_sets(few[1:]))
        distinct = distinct_sets(packed)
        distinct = distinct[order_by_size(distinct)]
        goals = np.ones((len(distinct), 1), np.uint64)
        keep_minimal_goals(distinct, goals, lambda: None)
        minimal = sets_of_goal(distinct, goals[:, 0], 0, full_set(universe))
        assert as_sets(minimal) == brute_minimal(sets)
        assert (count_supersets(packed, transpose(packed)) >= 1).all()
        trie = SetTrie()
        for one in packed:
            trie.add(one)
        assert all(trie.has_subset_of(one) for one in packed)
        assert not trie.has_subset_of(pack_sets([[]], universe)[0])
        growing = GrowingEdges(universe, range(universe))
        growing.add(packed[:5])
        growing.add(packed[5:])
        edges = growing.edges()
        kept = KeptDeterminants(universe, range(-1, universe), method="search")
        kept.update(packed[:4], None)
        kept.update(packed, None, packed[4:])
        right = columns[0]
        assert as_sets(kept.laws(right)) == as_sets(minimal_hitting_sets(edges[right]))
        if universe == 7:
            laws = determinants_of_few_columns(range(universe), packed, None, universe, None)
            assert list(map(as_sets, laws)) == list(map(as_sets, map(minimal_hitting_sets, edges.values())))


main()
