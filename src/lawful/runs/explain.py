"""An explanation from law to answer: the law is checked, then every smaller law that would imply it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

from lawful.checks import CheckTask
from lawful.checks.summaries import parts_of
from lawful.common.errors import StoppedError
from lawful.dependencies import DC, FD, CanonicalOD, Key, Law, ListOD, columns_of, format_law
from lawful.results import Outcome
from lawful.results.check_report import view_row
from lawful.results.explanation import Explanation
from lawful.runs.check import check_laws
from lawful.runs.run import Progress, Run

_MOST_COLUMNS = 10
"""Up to here all subsets of a law's columns are looked at: a thousand checks at most."""


def explain_law(run: Run, law: Law, progress: Progress) -> Explanation:
    """Explain one law on an opened run; when stopped, the explanation holds what is known."""
    report = check_laws(run, [law], progress)
    if not report.complete:
        raise StoppedError("stopped before the law was checked")
    try:
        coverage, agreeing_rows = _coverage(run, law)
    except (KeyboardInterrupt, StoppedError):
        run.cancel()
        raise StoppedError("stopped before it was known how many rows the law is about") from None
    explained = Explanation(report, coverage, agreeing_rows)
    if not explained.holds:
        return explained
    stronger = stronger_laws(law)
    checked = check_laws(run, stronger, progress) if stronger else None
    if checked is not None:
        outcomes = tuple(_seen_through(law, outcome, run) for outcome in checked.outcomes)
        explained = replace(explained, stronger=outcomes, complete=checked.complete)
    if not explained.complete:
        return explained
    progress("looking for what else follows")
    with run.timed("check"):
        try:
            minimal_laws = _minimal_laws(run, law) if explained.minimal is False else ()
            determines = _also_determined(run, law) if isinstance(law, FD) else ()
        except (KeyboardInterrupt, StoppedError):
            run.cancel()
            return replace(explained, complete=False)
    return replace(explained, minimal_laws=minimal_laws, determines=determines)


def stronger_laws(law: Law) -> list[Law]:
    """The laws that would make this one follow: one column or predicate less, or no order left to speak of."""
    if isinstance(law, ListOD):  # what a shorter list orders, a longer one that begins with it orders too
        return [ListOD(law.lhs[:size], law.rhs) for size in range(1, len(law.lhs))]
    parts, with_parts = _shrinkable(law)
    smaller = [with_parts(tuple(other for other in parts if other != part)) for part in parts]
    if isinstance(law, CanonicalOD):
        smaller += [FD(law.context, law.left), FD(law.context, law.right)]
    return smaller


def _seen_through(law: Law, smaller: Outcome, run: Run) -> Outcome:
    """The witness against a smaller law with all columns of the law itself: the one left out tells the rows apart."""
    if smaller.witness is None:
        return smaller
    first, second = (view_row(run.table, view.row, columns_of(law)) for view in smaller.witness)
    return replace(smaller, witness=(first, second))


def _shrinkable(law: Law) -> tuple[tuple[Any, ...], Callable[[tuple[Any, ...]], Law]]:
    """The columns or predicates of a law that it may not need, and how to make the law of some of them."""
    if isinstance(law, DC):
        return law.predicates, DC
    columns, _ = parts_of(law)
    match law:
        case FD():
            return columns, lambda some: FD(some, law.rhs)
        case CanonicalOD():
            return columns, lambda some: replace(law, context=some)
        case _:
            return columns, Key


def _minimal_laws(run: Run, law: Law) -> tuple[str, ...] | None:
    """The minimal laws over subsets of the columns, smallest first; a set above one that holds is not minimal."""
    if isinstance(law, ListOD):
        shorter = stronger_laws(law)
        return (format_law(shorter[min(_holding(run, shorter))], run.table.names),)
    columns, with_columns = _shrinkable(law)
    if len(columns) > _MOST_COLUMNS:
        return None
    held: list[tuple[Any, ...]] = []
    for size in range(len(columns) + 1):
        tried = [some for some in combinations(columns, size) if not any(set(some) >= set(known) for known in held)]
        held += [tried[number] for number in _holding(run, [with_columns(some) for some in tried])]
    return tuple(format_law(with_columns(some), run.table.names) for some in held)


def _also_determined(run: Run, law: FD) -> tuple[str, ...]:
    others = [column for column in range(run.table.width) if column not in (*law.lhs, law.rhs)]
    return tuple(run.table.names[others[number]] for number in _holding(run, [FD(law.lhs, rhs) for rhs in others]))


def _holding(run: Run, laws: list[Law] | list[FD]) -> list[int]:
    """The places of the laws that hold."""
    if not laws:
        return []
    verdicts = run.engine.check([CheckTask(number, law) for number, law in enumerate(laws)])
    return sorted(verdict.id for verdict in verdicts if verdict.holds)


def _coverage(run: Run, law: Law) -> tuple[float, int]:
    """The chance that two random rows agree on what the law groups by, exactly, and how many rows agree with others.

    These are the rows and the pairs that a key of the same columns would forbid.
    """
    rows = run.table.rows
    if rows == 0:
        return 1.0, 0
    grouped = tuple(column for column, _ in law.lhs) if isinstance(law, ListOD) else parts_of(law)[0]
    with run.timed("check"):
        (verdict,) = run.engine.check([CheckTask(0, Key(tuple(sorted(set(grouped)))), damage=True)])
    agreeing = verdict.damage
    return (1 / rows, 0) if agreeing is None else ((rows + 2 * agreeing.pairs) / rows**2, agreeing.rows)
