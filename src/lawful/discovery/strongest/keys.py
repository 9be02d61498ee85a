"""The strongest keys: what is expected to agree by chance is known from smaller sets before a set is looked at."""

from __future__ import annotations

from lawful.checks import Workspace
from lawful.checks.strength.keys_and_fds import key_trial
from lawful.dependencies import Key
from lawful.discovery.strongest.sets import Columns, ColumnSets, candidates_of_size, proper_subsets
from lawful.discovery.strongest.worth import LEAST_LOST, WORTH, Best, Tried, is_worth, loss_of


class StrongestKeys:
    """Tries sets of columns as keys; parameters as of `StrongestFDs`."""

    def __init__(self, workspace: Workspace, sets: ColumnSets, top: int) -> None:
        self.best = Best(top)
        self.accidental = 0
        self._workspace, self._sets = workspace, sets
        self._losses: dict[Columns, float] = {}

    def wants(self, columns: Columns) -> bool:
        """Whether a set may be listed as a key."""
        if len(columns) > 1 and self._sets.most_pairs(columns) * WORTH < LEAST_LOST:
            return False
        return all(self._losses.get(subset, 0.0) > 0.0 for subset in proper_subsets(columns))

    def learn(self, columns: Columns) -> None:
        """List a set that is worth it."""
        if not self.wants(columns):
            self._losses[columns] = 0.0
            return
        trial = key_trial(Key(columns), self._workspace)
        self._losses[columns] = loss_of(trial)
        tried = candidates_of_size(len(self._sets.columns), len(columns), 0)
        if is_worth(trial, (self._losses[subset] for subset in proper_subsets(columns)), tried):
            self.best.add(Tried(Key(columns), trial))
        elif trial.strength > WORTH and trial.is_accidental(tried):
            self.accidental += 1
