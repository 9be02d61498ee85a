"""Checking one law on one encoded table: a verdict with a witness, or all violations.

Each check is near-linear in the rows that its partition covers. `Workspace` holds what checks on one table
share.
"""

from lawful.checks import own_checks as own_checks  # which registers them
from lawful.checks.cache import CacheStats, PartitionCache
from lawful.checks.check import check, estimate_cost, find_violations, task_cost
from lawful.checks.law_checks import LawChecks, checks_of, register_checks
from lawful.checks.partitions import Partition
from lawful.checks.strength.trial import Trial
from lawful.checks.summaries import GroupRows, Most, VariantRows, summarize
from lawful.checks.verdict import CheckTask, Damage, Verdict
from lawful.checks.violating_rows import GroupedRows, violating_rows
from lawful.checks.violations import Violations
from lawful.checks.workspace import DEFAULT_CACHE_BYTES, Workspace
from lawful.tables.ranked_table import RankedTable

__all__ = [
    "DEFAULT_CACHE_BYTES",
    "CacheStats",
    "CheckTask",
    "Damage",
    "GroupRows",
    "GroupedRows",
    "LawChecks",
    "Most",
    "Partition",
    "PartitionCache",
    "RankedTable",
    "Trial",
    "VariantRows",
    "Verdict",
    "Violations",
    "Workspace",
    "check",
    "checks_of",
    "estimate_cost",
    "find_violations",
    "register_checks",
    "summarize",
    "task_cost",
    "violating_rows",
]
