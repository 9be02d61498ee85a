"""Whether a law, a table and a workspace belong together."""

from __future__ import annotations

from lawful.checks.law_checks import checks_of
from lawful.checks.workspace import Workspace
from lawful.common.errors import EngineError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, columns_of
from lawful.tables.ranked_table import RankedTable


def require_fitting(law: Law, table: RankedTable, workspace: Workspace) -> None:
    """Refuse the workspace of another table, and a law that names columns which the table does not have."""
    if table is not workspace.table:
        raise EngineError("A check was given the workspace of another table.")
    require_policy(law, workspace.null_policy)
    require_columns(law, table)


def require_policy(law: Law, policy: NullPolicy) -> None:
    """Refuse a law that has no meaning where nulls are ignored."""
    if checks_of(law).nulls_are_values and policy is NullPolicy.IGNORE:
        raise UsageError(
            "List-based order dependencies know nulls only as values, as ORDER BY does.",
            "Check them with --null equal.",
        )


def require_columns(law: Law, table: RankedTable) -> None:
    """Refuse a law that names columns which the table does not have."""
    for column in columns_of(law):
        if column >= table.width:
            raise UsageError(f"The law names column {column}, but the table has {table.width}, counted from 0.")
