"""Run with NUMBA_DISABLE_JIT=1: the kernels of pointwise laws as plain Python, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import pod_oracle
from denial_tables import ValueTable

from lawful.common.meanings import NullPolicy
from lawful.discovery.pods.listing import PairsCovered
from lawful.discovery.pods.questions import order_space
from lawful.evidence.denials.evidence import all_evidence
from lawful.evidence.denials.pool import DenialPool
from lawful.search.pods import goals
from lawful.search.pods.almost import almost_left_sides
from lawful.search.pods.kept_left_sides import broken_by
from lawful.search.pods.kernels.left_sides import edges_of_signs
from lawful.search.pods.left_sides import goals_of, pair_edges, pointwise_laws
from search.pointwise_goals import minimal_left_sides

TABLE = ValueTable(("number",) * 3, ((1, 2, 2, None, 3), (3, 1, 2, 1, 2), (1, 2, 2, 1, 3)))
WIDTH = 3


def main() -> None:
    for policy in NullPolicy:
        table = TABLE.encoded()
        evidence = all_evidence(table, order_space(WIDTH), policy, 1)
        less, greater = evidence.signs.less, evidence.signs.greater
        covered = PairsCovered(DenialPool(table, order_space(WIDTH), policy), WIDTH)
        for goals._EDGES_A_CELL in (0, 16):
            found = set()
            for goal in goals_of(WIDTH):
                sets = minimal_left_sides(pair_edges(less, greater, WIDTH), goal, WIDTH, 2)
                found |= {(law.lhs, law.rhs) for law in pointwise_laws(goal, sets)}
                assert (covered.of(sets) > 0).all()
                assert not broken_by(evidence.signs, {goal: sets}, WIDTH).refutes.any()
                nothing = {goal: np.zeros((1, sets.shape[1]), np.uint64)}
                is_broken = pod_oracle.error(((), tuple(goal)), TABLE.rows, policy) > 0
                assert broken_by(evidence.signs, nothing, WIDTH).refutes.any() == is_broken
            assert found == set(pod_oracle.minimal_laws(TABLE.rows, WIDTH, policy, largest=2))
        almost = set()
        for goal in goals_of(WIDTH):
            edges = edges_of_signs(less, greater, WIDTH)
            for sets, _ in almost_left_sides(edges, evidence.counts, goal, WIDTH, 1, 2, lambda: None):
                almost |= {(law.lhs, law.rhs) for law in pointwise_laws(goal, sets)}
        assert almost == set(pod_oracle.minimal_laws(TABLE.rows, WIDTH, policy, largest=2, allowed=0.1))


main()
