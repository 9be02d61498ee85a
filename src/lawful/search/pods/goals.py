"""All minimal left sides of a right side, by the quicker of two searches.

Where few pairs are known, hitting sets are found at once. Where pairs show most of the signs that there are, a table of
20,000 rows and 12 columns has half a million edges, and hitting them takes minutes, while the empty cells between
them are found in a tenth of a second. Which it is nobody knows beforehand: hitting sets go first, for about as long
as the cells would take, and then the cells take over. Left sides of too many columns for cells are left to the former.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.common.arrays import Words
from lawful.search.hitting_sets import CHUNK_SETS
from lawful.search.pods.kernels import boxes as kernels
from lawful.search.pods.left_sides import GoalEdges, LeftSideSearch, has_unknown, told_left_sides
from lawful.search.sets import Look

_MOST_CELLS = 3**14
_EDGES_A_CELL = 16
"""How many edges to look at for each cell before the cells take over."""
_WORK = 1 << 26
"""How many cells to look at between two looks at the clock: less than a tenth of a second."""
_SIGNS, _SIGNS_WITH_UNKNOWN = 3, 4


class BoxSearch:
    """A search for largest boxes of cells without a pair that breaks a right side; see `kernels.boxes`.

    Parameters
    ----------
    edges
        What pairs of rows say of the right side.
    columns
        The columns of the table.
    max_columns
        The most columns of a left side.
    """

    def __init__(self, edges: GoalEdges, columns: int, max_columns: int) -> None:
        self._columns, self._radices = cells_of(edges, columns)
        self._words = edges.broken_by.shape[1]
        self._max_columns = max_columns
        sizes = np.append(np.cumprod(self._radices[::-1])[::-1], 1)
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._cells = np.empty(self._starts[-1], np.uint64)
        self._state = np.zeros(kernels.STATE_SLOTS, np.int64)
        self._levels = np.zeros((len(self._columns) + 1, kernels.LEVEL_SLOTS), np.int64)
        self._fill(edges, int(sizes[0]))

    def _fill(self, edges: GoalEdges, cells: int) -> None:
        """Take away the cells of pairs. With <= on the right, two bits tell where < and = would do too."""
        marks = {"<=": 2}.get(edges.goal.operator, 0)
        self._levels[0, kernels.BITS] = 1 + marks
        own, less_too, equal_too = np.uint64(1), np.uint64(2), np.uint64(4)
        self._cells[:cells] = (1 << 1 + marks) - 1
        by_less, by_equal = edges.marked
        for pairs, bits in ((edges.broken_by, own | less_too | equal_too), (by_equal, less_too), (by_less, equal_too)):
            kernels.mark_cells(pairs, self._columns, self._radices, self._cells, bits)

    @property
    def finished(self) -> bool:
        """Whether all left sides were handed out."""
        return bool(self._state[kernels.LEVEL] < 0)

    @property
    def was_cut(self) -> bool:
        """Whether the limit kept anything out so far, so that a higher one might find more."""
        return bool(self._state[kernels.CUT])

    def advance(self) -> Words:
        """Go on for a short while; return the next left sides, maybe none."""
        out = np.empty((CHUNK_SETS, self._words), np.uint64)
        n_out = kernels.search_on(
            self._cells, self._starts, self._radices, self._columns, self._max_columns,
            self._state, self._levels, _WORK, out,
        )  # fmt: skip
        return out[:n_out]


def cells_of(edges: GoalEdges, columns: int) -> tuple[kernels.Counts, kernels.Counts]:
    """The columns of left sides, and how many signs each has: with unknown ones, one more."""
    others = np.array([column for column in range(columns) if column != edges.goal.column], np.int64)
    unknown = has_unknown(np.concatenate([edges.broken_by, *edges.marked]))
    return others, np.where(unknown[others], _SIGNS_WITH_UNKNOWN, _SIGNS).astype(np.int64)


class GoalSearch:
    """The minimal left sides of one right side up to a size, one of two mirror images.

    Parameters
    ----------
    edges
        What pairs of rows say of the right side.
    columns
        The columns of the table.
    max_columns
        The most columns of a left side.
    """

    def __init__(self, edges: GoalEdges, columns: int, max_columns: int) -> None:
        self.was_cut = False
        """Whether larger left sides may be left, once the search is over."""
        self._edges, self._columns, self._max_columns = edges, columns, max_columns

    def chunks(self, look: Look) -> Iterator[Words]:
        """Yield the left sides as they are found; `look` is called now and then and ends the search by raising."""
        # Products of Python's own numbers, which do not overflow.
        cells = int(np.prod(cells_of(self._edges, self._columns)[1].astype(object)))
        patience = _EDGES_A_CELL * cells if cells <= _MOST_CELLS else None
        search: LeftSideSearch | BoxSearch = LeftSideSearch(self._edges, self._max_columns, patience)
        kept: list[Words] = []
        while not search.finished:
            look()
            found = search.advance()
            found = found[told_left_sides(self._edges.goal, found)]
            if isinstance(search, BoxSearch) or patience is None:
                yield found
            elif search.finished or search.looked_at < patience:
                kept.append(found)  # the cells would give them again
            else:
                kept, search = [], BoxSearch(self._edges, self._columns, self._max_columns)
        self.was_cut = search.was_cut
        yield from kept
