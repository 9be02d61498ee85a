"""Checking one law on one table: does it hold, and if not, which two rows refute it?

A verdict, its witness included, is a function of the law, the table and the null policy. Neither the cache
nor the order of checks nor the number of threads shows in it.
"""

from __future__ import annotations

from lawful.checks.first_pairs import first_pair
from lawful.checks.fitting import require_columns, require_fitting
from lawful.checks.law_checks import checks_of
from lawful.checks.verdict import CheckTask, Verdict
from lawful.checks.violations import Violations
from lawful.checks.workspace import Workspace
from lawful.dependencies import Law
from lawful.tables.ranked_table import RankedTable


def check(task: CheckTask, table: RankedTable, workspace: Workspace) -> Verdict:
    """Check the law of a task on a table.

    Parameters
    ----------
    task
        The law to check, and the id that its verdict carries.
    table
        The table, which must be the one that `workspace` was made for.
    workspace
        What checks on this table share.

    Raises
    ------
    UsageError
        If the law is of a kind that has no check here, or names a column that the table does not have.
    """
    require_fitting(task.law, table, workspace)
    checks = checks_of(task.law)
    if task.trial:
        trial = checks.trial(task.law, workspace)
        measures = checks.measures(task.law, trial, workspace) if task.measures else None
        return Verdict(task.id, trial.pairs == 0, None, trial=trial, measures=measures)
    if task.measure is not None:
        counted = checks.count(task.law, task.measure, workspace)
        return Verdict(task.id, counted == 0, None, counted)
    witness = checks.witness(task.law, workspace)
    if witness is None or not task.damage:
        return Verdict(task.id, witness is None, witness)
    found = checks.violations(task.law, workspace)
    shown = first_pair(task.law, found.rows, workspace) or witness
    return Verdict(task.id, False, checks.oriented(task.law, shown, workspace), damage=found.damage)


def find_violations(law: Law, table: RankedTable, workspace: Workspace) -> Violations:
    """Find all violations of a law; takes the same arguments and raises the same errors as `check`."""
    require_fitting(law, table, workspace)
    return checks_of(law).violations(law, workspace)


def estimate_cost(law: Law, table: RankedTable) -> float:
    """Estimate how many rows a check visits if nothing is cached and the law holds; at least 1."""
    require_columns(law, table)
    return max(1.0, checks_of(law).cost(law, table))


def task_cost(task: CheckTask, table: RankedTable) -> float:
    """Estimate the work of a task, in rows that a check visits."""
    cost = estimate_cost(task.law, table)
    return cost * checks_of(task.law).cost_of_counting(task.law) if task.damage or task.trial else cost
