"""The first look at a shuffled table: each task checks laws on the rows that it reads, chunk by chunk.

All laws are about pairs of rows, so two rows of a chunk that refute one refute it for the table. Most laws that do not
hold end here, without a shuffle. Functions here import no Spark: they turn record batches into record batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check
from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NullPolicy
from lawful.tables.sample import dense

Runner = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

REFUTED = "id int, first bigint, second bigint, first_ranks array<bigint>, second_ranks array<bigint>"
_RANKS = pa.list_(pa.int64())
_REFUTED_SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("first", pa.int64()),
        ("second", pa.int64()),
        ("first_ranks", _RANKS),
        ("second_ranks", _RANKS),
    ]
)
_CACHE_BYTES = 64 << 20
_CHUNK_BYTES = 64 << 20
_MOST_ROWS = 1_000_000


def chunk_rows(width: int) -> int:
    """How many rows of a table are checked at once."""
    return max(1, min(_MOST_ROWS, _CHUNK_BYTES // (8 + 4 * max(1, width))))


class Chunk:
    """Some rows of a shuffled table as a table of ranks; ids and ranks are copied when they are asked for."""

    def __init__(self, rows: pa.Table, width: int | None = None) -> None:
        self.rows = rows.num_rows
        self.width = rows.num_columns - 1 if width is None else width
        self._table = rows
        self._columns: dict[int, Int32s] = {}
        self._distinct: dict[int, int] = {}

    def ids(self) -> Int64s:
        """The ids of the rows."""
        ids: Int64s = self._table.column("row").to_numpy()
        return ids

    def column(self, i: int, /) -> Int32s:
        """Column `i`: its own ranks, counted anew if they reach far beyond the number of rows."""
        if i not in self._columns:
            ranks = self._table.column(f"c{i}").to_numpy()
            if ranks.max(initial=0) > 2 * self.rows:
                ranks = dense(ranks)
            self._columns[i] = np.ascontiguousarray(ranks, np.int32)
            self._distinct[i] = int(self._columns[i].max(initial=0))
        return self._columns[i]

    def distinct(self, i: int, /) -> int:
        """No rank is above it."""
        self.column(i)
        return self._distinct[i]

    def ranks_of(self, place: int) -> list[int]:
        """The ranks of one row, as they are in the dataset."""
        return [self._table.column(f"c{i}")[place].as_py() for i in range(self.width)]


def in_chunks(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Put small batches together; none is cut, so a chunk may have some more rows."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= most:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def chunk_checker(
    tasks: Sequence[CheckTask], policy: NullPolicy, most: int, as_chunk: Callable[[pa.Table], Chunk] = Chunk
) -> Runner:
    """A task that gives a witness against each law that a chunk of its rows refutes, one at most for each."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        is_open = list(tasks)
        for rows in in_chunks(batches, most):
            chunk = as_chunk(rows)
            workspace = Workspace(chunk, policy, _CACHE_BYTES)
            ids = chunk.ids()
            still_open, found = [], []
            for task in is_open:
                witness = check(task, chunk, workspace).witness
                if witness is None:
                    still_open.append(task)
                else:
                    first, second = sorted(witness, key=lambda place: int(ids[place]))
                    ranks = chunk.ranks_of(first), chunk.ranks_of(second)
                    found.append((task.id, int(ids[first]), int(ids[second]), *ranks))
            if found:
                columns = [
                    pa.array(values, type_)
                    for values, type_ in zip(zip(*found, strict=True), _REFUTED_SCHEMA.types, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=_REFUTED_SCHEMA)
            is_open = still_open
            if not is_open:
                return

    return run


FOUND = "want int, row bigint, ranks array<bigint>"
_FOUND_SCHEMA = pa.schema([("want", pa.int32()), ("row", pa.int64()), ("ranks", _RANKS)])


def row_finder(wanted: Sequence[dict[int, int]], width: int) -> Runner:
    """A task that finds, for each of some wishes, the row with the least id that has these ranks in these columns."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        best: dict[int, tuple[int, list[int]]] = {}
        for batch in batches:
            chunk = Chunk(pa.Table.from_batches([batch]))
            columns = {i: batch.column(i + 1).to_numpy() for i in range(width)}
            for want, ranks in enumerate(wanted):
                is_it = np.ones(batch.num_rows, np.bool_)
                for column, rank in ranks.items():
                    is_it &= columns[column] == rank
                places = np.flatnonzero(is_it)
                if places.size:
                    place = int(places[np.argmin(chunk.ids()[places])])
                    id_ = int(chunk.ids()[place])
                    if want not in best or id_ < best[want][0]:
                        best[want] = id_, chunk.ranks_of(place)
        rows = [(want, *found) for want, found in best.items()]
        columns_found = zip(*rows, strict=True) if rows else ((), (), ())
        arrays = [pa.array(values, type_) for values, type_ in zip(columns_found, _FOUND_SCHEMA.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=_FOUND_SCHEMA)

    return run
