"""Run with NUMBA_DISABLE_JIT=1: the kernels of denial constraints as plain Python, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import denial_oracle
from denial_tables import ValueTable, turned

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Cell, Constant, Predicate
from lawful.dependencies.laws import OPERATORS
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.denials.evidence import all_evidence
from lawful.evidence.denials.pool import DenialPool
from lawful.search import unpack_sets
from lawful.search.denials.inversion import almost_constraints, minimal_constraints
from lawful.search.denials.literals import Literals
from lawful.search.denials.reduction import reduced_places
from lawful.search.denials.small import small_constraints
from lawful.search.kernels.supersets import superset_weights
from lawful.search.sets import pack_lists

TABLE = ValueTable(("number", "number", "text"), ((1, 2, 2, None), (3, 1, 2, 1), ("a", "b", "b", "a")))
SPACE = PredicateSpace.of(
    [
        *(Predicate(Cell("t", 0), operator, Cell("s", 0)) for operator in OPERATORS),
        *(Predicate(Cell("t", 2), operator, Cell("s", 2)) for operator in ("=", "!=")),
        Predicate(Cell("t", 0), "<", Cell("s", 1)),
        Predicate(Cell("t", 2), "=", Constant("a")),
    ]
)


def main() -> None:
    for policy in NullPolicy:
        table = TABLE.encoded()
        evidence = all_evidence(table, SPACE, policy, 1)
        signs, other = evidence.signs, turned(evidence.signs, SPACE)
        pool = DenialPool(table, SPACE, policy)
        assert pool.add_pairs(np.array([0, 1], np.int32), np.array([2, 3], np.int32)) > 0
        sizes = (small_constraints(signs.less, signs.greater, SPACE, size, lambda: None) for size in (1, 2, 3))
        packed = [pack_lists(lists, len(SPACE)) for size in sizes for lists in size]
        small, _ = reduced_places(np.concatenate(packed), SPACE)
        right = denial_oracle.constraints(TABLE.rows, SPACE.predicates, policy, "reduced", largest=3)
        assert {SPACE.dc(numbers) for numbers in unpack_sets(small)} == set(right)
        for convention in ("set-minimal", "one-per-pair", "reduced"):
            literals = Literals.of(SPACE, convention)
            found = np.concatenate(
                list(
                    minimal_constraints(
                        literals.edges(evidence.signs.less, evidence.signs.greater), literals, 3, lambda: None
                    )
                )
            )
            almost = np.concatenate(
                [
                    sets
                    for sets, _ in almost_constraints(
                        literals.all_edges(signs.less, signs.greater),
                        literals.all_edges(other.less, other.greater),
                        evidence.counts,
                        1,
                        literals,
                        2,
                        lambda: None,
                    )
                ]
            )
            if convention == "reduced":
                found, almost = (reduced_places(sets, SPACE)[0] for sets in (found, almost))
            right = denial_oracle.constraints(TABLE.rows, SPACE.predicates, policy, convention, largest=3)
            assert {SPACE.dc(numbers) for numbers in unpack_sets(found)} == set(right)
            almost_right = {"largest": 2, "allowed": 1 / 6}
            right = denial_oracle.constraints(TABLE.rows, SPACE.predicates, policy, convention, **almost_right)
            assert {SPACE.dc(numbers) for numbers in unpack_sets(almost)} == set(right)
            assert superset_weights(found, found, np.ones(len(found), np.int64)).tolist() == [1] * len(found)


if __name__ == "__main__":
    main()
