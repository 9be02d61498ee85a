"""Which two rows are shown of a broken law: the first that breaks it with another, and the first that it does so with.

A check that only decides gives whatever pair it comes to. The first pair is the same wherever and however a table is
checked, because it follows from the law and the rows alone.
"""

from __future__ import annotations

import numpy as np

from lawful.checks.denials.denial import Denial, Order, make_ready
from lawful.checks.denials.pairs import satisfies
from lawful.checks.list_ods.orders import ranks_of_lists
from lawful.checks.witnesses import ordered
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Int32s, Int64s
from lawful.dependencies import DC, FD, POD, CanonicalOD, Key, Law, ListOD
from lawful.dependencies.as_denials import denial_of

_AT_ONCE = 1 << 20


def first_pair(law: Law, violating: Int32s, workspace: Workspace) -> Pair | None:
    """The first row that breaks a law, and the first that it breaks it with, given all violating rows.

    None if there are none, or of a family that others have registered.
    """
    if not violating.size:
        return None
    row = int(violating.min())
    partner = first_partner(law, row, workspace)
    return None if partner is None else ordered(row, partner)


def first_partner(law: Law, row: int, workspace: Workspace, ids: Int64s | None = None) -> int | None:
    """The first row that breaks a law together with a given one: by its place, or by `ids`.

    Ids need not be in order, and the given row may be there twice with the same id.
    """
    denial = _denied(law, workspace)
    if denial is None:
        return None
    best: int | None = None
    for start in range(0, workspace.table.rows, _AT_ONCE):
        others = np.arange(start, min(start + _AT_ONCE, workspace.table.rows))
        one = np.full(others.size, row, np.int64)
        breaks = satisfies(denial, one, others) | satisfies(denial, others, one)
        is_itself = others == row if ids is None else ids[others] == ids[row]
        found = others[breaks & ~is_itself]
        if ids is not None and found.size:
            nearest = int(found[ids[found].argmin()])
            best = nearest if best is None or ids[nearest] < ids[best] else best
        elif found.size:
            return int(found[0])
    return best


def _denied(law: Law, workspace: Workspace) -> Denial | None:
    """What two rows must not satisfy, one way round or the other."""
    if isinstance(law, ListOD):  # t is not after s in the left list, and after it in the right one
        left, right = ranks_of_lists(law, workspace)
        orders = Order((left, left), falling=False, strict=False), Order((right, right), falling=True, strict=True)
        return Denial((), (), (), orders, (), None, None, apart=True)
    if isinstance(law, Key | FD | CanonicalOD | POD | DC):
        return make_ready(denial_of(law), workspace)
    return None
