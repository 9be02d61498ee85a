"""The words that change what a right answer is, defined once and used by every room."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from lawful.common.errors import UsageError

Direction = Literal["asc", "desc"]

Measure = Literal["g1", "g3"]
"""How an error is measured: the share of pairs of rows that refute a law, or of rows to remove to mend it."""

MEASURES: tuple[Measure, ...] = ("g1", "g3")

NULL_RANK = 0
"""The rank of null in every encoded column. Values have the ranks 1 to `distinct`."""


class NullPolicy(StrEnum):
    """What null means to a law.

    Under `EQUAL` null is a value like any other: equal to null and sorted first. Under `IGNORE` a law is
    judged on the rows that have no null in any of its columns, as SQL judges its constraints.
    """

    EQUAL = "equal"
    IGNORE = "ignore"


@dataclass(frozen=True)
class Allowance:
    """The error within which a law counts as holding: a share of the pairs of rows (g1) or of the rows (g3)."""

    error: float
    measure: Measure = "g1"

    def __post_init__(self) -> None:
        if not 0.0 <= self.error < 1.0:
            raise UsageError(f"the error must lie in [0, 1), and is {self.error}", "0.01 allows one in a hundred.")
        if self.measure not in MEASURES:
            raise UsageError(f"unknown measure {self.measure!r}", "Use g1 (share of pairs) or g3 (share of rows).")


STOPPING = "stopping"
"""What progress is told when the user wants an end, which may take a moment."""


def null_policy(name: str) -> NullPolicy:
    """Read the name of a null policy."""
    try:
        return NullPolicy(name)
    except ValueError:
        raise UsageError(f"unknown null policy {name!r}", "Use equal or ignore.") from None


class ColumnType(StrEnum):
    """The types that lawful tells apart, because they order their values differently.

    `NULL` is the type of a column that has no value at all.
    """

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIME = "time"
    DURATION = "duration"
    STRING = "string"
    BINARY = "binary"
