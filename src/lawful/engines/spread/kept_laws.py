"""How a law is kept by an index whose lines lie in buckets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lawful.dependencies import Law, columns_of

Shape = Literal["agree", "differ", "classes", "ranges"]
"""Classes of more than one row break the law; classes of rows that differ do; the rows of a class are checked; there
are no classes, and rows are in buckets by range (`cuts`)."""


class SharedLines(NamedTuple):
    """Lines that serve some laws: a number that tells them apart from others, and the columns beside the class."""

    number: int
    others: tuple[int, ...]


@dataclass(frozen=True)
class KeptLaw:
    """A law, the columns that two rows which break it agree on, and what else is kept of a row.

    Parameters
    ----------
    number
        What tells its lines apart from those of other laws.
    group, others
        The columns of a class, and those that are told of its rows.
    shared
        The lines that it shares with laws of the same group, which tell more of a row.
    """

    number: int
    law: Law
    shape: Shape
    group: tuple[int, ...]
    others: tuple[int, ...]
    shared: SharedLines | None = None

    @property
    def written(self) -> SharedLines:
        """Its lines as they are written, shared or its own."""
        return self.shared or SharedLines(self.number, self.others)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of a line, in its order."""
        return (*self.group, *self.others)

    @property
    def judged(self) -> tuple[int, ...]:
        """The columns that decide whether a row takes part where nulls are ignored."""
        return tuple(sorted(set(columns_of(self.law))))

    def part(self, bucket: int) -> str:
        """The part of the index that has a bucket of this law."""
        return f"t={self.written.number}/bucket={bucket}"


def counted(laws: Iterable[KeptLaw]) -> list[KeptLaw]:
    """Those that are kept by counts."""
    return [kept for kept in laws if kept.shape in ("agree", "differ")]


def in_classes(laws: Iterable[KeptLaw]) -> list[KeptLaw]:
    """Those whose lines are in buckets by class."""
    return [kept for kept in laws if kept.shape != "ranges"]


def of_part(part: str) -> tuple[int, int]:
    """The number of the lines, which is that of their law or of the first that shared them, and the bucket."""
    lines, bucket = (int(piece.partition("=")[2]) for piece in part.split("/"))
    return lines, bucket
