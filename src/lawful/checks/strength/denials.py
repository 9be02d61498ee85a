"""The trials of denial constraints, and of pointwise order dependencies, which are such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lawful.checks.denials.counts import count_ready
from lawful.checks.denials.denial import make_ready
from lawful.checks.strength.judged import judged_rows, size_of
from lawful.checks.strength.trial import Trial, log_binomial_tail
from lawful.checks.verdict import Damage
from lawful.checks.violations import Violations
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags
from lawful.dependencies import DC, Predicate, columns_of
from lawful.dependencies.denial_implication import swapped

Predicates = tuple[Predicate, ...]


def denial_trial(law: DC, found: Violations, workspace: Workspace) -> Trial:
    """How a denial constraint fares, given its violations; see `trial_of_denial`."""
    judged = judged_rows(columns_of(law), workspace)

    def count(predicates: Predicates) -> int:
        return count_satisfying(predicates, judged, workspace)

    return trial_of_denial(law, found.damage, size_of(judged, workspace), count)


def trial_of_denial(law: DC, damage: Damage, size: int, count: Callable[[Predicates], int]) -> Trial:
    """How a denial constraint fares on so many judged rows, given its damage and what counts ordered pairs of them.

    Pairs that satisfy all predicates but one put it to the test; if that one had nothing to do with the others, the
    share of all pairs that satisfies it would be lost. Each predicate has to be worth its place, so the one that
    makes the smallest loss to expect counts. Pairs are (t, s) and (s, t), counted once where the constraint reads the
    same both ways. Rows pair up to as many independent pairs as half of them.
    """
    all_pairs = size * (size - 1)
    if not law.predicates or not all_pairs:
        return Trial(0, damage.pairs, damage.rows, damage.removals, 0.0, 0.0, 0.0, 0.0)

    def tests(place: int) -> tuple[int, float]:
        """The pairs that satisfy all predicates but one, and the share of all pairs that satisfies that one."""
        others = law.predicates[:place] + law.predicates[place + 1 :]
        return (count(others) if others else all_pairs), count(law.predicates[place : place + 1]) / all_pairs

    tested, share = min(map(tests, range(len(law.predicates))), key=lambda test: (test[0] * test[1], test[0]))
    lost = count(law.predicates)
    ways = 2 if swapped(law) == law else 1
    chances = min(tested / ways, size / 2.0)
    unit = chances / tested if tested else 0.0
    return Trial(
        tested // ways,
        damage.pairs,
        damage.rows,
        damage.removals,
        chances,
        chances * share,
        lost * unit,
        log_binomial_tail(chances, share, lost * unit),
    )


def count_satisfying(predicates: Predicates, judged: Flags | None, workspace: Workspace) -> int:
    """The ordered pairs of judged rows that satisfy some predicates."""
    denial = make_ready(DC(predicates), workspace)
    if denial is None:
        return 0
    if judged is not None:
        t_fits = judged if denial.t_fits is None else judged & denial.t_fits
        s_fits = judged if denial.s_fits is None else judged & denial.s_fits
        denial = replace(denial, t_fits=t_fits, s_fits=s_fits)
    return count_ready(denial, workspace)
