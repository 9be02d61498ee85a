"""What a batch did to the pinned laws, and which of its rows were put aside for them.

This is what events, quarantine and history are built on. Rows are numbers of the living table (`LivingTable.ids_of`
gives their ids, `place` where they came from), unless it says that they are rows of the batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from lawful.common.arrays import Int64s
from lawful.maintenance.evidence import Pair

Offenders = Literal["keep", "quarantine"]
OFFENDERS: tuple[Offenders, ...] = ("keep", "quarantine")
NO_PAIRS: Int64s = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class PinnedLaw:
    """A law that a user wants to be told of, as it is after a batch.

    Attributes
    ----------
    text
        The law in its notation.
    holds, held
        Whether it holds now, and whether it held before the batch; None if there was no batch.
    violating, pairs
        How many rows are in violating pairs, and how many such pairs there are.
    witness
        Two rows that break it.
    offenders
        The rows of the batch that break it now, ascending, each with one row that it does so with: `int64[rows, 2]`.
    """

    text: str
    holds: bool
    violating: int
    witness: Pair | None = None
    pairs: int = 0
    held: bool | None = None
    offenders: Int64s = field(default_factory=lambda: NO_PAIRS, compare=False)


class PutAside(NamedTuple):
    """A row that was put aside because it would break a pinned law, with the rows that stay and came before it.

    Attributes
    ----------
    row
        The row of the batch (`Incoming.batch`).
    pin
        The place of the first law that it breaks among the pinned ones.
    partner
        A row of the table that it breaks it with, or -1 if only new ones do.
    new_partner
        A row of the batch that was let through and that it breaks the law with, or -1. If both are -1, it breaks the
        law with a row of the table that nobody knows by its number.
    """

    row: int
    pin: int
    partner: int
    new_partner: int
