"""Discovery of all minimal list-based order dependencies: FindOD with the forward FD rule (BOD*).

Chen, Jin, Li, Tan, Yang, Ma, "Effective and efficient lexicographical order dependency discovery" (2023): sample some
rows, discover what holds on them, validate it on all rows, learn from the rows that break it, and repeat. Departures:
columns that order rows alike are searched as one (`list_classes`); all children of a candidate are judged on the
sample in one call; the tree is grown anew in each round, so that children which were ruled out by something that
turned out wrong come back, and only what was validated is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.common.errors import StoppedError
from lawful.dependencies import ListOD
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Emit, Findings, ListedLaws
from lawful.discovery.list_ods.almost import AlmostOrdered
from lawful.discovery.list_ods.classes import ListClasses, classes_of, every_column
from lawful.discovery.list_ods.findod import FindOD
from lawful.discovery.list_ods.from_canonical import minimal_laws_from_canonical
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.questions import Progress, Watch
from lawful.engines import Engine
from lawful.search import pack_sets
from lawful.search.list_ods.od_tree import Node


def discover_list_ods(
    table: RankedTable, engine: Engine, question: ListQuestion, watch: Watch, emit: Emit, progress: Progress
) -> Findings:
    """Find all minimal list-based order dependencies; at a limit, what was certain by then.

    `engine` must be open on the table. `counts["minimal"]` is the number of minimal laws and `counts["tree_nodes"]`
    the number of valid nodes of the tree, which the papers report; both count implied laws, stated or not.
    """
    findings = Findings()
    is_older = question.forward_rule == "od"
    classes = every_column(table) if is_older else classes_of(table, bidirectional=question.bidirectional)

    def state(laws: Iterable[ListOD], errors: Iterable[float] = ()) -> None:
        values = tuple(laws)
        if values:
            measured = np.resize(np.fromiter(errors, np.float64), len(values)) if question.error else None
            listing = ListedLaws("list-od", values, _interests(values, table, question), measured)
            findings.listings.append(listing)
            emit(listing)

    try:
        if not question.with_implied and question.max_size != 0:
            state(classes.stated_first(), [0.0])
        if question.strategy == "canonical":
            laws = minimal_laws_from_canonical(table, engine, question, watch, progress)
            findings.counts["minimal"] = len(laws)
            state(laws if question.with_implied else classes.folded(laws))
        else:
            search = (AlmostOrdered if question.error else FindOD)(
                table, engine, classes, question, watch, findings.counts
            )
            _run(search, classes, question, findings.counts, state, progress)
        findings.complete = True
    except StoppedError as stop:
        findings.stopped_because = watch.reason() or stop.message
    return findings


def _run(
    search: AlmostOrdered | FindOD,
    classes: ListClasses,
    question: ListQuestion,
    counts: dict[str, int],
    state: Callable[[Iterable[ListOD], Iterable[float]], None],
    progress: Progress,
) -> None:
    """Run a search and state what it found, also when it is stopped."""
    found: list[Node] = []
    try:
        search.run(progress)
        found = search.minimal_nodes()
        counts["minimal"] = sum(classes.count(*node.law) for node in found)
        counts["tree_nodes"] = sum(classes.count(*node.law) for node in search.valid_nodes())
    except (StoppedError, KeyboardInterrupt):
        found = search.certain_nodes()
        raise
    finally:
        laws = [(law, search.error(node)) for node in found for law in _stated(node, classes, question)]
        state([law for law, _ in laws], [error for _, error in laws])


def _stated(node: Node, classes: ListClasses, question: ListQuestion) -> Iterator[ListOD]:
    """The laws that a node stands for, as far as they are to be stated and were not yet."""
    if question.with_implied:
        yield from classes.laws(*node.law)
    elif not classes.is_stated_first(*node.law):
        yield classes.law(*node.law)


def _interests(laws: tuple[ListOD, ...], table: RankedTable, question: ListQuestion) -> npt.NDArray[np.float64]:
    """The coverage of each left side; see `coverage`."""
    used = sorted({column for law in laws for column, _ in law.lhs})
    if not used:
        return np.ones(len(laws))
    places = {column: place for place, column in enumerate(used)}
    left_sides = pack_sets([[places[column] for column, _ in law.lhs] for law in laws], len(used))
    return Coverage(table, question.null_policy, used).of(left_sides)
