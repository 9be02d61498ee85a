"""States wherever they are: in a folder of one process, or spread over a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.maintenance.state_files import StateFiles
from lawful.runs.maintain import OpenState, open_one_process_state
from lawful.runs.making_states import make_one_process_state
from lawful.runs.new_states import NewState
from lawful.runs.run import Where
from lawful.runs.spread_states import OpenSpreadState, is_spread, is_spread_state, make_spread_state, open_spread_state
from lawful.runs.stopping import UserWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def name_of(path: str | os.PathLike[str]) -> str:
    """A name of a state that is the same wherever it is named from."""
    text = os.fspath(path)
    return text.rstrip("/") if "://" in text else str(Path(text).absolute())


def where_to_look(path: str | os.PathLike[str], spark: SparkSession | None) -> Where:
    """Where to look at a state beside what a session is doing: in this process, unless the state is spread."""
    return Where(spark=spark) if is_spread(path) else Where("local")


def is_state(path: str | os.PathLike[str], where: Where) -> bool:
    """Whether there is a state in a folder; another file system than this machine's is asked through Spark."""
    return is_spread_state(path, where) or StateFiles.exist(Path(path))


def make_state(path: str | os.PathLike[str], new: NewState) -> OpenState | OpenSpreadState:
    """Make a state in a new folder."""
    if new.where.placement == "shuffle":
        return make_spread_state(path, new)
    return make_one_process_state(Path(path), new)


def open_state(
    path: str | os.PathLike[str], where: Where, limits: UserWatch | None = None, *, writes: bool = True
) -> OpenState | OpenSpreadState:
    """Open a state, to change it or only to look at it, within some limits."""
    limits = limits or UserWatch(None, None)
    if is_spread(path):
        return open_spread_state(path, where, limits)
    return open_one_process_state(Path(path), where, limits, writes=writes)
