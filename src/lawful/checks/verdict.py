"""What travels to a check and what comes back: small values with an id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lawful.checks.strength.trial import Trial
from lawful.common.meanings import Measure
from lawful.dependencies import Law


@dataclass(frozen=True, slots=True)
class CheckTask:
    """One law to check; `id` is whatever the asker tells tasks apart by.

    With a `measure`, all violations are counted instead of looking for one: the refuting pairs (g1) or the fewest
    rows whose removal mends the law (g3). Without one, `damage` asks for all that is counted of a broken law, beside
    its witness. `trial` asks instead of all these for what strength is made of, and `measures` for other measures
    beside it.
    """

    id: int
    law: Law
    measure: Measure | None = None
    damage: bool = False
    trial: bool = False
    measures: bool = False


@dataclass(frozen=True, slots=True)
class Damage:
    """How badly a law is broken: the sizes of its violations; see `Violations`."""

    rows: int
    groups: int
    pairs: int
    removals: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a law holds, and if not, two rows that refute it, the smaller row id first.

    `violations` is what the measure counts, where one was asked for; then no witness is given. `damage` is there
    where it was asked for and the law is broken; the witness of a denial constraint is then (t, s), as they violate
    it. `trial` is there where it was asked for, and nothing else then but `measures`, by name; one is None where it
    would take too long.
    """

    id: int
    holds: bool
    witness: tuple[int, int] | None
    violations: int | None = None
    damage: Damage | None = None
    trial: Trial | None = None
    measures: Mapping[str, float | None] | None = None
