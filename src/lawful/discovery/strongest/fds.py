"""The strongest functional dependencies: left sides smallest first, right sides dropped as soon as too much is lost.

What a larger left side X may lose is bounded before it is counted: by the weakest law that is listed, and by half of
what smaller left sides lose. Its chances to fail are at most those of its subsets. Counting ends as soon as more is
lost, so most candidates are dropped after a few classes; what is known of them then is a lower bound of their loss.
"""

from __future__ import annotations

import math

import numpy as np

from lawful.checks import Partition, Workspace
from lawful.checks.strength.class_sizes import ClassSizes
from lawful.checks.strength.keys_and_fds import RightSide, Splits, fd_trial, trial_of_splits
from lawful.common.arrays import Flags, Floats, Int64s
from lawful.dependencies import FD
from lawful.discovery.strongest.kernels.columns import try_columns
from lawful.discovery.strongest.sets import Columns, candidates_of_size, has_no_unknown, proper_subsets
from lawful.discovery.strongest.worth import LEAST_LOST, WORTH, Best, Standard, Tried, loss_of
from lawful.tables.ranked_table import in_lines

_ROUNDING = 1.0 + 1e-9


class StrongestFDs:
    """Tries left sides, each with all right sides at once.

    Parameters
    ----------
    workspace
        The table.
    columns
        The columns that may occur; `tried` counts candidates among them.
    top
        How many laws are wanted.
    standard
        What a law has to be to be listed.
    """

    def __init__(self, workspace: Workspace, columns: Columns, top: int, standard: Standard) -> None:
        self.best, self._standard = Best(top), standard
        self.accidental = 0
        """Laws that would be listed if they had been tested more, or by themselves."""
        self._workspace, self._columns = workspace, columns
        table = workspace.table
        self._lines = in_lines(table, tuple(range(table.width)))
        self._right_sides = [RightSide.of(ClassSizes.of(_sizes(workspace, column))) for column in range(table.width)]
        self._differing = np.array([right.differing for right in self._right_sides])
        self._is_column = np.zeros(table.width, np.bool_)
        self._is_column[list(columns)] = True
        self._ranks = 1 + max((table.distinct(column) for column in columns), default=0)
        self._by_kernel = has_no_unknown(workspace, columns)
        self._losses: dict[Columns, tuple[Floats, Flags]] = {}

    def wants(self, left: Columns, chances: int) -> bool:
        """Whether some right side may be listed with a left side, given a bound of its chances."""
        return bool((self._bounds(left, chances) > 0).any())

    def evaluate(self, left: Columns, partition: Partition) -> tuple[Int64s, Floats, Floats]:
        """Count for all right sides that may be listed, in any thread; gives these, their limits and counts."""
        limits = self._bounds(left, partition.error)
        wanted = np.flatnonzero(limits > 0)
        if not self._by_kernel:
            return wanted, limits[wanted], np.empty((wanted.size, 7))
        counted = np.empty((wanted.size, 7))
        scratch = self._workspace.scratch
        try_columns(
            partition.rows,
            partition.offsets,
            self._lines,
            wanted,
            limits[wanted],
            scratch.zeros("slots", self._ranks),
            scratch.buffer("seen", self._ranks),
            counted,
        )
        return wanted, limits[wanted], counted

    def learn(self, left: Columns, evaluated: tuple[Int64s, Floats, Floats], chances: int) -> None:
        """List what is worth it, and note what is known of all losses."""
        wanted, limits, counted = evaluated
        losses, is_exact = np.zeros(self._differing.size), np.ones(self._differing.size, np.bool_)
        tried = candidates_of_size(len(self._columns), len(left), 1)
        is_over = counted[:, 1] > limits if self._by_kernel else np.zeros(wanted.size, np.bool_)
        over = wanted[is_over]
        losses[over] = np.minimum(1.0, counted[is_over, 1] / (chances * self._differing[over]))
        is_exact[over] = False
        for place in np.flatnonzero(~is_over).tolist():
            right = int(wanted[place])
            law = FD(left, right)
            if self._by_kernel:
                trial = trial_of_splits(Splits(*counted[place].tolist()), self._right_sides[right])
            else:
                trial = fd_trial(law, self._workspace)
            losses[right] = loss_of(trial)
            if trial.strength < self.best.weakest(len(left)):
                continue
            surely_lost = self._standard.surely_lost(trial, tried)
            if self._standard.is_worth(trial, self._smaller_losses(left, right, surely_lost), tried):
                self.best.add(Tried(law, trial))
            elif trial.strength > WORTH and trial.is_accidental(tried):
                self.accidental += 1
        self._losses[left] = losses, is_exact

    def _bounds(self, left: Columns, chances: int) -> Floats:
        """How much each right side may lose at most to be listed; 0 where it cannot be."""
        expected = chances * (self._differing if self._by_kernel else 1.0)
        share = np.full(self._differing.size, WORTH)
        for subset in proper_subsets(left):
            losses, is_exact = self._losses[subset]
            share = np.where(is_exact, np.minimum(share, WORTH * losses), share)
        limits = expected * share
        limits[limits < LEAST_LOST] = 0.0
        limits = np.minimum(limits, expected * max(1.0 - self.best.weakest(len(left)), 1e-12) * _ROUNDING)
        limits[list(left)] = 0.0
        limits[~self._is_column] = 0.0
        return limits if self._by_kernel else np.where(limits > 0, math.inf, 0.0)

    def _smaller_losses(self, left: Columns, right: int, surely_lost: float) -> list[float]:
        """What each smaller left side loses, counted to the end where the bound does not settle it."""
        found = []
        for subset in proper_subsets(left):
            losses, is_exact = self._losses[subset]
            if not is_exact[right] and surely_lost > WORTH * losses[right]:
                losses[right], is_exact[right] = loss_of(fd_trial(FD(subset, right), self._workspace)), True
            found.append(float(losses[right]))
        return found


def _sizes(workspace: Workspace, column: int) -> Int64s:
    counted = workspace.frequencies(column)[workspace.lowest :]
    return counted[counted > 0]
