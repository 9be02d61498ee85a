"""What is computed for the matrix, the graph and the plots, against definitions that are obviously right."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Key, Law, ListOD, Predicate
from lawful.reports.document import Status
from lawful.reports.limits import PageLimits
from lawful.reports.order_plots import DrawnOrder, drawn_order, out_of_order
from lawful.reports.relations import graph_of, matrix_of, single_laws
from lawful.reports.verdicts import Standing

WIDTH = 6
columns = st.integers(0, WIDTH - 1)
fds = st.builds(lambda left, right: FD(tuple(set(left) - {right}), right), st.lists(columns, max_size=2), columns)
laws = st.lists(fds | st.builds(lambda column: Key((column,)), columns), max_size=12, unique=True)


def _all_hold(some: list[Law]) -> list[Standing]:
    return [Standing(Status.HOLDS)] * len(some)


def _reached(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The transitive closure, by trying everything."""
    found = set(pairs)
    while more := {(a, d) for (a, b), (c, d) in product(found, found) if b == c and a != d} - found:
        found |= more
    return found


@given(laws)
def test_cells_are_what_the_laws_say(some: list[Law]) -> None:
    cells = single_laws(some, _all_hold(some), [None] * len(some), WIDTH)
    for left, right in product(range(WIDTH), repeat=2):
        if left == right:
            assert (left, right) not in cells
            continue
        by_itself = any(isinstance(law, FD) and law.rhs == right and set(law.lhs) <= {left} for law in some)
        sizes = [len(law.lhs) for law in some if isinstance(law, FD) and law.rhs == right and left in law.lhs]
        how, value, place = cells.get((left, right), ("", 0.0, -1))
        if by_itself:
            assert how == "holds"
        elif Key((left,)) in some:
            assert (how, some[place]) == ("key", Key((left,)))
        elif sizes:
            assert (how, value) == ("part", min(sizes))
        else:
            assert how == ""


@given(laws)
def test_the_graph_says_the_same_as_all_laws_between_single_columns(some: list[Law]) -> None:
    standing = _all_hold(some)
    cells = single_laws(some, standing, [None] * len(some), WIDTH)
    graph = graph_of(cells, some, standing, WIDTH, PageLimits())
    single = {pair for pair, cell in cells.items() if cell[0] in ("holds", "key")}
    if graph is None:
        assert not single
        return
    within = {(a, b) for node in graph.nodes for a in node.columns for b in node.columns if a != b}
    between = {
        (a, b) for left, right, _ in graph.edges for a in graph.nodes[left].columns for b in graph.nodes[right].columns
    }
    assert _reached(within | between) == _reached(single)
    edges = {(left, right) for left, right, _ in graph.edges}
    for edge in edges:  # none is needless, and all lead on
        assert _reached(edges - {edge}) != _reached(edges)
        assert graph.nodes[edge[0]].layer < graph.nodes[edge[1]].layer
    assert len({(node.layer, node.place) for node in graph.nodes}) == len(graph.nodes)
    assert sorted(c for node in graph.nodes for c in node.columns) == sorted({c for pair in single for c in pair})


def test_wide_tables_keep_the_busiest_columns() -> None:
    some: list[Law] = [FD((left,), 70) for left in range(60, 70)]
    cells = single_laws(some, _all_hold(some), [None] * 10, 100)
    matrix = matrix_of(cells, 100, PageLimits(matrix=12))
    assert matrix is not None
    assert matrix.left_out == 88
    assert set(range(60, 71)) <= set(matrix.columns)
    assert len(matrix.cells) == 10


ranks = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(ranks)
def test_as_few_rows_as_possible_are_out_of_order(rows: list[tuple[int, int]]) -> None:
    def is_ordered(some: tuple[int, ...]) -> bool:
        pairs = ((rows[a], rows[b]) for a, b in combinations(some, 2))
        return all((one[0] - other[0]) * (one[1] - other[1]) >= 0 for one, other in pairs)

    wrong = out_of_order(*(np.array([row[side] for row in rows], np.int64) for side in (0, 1)))
    kept = tuple(place for place in range(len(rows)) if place not in set(wrong.tolist()))
    assert is_ordered(kept)
    assert not any(is_ordered(more) for more in combinations(range(len(rows)), len(kept) + 1))


def test_order_laws_of_one_column_by_one_can_be_drawn() -> None:
    assert drawn_order(CanonicalOD((2,), 0, 1, "desc")) == DrawnOrder(0, 1, True, (2,))
    assert drawn_order(ListOD(((0, "asc"),), ((1, "asc"),))) == DrawnOrder(0, 1, False, ())
    assert drawn_order(ListOD(((0, "asc"), (2, "asc")), ((1, "asc"),))) is None
    assert drawn_order(POD(((0, ">"), (2, "=")), (1, "<="))) == DrawnOrder(0, 1, True, (2,))
    assert drawn_order(POD(((0, "<"), (2, "<")), (1, "<"))) is None
    assert drawn_order(DC((Predicate(Cell("t", 0), "=", Cell("s", 0)),))) is None
    assert drawn_order(FD((0,), 1)) is None


def test_the_rows_out_of_order_of_a_plot_are_those_to_remove() -> None:
    table = pa.table({"a": [1, 2, 3, 4, 5, None], "b": ["a", "c", "b", "d", "e", "f"]})
    (plot,) = lawful.report("{}: a asc ~ b asc", table, null="ignore").document.plots
    (outcome,) = lawful.check(table, "{}: a asc ~ b asc", null="ignore").outcomes
    assert plot.out_of_order == outcome.removals == 1
    assert [(plot.points[a][2:4], plot.points[b][2:4]) for a, b in plot.swaps] in (
        [(("2", "c"), ("3", "b"))],
        [(("3", "b"), ("2", "c"))],
    )
    assert (plot.x.scale, plot.y.scale) == ("number", "rank")
    assert plot.drawn_from == 5
