"""Which index a pinned law gets in a spread state."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.dependencies import Law, columns_of
from lawful.engines.shuffle.classes import equal_columns
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.maintenance.pins.plan import Agree, Differ, plan_of


def kept_laws(laws: Sequence[Law]) -> list[KeptLaw]:
    """How laws are kept; each has its place for its number."""
    return [_kept(number, law) for number, law in enumerate(laws)]


def _kept(number: int, law: Law) -> KeptLaw:
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
