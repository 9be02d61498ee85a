"""A check from laws to report: what is asked is read, every law is checked, every broken one described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lawful.checks import CheckTask
from lawful.common.errors import StoppedError, UsageError
from lawful.dependencies import POD, Law, format_law, parse_laws
from lawful.results import CheckReport, Outcome
from lawful.runs.run import Progress, Run, silent


def laws_of(laws: str | Law | Iterable[str | Law], names: Sequence[str]) -> list[Law]:
    """Laws as values, texts parsed against the column names."""
    several = [laws] if isinstance(laws, str) or not isinstance(laws, Iterable) else list(laws)
    found: list[Law] = []
    for law in several:
        found.extend(parse_laws(law, names) if isinstance(law, str) else [law])
    if not found:
        raise UsageError("there are no laws to check", 'Give at least one, for example "zip -> state".')
    return found


def one_law(law: str | Law, names: Sequence[str]) -> Law:
    """One law as a value."""
    found = laws_of(law, names)
    if len(found) > 1:
        listed = "; ".join(format_law(each, names) for each in found[:3]) + ("; …" if len(found) > 3 else "")
        raise UsageError(f"one law is explained at a time, and these are {len(found)}: {listed}")
    return found[0]


def check_laws(run: Run, laws: Sequence[Law], progress: Progress = silent) -> CheckReport:
    """Check laws on an opened run; when stopped, the report holds the verdicts so far."""
    texts = [format_law(law, run.table.names) for law in laws]  # first, because it refuses columns that are not there
    _refuse_unchecked(laws, texts)
    outcomes: dict[int, Outcome] = {}
    progress(f"checking {len(laws)} laws")
    with run.timed("check"):
        try:
            for verdict in run.engine.check([CheckTask(n, law, damage=True) for n, law in enumerate(laws)]):
                outcomes[verdict.id] = Outcome.of(laws[verdict.id], texts[verdict.id], verdict, run.table)
                progress(f"checked {len(outcomes)} of {len(laws)} laws")
        except (KeyboardInterrupt, StoppedError):
            run.cancel()
    ordered = tuple(outcomes[number] for number in sorted(outcomes))
    return CheckReport(
        run.table, run.null_policy, ordered, len(laws), run.engine.name, run.seconds, violating=run.violating
    )


def _refuse_unchecked(laws: Sequence[Law], texts: Sequence[str]) -> None:
    """Name the first law that cannot be checked, before work is spent on the others."""
    for law, text in zip(laws, texts, strict=True):
        if isinstance(law, POD):
            raise UsageError(
                f"this law can be written but not checked yet: {text}",
                "All kinds of laws can be checked but pointwise order dependencies.",
            )
