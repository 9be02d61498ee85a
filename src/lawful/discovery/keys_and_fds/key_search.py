"""Minimal keys, from pairs of rows that are compared only where the search needs them.

The idea is that of Birnick, Bläsius, Friedrich, Naumann, Papenbrock & Schirneck, "Hitting set enumeration with partial
information for unique column combination discovery" (PVLDB 2020). Keys are the minimal hitting sets of difference
sets, the sets of columns on which two rows do not agree. A depth-first search grows a set by the columns of an edge
that it does not hit, and drops what leaves one of its columns without an edge that only this one hits (MMCS, see
`search/kernels/hitting_sets.py`). It begins without any edge. Where a set hits all that are known, its partition tells
whether two rows still agree on it. If none do, it is a minimal key. Else some such pairs are compared: what they
differ on are new edges, none of which the set hits, nor any set before it on the branch. So bitmaps above stay as they
are, but for one more edge that is not hit, and the search goes on where it stands. What it keeps are minimal edges and
the partitions of one branch, whatever the number of pairs.

Why the edges known so far may decide what is dropped, though others are found later. Let T be a minimal key. The
*path* of a subset I of T goes down from the root; of the columns tried at a node it follows the last one that is in I.
Claim: when the path of I has been searched, an edge is known that I does not hit, or I is T and was found. For the
path ends where none of the columns tried is in I, and so at an edge that I does not hit; where its set hits all known
edges, pairs are compared and it goes on, since no proper subset of T is a key. Or it ends because a column v of I was
dropped: all edges that only u hits, of the set so far, hold v. Then the edge that led to u holds another column of I,
and the last such was tried before u. So the path of I without u was searched before, and by induction an edge is known
that I without u does not hit. If it holds u, only u hits it, and v was not dropped; else I does not hit it either. As
T hits every edge, it is found. (An edge that gave way to a smaller one inside it changes nothing: the smaller one says
as much.)

Departures from the paper: no pairs are drawn from single columns beforehand, which saved no time on the tables tried;
a row of a partition is drawn, and then another one of its class, so that small classes count more than by their pairs;
and columns are tried in the order of how many values they have. The last one tried may use all others, so the best
come last: with those of few values first, searches took a half to two thirds of the time of the reverse order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.checks import RankedTable
from lawful.checks.partitions import read_only
from lawful.common.arrays import Words
from lawful.common.meanings import NullPolicy
from lawful.discovery.findings import KEY
from lawful.discovery.keys_and_fds.kernels import key_search as kernels
from lawful.discovery.keys_and_fds.kernels.difference_sets import COUNTER_SLOTS, FREE, SEED, USED, Edges
from lawful.discovery.keys_and_fds.single_columns import is_unique
from lawful.discovery.peeling import stated_in_full
from lawful.discovery.questions import Question
from lawful.discovery.search import Search
from lawful.evidence import equal_rows
from lawful.search import full_set, pack_sets, set_sizes, words_for
from lawful.search.kernels.hitting_sets import CANDIDATES, MARK_SLOTS, SET_SLOTS
from lawful.search.kernels.sets import move_columns
from lawful.search.sets import WORD_BITS, sets_without
from lawful.tables.ranked_table import in_lines

_KEYS_A_CALL = 1 << 15
_WORK_A_CALL = 1 << 22
"""Steps between two looks at the limits: some hundredths of a second."""
_NODES_BEFORE_SMALL_ONES = 1 << 20
"""Sets of columns that are tried, in about a second, before keys of few columns are searched for by themselves."""
_MOST_NODES_FOR_SMALL_ONES = 1 << 22
_EDGES_AT_FIRST = 2 * kernels.MOST_PAIRS
_SEEDS = 1 << 31


def discover_keys(search: Search, question: Question) -> None:
    """State all minimal keys of more than one column, as soon as each is certain."""
    peeled = search.shared(question).peeled
    for sets in _minimal_keys(search, question):
        for block in stated_in_full(KEY, sets, peeled):
            search.state(block)
    search.findings.finished.add("key")


def _minimal_keys(search: Search, question: Question) -> Iterator[Words]:
    """The minimal keys over the columns that are searched, as sets of their places."""
    table, policy = search.table, question.null_policy
    columns = search.shared(question).peeled.columns
    most = len(columns) if question.max_size is None else question.max_size
    if table.rows <= 1:
        yield pack_sets([()], len(columns))
        return
    # Unique columns were stated before, and are in no other key.
    places = [place for place, column in enumerate(columns) if not is_unique(table, column, policy)]
    others = [columns[place] for place in places]
    if most <= 1 or equal_rows(table, others, policy):
        return  # no key tells these two rows apart
    order = sorted(range(len(others)), key=lambda i: table.distinct(others[i]))
    ordered = tuple(others[i] for i in order)
    destination = np.array([places[i] for i in order], np.int64)
    for sets in _small_ones_soon(search, KeySearch(table, ordered, policy, most, question.seed)):
        yield move_columns(sets, destination, words_for(len(columns)))


def _small_ones_soon(search: Search, whole: KeySearch) -> Iterator[Words]:
    """All keys of a search, each once; where it takes long, those of few columns before the rest.

    Depth first, the keys of many columns come as early as the others. So a search that does not end soon waits for
    searches of limited size, which end the sooner, the fewer columns they allow.
    """
    early = []
    while not whole.finished and whole.nodes < _NODES_BEFORE_SMALL_ONES:
        early.append(_advanced(search, whole))
        yield early[-1]
    known, complete_to = np.concatenate(early) if early else None, 0
    while not whole.finished and known is not None and complete_to + 1 < whole.max_size:
        limited = whole.limited_to(max(2, complete_to + 1))
        found = [known[:0]]
        while not limited.finished and limited.nodes < _MOST_NODES_FOR_SMALL_ONES:
            found.append(_advanced(search, limited))
        if not limited.finished:
            break
        complete_to = limited.max_size
        small = sets_without(np.concatenate(found), known)
        known = np.concatenate([known, small])
        yield small
    while not whole.finished:
        sets = _advanced(search, whole)
        yield sets[set_sizes(sets) > complete_to]


def _advanced(search: Search, growing: KeySearch) -> Words:
    """The next keys of a search, after a look at the limits."""
    search.look()
    sets = growing.advance()
    search.counts.update(nodes=growing.nodes, difference_sets=growing.difference_sets)
    search.progress(f"{growing.nodes:,} sets of columns tried, {growing.pairs:,} pairs of rows compared")
    return sets


class KeySearch:
    """A search for the minimal keys of a table of two rows or more that can be stopped and resumed.

    Parameters
    ----------
    table, columns, policy
        Where to look, and what null means. Sets are over the places of `columns`, which are tried in this order.
    max_size
        Leave out keys with more columns.
    seed
        Where random numbers start; no key depends on it.
    """

    def __init__(
        self, table: RankedTable, columns: tuple[int, ...], policy: NullPolicy, max_size: int, seed: int = 0
    ) -> None:
        width, rows, words = len(columns), table.rows, words_for(len(columns))
        self._asked = table, columns, policy, seed
        self._max_size = min(max_size, width)
        self._data = kernels.Data(read_only(in_lines(table, columns)), int(policy is NullPolicy.IGNORE))
        self._state = np.zeros(kernels.STATE_SLOTS, np.int64)
        self._state[kernels.IS_NEW] = True
        self._edges = Edges(
            np.zeros((_EDGES_AT_FIRST, words), np.uint64),
            np.zeros((width, _EDGES_AT_FIRST // WORD_BITS), np.uint64),
            np.zeros(_EDGES_AT_FIRST, np.int64),
            np.zeros(COUNTER_SLOTS, np.int64),
        )
        self._edges.counters[SEED] = (seed % _SEEDS) << 32
        levels = self._max_size + 1
        self._branch = kernels.Branch(
            np.zeros(levels, np.int64),
            np.zeros((levels, MARK_SLOTS, _EDGES_AT_FIRST // WORD_BITS), np.uint64),
            np.zeros((levels, SET_SLOTS, words), np.uint64),
        )
        self._branch.sets[0, CANDIDATES] = full_set(width)
        most_values = max((table.distinct(column) for column in columns), default=0)
        self._partitions = kernels.Partitions(
            np.arange(rows, dtype=np.int32),
            np.array([0, rows], np.int32),
            np.array([0, rows] + [0] * levels, np.int64),
            np.array([0, 2] + [0] * levels, np.int64),
            np.zeros(most_values + 1, np.int32),
            np.empty(rows, np.int32),
            np.empty(rows + 1, np.int32),
        )
        self._make_room_for_rows(3 * rows)

    @property
    def max_size(self) -> int:
        """The most columns of a key."""
        return self._max_size

    def limited_to(self, max_size: int) -> KeySearch:
        """A search from the beginning for keys of so many columns at most."""
        table, columns, policy, seed = self._asked
        return KeySearch(table, columns, policy, max_size, seed)

    @property
    def finished(self) -> bool:
        """Whether all keys were handed out."""
        return bool(self._state[kernels.LEVEL] < 0)

    @property
    def nodes(self) -> int:
        """How many sets of columns were looked at so far."""
        return int(self._state[kernels.NODES])

    @property
    def pairs(self) -> int:
        """How many pairs of rows were compared so far."""
        return int(self._state[kernels.PAIRS])

    @property
    def difference_sets(self) -> int:
        """How many minimal difference sets are known."""
        return int(self._edges.counters[USED] - self._edges.counters[FREE])

    def advance(self, work: int = _WORK_A_CALL, most_keys: int = _KEYS_A_CALL) -> Words:
        """Go on for about so many steps; return the keys found, at most `most_keys`, maybe none."""
        out = np.empty((most_keys, self._edges.sets.shape[1]), np.uint64)
        found = kernels.search_on(
            self._data, self._max_size, self._edges, self._branch, self._partitions, self._state, work, out
        )
        if self._state[kernels.ROOM_FOR_EDGES]:
            self._make_room_for_edges()
        if self._state[kernels.ROOM_FOR_ROWS]:
            self._make_room_for_rows(2 * int(self._state[kernels.ROOM_FOR_ROWS]))
        return out[:found]

    def _make_room_for_edges(self) -> None:
        """Double the slots of edges."""
        sets, holders, free, counters = self._edges
        self._edges = Edges(_doubled(sets, 0), _doubled(holders, 1), _doubled(free, 0), counters)
        self._branch = self._branch._replace(marks=_doubled(self._branch.marks, 2))
        self._state[kernels.ROOM_FOR_EDGES] = False

    def _make_room_for_rows(self, room: int) -> None:
        """Make the arrays of the partitions so long; a class has two rows or more, and a level one offset beside."""
        rows, offsets = self._partitions.rows, self._partitions.offsets
        more_offsets = room // 2 + 2 * (self._max_size + 2) - offsets.size
        self._partitions = self._partitions._replace(
            rows=np.concatenate([rows, np.empty(max(0, room - rows.size), np.int32)]),
            offsets=np.concatenate([offsets, np.empty(max(0, more_offsets), np.int32)]),
        )
        self._state[kernels.ROOM_FOR_ROWS] = 0


def _doubled(array: np.ndarray, axis: int) -> np.ndarray:
    return np.concatenate([array, np.zeros_like(array)], axis=axis)
