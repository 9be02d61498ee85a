"""A search for the strongest laws from question to report: limits kept, what follows folded away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.checks import CheckTask
from lawful.common.arrays import Floats
from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.common.meanings import Allowance, NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law, NamedLaw, columns_of, format_law
from lawful.dependencies.folding import folded
from lawful.discovery.search import Search
from lawful.discovery.strongest.discover import FAMILIES, Strongest, StrongestQuestion, find_strongest
from lawful.discovery.strongest.worth import Tried, loss_of
from lawful.results.check_report import Outcome
from lawful.results.discovery_report import FoundFamily, FoundLaw
from lawful.results.statements import Entity, entities_of
from lawful.results.strongest_report import StrongestReport
from lawful.runs.discover import refuse_too_little_memory
from lawful.runs.run import Progress, Run
from lawful.runs.stopping import UserWatch, ctrl_c_ends
from lawful.search import pack_sets

_ALMOST = 0.8
"""A broken law that is at least so strong is shown with two rows that break it."""


def strongest_laws(
    run: Run,
    question: StrongestQuestion,
    progress: Progress,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> StrongestReport:
    """Find the strongest laws on an opened run. A limit, or Ctrl-C, ends the search with the strongest by then."""
    refuse_too_little_memory(run, memory_limit)
    watch = UserWatch(time_limit, memory_limit)
    search = Search(run.table, run.engine, watch, progress=progress)
    with run.timed("discover"), ctrl_c_ends(watch, run.cancel):
        found = _searched(search, question)
    with run.timed("rank"):
        ranked = _ranked(found)
        entities = _entities(ranked, question)
        laws = _found_laws(ranked, _folded(ranked, entities, run.table.width, question.null_policy), run)
    settings: dict[str, Any] = {
        "find": list(question.find),
        "search": "strongest",
        "top": question.top,
        "max_size": question.max_size,
        "sizes": found.sizes,
        "rows": found.rows,
        "null": question.null_policy.value,
        "seed": question.seed,
        "engine": run.engine.name,
    }
    is_complete, stopped = search.findings.complete, search.findings.stopped_because
    counts = {**search.counts, "accidental": found.accidental, "folded": sum(each.folded for each in laws)}
    families = {name: FoundFamily(len(found.laws.get(name, ())), is_complete) for name in question.find}
    constants = _constants(run, question)
    report = StrongestReport(
        run.table, settings, laws, entities, constants, is_complete, stopped, run.seconds, counts, families
    )
    with ctrl_c_ends(watch, run.cancel):
        return replace(report, examples=_examples(report, run, watch)) if is_complete else report


def _examples(report: StrongestReport, run: Run, watch: UserWatch) -> tuple[Outcome, ...]:
    """Two rows that break a law, of each kind for the smallest law that almost holds, the strongest of these."""
    broken: dict[str, FoundLaw] = {}
    almost = (each.weakest for each in report.statements if each.error and each.strength >= _ALMOST)
    for found in sorted(almost, key=lambda found: (len(columns_of(found.law.positional)), -(found.strength or 0.0))):
        broken.setdefault(found.law.kind, found)
    laws = [broken[kind].law.positional for kind in ("fd", "key", "canonical-od") if kind in broken]
    names = run.table.names
    try:
        with run.timed("check"):
            verdicts = list(run.engine.check([CheckTask(n, law, damage=True) for n, law in enumerate(laws)]))
    except (StoppedError, EngineError):
        if watch.reason() is None:
            raise
        return ()
    verdicts.sort(key=lambda verdict: verdict.id)
    return tuple(Outcome.of(laws[v.id], format_law(laws[v.id], names), v, run.table) for v in verdicts)


def require_families(find: Sequence[str]) -> None:
    """Refuse kinds of laws that are not searched for by strength."""
    for name in find:
        if name not in FAMILIES:
            raise UsageError(
                f"laws of the kind {name} are not searched for by strength",
                f"Kinds: {', '.join(FAMILIES)}. All laws of other kinds: discover.",
            )
    if not find:
        raise UsageError("no kind of law is asked for", f"Kinds: {', '.join(FAMILIES)}.")


def _searched(search: Search, question: StrongestQuestion) -> Strongest:
    try:
        return find_strongest(search, question)
    except StoppedError as stop:
        search.findings.stopped_because = search.watch.reason() or stop.message
    except EngineError:
        reason = search.watch.reason()  # a job that was cut off is no failure
        if reason is None:
            raise
        search.findings.stopped_because = reason
    search.findings.complete = False
    return Strongest()


def _ranked(found: Strongest) -> list[Tried]:
    """All laws, keys before FDs before orders, of each kind the strongest first."""
    return [tried for name in FAMILIES for tried in found.laws.get(name, ())]


def _entities(ranked: Sequence[Tried], question: StrongestQuestion) -> tuple[Entity, ...]:
    if question.null_policy is NullPolicy.IGNORE:  # FDs are not transitive where nulls are ignored
        return ()
    return tuple(entities_of({each.law: loss_of(each.trial) for each in ranked if isinstance(each.law, FD)}))


def _folded(ranked: Sequence[Tried], entities: Sequence[Entity], width: int, nulls: NullPolicy) -> list[bool]:
    """Which laws follow from others: entities are stated first, then the strongest."""

    def is_within(law: Law) -> bool:
        return isinstance(law, FD) and any({*law.lhs, law.rhs} <= set(entity) for entity in entities)

    order = sorted(
        range(len(ranked)), key=lambda place: (not is_within(ranked[place].law), -ranked[place].trial.strength)
    )
    marks = folded([ranked[place].law for place in order], width, nulls)
    return [mark for _, mark in sorted(zip(order, marks, strict=True))]


def _found_laws(ranked: Sequence[Tried], marks: Sequence[bool], run: Run) -> tuple[FoundLaw, ...]:
    interests = _coverage([left_side(each.law) for each in ranked], run).tolist()
    each = zip(ranked, interests, marks, strict=True)
    return tuple(_found(tried, interest, mark, run) for tried, interest, mark in each)


def _found(tried: Tried, interest: float, mark: bool, run: Run) -> FoundLaw:
    trial, names = tried.trial, tuple(run.table.names)
    error = (trial.removals or 0) / max(1, run.table.rows)
    allowed = Allowance(min(math.nextafter(error, 1.0), 1.0 - 1e-9), "g3") if error else None
    return FoundLaw(
        NamedLaw(tried.law, names),
        format_law(tried.law, names),
        interest,
        error,
        allowed=allowed,
        null=run.null_policy,
        strength=trial.strength,
        tested=trial.tested,
        violating=trial.rows,
        folded=mark,
    )


def left_side(law: Law) -> tuple[int, ...]:
    """The columns whose coverage is the interest of a law."""
    match law:
        case Key():
            return law.columns
        case FD():
            return law.lhs
        case CanonicalOD():
            return law.context
    raise AssertionError("only keys, FDs and canonical orders are searched for by strength")


def _coverage(sets: Sequence[tuple[int, ...]], run: Run) -> Floats:
    # Loading it compiles kernels, which those who only ask for help need not wait for.
    from lawful.discovery.coverage import Coverage

    if not sets:
        return np.empty(0)
    coverage = Coverage(run.table, run.null_policy, range(run.table.width))
    return coverage.of(pack_sets(sets, run.table.width))


def _constants(run: Run, question: StrongestQuestion) -> tuple[int, ...]:
    from lawful.checks import Workspace

    workspace = Workspace(run.table, question.null_policy)
    return tuple(column for column in range(run.table.width) if workspace.is_constant(column))
