"""The strongest keys: what is expected to agree by chance is known from smaller sets before a set is looked at."""

from __future__ import annotations

from lawful.checks import Partition, Trial, Workspace
from lawful.checks.strength.keys_and_fds import expected_agreements, key_trial, trial_of_agreements
from lawful.dependencies import Key
from lawful.discovery.strongest.sets import (
    Columns,
    ColumnSets,
    candidates_of_size,
    has_no_unknown,
    proper_subsets,
)
from lawful.discovery.strongest.worth import BROKEN, LEAST_LOST, WORTH, Best, Standard, Tried, loss_of


class StrongestKeys:
    """Tries sets of columns as keys; parameters as of `StrongestFDs`."""

    def __init__(self, workspace: Workspace, sets: ColumnSets, top: int, standard: Standard) -> None:
        self.best, self._standard = Best(top), standard
        self.accidental = 0
        self._workspace, self._sets = workspace, sets
        self._counts_all_rows = has_no_unknown(workspace, sets.columns)
        self._losses: dict[Columns, float] = {}

    def wants(self, columns: Columns) -> bool:
        """Whether a set may be listed as a key."""
        if len(columns) > 1 and self._sets.most_pairs(columns) * WORTH < LEAST_LOST:
            return False
        return all(self._losses.get(subset, 0.0) > 0.0 for subset in proper_subsets(columns))

    def learn(self, columns: Columns, partition: Partition) -> None:
        """List a set that is worth it, once the sets know it."""
        if not self.wants(columns):
            self._losses[columns] = 0.0
            return
        trial = self._trial(columns, partition)
        self._losses[columns] = loss_of(trial)
        tried = candidates_of_size(len(self._sets.columns), len(columns), 0)
        if (trial.removals or 0) > BROKEN * self._workspace.table.rows:
            return  # most rows repeat, if fewer than chance would have it: that is no key
        if self._standard.is_worth(trial, (self._losses[subset] for subset in proper_subsets(columns)), tried):
            self.best.add(Tried(Key(columns), trial))
        elif trial.strength > WORTH and trial.is_accidental(tried):
            self.accidental += 1

    def _trial(self, columns: Columns, partition: Partition) -> Trial:
        """How a key fares: where all rows count, by what is known of its subsets, whose partitions may be gone."""
        if len(columns) == 1 or not self._counts_all_rows:
            return key_trial(Key(columns), self._workspace)
        pairs = self._sets.pairs
        parts = ((pairs[tuple(o for o in columns if o != c)], pairs[(c,)]) for c in columns)
        return trial_of_agreements(partition, self._workspace.table.rows, *expected_agreements(pairs[()], parts))
