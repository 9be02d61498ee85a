"""Run with NUMBA_DISABLE_JIT=1: the kernels of denial constraints as plain Python, which minds every index."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from checks.denial_tables import encoded, random_rows, violation_matrix
from lawful.checks import Workspace
from lawful.checks.denials import refining as denial_refining
from lawful.checks.denials import tree as denial_tree
from lawful.checks.denials.counts import count_ordered_pairs
from lawful.checks.denials.denial import violating_pair
from lawful.checks.denials.pairs import ordered_violating_pairs
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, Cell, Predicate
from lawful.dependencies.laws import OPERATORS

WIDTH = 6


def random_law(rng: np.random.Generator) -> DC:
    columns = rng.choice(WIDTH, rng.integers(1, WIDTH + 1), replace=False)
    operators = rng.choice(OPERATORS, columns.size, p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1])
    return DC(
        tuple(
            Predicate(Cell("t", int(column)), str(operator), Cell("s", int(column)))
            for column, operator in zip(columns, operators, strict=True)
        )
    )


def main() -> None:
    rng = np.random.default_rng(1)
    for seed in range(60):
        policy = (NullPolicy.EQUAL, NullPolicy.IGNORE)[seed % 2]
        size = int(rng.integers(0, 45))
        rows = random_rows(seed, size, WIDTH)
        workspace = Workspace(encoded(rows, WIDTH), policy)
        for _ in range(4):
            law = random_law(rng)
            expected = violation_matrix(law, rows, policy)
            found = violating_pair(law, workspace)
            assert (found is None) == (not expected.any())
            assert found is None or expected[found]
            assert count_ordered_pairs(law, workspace) == expected.sum()
            times = np.zeros_like(expected, np.int64)
            for pairs in ordered_violating_pairs(law, workspace):
                np.add.at(times, pairs, 1)
            assert np.array_equal(times, expected)
            path = tuple((predicate,) for predicate in law.predicates)
            walked = np.zeros_like(expected)
            # Clusters are refined to the end instead of being written out as soon as they are small.
            denial_tree.PAIRS_AT_ONCE = denial_refining.PAIRS_AT_ONCE = 2
            for pairs in denial_tree.Walk([path], workspace, lambda: None).pairs():
                walked[pairs] = True
            assert np.array_equal(walked, expected)


if __name__ == "__main__":
    main()
