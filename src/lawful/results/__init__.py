"""What people get back: frozen values that know how to show themselves.

Each is loaded when it is asked for: with most of them come Numba and all kernels of the checks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lawful.results.check_report import CheckReport, Outcome, RowView
    from lawful.results.discovery_report import DiscoveryReport, FoundFamily, FoundLaw
    from lawful.results.errors_report import ErrorsReport, WrongCell
    from lawful.results.explanation import Explanation, ViolationGroup
    from lawful.results.saved_laws import SavedLaws
    from lawful.results.strongest_report import Statement, StrongestReport
    from lawful.results.table_profile import TableProfile

__all__ = [
    "CheckReport",
    "DiscoveryReport",
    "ErrorsReport",
    "Explanation",
    "FoundFamily",
    "FoundLaw",
    "Outcome",
    "RowView",
    "SavedLaws",
    "Statement",
    "StrongestReport",
    "TableProfile",
    "ViolationGroup",
    "WrongCell",
]

_HOMES = {
    "CheckReport": "check_report",
    "DiscoveryReport": "discovery_report",
    "ErrorsReport": "errors_report",
    "Explanation": "explanation",
    "FoundFamily": "discovery_report",
    "FoundLaw": "discovery_report",
    "Outcome": "check_report",
    "RowView": "check_report",
    "SavedLaws": "saved_laws",
    "Statement": "strongest_report",
    "StrongestReport": "strongest_report",
    "TableProfile": "table_profile",
    "ViolationGroup": "explanation",
    "WrongCell": "errors_report",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"lawful.results.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lawful.results' has no attribute {name!r}")
