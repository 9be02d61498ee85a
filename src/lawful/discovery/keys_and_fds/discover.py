"""Discovery of all minimal keys and functional dependencies.

Keys have a search of their own (`key_search`), which compares few pairs and needs no engine. FDs have two strategies,
each the other's test. *Full* compares all pairs of rows and reads the laws off their agree sets: the quick way
for few rows or many columns. *Hybrid* is the loop with the thinker of `hybrid`. Where a strategy is asked for, or the
table is so large that its rows are left to other processes, keys go the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lawful.common.arrays import Words
from lawful.discovery.cost_model import full_evidence_is_cheaper, full_evidence_seconds
from lawful.discovery.coverage import covering_pairs
from lawful.discovery.findings import KEY, Findings
from lawful.discovery.keys_and_fds.hybrid import KeysAndFds
from lawful.discovery.keys_and_fds.key_search import discover_keys
from lawful.discovery.keys_and_fds.single_columns import laws_of_single_columns
from lawful.discovery.keys_and_fds.thinking import Thoughts, goals_of
from lawful.discovery.loop import run_loop
from lawful.discovery.peeling import constants_and_twins, stated_in_full
from lawful.discovery.questions import Question
from lawful.discovery.search import Search
from lawful.evidence import Pool
from lawful.tables.ranked_table import MOST_SAMPLED_ROWS
from lawful.tables.sample import is_sample

_WORTH_A_SAMPLE = 0.1
"""Seconds: where all pairs take less than that, nothing is sampled to see whether they really do."""


def discover_keys_and_fds(search: Search, question: Question) -> Findings:
    """Find all minimal keys and FDs that hold; at a limit, what was certain by then, those of one column at least."""
    with search.to_the_end():
        if question.fds:
            peeled = search.shared(question).peeled
            for block in constants_and_twins(peeled, search.table, question.null_policy, question.max_size):
                search.state(block)
        if search.table.rows > 1 and not is_sample(search.table):
            _state_single_columns(search, question)
            if question.max_size in (0, 1):
                return search.findings
        if question.keys and keys_are_searched_here(search, question):
            discover_keys(search, question)
            question = replace(question, keys=False)
        if question.keys or question.fds:
            _discover_together(search, question)
    if search.findings.complete and question.finds_all_fds:
        search.shared(question).fds = search.findings.fds()
    return search.findings


def _state_single_columns(search: Search, question: Question) -> None:
    """State the laws of at most one column, which no search has to find again."""
    peeled = search.shared(question).peeled
    for goal, sets in laws_of_single_columns(search.table, question, peeled, search.watch):
        for block in stated_in_full(goal, sets, peeled):
            search.state(block)
    search.has_single_columns = True


def keys_are_searched_here(search: Search, question: Question) -> bool:
    """Whether keys are found in this process: nobody says how, and it reads all rows of the table anyway."""
    is_small = search.table.rows <= MOST_SAMPLED_ROWS
    if is_sample(search.table):
        return False
    return question.strategy == "auto" and (is_small or not search.engine.is_elsewhere)


def _discover_together(search: Search, question: Question) -> None:
    """State keys and FDs by the evidence of all pairs or of some, whichever are still asked for."""
    peeled = search.shared(question).peeled
    is_full = all_pairs_are_compared(search, question, len(peeled.columns))
    search.counts["full_evidence"] = int(is_full)
    if not is_full:
        run_loop(search, KeysAndFds(search, question))
        return
    for goal, sets in _from_all_pairs(search, question, peeled.columns):
        for block in stated_in_full(goal, sets, peeled):
            search.state(block)
        if goal != KEY and question.keys:  # which come first
            search.findings.finished.add("key")


def all_pairs_are_compared(search: Search, question: Question, columns: int) -> bool:
    """Whether to compare all pairs of rows, by the strategy that is asked for, or if that is quicker."""
    if is_sample(search.table):  # nobody has all rows
        return False
    if question.strategy != "auto":
        return question.strategy == "full"
    rows = search.table.rows
    if not full_evidence_is_cheaper(rows, columns):
        return False
    if full_evidence_seconds(rows, columns) < _WORTH_A_SAMPLE:
        return True
    new_sets = _share_of_new_sets(search.shared(question).pool)
    return full_evidence_is_cheaper(rows, columns, new_sets=new_sets)


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
    evidence = search.engine.agree_sets(columns, search.watch.is_over)
    search.look()
    search.counts["agree_sets"] = len(evidence.agree)
    search.progress(f"thinking about {len(evidence.agree):,} agree sets")
    goals = goals_of(question, width)
    yield from Thoughts(goals, width, question.max_size, search.watch).candidates(evidence.agree, evidence.known_differ)
