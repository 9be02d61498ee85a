"""What travels to a check and what comes back: small values with an id."""

from __future__ import annotations

from dataclasses import dataclass

from lawful.dependencies import Law


@dataclass(frozen=True, slots=True)
class CheckTask:
    """One law to check; `id` is whatever the asker tells tasks apart by."""

    id: int
    law: Law


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a law holds, and if not, two rows that refute it, the smaller row id first."""

    id: int
    holds: bool
    witness: tuple[int, int] | None
