"""The minimal sets of columns on which two rows do not agree: all that the keys of a small table depend on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.byte_columns import DIRECT_BITS, ByteColumns
from lawful.evidence.kernels import differences as difference_kernels
from lawful.evidence.signs import all_columns, words_for
from lawful.tables.ranked_table import RankedTable

_MOST_ROWS, _MOST_ROWS_IF_NARROW = 1_000, 300
"""With more rows than this, distinct agree sets are so few beside the pairs that it is quicker to find these first,
above all where they are short enough to index a table."""
_MOST_DIFFERENCES = 512
"""With more, the search for one that a pair includes takes longer than a table of distinct agree sets."""


def minimal_differences(table: RankedTable, policy: NullPolicy, columns: Sequence[int]) -> Words | None:
    """The minimal differences over some columns, of which bit c is `columns[c]`; None if another way is quicker.

    Every pair is compared, but no agree set is kept: nearly all differences include one of the few minimal ones.
    """
    if table.rows > (_MOST_ROWS if len(columns) > DIRECT_BITS else _MOST_ROWS_IF_NARROW):
        return None
    compared = ByteColumns.of(table, policy, columns)
    kept = np.empty((_MOST_DIFFERENCES, words_for(len(compared.lanes))), np.uint64)
    found = difference_kernels.minimal_differences(*compared.for_walks, kept)
    return None if found < 0 else all_columns(len(columns)) & ~compared.agree(kept[:found])
