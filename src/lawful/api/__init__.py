"""The verbs of lawful as Python functions; the command line calls these and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.api.finding import discover, errors, strongest, warm_up
from lawful.api.judging import check, explain, load, read_laws
from lawful.api.keeping import events, follow, history, is_state, maintain, make_state, open_state
from lawful.api.reading import open as open  # noqa: A004  # named twice because a star import must not hide Python's own
from lawful.api.reading import profile
from lawful.api.showing import report
from lawful.runs.laws_input import LawsInput
from lawful.runs.partial_files import PartialFile
from lawful.runs.run import Progress, SparkSettings
from lawful.tables.options import CsvDialect

if TYPE_CHECKING:
    from lawful.runs.maintain import OpenState
    from lawful.runs.spread_states import OpenSpreadState
    from lawful.runs.stream_batches import BatchTold

__all__ = [
    "BatchTold",
    "CsvDialect",
    "LawsInput",
    "OpenSpreadState",
    "OpenState",
    "PartialFile",
    "Progress",
    "SparkSettings",
    "check",
    "discover",
    "errors",
    "events",
    "explain",
    "follow",
    "history",
    "is_state",
    "load",
    "maintain",
    "make_state",
    "open",
    "open_state",
    "profile",
    "read_laws",
    "report",
    "strongest",
    "warm_up",
]
