"""How much a page holds; it says of everything that is left out how much that is."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class PageLimits:
    """The most that a page has of each thing.

    Attributes
    ----------
    laws
        Laws in the list, the first ones of the document.
    broken
        Broken and almost-laws that are shown with rows.
    groups, variants, places
        Groups of violating rows of a law, variants of a group, and rows of a variant that are named.
    statements
        Lines that say in short what all laws say.
    matrix, graph
        Columns of the matrix, and boxes of the graph.
    plots, points, swaps
        Plots of order laws, points of a plot, and points of these that are marked as out of order.
    batches, lives
        Batches of a state, the last ones, and laws that came or went.
    cell, law
        Characters of a value and of a law.
    """

    laws: int = 100_000
    broken: int = 200
    groups: int = 5
    variants: int = 6
    places: int = 5
    statements: int = 300
    matrix: int = 60
    graph: int = 60
    plots: int = 12
    points: int = 300
    swaps: int = 40
    batches: int = 500
    lives: int = 2_000
    cell: int = 200
    law: int = 2_000

    def to_dict(self) -> dict[str, int]:
        """Plain JSON values."""
        return asdict(self)


def cut(text: str, most: int) -> str:
    """The beginning of a long text, with a mark that says so."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
