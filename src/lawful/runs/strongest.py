"""A search for the strongest laws from question to report: limits kept, what follows folded away."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.checks import CheckTask, RankedTable
from lawful.common.arrays import Floats
from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.common.meanings import Allowance, NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law, NamedLaw, columns_of, format_law
from lawful.dependencies.folding import folded, follows_from
from lawful.discovery.search import Search
from lawful.discovery.strongest.discover import FAMILIES, Strongest, StrongestQuestion, find_strongest
from lawful.discovery.strongest.worth import Tried, loss_of
from lawful.results.check_report import Outcome
from lawful.results.discovery_report import FoundFamily, FoundLaw
from lawful.results.statements import Entity, entities_of
from lawful.results.strongest_report import StrongestReport
from lawful.runs.run import Progress, Run
from lawful.runs.searched_tables import checks_of_table, jobs_ended_by, placement_of, searched_table
from lawful.runs.stopping import UserWatch, ctrl_c_ends, refuse_too_little_memory
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
    with run.timed("discover"), ctrl_c_ends(watch, run.cancel), jobs_ended_by(run, watch):
        table = searched_table(run, question.seed, progress)
        search = Search(table, run.engine, watch, progress=progress, checks=checks_of_table(run.engine, table))
        found = _searched(search, question)
    with run.timed("rank"):
        tried = [each for name in FAMILIES for each in found.laws.get(name, ())]
        exceptional = _with_exceptions(tried, run, question)
        ranked = _ranked(tried, exceptional)
        entities = _entities(ranked, exceptional, question)
        marks = _folded(ranked, exceptional, entities, run.table.width, question.null_policy)
        laws = _found_laws(ranked, exceptional, marks, run, table)
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
        **placement_of(run.table),
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
    """Two rows that break a law, of each kind for the smallest law that almost holds, mistakes before exceptions."""
    broken: dict[str, FoundLaw] = {}
    almost = (each.weakest for each in report.statements if each.error and each.strength >= _ALMOST)

    def turn(found: FoundLaw) -> tuple[bool, int, float]:
        return found.exceptions, len(columns_of(found.law.positional)), -(found.strength or 0.0)

    for found in sorted(almost, key=turn):
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


def _ranked(tried: Sequence[Tried], exceptional: Collection[Law]) -> list[Tried]:
    """All laws, keys before FDs before orders, of each kind the strongest first, those with exceptions last."""
    kinds = (Key, FD, CanonicalOD)
    return sorted(tried, key=lambda each: (kinds.index(type(each.law)), each.law in exceptional))


def _with_exceptions(tried: Sequence[Tried], run: Run, question: StrongestQuestion) -> set[Law]:
    """The FDs that are broken by exceptions rather than by mistakes, and the broken keys that follow from these."""
    broken = [each.law for each in tried if each.trial.removals]
    exceptional: set[Law] = {each.law for each in tried if each.trial.has_exceptions}
    if exceptional:
        others = [each.law for each in tried if each.law not in exceptional]
        known = [law for law in others if isinstance(law, FD) or law not in broken]
        width, nulls = run.table.width, question.null_policy
        for key in (law for law in broken if isinstance(law, Key)):
            if follows_from([*known, *exceptional], key, width, nulls) and not follows_from(known, key, width, nulls):
                exceptional.add(key)
    return exceptional


def _entities(ranked: Sequence[Tried], exceptional: Collection[Law], question: StrongestQuestion) -> tuple[Entity, ...]:
    if question.null_policy is NullPolicy.IGNORE:  # FDs are not transitive where nulls are ignored
        return ()
    fds = (each for each in ranked if isinstance(each.law, FD) and each.law not in exceptional)
    return tuple(entities_of({each.law: loss_of(each.trial) for each in fds if isinstance(each.law, FD)}))


def _folded(
    ranked: Sequence[Tried],
    exceptional: Collection[Law],
    entities: Sequence[Entity],
    width: int,
    nulls: NullPolicy,
) -> list[bool]:
    """Which laws follow from others: entities are stated first, then the strongest, those with exceptions last."""

    def is_within(law: Law) -> bool:
        return isinstance(law, FD) and any({*law.lhs, law.rhs} <= set(entity) for entity in entities)

    def turn(tried: Tried) -> tuple[bool, bool, float]:
        is_late = tried.law in exceptional
        return is_late, isinstance(tried.law, Key) if is_late else not is_within(tried.law), -tried.trial.strength

    order = sorted(range(len(ranked)), key=lambda place: turn(ranked[place]))
    marks = folded([ranked[place].law for place in order], width, nulls)
    return [mark for _, mark in sorted(zip(order, marks, strict=True))]


def _found_laws(
    ranked: Sequence[Tried], exceptional: Collection[Law], marks: Sequence[bool], run: Run, table: RankedTable
) -> tuple[FoundLaw, ...]:
    interests = _coverage([left_side(each.law) for each in ranked], table, run.null_policy).tolist()
    each = zip(ranked, interests, marks, strict=True)
    return tuple(_found(tried, interest, mark, tried.law in exceptional, run) for tried, interest, mark in each)


def _found(tried: Tried, interest: float, mark: bool, exceptions: bool, run: Run) -> FoundLaw:
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
        exceptions=exceptions,
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


def _coverage(sets: Sequence[tuple[int, ...]], table: RankedTable, nulls: NullPolicy) -> Floats:
    # Loading it compiles kernels, which those who only ask for help need not wait for.
    from lawful.discovery.coverage import Coverage

    if not sets:
        return np.empty(0)
    return Coverage(table, nulls, range(table.width)).of(pack_sets(sets, table.width))


def _constants(run: Run, question: StrongestQuestion) -> tuple[int, ...]:
    """The columns of which all rows that count have the same value."""
    table, counts_nulls = run.table, question.null_policy is NullPolicy.EQUAL
    values = [table.distinct(c) + (counts_nulls and table.nulls(c) > 0) for c in range(table.width)]
    return tuple(column for column, count in enumerate(values) if count <= 1)
