"""Run with NUMBA_DISABLE_JIT=1: the kernels as plain Python, against brute force, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from lawful.common.meanings import NullPolicy
from lawful.evidence import (
    FocusedSampler,
    Pool,
    WindowSampler,
    all_agree_sets,
    equal_rows,
    sample_random_pairs,
)
from lawful.evidence.living.agree_multiset import AgreeMultiset
from tests.evidence.living.histories import STRATEGIES, random_history
from tests.evidence.living.orders.uncompiled_orders import check_orders
from tests.evidence.living.test_agree_multiset import follow
from tests.evidence.living.test_violation_counts import check_counts
from tests.evidence.pairs import all_pairs, as_known, brute_agree, random_table
from tests.evidence.test_swap_pool import shown_by_all_pairs, swaps_in


def main() -> None:
    for policy in NullPolicy:
        for width in (4, 33, 70):
            table = random_table(width, 7, width)
            agree = all_agree_sets(table, policy, threads=1)
            counts = dict(zip(as_known(agree.agree, agree.differ), agree.counts, strict=True))
            assert counts == brute_agree(table, policy)
            noted = all_agree_sets(table, policy, threads=1, counted=False)
            assert set(as_known(noted.agree, noted.differ)) == counts.keys()
            assert equal_rows(table, range(width), policy) is None
            pool = Pool(table, policy, swaps=True)
            pool.add_pairs(np.array([0, 3]), np.array([1, 2]))
            plain = Pool(table, policy)
            plain.add_pairs_of_classes(np.arange(7, dtype=np.int32), np.array([0, 2, 3, 7], np.int32), lambda: False)
            WindowSampler(pool, table).run(0, 40)
            FocusedSampler(pool, table).run(0, 40)
            sample_random_pairs(pool, 20)
            assert {agree for agree, _ in as_known(pool.agree, pool.differ)} <= {agree for agree, _ in counts}
            assert set(as_known(plain.agree, plain.differ)) <= counts.keys()
            swaps = Pool(table, policy, swaps=True)
            swaps.add_pairs(*all_pairs(table.rows))
            assert swaps_in(swaps) == shown_by_all_pairs(table, policy)
            history = random_history(width, width, rows=3, batches=3)
            for strategy in STRATEGIES:
                follow(history, policy, AgreeMultiset(width, policy, strategy=strategy))
            check_counts(history, policy, [(1, 2), (6, 0), (3, -1)])
        check_orders(policy)


main()
