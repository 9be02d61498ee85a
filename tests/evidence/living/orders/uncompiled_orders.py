"""Indexes by order on a table that grows and shrinks, small enough for kernels that are not compiled."""

from __future__ import annotations

from itertools import product

import numpy as np

from lawful.common.meanings import NullPolicy
from lawful.dependencies.laws import POD
from lawful.evidence.living.orders import ChainIndex, choose_indexes, violating_candidates
from tests.evidence.living.orders.growing import ORDERS, Growing


def check_orders(policy: NullPolicy) -> None:
    """Hold the candidates of two batches against all pairs; the first is merged into the chains, the last not."""
    generator = np.random.default_rng(5)

    def rows(count: int) -> list[tuple[int | None, ...]]:
        cells = generator.integers(0, 40, (count, 3)).tolist()
        return [tuple(None if cell == 7 else cell for cell in row) for row in cells]

    laws = [POD(((0, "="), (1, one)), (2, "<=")) for one in ORDERS]
    laws += [POD(((0, one), (1, other)), (2, "<")) for one, other in product(("=", *ORDERS), ORDERS)]
    growing = Growing(rows(60), 3)
    plan = choose_indexes(growing.table, laws, policy)
    for size in (300, 5):
        with np.errstate(over="ignore"):  # as the hashes of texts do on purpose
            new = growing.change(rows(size), growing.live[::9])
        plan.catch_up()
        checked = new[:5]
        found = {
            pair
            for some in violating_candidates(plan, checked, chunk=50)
            for pair in zip(some.left.tolist(), some.right.tolist(), strict=True)
        }
        for row, other in product(checked.tolist(), growing.live):
            orders = ((row, other), (other, row))
            if other < row and any(growing.breaks(law, *pair, policy) for law in laws for pair in orders):
                assert (other, row) in found
    for index in (each.index for each in plan.indexes if isinstance(each.index, ChainIndex)):
        old, recent = index.chains
        merged = index.order.insert(old, recent.rows.astype(np.int64), growing.table.is_live)
        live = [row for row in (*old.rows.tolist(), *recent.rows.tolist()) if growing.table.is_live[row]]
        assert len(recent.rows)
        assert sorted(merged.rows.tolist()) == sorted(live)
