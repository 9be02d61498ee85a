"""All violating rows of a law, streamed: there may be more pairs of them than memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from lawful.checks.check import find_violations
from lawful.checks.law_checks import checks_of
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Int32s, Int64s
from lawful.dependencies import Law
from lawful.tables.ranked_table import RankedTable

ROWS_AT_ONCE = 1 << 16


class GroupedRows(NamedTuple):
    """Some violating rows, and the number of the group that each breaks the law in."""

    groups: Int64s
    rows: Int32s


def violating_rows(
    law: Law, table: RankedTable, workspace: Workspace, *, in_pairs: bool = False
) -> Iterator[GroupedRows]:
    """Yield the rows of all violations, group by group; see `Violations`.

    With `in_pairs`, a denial constraint that is no simpler law in disguise has a group for each two rows that violate
    it, t before s. All other laws have the same groups as without.
    """
    pairs = checks_of(law).violating_pairs(law, workspace) if in_pairs else None
    if pairs is not None:
        yield from _two_rows_a_group(pairs)
        return
    found = find_violations(law, table, workspace)
    for first in range(0, found.rows.size, ROWS_AT_ONCE):
        some = np.arange(first, min(first + ROWS_AT_ONCE, found.rows.size))
        groups = np.searchsorted(found.offsets, some, side="right").astype(np.int64) - 1
        yield GroupedRows(groups, found.rows[first : first + ROWS_AT_ONCE])


def _two_rows_a_group(pairs: Iterable[tuple[Int32s, Int32s]]) -> Iterator[GroupedRows]:
    before = 0
    for t, s in pairs:
        rows = np.stack((t, s), axis=1).ravel()
        groups = before + np.repeat(np.arange(t.size, dtype=np.int64), 2)
        before += t.size
        for first in range(0, rows.size, ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            yield GroupedRows(groups[some], rows[some])
