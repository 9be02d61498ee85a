"""Which index a pinned law gets in a spread state."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.common.errors import UsageError
from lawful.dependencies import Law, columns_of, format_law
from lawful.engines.shuffle.classes import equal_columns
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.maintenance.pins.plan import Agree, Differ, plan_of


def kept_laws(laws: Sequence[Law], names: Sequence[str]) -> list[KeptLaw]:
    """How laws are kept; each has its place for its number.

    Raises
    ------
    UsageError
        If a law compares no column by `=`: then any two rows may break it, and a batch would have to read all of them.
    """
    return [_kept(number, law, names) for number, law in enumerate(laws)]


def _kept(number: int, law: Law, names: Sequence[str]) -> KeptLaw:
    plan = plan_of(law)
    if plan is not None and not plan.filters and isinstance(plan.shape, Agree | Differ):
        if isinstance(plan.shape, Agree):
            return KeptLaw(number, law, "agree", plan.group, ())
        return KeptLaw(number, law, "differ", plan.group, (plan.shape.right,))
    group = equal_columns(law) if plan is None else plan.group
    if not group:
        raise UsageError(
            f"{format_law(law, names)} compares no columns by =, so every batch would have to read the whole table",
            "Pin it with a context, keep it in a state of one process (--placement replicate), or check it now and "
            "then with lawful check --placement shuffle.",
        )
    others = tuple(sorted(set(columns_of(law)) - set(group)))
    return KeptLaw(number, law, "classes", tuple(group), others)
