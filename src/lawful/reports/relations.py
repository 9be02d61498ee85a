"""Which columns determine which: a matrix of all, and a graph of the laws between single columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lawful.dependencies import FD, CanonicalOD, Key, Law
from lawful.reports.document import Graph, GraphNode, Matrix, Status
from lawful.reports.limits import PageLimits
from lawful.reports.verdicts import Standing

_NEARLY = 0.9
"""A law between single columns that is weaker is in the matrix only: the graph would be tangled."""
_SWEEPS = 6

Cell = tuple[str, float, int]
"""How, its value, and the place of the law; see `Matrix`."""
_WORTH = {"holds": 3, "key": 2, "almost": 1, "part": 0}


def single_laws(
    laws: Sequence[Law], standing: Sequence[Standing], strengths: Sequence[float | None], width: int
) -> dict[tuple[int, int], Cell]:
    """The best that is known of each pair of columns: whether the first determines the second, alone or with others.

    A key of one column determines all columns, and a constant is determined by all.
    """
    cells: dict[tuple[int, int], Cell] = {}

    def offer(pair: tuple[int, int], cell: Cell) -> None:
        known = cells.get(pair)
        if known is None or _better(cell, known):
            cells[pair] = cell

    for place, (law, how) in enumerate(zip(laws, standing, strict=True)):
        if how.status is Status.BROKEN:
            continue
        is_exact = how.status is not Status.ALMOST
        strength = strengths[place]
        match law:
            case FD(lhs=(left,), rhs=right):
                offer((left, right), ("holds", 1.0, place) if is_exact else ("almost", _known(strength), place))
            case FD(lhs=(), rhs=right) if is_exact:
                for left in range(width):
                    if left != right:
                        offer((left, right), ("holds", 1.0, place))
            case FD(lhs=lhs, rhs=right):
                for left in lhs:
                    offer((left, right), ("part", float(len(lhs)), place))
            case Key(columns=(left,)) if is_exact:
                for right in range(width):
                    if right != left:
                        offer((left, right), ("key", 1.0, place))
    return cells


def _known(strength: float | None) -> float:
    return 0.0 if strength is None else round(strength, 4)


def _better(cell: Cell, known: Cell) -> bool:
    if _WORTH[cell[0]] != _WORTH[known[0]]:
        return _WORTH[cell[0]] > _WORTH[known[0]]
    return cell[1] < known[1] if cell[0] == "part" else cell[1] > known[1]


def matrix_of(cells: Mapping[tuple[int, int], Cell], width: int, limits: PageLimits) -> Matrix | None:
    """The matrix; of wide tables the columns that take part in most pairs, in their own order."""
    if not cells:
        return None
    columns = _busiest(cells, width, limits.matrix)
    place = {column: number for number, column in enumerate(columns)}
    shown = [
        (place[left], place[right], *cell)
        for (left, right), cell in sorted(cells.items())
        if left in place and right in place
    ]
    return Matrix(columns, shown, width - len(columns))


def _busiest(pairs: Iterable[tuple[int, int]], width: int, most: int) -> list[int]:
    if width <= most:
        return list(range(width))
    uses = Counter(column for pair in pairs for column in pair)
    return sorted(sorted(range(width), key=lambda column: (-uses[column], column))[:most])


def graph_of(
    cells: Mapping[tuple[int, int], Cell],
    laws: Sequence[Law],
    standing: Sequence[Standing],
    width: int,
    limits: PageLimits,
) -> Graph | None:
    """The graph: columns that determine each other in one box, arrows that follow from others left out."""
    strong = {
        pair: cell[0] != "almost"
        for pair, cell in cells.items()
        if cell[0] in ("holds", "key") or (cell[0] == "almost" and cell[1] >= _NEARLY)
    }
    orders = [
        (law.left, law.right, law.direction)
        for law, how in zip(laws, standing, strict=True)
        if isinstance(law, CanonicalOD) and not law.context and how.status is not Status.BROKEN
    ]
    taking_part = {column for pair in strong for column in pair} | {c for each in orders for c in each[:2]}
    if not taking_part:
        return None
    boxes = _together(sorted(taking_part), strong)
    box_of = {column: number for number, box in enumerate(boxes) for column in box}
    edges: dict[tuple[int, int], bool] = {}
    for (left, right), is_exact in strong.items():
        pair = box_of[left], box_of[right]
        if pair[0] != pair[1]:
            edges[pair] = edges.get(pair, False) or is_exact
    kept = _busiest([*edges, *((box_of[a], box_of[b]) for a, b, _ in orders)], len(boxes), limits.graph)
    among = set(kept)
    needed = _without_shortcuts({pair for pair in edges if among.issuperset(pair)})
    layers = _layers(kept, needed)
    number_of = {box: number for number, box in enumerate(kept)}
    nodes = [GraphNode(boxes[box], *layers[box]) for box in kept]
    arrows = sorted((number_of[a], number_of[b], edges[a, b]) for a, b in needed)
    ordered = {
        (number_of[box_of[a]], number_of[box_of[b]], direction)
        for a, b, direction in orders
        if box_of[a] != box_of[b] and {box_of[a], box_of[b]} <= among
    }
    return Graph(nodes, arrows, sorted(ordered), width - len(taking_part), len(boxes) - len(kept))


def _together(columns: Sequence[int], edges: Mapping[tuple[int, int], bool]) -> list[list[int]]:
    """The strongly connected components: columns that determine each other, directly or by others."""
    after: dict[int, set[int]] = defaultdict(set)
    for left, right in edges:
        after[left].add(right)
    reached = {column: _reach(column, after) for column in columns}
    boxes: list[list[int]] = []
    done: set[int] = set()
    for column in columns:
        if column not in done:
            box = [
                column,
                *(other for other in sorted(reached[column]) if other != column and column in reached[other]),
            ]
            boxes.append(sorted(box))
            done.update(box)
    return boxes


def _reach(start: int, after: Mapping[int, set[int]]) -> set[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        for other in after.get(waiting.pop(), ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _without_shortcuts(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The transitive reduction of an acyclic graph."""
    after: dict[int, set[int]] = defaultdict(set)
    for left, right in edges:
        after[left].add(right)
    reached = {left: _reach(left, after) for left in list(after)}
    return {
        (left, right)
        for left, right in edges
        if not any(right in reached.get(other, ()) for other in after[left] if other != right)
    }


def _layers(boxes: Sequence[int], edges: set[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """A layer for each box, below all that determine it, and its place there, near the boxes that it is tied to."""
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for left, right in sorted(edges):
        before[right].append(left)
        after[left].append(right)
    layer: dict[int, int] = {}

    def depth(box: int) -> int:
        waiting = [box]
        while waiting:  # not by recursion: a chain may have as many boxes as there are
            top = waiting[-1]
            missing = [other for other in before[top] if other not in layer]
            if missing:
                waiting += missing
            else:
                layer[waiting.pop()] = 1 + max((layer[other] for other in before[top]), default=-1)
        return layer[box]

    rows: dict[int, list[int]] = defaultdict(list)
    for box in boxes:
        rows[depth(box)].append(box)
    place = {box: float(number) for row in rows.values() for number, box in enumerate(row)}
    for sweep in range(_SWEEPS):
        tied = before if sweep % 2 == 0 else after
        for number in sorted(rows, reverse=sweep % 2 == 1):
            rows[number].sort(key=lambda box: _middle([place[other] for other in tied[box]], place[box]))
            place |= {box: float(at) for at, box in enumerate(rows[number])}
    return {box: (number, at) for number, row in rows.items() for at, box in enumerate(row)}


def _middle(places: Sequence[float], own: float) -> float:
    return sum(places) / len(places) if places else own
