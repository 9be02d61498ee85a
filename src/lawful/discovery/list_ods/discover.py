"""Discovery of all minimal list-based order dependencies: FindOD with the forward FD rule (BOD*).

Chen, Jin, Li, Tan, Yang, Ma, "Effective and efficient lexicographical order dependency discovery" (2023): sample some
rows, discover what holds on them, validate it on all rows, learn from the rows that break it, and repeat. Departures:
columns that order rows alike are searched as one (`classes`), and the rest of `findod`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from lawful.checks import RankedTable
from lawful.common.arrays import Floats
from lawful.dependencies import ListOD
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Findings, ListedLaws
from lawful.discovery.list_ods.almost import AlmostOrdered
from lawful.discovery.list_ods.classes import ListClasses, classes_of, every_column
from lawful.discovery.list_ods.findod import FindOD
from lawful.discovery.list_ods.from_canonical import minimal_laws_from_canonical
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.loop import run_loop
from lawful.discovery.search import Search
from lawful.search import pack_sets
from lawful.search.list_ods.od_tree import Node


def discover_list_ods(search: Search, question: ListQuestion) -> Findings:
    """Find all minimal list-based order dependencies; at a limit, what was certain by then, short ones first.

    `counts["minimal"]` is the number of minimal laws and `counts["tree_nodes"]` the number of valid nodes of the tree,
    which the papers report; both count implied laws, stated or not. Of a search that was stopped,
    `counts["lists_complete_to"]` says how far it came: all laws of up to so many columns, both lists together, were
    stated.
    """
    with search.to_the_end():
        search.look()
        is_older = question.forward_rule == "od"
        bidirectional = question.bidirectional
        classes = every_column(search.table) if is_older else classes_of(search.table, bidirectional=bidirectional)
        if not question.with_implied and question.max_size != 0:
            _state(search, question, classes.stated_first(), [0.0])

        def state(nodes: Iterable[tuple[Node, float]]) -> None:
            laws = [(law, error) for node, error in nodes for law in _stated(node, classes, question)]
            _state(search, question, [law for law, _ in laws], [error for _, error in laws])

        if question.strategy == "canonical":
            laws = minimal_laws_from_canonical(search, question)
            search.counts["minimal"] = len(laws)
            _state(search, question, laws if question.with_implied else classes.folded(laws))
        elif question.error:
            run_loop(search, AlmostOrdered(search, classes, question, state))
        else:
            run_loop(search, FindOD(search, classes, question, state))
    return search.findings


def _stated(node: Node, classes: ListClasses, question: ListQuestion) -> Iterator[ListOD]:
    """The laws that a node stands for, as far as they are to be stated and were not yet."""
    if question.with_implied:
        yield from classes.laws(*node.law)
    elif not classes.is_stated_first(*node.law):
        yield classes.law(*node.law)


def _state(search: Search, question: ListQuestion, laws: Iterable[ListOD], errors: Iterable[float] = ()) -> None:
    values = tuple(laws)
    if values:
        measured = np.resize(np.fromiter(errors, np.float64), len(values)) if question.error else None
        search.state(ListedLaws("list-od", values, interests_of_lists(values, search.table, question), measured))


def interests_of_lists(laws: tuple[ListOD, ...], table: RankedTable, question: ListQuestion) -> Floats:
    """The coverage of each left side; see `coverage`."""
    used = sorted({column for law in laws for column, _ in law.lhs})
    if not used:
        return np.ones(len(laws))
    places = {column: place for place, column in enumerate(used)}
    left_sides = pack_sets([[places[column] for column, _ in law.lhs] for law in laws], len(used))
    return Coverage(table, question.null_policy, used).of(left_sides)
