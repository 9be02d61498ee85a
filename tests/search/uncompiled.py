"""Run with NUMBA_DISABLE_JIT=1: the kernels as plain Python, against brute force, with warnings as errors."""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lawful.search import (
    HittingSets,
    SetTrie,
    fd_edges,
    maximal_sets,
    minimal_hitting_sets,
    minimal_sets,
    pack_sets,
)
from tests.search.families import as_sets, brute_hitting_sets, brute_maximal, brute_minimal


def main() -> None:
    generator = random.Random(5)
    for universe in (7, 63, 66):
        columns = sorted(generator.sample(range(universe), 7))
        sets = [frozenset(generator.sample(columns, generator.randint(1, 4))) for _ in range(9)]
        packed = pack_sets(sets, universe)
        assert as_sets(minimal_sets(packed)) == brute_minimal(sets)
        assert as_sets(maximal_sets(packed)) == brute_maximal(sets)
        expected = brute_hitting_sets(sets, columns)
        assert as_sets(minimal_hitting_sets(packed, method="search")) == expected
        assert as_sets(minimal_hitting_sets(packed, method="bitmap")) == expected
        maintained = HittingSets(universe)
        for i in range(0, len(sets), 2):
            maintained.add_edges(packed[i : i + 2])
        assert as_sets(maintained.solutions) == expected
        trie = SetTrie(universe)
        trie.add_each(packed)
        assert as_sets(trie.all_sets()) == set(sets)
        assert trie.has_subset_of_each(packed).all()
        assert trie.has_superset_of_each(packed).all()
        assert trie.remove_each(packed).sum() == len(set(sets))
        assert len(fd_edges(packed, universe)) == universe


main()
