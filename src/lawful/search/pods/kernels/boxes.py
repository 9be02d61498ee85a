"""The same left sides where pairs show most of all signs that there are: boxes without a pair that breaks a law.

A left side is a box in the space of signs: each of its columns allows less, equal or both, and so on; a column
that it does not name allows everything. It refutes no pair if no pair lies in the box, and it is minimal if
every larger box has one. So minimal left sides are largest empty boxes, and the search splits the space column by
column. Its cost depends on the empty cells and not on the pairs, of which there may be hundreds of thousands.

A cell of the space is a word. Its first bit says that the cell is empty. Whoever narrows a column adds a bit that
says whether the cell would be empty still if the column were one step wider: where that is so for all cells of a box,
the box is not largest. Cells of several columns come down to one by `and`, which keeps all these bits at once: a box is
largest if its word is 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, ONE, ZERO

Counts = npt.NDArray[np.int64]

# What a column can allow, and the literals that say so; see `left_sides`.
_ANY, _AT_MOST, _AT_LEAST, _EQUAL, _LESS, _GREATER = 0, 1, 2, 3, 4, 5
_CHOICES = 6
LITERALS = (0, 1, 2, 3, 4, 8)

# The state of a search.
LEVEL = 0  # of the column that is split; -1 when the search is over
CUT = 1  # whether the limit on columns ever kept a column from being narrowed
STATE_SLOTS = 2

# What each level keeps.
CHOICE = 0  # that is tried next
NAMED = 1  # columns that are narrowed so far
BITS = 2  # of a word that are in use
LEVEL_SLOTS = 3

_LESS_CELL, _EQUAL_CELL, _GREATER_CELL = 0, 1, 2


@compiled
def mark_cells(edges: Words, columns: Counts, radices: Counts, cells: Words, bits: np.uint64) -> None:
    """Take bits from the cells of some pairs, given as edges over the listed columns."""
    for i in range(edges.shape[0]):
        cell = 0
        for place in range(columns.size):
            column = columns[place]
            nibble = (edges[i, column >> 4] >> np.uint64(4 * (column & 15))) & np.uint64(15)
            digit = 3
            if nibble == np.uint64(0xA):
                digit = _LESS_CELL
            elif nibble == np.uint64(0xC):
                digit = _EQUAL_CELL
            elif nibble == np.uint64(0x5):
                digit = _GREATER_CELL
            cell = cell * radices[place] + digit
        cells[cell] &= ~bits


@compiled
def search_on(
    cells: Words, starts: Counts, radices: Counts, columns: Counts, most: int,
    state: Counts, levels: Counts, work: int, out: Words,
) -> int:  # fmt: skip
    """Go on until `out` is full, some work is done or nothing is left; return how many left sides were found.

    Parameters
    ----------
    cells, starts
        The cells of all levels, one level after the other, and where each begins. Those of the first one are filled.
    radices, columns
        For each level how many signs its column has (with or without unknown), and its number.
    most
        The most columns of a left side.
    state, levels
        Where the search stands.
    work
        How many cells to look at.
    out
        Receives the left sides as literals.
    """
    n_out = 0
    level = state[LEVEL]
    depth = columns.size
    while level >= 0 and n_out < out.shape[0] and work > 0:
        choice = levels[level, CHOICE]
        if choice == _CHOICES or (choice != _ANY and levels[level, NAMED] == most):
            state[CUT] |= int(choice != _CHOICES)
            level -= 1
            continue
        levels[level, CHOICE] += 1
        start, after = starts[level], starts[level + 1]
        size = (after - start) // radices[level]
        work -= size + 1
        bits = levels[level, BITS]
        is_alive = _narrow(
            cells[start:after].reshape((radices[level], size)), choice, ONE << np.uint64(bits),
            cells[after : after + size],
        )  # fmt: skip
        if not is_alive:
            continue
        level += 1
        levels[level, CHOICE] = 0
        levels[level, NAMED] = levels[level - 1, NAMED] + int(choice != _ANY)
        levels[level, BITS] = bits + (2 if choice == _EQUAL else int(choice != _ANY))
        if level == depth:
            _write(levels, columns, out[n_out])
            n_out += 1
            level -= 1
    state[LEVEL] = level
    return n_out


@compiled
def _narrow(cells: Words, choice: int, fresh: np.uint64, out: Words) -> bool:
    """Let a column allow some signs only, or all, and tell whether any box below may still be largest.

    None is if no cell is empty, or if all empty ones would be so in some larger box too.
    """
    less, equal, greater = cells[_LESS_CELL], cells[_EQUAL_CELL], cells[_GREATER_CELL]
    has_unknown = cells.shape[0] > _GREATER_CELL + 1
    some, common = ZERO, ALL
    for i in range(out.size):
        if choice <= _AT_LEAST:
            every = less[i] & equal[i] & greater[i]
            if has_unknown:
                every &= cells[_GREATER_CELL + 1, i]
            word = every
            if choice == _AT_MOST:
                word = (less[i] & equal[i]) | (fresh * (every & ONE))
            elif choice == _AT_LEAST:
                word = (equal[i] & greater[i]) | (fresh * (every & ONE))
        elif choice == _EQUAL:
            word = equal[i] | (fresh * (less[i] & equal[i] & ONE)) | ((fresh << ONE) * (equal[i] & greater[i] & ONE))
        elif choice == _LESS:
            word = less[i] | (fresh * (less[i] & equal[i] & ONE))
        else:
            word = greater[i] | (fresh * (greater[i] & equal[i] & ONE))
        out[i] = word
        some |= word
        if word != ZERO:
            common &= word
    return bool(some != ZERO and common == ONE)


@compiled
def _write(levels: Counts, columns: Counts, out: Words) -> None:
    """Write the literals of the choices that led here."""
    out[:] = ZERO
    for level in range(columns.size):
        literals = np.uint64(LITERALS[levels[level, CHOICE] - 1])
        out[columns[level] >> 4] |= literals << np.uint64(4 * (columns[level] & 15))
