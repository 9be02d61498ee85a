"""Two rows that agree on everything: the pair that leaves no key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.kernels.equal_rows import first_equal, mix_column
from lawful.tables.ranked_table import RankedTable


def equal_rows(table: RankedTable, columns: Sequence[int], policy: NullPolicy) -> tuple[int, int] | None:
    """Two rows that agree on all of the columns, if such are seen.

    None says nothing: rows whose hashes are equal by chance could hide others.
    """
    hashes = np.zeros(table.rows, np.uint64)
    left_out = np.zeros(table.rows, np.bool_)
    for column in columns:
        ranks = np.asarray(table.column(column)).view()
        ranks.flags.writeable = False  # one array type for the kernel, for arrays and memory maps alike
        mix_column(ranks, hashes)
        if policy is NullPolicy.IGNORE:
            left_out |= ranks == NULL_RANK
    one, other = first_equal(hashes, left_out, max(1, (2 * table.rows).bit_length()))
    if one < 0 or any(table.column(column)[one] != table.column(column)[other] for column in columns):
        return None
    return one, other
