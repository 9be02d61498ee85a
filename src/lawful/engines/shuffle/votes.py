"""The votes of almost-laws on rows, by shuffles: lazy frames with a line per law and row.

`t` is the number of a law within its job. An FD votes by aggregation, in classes of any size: the rows of a class that
have one right side are one line, and windows over these lines give the size of the class and the two most frequent
values. Keys count. An order votes class by class, by the ordinary kernel, so that a class must fit a task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.checks import Workspace
from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.order_opinions import order_votes
from lawful.common.errors import LawfulError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD
from lawful.engines.shuffle.chunks import Chunk, Runner
from lawful.engines.shuffle.classes import CACHE_BYTES, whole_classes
from lawful.engines.shuffle.keys import PackedKey, exploded, key_names, without_nulls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData

_ORDER_VOTES = "t int, row bigint, others bigint, rival bigint, error string"
_ORDER_SCHEMA = pa.schema(
    [("t", pa.int32()), ("row", pa.int64()), ("others", pa.int64()), ("rival", pa.int64()), ("error", pa.string())]
)


def left_side(law: VotingLaw) -> tuple[int, ...]:
    """The columns on which the rows of a class agree."""
    match law:
        case FD():
            return law.lhs
        case CanonicalOD():
            return law.context
        case _:
            return law.columns


def judged_columns(law: VotingLaw) -> tuple[int, ...]:
    """The columns whose values a law holds against those of other rows."""
    match law:
        case FD():
            return (law.rhs,)
        case CanonicalOD():
            return law.left, law.right
        case _:
            return ()


class VotingJob:
    """Some laws of one kind that vote in one job.

    Parameters
    ----------
    data, laws, policy
        The table, the laws, and what null means.
    chunk_rows
        How many rows of an order are taken at once.
    rows
        A frame of the only rows (`row`) whose votes are wanted; None for all.
    """

    def __init__(
        self,
        data: ShuffledData,
        laws: Sequence[VotingLaw],
        policy: NullPolicy,
        chunk_rows: int,
        rows: DataFrame | None = None,
    ) -> None:
        self._data, self.laws, self._policy, self._chunk_rows, self._rows = data, laws, policy, chunk_rows, rows
        self._keys = [PackedKey.of(left_side(law), data.codings) for law in laws]
        self._names = key_names(max(1, *(len(key.words) for key in self._keys)))

    def frame(self) -> DataFrame:
        """The votes on the rows that laws test: `t`, `row`, `others`, `alike`, `rival`, `suggested`.

        Of FDs also their right side (`own`), of orders also `error`, with what a task could not do.
        """
        if isinstance(self.laws[0], CanonicalOD):
            votes = self._by_order()
            return votes if self._rows is None else votes.join(self._rows.hint("broadcast"), "row", "left_semi")
        names = ["t", *self._names]
        own = self._lines(self._data.ranks if self._rows is None else self._chosen())
        if isinstance(self.laws[0], FD):
            votes = own.join(self.parts(), [*names, "a"])
            return votes.selectExpr("t", "row", "a as own", "n - 1 as others", "m - 1 as alike", "rival", "suggested")
        votes = own.join(self.repeats(), names)
        counts = "n - 1 as others", "0L as alike", "n - 1 as rival", "0L as suggested"
        return votes.selectExpr("t", "row", "0L as own", *counts)

    def parts(self) -> DataFrame:
        """Classes by right sides (`a`): rows with it (`m`) of all (`n`), its rival and how many rows have that."""
        names = ["t", *self._names]
        parts = self._classes().groupBy(*names, "a").agg(self._data.expr("count(*) as m"))
        window = f"over (partition by {', '.join(names)})"
        first = f"max(if(a <> 0, named_struct('m', m, 'r', -a), null)) {window} as top"
        parts = parts.selectExpr("*", f"sum(m) {window} as n", first).where("n > 1")
        second = f"max(if(a <> 0 and -a <> top.r, named_struct('m', m, 'r', -a), null)) {window} as next"
        parts = parts.selectExpr("*", second).selectExpr(*names, "a", "m", "n", "if(-a = top.r, next, top) as rv")
        rival = "coalesce(rv.m, 0L) as rival", "coalesce(-rv.r, 0L) as suggested"
        return parts.selectExpr(*names, "a", "m", "n", *rival)

    def repeats(self) -> DataFrame:
        """Classes of several rows, and how many rows each has (`n`)."""
        return self._classes().groupBy("t", *self._names).agg(self._data.expr("count(*) as n")).where("n > 1")

    def _classes(self) -> DataFrame:
        """The lines of all rows; where only some are wanted, of those that share a class with one of these."""
        lines = self._lines(self._data.ranks)
        if self._rows is None:
            return lines
        names = ["t", *self._names]
        return lines.join(self._lines(self._chosen()).select(*names).distinct(), names, "left_semi")

    def _chosen(self) -> DataFrame:
        assert self._rows is not None
        return self._data.ranks.join(self._rows.hint("broadcast"), "row", "left_semi")

    def _lines(self, ranks: DataFrame) -> DataFrame:
        """A line for each row and law that judges it: `t`, the words of its left side, `row`, and the right side."""
        words, entries = len(self._names), []
        for number, (law, key) in enumerate(zip(self.laws, self._keys, strict=True)):
            values = {"t": str(number)} | dict(zip(self._names, key.texts(words), strict=True)) | {"row": "row"}
            sides = [f"cast(c{column} as bigint)" for column in judged_columns(law)]
            values |= dict(zip(("a", "b"), sides, strict=False))
            entries.append((without_nulls(self._known(law)), values))
        return ranks.selectExpr(exploded(entries)).where("t is not null")

    def _known(self, law: VotingLaw) -> tuple[int, ...]:
        """The columns that must not be null: rows that lack a left side of an FD need not have anything in common."""
        if self._policy is NullPolicy.IGNORE:
            return (*left_side(law), *judged_columns(law))
        return law.lhs if isinstance(law, FD) else ()

    def _by_order(self) -> DataFrame:
        lines = self._lines(self._data.ranks)
        names = key_names(len(self._names) + 1)
        keys = (f"{name} as {new}" for name, new in zip(("t", *self._names), names, strict=True))
        lines = lines.selectExpr(*keys, "row", "a", "b").repartition(*names).sortWithinPartitions(*names)
        falls = [isinstance(law, CanonicalOD) and law.direction == "desc" for law in self.laws]
        votes = lines.mapInArrow(_order_runner(falls, len(names), self._policy, self._chunk_rows), _ORDER_VOTES)
        return votes.selectExpr("t", "row", "0L as own", "others", "0L as alike", "rival", "0L as suggested", "error")


def _order_runner(falls: Sequence[bool], words: int, policy: NullPolicy, most: int) -> Runner:
    """A task in which chains of whole classes vote; the first word of a class is the number of its law."""

    def votes(rows: pa.Table) -> Iterator[pa.RecordBatch]:
        numbers = rows.column("k0").to_numpy()
        for number in np.unique(numbers).tolist():
            some = rows.filter(pa.array(numbers == number))
            chunk = _OrderChunk(some, words)
            context = tuple(range(words))
            law = CanonicalOD(context, words, words + 1, "desc" if falls[number] else "asc")
            found = order_votes(law, Workspace(chunk, policy, CACHE_BYTES))
            tested = found.tested
            own = np.full(np.count_nonzero(tested), number, np.int32)
            counts = (each[tested].astype(np.int64) for each in (found.others, found.rival))
            arrays = [pa.array(own), pa.array(chunk.ids()[tested]), *map(pa.array, counts)]
            yield pa.RecordBatch.from_arrays([*arrays, pa.nulls(own.size, pa.string())], schema=_ORDER_SCHEMA)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            for rows in whole_classes(batches, words, most):
                yield from votes(rows)
        except LawfulError as error:
            line = {name: [None] for name in _ORDER_SCHEMA.names} | {"error": [error.typed_message]}
            yield pa.RecordBatch.from_pydict(line, schema=_ORDER_SCHEMA)

    return run


class _OrderChunk(Chunk):
    """Whole classes of an order: the words of their keys, which are no ranks and never null, and the two columns."""

    def __init__(self, rows: pa.Table, words: int) -> None:
        # Null is rank 0, and a word may be 0 without any null in it.
        keys = {f"c{n}": pa.array(rows.column(f"k{n}").to_numpy().astype(np.int64) + 1) for n in range(words)}
        sides = {f"c{words}": rows.column("a"), f"c{words + 1}": rows.column("b")}
        super().__init__(pa.table({"row": rows.column("row"), **keys, **sides}))
