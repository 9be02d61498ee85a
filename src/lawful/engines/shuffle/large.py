"""Classes that no task takes: which they are, and all that is asked about laws within them.

Rows of other classes meet in one task each (`classes`). The rows of large ones are cut: orders as sequences
(`sequences`), denial constraints by two tiles at a time (`tile_pairs`). Keys and functional dependencies need neither:
they are grouped, whatever the size of a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lawful.checks.strength.class_sizes import ClassSizes
from lawful.common.errors import TooLargeError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, POD, CanonicalOD, Law, ListOD
from lawful.dependencies.pointwise import as_denial
from lawful.engines.shuffle import classes
from lawful.engines.shuffle.classes import class_columns, law_columns, too_large
from lawful.engines.shuffle.keys import PackedKey, key_names, without_nulls
from lawful.engines.shuffle.sequences import Damaged, GatheredTable, Sequenced, SequencedOrder, sequenced
from lawful.engines.shuffle.tile_pairs import TilePairs
from lawful.tables.shuffled.table import ShuffledTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class LargeClasses:
    """The classes of some columns that have more rows than a task takes.

    Attributes
    ----------
    texts
        The words of the keys, as expressions of SQL.
    keys, sizes
        The words of each class, and how many rows it has.
    judged
        A condition that says which rows are judged, "" for all. Rows of other classes have to meet it too: those that
        have no value in a column may be many.
    """

    texts: tuple[str, ...] = ()
    keys: tuple[tuple[int, ...], ...] = ()
    sizes: tuple[int, ...] = ()
    judged: str = ""

    def __bool__(self) -> bool:
        return bool(self.keys)

    @property
    def are_all(self) -> bool:
        """Whether no rows are in other classes, because all are in one."""
        return bool(self.keys) and not self.texts

    @property
    def number(self) -> str:
        """An expression of SQL: the number of the large class that a row is in, null if it is in another."""
        if not self.texts:
            return "0L"
        cases = " ".join(f"when {condition} then {number}L" for number, condition in enumerate(self._conditions()))
        return f"case {cases} end"

    @property
    def others(self) -> str | None:
        """A condition that a row is judged and in another class; None if all are."""
        small = [f"not ({' or '.join(self._conditions())})"] if self.keys else []
        return " and ".join([*([f"({self.judged})"] if self.judged else []), *small]) or None

    def _conditions(self) -> list[str]:
        if not self.texts:
            return ["true"]
        return [
            "(" + " and ".join(f"{text} = {word}L" for text, word in zip(self.texts, key, strict=True)) + ")"
            for key in self.keys
        ]


class LargeRows:
    """What is asked about laws within large classes of one table.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    chunk_rows
        How many rows a task looks at at once.
    gathered
        Runs a job and gives its few lines.
    """

    def __init__(self, table: ShuffledTable, policy: NullPolicy, chunk_rows: int, gathered: GatheredTable) -> None:
        self._table, self._policy, self._chunk_rows, self._gathered = table, policy, chunk_rows, gathered
        self._data = table.dataset
        self._known: dict[tuple[tuple[int, ...], str], LargeClasses] = {}

    def classes(self, law: Law, whole: Law | None = None) -> LargeClasses:
        """The large classes of a law, among the rows that it is judged on, or another law, the whole of which it is."""
        if self._table.rows <= classes.LARGEST_CLASS:
            return LargeClasses()
        columns, judged = class_columns(law), self._judged(law if whole is None else whole)
        if not columns:
            return LargeClasses((), ((),), (self._table.rows,), judged)
        if (columns, judged) not in self._known:
            self._known[columns, judged] = self._counted(columns, judged)
        return self._known[columns, judged]

    def damage(self, law: Law, large: LargeClasses) -> Damaged:
        """How badly a law is broken in large classes; removals are None where they are not told."""
        if (order := sequenced(_denial(law))) is not None:
            return self._sequence(order, large).damage(with_removals=isinstance(law, CanonicalOD | ListOD))
        return self._pairs(law, large).damage()

    def witness(self, law: Law, large: LargeClasses) -> tuple[int, int] | None:
        """Two rows of a large class that break a law which is no order."""
        return self._pairs(law, large).witness()

    def violating(self, law: Law, large: LargeClasses) -> DataFrame:
        """The violating rows of large classes (`lawful_row`) with the number of their group (`part`)."""
        if (order := sequenced(_denial(law))) is not None:
            return self._sequence(order, large).violating()
        return self._pairs(law, large).violating()

    def violating_pairs(self, law: Law, large: LargeClasses) -> DataFrame:
        """The violating pairs of large classes, as `t` and `s`."""
        return self._pairs(law, large).violating_pairs()

    def ordered_pairs(self, law: DC, large: LargeClasses) -> int:
        """The ordered pairs of judged rows in large classes that satisfy all predicates of a law."""
        if (order := sequenced(law)) is not None:  # two rows satisfy them one way round at most
            return self._sequence(order, large).pairs()
        return self._pairs(law, large).ordered_pairs()

    def swaps(self, law: ListOD, large: LargeClasses) -> int:
        """The pairs of rows that differ on both lists, and are ordered against each other by these."""
        return self._sequence(Sequenced(law.lhs, law.rhs, against=False, by_blocks=True), large).pairs()

    def sizes_within(self, columns: Sequence[int], large: LargeClasses) -> list[ClassSizes]:
        """Of each large class, the sizes of what some columns divide it into."""
        judged, expr = large.judged, self._data.expr
        key = PackedKey.of(tuple(dict.fromkeys(columns)), self._data.codings)
        names = key_names(len(key.words))
        texts = [f"{text} as {name}" for text, name in zip(key.texts(len(names)), names, strict=True)]
        rows = self._data.ranks.where(judged) if judged else self._data.ranks
        rows = rows.selectExpr(f"{large.number} as g", *texts).where("g is not null")
        parts = rows.groupBy("g", *names).agg(expr("count(*) as n"))
        found: list[list[tuple[int, int]]] = [[] for _ in large.keys]
        for line in self._gathered(parts.groupBy("g", "n").agg(expr("count(*) as parts"))).to_pylist():
            found[line["g"]].append((line["n"], line["parts"]))
        sizes = [np.array(sorted(each), np.int64).reshape(-1, 2) for each in found]
        return [ClassSizes(each[:, 0].copy(), each[:, 1].copy()) for each in sizes]

    def _counted(self, columns: tuple[int, ...], judged: str) -> LargeClasses:
        key = PackedKey.of(columns, self._data.codings)
        names, texts = key_names(len(key.words)), key.texts(len(key.words))
        rows = self._data.ranks.where(judged) if judged else self._data.ranks
        keys = rows.selectExpr(*(f"{text} as {name}" for text, name in zip(texts, names, strict=True)))
        sizes = keys.groupBy(*names).agg(self._data.expr("count(*) as n")).where(f"n > {classes.LARGEST_CLASS}")
        lines = sorted((*(line[name] for name in names), line["n"]) for line in self._gathered(sizes).to_pylist())
        sizes_found = tuple(line[-1] for line in lines)
        return LargeClasses(tuple(texts), tuple(line[:-1] for line in lines), sizes_found, judged)

    def _judged(self, law: Law) -> str:
        columns = law_columns(law)
        return without_nulls(columns) if columns and self._policy is NullPolicy.IGNORE else ""

    def _sequence(self, order: Sequenced, large: LargeClasses) -> SequencedOrder:
        return SequencedOrder(self._data, order, large, tile_rows(), self._gathered)

    def _pairs(self, law: Law, large: LargeClasses) -> TilePairs:
        denial = _denial(law)
        if not isinstance(denial, DC):  # a family that others have registered
            raise TooLargeError(too_large())
        return TilePairs(self._data, denial, self._policy, large, tile_rows(), self._chunk_rows, self._gathered)


def _denial(law: Law) -> Law:
    return as_denial(law) if isinstance(law, POD) else law


def tile_rows() -> int:
    """How many rows a tile has at most: two of them meet in a task."""
    return max(1, classes.LARGEST_CLASS // 2)
