"""An explanation from law to answer: the law is checked, then every smaller law that would imply it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from lawful.checks import CheckTask
from lawful.checks.summaries import parts_of
from lawful.common.errors import StoppedError
from lawful.dependencies import Key, Law, columns_of, format_law, kind_of
from lawful.dependencies.implication import implies
from lawful.discovery.families import Reasons, family_named
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
    tells_minimality = _reasons(law).tells_minimality
    explained = Explanation(report, coverage, agreeing_rows, tells_minimality=tells_minimality)
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
            determines = _also_determined(run, law)
        except (KeyboardInterrupt, StoppedError):
            run.cancel()
            return replace(explained, complete=False)
    return replace(explained, minimal_laws=minimal_laws, determines=determines)


def stronger_laws(law: Law) -> list[Law]:
    """The laws that would make this one follow: one column or predicate less, or no order left to speak of."""
    return _reasons(law).smaller(law)


def _reasons(law: Law) -> Reasons:
    return family_named(kind_of(law)).reasons


def _seen_through(law: Law, smaller: Outcome, run: Run) -> Outcome:
    """The witness against a smaller law with all columns of the law itself: the one left out tells the rows apart."""
    if smaller.witness is None:
        return smaller
    first, second = (view_row(run.table, view.row, columns_of(law)) for view in smaller.witness)
    return replace(smaller, witness=(first, second))


def _minimal_laws(run: Run, law: Law) -> tuple[str, ...] | None:
    """The minimal laws over subsets of the columns that imply the law, smallest first."""
    shrinkable = _reasons(law).shrinkable
    if shrinkable is None:
        while holding := _holding(run, stronger_laws(law)):
            law = stronger_laws(law)[min(holding)]
        return (format_law(law, run.table.names),)
    parts, laws_of = shrinkable(law)
    if len(parts) > _MOST_COLUMNS:
        return None
    held: list[Law] = []
    for size in range(len(parts) + 1):
        tried = [one for some in combinations(parts, size) for one in laws_of(some) if not _follows(one, held, run)]
        for number in _holding(run, tried):  # of the same columns, an FD may be why an order dependency holds
            if not _follows(tried[number], held, run):
                held.append(tried[number])
    return tuple(format_law(one, run.table.names) for one in held)


def _follows(law: Law, held: list[Law], run: Run) -> bool:
    return implies(held, law, run.null_policy)


def _also_determined(run: Run, law: Law) -> tuple[str, ...] | None:
    """The columns that the left side determines too, where a law has one; None where it has none."""
    siblings = _reasons(law).siblings
    if siblings is None:
        return None
    others = siblings(law, run.table.width)
    return tuple(run.table.names[others[number].rhs] for number in _holding(run, others))


def _holding(run: Run, laws: list[Law]) -> list[int]:
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
    grouped_by = _reasons(law).grouped
    grouped = parts_of(law)[0] if grouped_by is None else grouped_by(law)
    with run.timed("check"):
        (verdict,) = run.engine.check([CheckTask(0, Key(tuple(sorted(set(grouped)))), damage=True)])
    agreeing = verdict.damage
    return (1 / rows, 0) if agreeing is None else ((rows + 2 * agreeing.pairs) / rows**2, agreeing.rows)
