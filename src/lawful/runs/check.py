"""A check from laws to report: what is asked is read, every law is checked, every broken one described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lawful.checks import CheckTask, checks_of
from lawful.checks.law_checks import can_be_checked
from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import STOPPING, Allowance
from lawful.dependencies import Law, format_law, kind_of
from lawful.discovery.families import families
from lawful.results import CheckReport, Outcome
from lawful.results.check_report import judged, no_removals
from lawful.runs.run import Progress, Run, silent
from lawful.runs.stopping import UserWatch, ctrl_c_ends, kept_to


def check_laws(
    run: Run,
    laws: Sequence[Law],
    progress: Progress = silent,
    allowed: Sequence[Allowance | None] | None = None,
    *,
    strength: bool = False,
    watch: UserWatch | None = None,
) -> CheckReport:
    """Check laws on an opened run; when stopped, the report holds the verdicts so far.

    `allowed` has the error within which each law counts as holding, where there is one. With `strength`, the report
    also tells how strong each law is. Without a watch only the user stops it.
    """
    texts = [format_law(law, run.table.names) for law in laws]  # first, because it refuses columns that are not there
    allowed = allowed or [None] * len(laws)
    _refuse_unchecked(laws, texts)
    _refuse_unmeasured(laws, texts, allowed)
    outcomes: dict[int, Outcome] = {}
    progress(f"checking {len(laws)} laws")
    watch = watch or UserWatch(None, None)

    def check() -> None:
        for verdict in run.engine.check([CheckTask(n, law, damage=True) for n, law in enumerate(laws)]):
            watch.look()
            outcome = Outcome.of(laws[verdict.id], texts[verdict.id], verdict, run.table)
            outcomes[verdict.id] = judged(outcome, run.null_policy, allowed[verdict.id], run.table.rows)
            progress(f"checked {len(outcomes)} of {len(laws)} laws")
        if strength:
            progress("measuring strength")
            tasks = [CheckTask(n, law, trial=True, measures=True) for n, law in enumerate(laws)]
            for verdict in run.engine.check(tasks):
                watch.look()
                tried = replace(outcomes[verdict.id], trial=verdict.trial, measures=verdict.measures)
                outcomes[verdict.id] = tried

    with run.timed("check"):
        try:
            if run.engine.name == "local":
                with ctrl_c_ends(watch, lambda: progress(STOPPING)):
                    kept_to(watch, check)
            else:  # Spark's calls come back by themselves, and its settings are a thread's own
                check()
        except (KeyboardInterrupt, StoppedError):
            progress(STOPPING)
            run.cancel()
    outcomes = dict(outcomes)  # whatever was left behind goes on to write
    ordered = tuple(outcomes[number] for number in sorted(outcomes))
    return CheckReport(
        run.table, run.null_policy, ordered, len(laws), run.engine.name, run.seconds, violating=run.violating
    )


def _refuse_unchecked(laws: Sequence[Law], texts: Sequence[str]) -> None:
    """Name the first law that cannot be checked, before work is spent on the others."""
    for law, text in zip(laws, texts, strict=True):
        if not can_be_checked(kind_of(law)):
            checked = ", ".join(family.name for family in families() if can_be_checked(family.name))
            raise UsageError(f"this law can be written but not checked yet: {text}", f"Kinds: {checked}.")


def _refuse_unmeasured(laws: Sequence[Law], texts: Sequence[str], allowed: Sequence[Allowance | None]) -> None:
    """Name the first law whose error nobody can measure."""
    for law, text, allowance in zip(laws, texts, allowed, strict=True):
        if allowance is not None and allowance.measure == "g3" and not checks_of(law).counts_removals(law):
            raise no_removals(f"Use --measure g1, or leave out {text}.")
