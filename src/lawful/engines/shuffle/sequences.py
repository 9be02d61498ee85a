"""Orders within classes that no task takes: what breaks them are the inversions of a sequence.

The rows of a class, sorted by A and, within ties, by B, break `A ~ B` wherever an earlier row has a larger B. Sorted by
the left list and within ties *against* the right one, they break `X -> Y` in the same way. So the sequence is cut into
tiles, wherever that may be, and

- what a tile must know of the others to tell its violating rows is the greatest value before and the least behind it;
- it is cut into *blocks* where nothing before is larger than anything behind: a block of several rows has each of them
  out of order with another, and no other rows are;
- inversions are those within tiles, and those between: of the latter only the numbers of the tiles matter, so that one
  pass over the rows in the order of their values counts them, with one number for each tile;
- of the rows of each block, a longest sequence without inversions may stay, which a task finds as they stream by.

Each row goes to one task in each of these steps, whatever is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.checks import Damage
from lawful.dependencies import DC, CanonicalOD, Constant, Law, ListOD
from lawful.engines.shuffle.cutting import GROUP, ROW, Tiles, Words, cut, schema_of
from lawful.engines.shuffle.keys import PackedKey
from lawful.engines.shuffle.sequence_tasks import (
    COUNTS,
    REMOVALS,
    TILE,
    Carried,
    between_runner,
    carried,
    count_runner,
    pairs_between,
    removal_runner,
    row_runner,
    tile_runner,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.engines.shuffle.large import LargeClasses
    from lawful.tables.shuffled.data import ShuffledData

MOST_TAILS = 64_000_000
"""How long a longest sequence may be that a task looks for: half a gigabyte for values of one word."""
_TWO = 2

GatheredTable = Callable[["DataFrame"], pa.Table]
Damaged = tuple[Damage, int | None]
"""How badly a law is broken, and the first row that breaks it."""


Marked = Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Sequenced:
    """An order as a sequence: rows by the left list, ties by the right one or *against* it, so that they break it too.

    A group of violating rows is a class, or with `by_blocks` what violations link.
    """

    left: Marked
    right: Marked
    against: bool
    by_blocks: bool


def sequenced(law: Law) -> Sequenced | None:
    """The sequence whose inversions are the pairs that break a law, if it has one."""
    if isinstance(law, ListOD):
        return Sequenced(law.lhs, law.rhs, against=True, by_blocks=True)
    if isinstance(law, CanonicalOD):
        return Sequenced(((law.left, "asc"),), ((law.right, law.direction),), against=False, by_blocks=False)
    return _of_two_orders(law) if isinstance(law, DC) else None


def _of_two_orders(law: DC) -> Sequenced | None:
    """That of a constraint with two orders, beside equalities, one of them strict: else ties in both would break it."""
    operators: dict[int, str] = {}
    for predicate in law.predicates:
        left, right = predicate.left, predicate.right
        is_plain = not isinstance(right, Constant) and left.row != right.row and left.column == right.column
        if not is_plain or predicate.operator == "!=" or left.column in operators:
            return None
        operators[left.column] = predicate.operator
    orders = [(column, operator) for column, operator in operators.items() if operator != "="]
    loose = [order for order in orders if order[1] in ("<=", ">=")]
    if len(orders) != _TWO or len(loose) == _TWO:
        return None
    (one, one_way), (other, other_way) = sorted(orders, key=lambda order: order not in loose)
    direction = "asc" if one_way[0] != other_way[0] else "desc"  # what is denied goes up in one and down in the other
    return Sequenced(((one, "asc"),), ((other, direction),), against=bool(loose), by_blocks=False)


def too_long() -> str:
    """What is wrong with a sequence that no task holds."""
    return (
        f"the fewest rows whose removal mends an order are not counted where more than {MOST_TAILS:,} rows of a class "
        "that are in conflict may stay; measure by pairs (g1), or use --placement replicate"
    )


class SequencedOrder:
    """One order within large classes.

    Parameters
    ----------
    data, order
        The dataset, and which rows break the order.
    large
        The classes, and which rows of them are judged.
    tile_rows
        How many rows a task takes.
    gathered
        Runs a job and gives its few lines.
    """

    def __init__(
        self, data: ShuffledData, order: Sequenced, large: LargeClasses, tile_rows: int, gathered: GatheredTable
    ) -> None:
        self._data, self._large, self._tile_rows, self._gathered = data, large, tile_rows, gathered
        self._has_blocks = order.by_blocks
        self._sign = -1 if order.against else 1
        before = _words(order.left, data)
        values = [f"({self._sign}L) * ({text})" for text in _words(order.right, data)]
        self._values = tuple(f"z{number}" for number in range(len(values)))
        names = [f"x{number}" for number in range(len(before))]
        texts = [f"{text} as {name}" for text, name in zip((*before, *values), (*names, *self._values), strict=True)]
        rows = data.ranks.where(large.judged) if large.judged else data.ranks
        self._rows = rows.selectExpr(f"{large.number} as {GROUP}", *texts, ROW).where(f"{GROUP} is not null")
        self._order = (GROUP, *names, *self._values, ROW)

    @cached_property
    def _tiles(self) -> Tiles:
        count = sum(self._large.sizes)
        return cut(self._rows, self._order, [self._values], self._tile_rows, count, self._gathered)

    @cached_property
    def _carried(self) -> list[Carried]:
        tiles = self._tiles
        words = np.stack([tiles.corners.column(name).to_numpy() for name in self._values], axis=1) * self._sign
        found: list[list[Words]] = [[] for _ in range(tiles.count)]
        for tile, values in zip(tiles.places.tolist(), map(tuple, words.tolist()), strict=True):
            found[tile].append(values)
        return carried([(min(values), max(values)) for values in found], tiles.groups.tolist())

    @cached_property
    def _counts(self) -> list[dict[str, Any]]:
        """What is counted in each tile by itself."""
        if not self._values:
            return []
        runner = count_runner(self._carried, self._values, self._sign)
        lines: list[dict[str, Any]] = self._gathered(self._in_tiles().mapInArrow(runner, COUNTS)).to_pylist()
        return lines

    def damage(self, *, with_removals: bool = True) -> Damaged:
        """How badly the order is broken; removals are None unless asked for, or where no task finds them."""
        rows = sum(line["rows"] for line in self._counts)
        if not rows:
            return Damage(0, 0, 0, 0), None
        blocks = sum(line["blocks"] for line in self._counts)
        classes = {int(self._tiles.groups[line["tile"]]) for line in self._counts if line["rows"]}
        removals = self._removals() if with_removals else None
        first = min(line["first"] for line in self._counts if line["rows"])
        return Damage(rows, blocks if self._has_blocks else len(classes), self.pairs(), removals), first

    def pairs(self) -> int:
        """The pairs that break the order."""
        within = sum(int(line["pairs"]) for line in self._counts)
        return within + (self._pairs_between() if any(line["rows"] for line in self._counts) else 0)

    def violating(self) -> DataFrame:
        """The violating rows (`lawful_row`) with the number of the class or block that each belongs to (`part`)."""
        part = "block" if self._has_blocks else GROUP
        return self._violating().selectExpr(f"{part} as part", f"{ROW} as lawful_row")

    def _in_tiles(self) -> DataFrame:
        """All rows, tile by tile and in order."""
        return self._with_tiles().repartition(TILE).sortWithinPartitions(TILE, *self._order[1:])

    def _with_tiles(self) -> DataFrame:
        return self._rows.mapInArrow(tile_runner(self._tiles), f"{schema_of(self._rows)}, {TILE} bigint")

    def _violating(self) -> DataFrame:
        if not self._values:
            return self._rows.where("false").selectExpr(GROUP, ROW, "0L as block", "0L as tile", "0L as place")
        starts = np.zeros(self._tiles.count, np.int64)
        for line in self._counts:
            starts[line["tile"]] = line["starts"]
        before = np.concatenate([[0], np.cumsum(starts)[:-1]])
        runner = row_runner(self._carried, self._values, self._sign, before)
        words = ", ".join(f"{name} bigint" for name in self._values)
        schema = f"{GROUP} bigint, {ROW} bigint, block bigint, tile bigint, place bigint, {words}"
        return self._in_tiles().mapInArrow(runner, schema)

    def _pairs_between(self) -> int:
        values = [f"({self._sign}L) * {name} as {name}" for name in self._values]
        lines = self._with_tiles().selectExpr(GROUP, *values, TILE)
        keys = (GROUP, *self._values, TILE)
        points = lines.groupBy(*keys).agg(self._data.expr("count(*) as n"))
        in_order = points.repartitionByRange(*keys).sortWithinPartitions(*keys).select(*keys, "n")
        first, sizes = np.unique(self._tiles.groups, return_index=True, return_counts=True)[1:]
        words = ", ".join(f"{name} bigint" for name in self._values)
        schema = f"{GROUP} bigint, {words}, tile bigint, pairs bigint, sizes array<bigint>"
        runner = between_runner(self._values, first.astype(np.int64), sizes.astype(np.int64))
        return pairs_between(self._gathered(in_order.mapInArrow(runner, schema)).to_pylist(), self._values)

    def _removals(self) -> int | None:
        rows = self._violating().repartition("block").sortWithinPartitions("block", "tile", "place")
        removed = rows.mapInArrow(removal_runner(self._values, self._sign, MOST_TAILS), REMOVALS)
        sums = ("sum(removals) as removals", "bool_or(is_too_long) as is_too_long")
        (line,) = self._gathered(removed.agg(*map(self._data.expr, sums))).to_pylist()
        return None if line["is_too_long"] else int(line["removals"] or 0)


def _words(marked: Marked, data: ShuffledData) -> list[str]:
    key = PackedKey.of([column for column, _ in marked], data.codings)
    return key.falling_texts([column for column, direction in marked if direction == "desc"])
