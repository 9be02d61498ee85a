"""Small random tables with values, and predicate spaces over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from lawful.dependencies import Cell, Constant, Predicate
from lawful.dependencies.laws import OPERATORS
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.signs import SignVectors
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

EQUALITY = ("=", "!=")


@dataclass(frozen=True)
class ValueTable:
    """Columns of plain values, whole numbers or texts, None for null."""

    kinds: tuple[str, ...]
    columns: tuple[tuple[Any, ...], ...]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns, strict=True))

    def arrow(self) -> pa.Table:
        types = {"number": pa.int64(), "text": pa.string()}
        return pa.table(
            {
                f"c{place}": pa.array(column, types[kind])
                for place, (kind, column) in enumerate(zip(self.kinds, self.columns, strict=True))
            }
        )

    def encoded(self) -> EncodedTable:
        return encode_arrow(self.arrow(), ReadOptions())


@st.composite
def value_tables(draw: st.DrawFn, max_rows: int = 7, max_width: int = 3) -> ValueTable:
    """Tables with ties, duplicates, nulls and constants, down to no rows."""
    rows = draw(st.integers(0, max_rows))
    kinds = tuple(draw(st.lists(st.sampled_from(["number", "number", "text"]), min_size=1, max_size=max_width)))
    columns = []
    for kind in kinds:
        highest = draw(st.sampled_from([0, 1, 3]))
        values = st.integers(0, highest) if kind == "number" else st.sampled_from("abcd"[: highest + 1])
        cells = st.one_of(values, values, values, st.none()) if draw(st.booleans()) else values
        columns.append(tuple(draw(st.lists(cells, min_size=rows, max_size=rows))))
    return ValueTable(kinds, tuple(columns))


@st.composite
def spaces(draw: st.DrawFn, kinds: Sequence[str], most: int = 13) -> PredicateSpace:
    """Spaces of a few predicates of every sort: same column, across, within a row and with constants."""
    possible = []
    for place, kind in enumerate(kinds):
        operators = OPERATORS if kind == "number" else EQUALITY
        constants = [Constant(1), Constant(2)] if kind == "number" else [Constant("a"), Constant("b")]
        possible.append([Predicate(Cell("t", place), operator, Cell("s", place)) for operator in operators])
        possible.append([Predicate(Cell("t", place), o, one) for o in operators for one in constants])
        for other in range(place):
            if kinds[other] == kind:
                for row in ("t", "s"):
                    possible.append([Predicate(Cell("t", place), o, Cell(row, other)) for o in operators])
    chosen: list[Predicate] = []
    for group in draw(st.permutations(possible)):
        whole = draw(st.booleans())
        picked = group if whole else draw(st.lists(st.sampled_from(group), max_size=3))
        if len(PredicateSpace.of([*chosen, *picked])) <= most:
            chosen.extend(picked)
    return PredicateSpace.of(chosen)


def turned(signs: SignVectors, space: PredicateSpace) -> SignVectors:
    """The vectors of the same pairs of rows turned round."""
    less, greater = np.zeros_like(signs.less), np.zeros_like(signs.greater)
    for group, (image, exchanges) in enumerate(space.mirrored_groups):
        # A group that tells no order has its differences in `less`, which stay there.
        turns = exchanges and space.groups[group].is_ordered
        first, second = (signs.greater, signs.less) if turns else (signs.less, signs.greater)
        for source, target in ((first, less), (second, greater)):
            taken = (source[:, image // 64] >> np.uint64(image % 64)) & np.uint64(1)
            target[:, group // 64] |= taken << np.uint64(group % 64)
    return SignVectors(less, greater)
