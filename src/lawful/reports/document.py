"""The plain document that a page shows: everything that the browser gets, as values that JSON has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum
from typing import Any

from lawful.reports.limits import PageLimits


class Status(IntEnum):
    """How a law fares: the page sorts by these, the worst first."""

    BROKEN = 0
    ALMOST = 1
    HOLDS = 2
    UNCHECKED = 3


@dataclass(frozen=True)
class PageColumn:
    """A column of the table; what a document does not say is None."""

    name: str
    type: str | None = None
    distinct: int | None = None
    nulls: int | None = None
    min: str | None = None
    max: str | None = None


@dataclass(frozen=True)
class PageTable:
    """The table, its columns, and the names of columns that were left out of it."""

    name: str
    rows: int | None
    columns: Sequence[PageColumn]
    left_out: Sequence[str] = ()


@dataclass
class PageLaws:
    """All laws, a list for each field: 50,000 laws are read faster so, and take less room."""

    kinds: list[str] = field(default_factory=list)
    """The kinds of laws that there are; `kind` counts from their beginning."""
    text: list[str] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    columns: list[list[int]] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    strength: list[float | None] = field(default_factory=list)
    interest: list[float | None] = field(default_factory=list)
    error: list[float | None] = field(default_factory=list)
    tested: list[int | None] = field(default_factory=list)
    violating: list[int | None] = field(default_factory=list)
    folded: list[int] = field(default_factory=list)
    """The places of the laws that follow from others."""
    reading: dict[int, str] = field(default_factory=dict)
    """What laws say in plain words, by their places."""


@dataclass(frozen=True)
class PageVariant:
    """Rows of a group with the same values in conflict: how many, where the first are, and if they are to blame."""

    values: Sequence[tuple[str, str | None]]
    rows: int
    where: str
    is_wrong: bool = False


@dataclass(frozen=True)
class PageGroup:
    """Rows that break a law together: what they agree on, and their variants."""

    values: Sequence[tuple[str, str | None]]
    rows: int
    variants: Sequence[PageVariant]
    more: int = 0


@dataclass(frozen=True)
class BrokenLaw:
    """A broken or almost-law and its rows.

    `groups` are those that are shown, of `group_count`. Where only two rows are known, which a document kept, they are
    one group and `is_witness` says so.
    """

    law: int
    rows: int | None = None
    pairs: int | None = None
    removals: int | None = None
    group_count: int | None = None
    groups: Sequence[PageGroup] = ()
    is_witness: bool = False


@dataclass(frozen=True)
class PageStatement:
    """What several laws say together, and the place of the weakest of them."""

    kind: str
    text: str
    strength: float | None
    tested: int | None
    wrong: int | None
    laws: int
    weakest: int


@dataclass(frozen=True)
class Matrix:
    """Which columns determine which.

    A cell is (row, column, how, value, law): `how` is `holds`, `key`, `almost` (value: its strength) or `part` (value:
    the columns of the smallest left side that the row's column is in); the law is a place, or -1.
    """

    columns: Sequence[int]
    cells: Sequence[tuple[int, int, str, float, int]]
    left_out: int = 0


@dataclass(frozen=True)
class GraphNode:
    """Columns that determine each other, and where their box stands: its layer from the top, its place in it."""

    columns: Sequence[int]
    layer: int
    place: int


@dataclass(frozen=True)
class Graph:
    """The laws between single columns: `edges` are (from, to, is it exact), `orders` (node, node, direction)."""

    nodes: Sequence[GraphNode]
    edges: Sequence[tuple[int, int, bool]]
    orders: Sequence[tuple[int, int, str]] = ()
    alone: int = 0
    left_out: int = 0


@dataclass(frozen=True)
class PlotAxis:
    """An axis: its column, and whether it has numbers, times or only the order of values."""

    column: int
    scale: str


@dataclass(frozen=True)
class OrderPlot:
    """An order law as points (x, y, text of x, text of y, where it is); `swaps` are pairs of places of points.

    The first point of a swap is out of order, the second is one that it is swapped with. `within` says which class of
    the context is drawn; `drawn_from` how many rows it has, and `out_of_order` how many of these are to be removed.
    """

    law: int
    x: PlotAxis
    y: PlotAxis
    points: Sequence[tuple[float, float, str, str, str]]
    swaps: Sequence[tuple[int, int]]
    within: Sequence[tuple[str, str | None]]
    drawn_from: int
    out_of_order: int
    is_sampled: bool


@dataclass(frozen=True)
class Life:
    """The life of a maintained state: its batches, its pinned laws, and laws that came and went."""

    folder: str
    version: int
    bytes: int
    batches: Sequence[dict[str, Any]]
    more_batches: int = 0
    laws: Sequence[dict[str, Any]] = ()
    more_laws: int = 0


@dataclass
class PageDocument:
    """Everything that a page shows."""

    title: str
    made: str
    version: str
    source: str
    complete: bool
    notes: Sequence[str]
    table: PageTable
    laws: PageLaws
    total_laws: int
    checked: int | None
    """How many laws were checked for this page; None if no table was given."""
    broken: Sequence[BrokenLaw] = ()
    entities: Sequence[PageStatement] = ()
    statements: Sequence[PageStatement] = ()
    more_statements: int = 0
    matrix: Matrix | None = None
    graph: Graph | None = None
    plots: Sequence[OrderPlot] = ()
    life: Life | None = None
    settings: Sequence[tuple[str, str]] = ()
    seconds: Sequence[tuple[str, float]] = ()
    counts: Sequence[tuple[str, float]] = ()
    definitions: Sequence[dict[str, str]] = ()
    limits: PageLimits = field(default_factory=PageLimits)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        everything_else = asdict(replace(self, laws=PageLaws()))  # which copies, and laws may be many
        return everything_else | {"laws": dict(vars(self.laws))}
