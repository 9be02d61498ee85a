"""Discovery of all minimal keys and functional dependencies.

Two strategies, each the other's test. *Full* compares all pairs of rows and reads the laws off their agree sets:
the quick way for few rows or many columns. *Hybrid* compares some pairs, thinks, lets the engine check what no
pair refutes, learns from the witnesses of what was wrong, and repeats: HyFD's idea (Papenbrock & Naumann, "A
hybrid approach to functional dependency discovery", 2016) on the shared pool of pairs. Departing from HyFD, a
refuted candidate gives its witness pair back to the pool instead of being specialised in a tree, so keys and FDs
(and later other families) learn from each other. And where many candidates have a few columns in common, all pairs that
agree on these are compared instead of the candidates checked one by one (`settled_sets`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import numpy as np

from lawful.checks import CheckTask, RankedTable
from lawful.common.arrays import Words
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.discovery.cost_model import full_evidence_is_cheaper
from lawful.discovery.findings import KEY, Block, Candidate, Emit, Findings, law_of
from lawful.discovery.keys_and_fds.settled_sets import SettledSets
from lawful.discovery.keys_and_fds.thinking import candidates_of, candidates_of_pairs, goals_of
from lawful.discovery.peeling import constants_and_twins, peel, stated_in_full
from lawful.discovery.questions import Progress, Question, Watch
from lawful.engines import Engine
from lawful.evidence import Pool, WindowSampler, equal_rows, some_rows
from lawful.evidence.minimal_differences import minimal_differences
from lawful.evidence.sampling import JUDGED_AFTER
from lawful.search import FEW_COLUMNS, pack_sets, unpack_sets

_CHECKS_AT_FIRST, _CHECKS_AT_ONCE = 64, 2_000
_TOO_MANY_REFUTED = 0.1
_FIRST_YIELD = 0.01
_LEAST_YIELD_TIMES_ROWS = 8.0
"""A pair takes about as long as eight rows of a check: where samples yield less, a refuted check tells as much."""
_JUDGED_AFTER = 1 << 14
"""Pairs that tell at first what a source of them yields; more, once checks have shown that they were too few."""


def discover_keys_and_fds(
    table: RankedTable, engine: Engine, question: Question, watch: Watch, emit: Emit, progress: Progress
) -> Findings:
    """Find all minimal keys and FDs that hold; at a limit, what was certain by then.

    `engine` must be open on the table. Every block that is emitted is final.
    """
    findings = Findings()
    peeled = peel(table, question.null_policy)
    searched = peeled.columns

    def state(blocks: Iterable[Block]) -> None:
        for block in blocks:
            findings.blocks.append(block)
            emit(block)

    try:
        if question.fds:
            state(constants_and_twins(peeled, table, question.null_policy, question.max_size))
        # Keys alone of many columns are read off minimal differences, which is quicker than comparing all pairs.
        keys_alone = not question.fds and len(searched) <= FEW_COLUMNS
        is_full = question.strategy == "full" or (
            question.strategy == "auto" and full_evidence_is_cheaper(table.rows, len(searched), keys_alone=keys_alone)
        )
        search = _from_all_pairs if is_full else _from_some_pairs
        findings.counts["full_evidence"] = int(is_full)
        for goal, sets in search(table, engine, searched, question, watch, findings.counts, progress):
            state(stated_in_full(goal, sets, peeled))
            if is_full and goal != KEY and question.keys:  # which come first
                findings.finished.add("key")
        findings.complete = True
    except StoppedError as stop:
        findings.stopped_because = watch.reason() or stop.message
    return findings


def _from_all_pairs(
    table: RankedTable,
    engine: Engine,
    columns: tuple[int, ...],
    question: Question,
    watch: Watch,
    counts: dict[str, int],
    progress: Progress,
) -> Iterator[tuple[int, Words]]:
    """Read the laws off the agree sets of all pairs: nothing is left to check."""
    progress(f"comparing all pairs of {table.rows:,} rows")
    width = len(columns)
    goals = goals_of(question, width)
    if not question.fds and width > FEW_COLUMNS:
        edges = minimal_differences(table, question.null_policy, columns)
        if edges is not None:
            counts["agree_sets"] = len(edges)
            yield from candidates_of({KEY: edges}, question.max_size, watch)
            return
        if equal_rows(table, columns, question.null_policy):
            return  # no key tells these two rows apart
    evidence = engine.agree_sets(columns, watch.is_over)
    watch.look()
    counts["agree_sets"] = len(evidence.agree)
    progress(f"thinking about {len(evidence.agree):,} agree sets")
    yield from candidates_of_pairs(goals, evidence.agree, evidence.known_differ, width, question.max_size, watch)


def _from_some_pairs(
    table: RankedTable,
    engine: Engine,
    columns: tuple[int, ...],
    question: Question,
    watch: Watch,
    counts: dict[str, int],
    progress: Progress,
) -> Iterator[tuple[int, Words]]:
    """Sample, think, check, learn from the witnesses; until nothing new is refuted."""
    counts.update(rounds=0, checks=0, refuted=0)
    width = len(columns)
    goals = goals_of(question, width)
    sampled = some_rows(table, question.seed)
    if KEY in goals and equal_rows(sampled, columns, question.null_policy):
        goals = goals[1:]  # no key tells these two rows apart
    if not goals:
        return
    pool = Pool(sampled, question.null_policy, columns)
    sampler = WindowSampler(pool, sampled, question.seed, judged_after=_JUDGED_AFTER)
    settled = SettledSets(table, pool)
    confirmed: set[Candidate] = set()
    min_yield = _FIRST_YIELD
    while True:
        sampler.run(min_yield, should_stop=watch.is_over)
        watch.look()
        open_candidates = yield from _think_and_settle(goals, pool, settled, confirmed, question, watch)
        counts["rounds"] += 1
        progress(f"round {counts['rounds']}: {len(open_candidates):,} candidates to check")
        refuted = 0
        for batch in _smallest_first(open_candidates):
            held, witnesses = _check(batch, columns, engine, watch)
            confirmed.update(held)
            yield from _by_goal(held, width)
            if witnesses:
                pool.add_pairs_of(table, *np.array(witnesses, np.int32).T)
            refuted += len(witnesses)
            counts["checks"] += len(batch)
            if len(witnesses) > _TOO_MANY_REFUTED * len(batch):
                break  # the pool knew too little: think again before checking more
        counts["refuted"] += refuted
        counts["agree_sets"], counts["settled"] = len(pool.agree), len(settled)
        if refuted == 0:
            return
        min_yield = max(min_yield / 2, _LEAST_YIELD_TIMES_ROWS / table.rows)
        sampler.judged_after = min(2 * sampler.judged_after, JUDGED_AFTER)


def _think_and_settle(
    goals: range,
    pool: Pool,
    settled: SettledSets,
    confirmed: set[Candidate],
    question: Question,
    watch: Watch,
) -> Generator[tuple[int, Words], None, list[Candidate]]:
    """Think, and settle what costs less than checks, until nothing does; return the candidates that need a check."""
    width = len(pool.columns)
    while True:
        differ = pool.differ if question.null_policy is NullPolicy.IGNORE else None
        thought = candidates_of_pairs(goals, pool.agree, differ, width, question.max_size, watch)
        decided, open_candidates = _sorted_out(thought, settled, confirmed)
        confirmed.update(decided)
        yield from _by_goal(decided, width)
        if not settled.settle_some_of({lhs for _, lhs in open_candidates}, watch):
            return open_candidates


def _sorted_out(
    thought: Iterable[tuple[int, Words]], settled: SettledSets, confirmed: set[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates that need no check, and those that do; none that was confirmed before."""
    decided: list[Candidate] = []
    unknown: list[Candidate] = []
    for goal, sets in thought:
        is_decided = settled.decide(sets)
        for out, chosen in ((decided, sets[is_decided]), (unknown, sets[~is_decided])):
            out.extend((goal, lhs) for lhs in unpack_sets(chosen) if (goal, lhs) not in confirmed)
    return decided, unknown


def _smallest_first(candidates: list[Candidate]) -> Iterator[list[Candidate]]:
    """Batches in order of size: small candidates are quick to check, and their refutation rules out the most.

    The first batches are short, since they tell whether the pool knew enough.
    """
    ordered = sorted(candidates, key=lambda candidate: len(candidate[1]))
    first, size = 0, _CHECKS_AT_FIRST
    while first < len(ordered):
        yield ordered[first : first + size]
        first, size = first + size, min(4 * size, _CHECKS_AT_ONCE)


def _check(
    batch: list[Candidate], columns: tuple[int, ...], engine: Engine, watch: Watch
) -> tuple[list[Candidate], list[tuple[int, int]]]:
    """Let the engine check candidates; give those that hold and the witnesses against the others."""
    held: list[Candidate] = []
    witnesses: list[tuple[int, int]] = []
    tasks = [CheckTask(number, law_of(candidate, columns)) for number, candidate in enumerate(batch)]
    for verdict in engine.check(tasks):
        if verdict.witness is None:
            held.append(batch[verdict.id])
        else:
            witnesses.append(verdict.witness)
        watch.look()
    return held, witnesses


def _by_goal(candidates: Iterable[Candidate], width: int) -> Iterator[tuple[int, Words]]:
    sets: dict[int, list[tuple[int, ...]]] = {}
    for goal, lhs in candidates:
        sets.setdefault(goal, []).append(lhs)
    for goal, of_goal in sorted(sets.items()):
        yield goal, pack_sets(of_goal, width)
