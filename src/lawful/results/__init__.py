"""What people get back: frozen values that know how to show themselves."""

from lawful.results.check_report import CheckReport, Outcome, RowView
from lawful.results.discovery_report import DiscoveryReport, FoundFamily, FoundLaw
from lawful.results.explanation import Explanation, ViolationGroup
from lawful.results.saved_laws import SavedLaws
from lawful.results.table_profile import TableProfile

__all__ = [
    "CheckReport",
    "DiscoveryReport",
    "Explanation",
    "FoundFamily",
    "FoundLaw",
    "Outcome",
    "RowView",
    "SavedLaws",
    "TableProfile",
    "ViolationGroup",
]
