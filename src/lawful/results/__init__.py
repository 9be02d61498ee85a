"""What people get back: frozen values that know how to show themselves."""

from lawful.results.check_report import CheckReport, Outcome, RowView
from lawful.results.table_profile import TableProfile

__all__ = ["CheckReport", "Outcome", "RowView", "TableProfile"]
