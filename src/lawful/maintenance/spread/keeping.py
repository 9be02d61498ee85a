"""Which index a law gets in a spread state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lawful.dependencies import Law, columns_of
from lawful.engines.shuffle.classes import equal_columns
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.maintenance.pins.plan import Agree, Differ, plan_of
from lawful.maintenance.spread.document import SpreadDocument


def kept_laws(laws: Sequence[Law]) -> list[KeptLaw]:
    """How laws are kept; each has its place for its number."""
    return [kept_law(number, law) for number, law in enumerate(laws)]


def laws_of(document: SpreadDocument) -> list[KeptLaw]:
    """All laws that indexes keep: those that are pinned, and those that were found."""
    return [*kept_laws(document.pins), *found_laws(document)]


def found_laws(document: SpreadDocument) -> list[KeptLaw]:
    """The laws that were found; functional dependencies may share lines."""
    found = document.found
    return [replace(kept_law(number, law), shared=found.shared.get(number)) for number, law in found.checked.items()]


def kept_law(number: int, law: Law) -> KeptLaw:
    """How a law is kept."""
    plan = plan_of(law)
    if plan is not None and not plan.filters and isinstance(plan.shape, Agree | Differ):
        if isinstance(plan.shape, Agree):
            return KeptLaw(number, law, "agree", plan.group, ())
        return KeptLaw(number, law, "differ", plan.group, (plan.shape.right,))
    group = equal_columns(law) if plan is None else plan.group
    columns = tuple(sorted(set(columns_of(law))))
    if not group:
        return KeptLaw(number, law, "ranges", columns, ())
    return KeptLaw(number, law, "classes", tuple(group), tuple(column for column in columns if column not in group))
