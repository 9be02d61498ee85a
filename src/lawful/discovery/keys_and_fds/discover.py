"""Discovery of all minimal keys and functional dependencies.

Two strategies, each the other's test. *Full* compares all pairs of rows and reads the laws off their agree sets:
the quick way for few rows or many columns. *Hybrid* is the loop with the thinker of `hybrid`.
"""

from __future__ import annotations

from collections.abc import Iterator

from lawful.common.arrays import Words
from lawful.discovery.cost_model import full_evidence_is_cheaper, full_evidence_seconds
from lawful.discovery.coverage import covering_pairs
from lawful.discovery.findings import KEY, Findings
from lawful.discovery.keys_and_fds.hybrid import KeysAndFds
from lawful.discovery.keys_and_fds.single_columns import laws_of_single_columns
from lawful.discovery.keys_and_fds.thinking import Thoughts, candidates_of, goals_of
from lawful.discovery.loop import run_loop
from lawful.discovery.peeling import constants_and_twins, stated_in_full
from lawful.discovery.questions import Question
from lawful.discovery.search import Search
from lawful.evidence import Pool, equal_rows
from lawful.evidence.minimal_differences import minimal_differences
from lawful.search import FEW_COLUMNS

_WORTH_A_SAMPLE = 0.1
"""Seconds: where all pairs take less than that, nothing is sampled to see whether they really do."""


def discover_keys_and_fds(search: Search, question: Question) -> Findings:
    """Find all minimal keys and FDs that hold; at a limit, what was certain by then, those of one column at least."""
    with search.to_the_end():
        shared = search.shared(question)
        peeled = shared.peeled
        if question.fds:
            for block in constants_and_twins(peeled, search.table, question.null_policy, question.max_size):
                search.state(block)
        if search.table.rows > 1:
            for goal, sets in laws_of_single_columns(search.table, question, peeled, search.watch):
                for block in stated_in_full(goal, sets, peeled):
                    search.state(block)
            search.has_single_columns = True
        is_done = search.has_single_columns and question.max_size in (0, 1)
        is_full = not is_done and all_pairs_are_compared(search, question, len(peeled.columns))
        search.counts["full_evidence"] = int(is_full)
        if is_full:
            for goal, sets in _from_all_pairs(search, question, peeled.columns):
                for block in stated_in_full(goal, sets, peeled):
                    search.state(block)
                if goal != KEY and question.keys:  # which come first
                    search.findings.finished.add("key")
        elif not is_done:
            run_loop(search, KeysAndFds(search, question))
    if search.findings.complete and question.finds_all_fds:
        search.shared(question).fds = search.findings.fds()
    return search.findings


def all_pairs_are_compared(search: Search, question: Question, columns: int) -> bool:
    """Whether to compare all pairs of rows, by the strategy that is asked for, or if that is quicker."""
    if question.strategy != "auto":
        return question.strategy == "full"
    # Keys alone of many columns are read off minimal differences, which is quicker than comparing all pairs.
    keys_alone = not question.fds and columns <= FEW_COLUMNS
    rows = search.table.rows
    if not full_evidence_is_cheaper(rows, columns, keys_alone=keys_alone):
        return False
    if full_evidence_seconds(rows, columns) < _WORTH_A_SAMPLE:
        return True
    new_sets = _share_of_new_sets(search.shared(question).pool)
    return full_evidence_is_cheaper(rows, columns, keys_alone=keys_alone, new_sets=new_sets)


def _share_of_new_sets(pool: Pool) -> float:
    """The share of random pairs that are the first with their agree set; the pool keeps them for what comes next."""
    before = len(pool)
    left, right = covering_pairs(pool.rows)
    pool.add_pairs(left, right)
    return (len(pool) - before) / max(1, left.size)


def _from_all_pairs(search: Search, question: Question, columns: tuple[int, ...]) -> Iterator[tuple[int, Words]]:
    """Read the laws off the agree sets of all pairs: nothing is left to check."""
    search.progress(f"comparing all pairs of {search.table.rows:,} rows")
    width = len(columns)
    goals = goals_of(question, width)
    if not question.fds and width > FEW_COLUMNS:
        edges = minimal_differences(search.table, question.null_policy, columns)
        if edges is not None:
            search.counts["agree_sets"] = len(edges)
            yield from candidates_of({KEY: edges}, question.max_size, search.watch)
            return
        if equal_rows(search.table, columns, question.null_policy):
            return  # no key tells these two rows apart
    evidence = search.engine.agree_sets(columns, search.watch.is_over)
    search.look()
    search.counts["agree_sets"] = len(evidence.agree)
    search.progress(f"thinking about {len(evidence.agree):,} agree sets")
    yield from Thoughts(goals, width, question.max_size, search.watch).candidates(evidence.agree, evidence.known_differ)
