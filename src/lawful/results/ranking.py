"""All that a discovery found, in the order in which people want it."""

from __future__ import annotations

from dataclasses import dataclass

from lawful.results.law_listings import RankedLaws
from lawful.results.packed_laws import PackedLaws


@dataclass(frozen=True, eq=False)
class Ranking:
    """Keys, FDs and laws of other kinds; `unranked_because` says why some are as they were found, if so."""

    keys: PackedLaws
    fds: PackedLaws
    listed: tuple[RankedLaws, ...] = ()
    unranked_because: str | None = None

    @property
    def packed(self) -> tuple[PackedLaws, PackedLaws]:
        """The keys and the FDs."""
        return self.keys, self.fds

    @property
    def has_errors(self) -> bool:
        """Whether errors were allowed, so that each law has one."""
        return any(laws.has_errors for laws in self.packed) or any(laws.has_errors for laws in self.listed)

    def __len__(self) -> int:
        return sum(map(len, self.packed)) + sum(map(len, self.listed))
