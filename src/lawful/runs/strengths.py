"""How strong the laws of a complete set are: counted where they are few, derived where they hold by the thousand.

A key or an FD that holds has the strength 1 if anything tests it, else 0: so nothing has to be counted but whether two
rows agree on a left side. The pairs that coverage is taken from show it for most. Where none of them agrees, all keys
that were found decide it: a minimal FD whose left side contains a key has that key as its left side. Without these
the strength is not known. Laws within an error, and other laws where they are few, are tried by the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from lawful.checks import CheckTask, Trial
from lawful.common.arrays import Flags, Floats, Int64s, Words
from lawful.common.errors import EngineError, StoppedError
from lawful.dependencies import Law
from lawful.discovery.findings import KEY, Block, Findings, Listing
from lawful.results.packed_laws import NO_RIGHT_SIDE, Fared
from lawful.search import set_sizes
from lawful.tables.shuffled.table import is_shuffled

if TYPE_CHECKING:
    from lawful.discovery.coverage import Coverage
    from lawful.runs.run import Progress, Run
    from lawful.runs.stopping import RankingWatch

_MOST_CELLS = 200_000_000
"""So many rows times laws are looked at to try the laws of a kind that were found within an error."""
_MOST_EXACT_CELLS = 2_000_000
"""The same for laws that hold, beside keys and FDs: where it would be more, none is tried."""
_FEWEST = 20
_MANY_KEYS = 1 << 20
_AT_ONCE = 64


@dataclass(frozen=True)
class Trials:
    """How laws fare, as far as that was counted, and the kinds of which some were."""

    of_law: Mapping[Law, Trial] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()

    def of_listing(self, listing: Listing) -> Fared | None:
        """How the laws of a listing fare; None if none of their kind was tried."""
        return self.of(listing.laws(), len(listing)) if listing.kind in self.kinds else None

    def of(self, laws: Iterable[Law], count: int) -> Fared:
        """How so many laws fare."""
        fared = Fared(np.full(count, np.nan), np.full(count, -1, np.int64), np.full(count, -1, np.int64))
        assert fared.tested is not None
        assert fared.violating is not None
        for place, law in enumerate(laws):
            trial = self.of_law.get(law)
            if trial is not None:
                fared.strengths[place] = trial.strength
                fared.tested[place], fared.violating[place] = trial.tested, trial.rows
        return fared


def count_trials(run: Run, found: Findings, watch: RankingWatch, progress: Progress) -> Trials:
    """Try what was found within an error, and other laws where they are few; as many as there is time for."""
    chosen = dict(_chosen(found, run.table.rows, by_jobs=is_shuffled(run.table)))
    laws = [law for some in chosen.values() for law in some]
    trials: dict[Law, Trial] = {}
    if not laws:
        return Trials()
    progress(f"counting how strong {len(laws):,} laws are")
    try:
        remaining = iter(laws)
        while some := list(islice(remaining, _AT_ONCE)):
            if watch.is_over():
                break
            for verdict in run.engine.check([CheckTask(n, law, trial=True) for n, law in enumerate(some)]):
                if verdict.trial is not None:
                    trials[some[verdict.id]] = verdict.trial
    except (StoppedError, EngineError):
        if not watch.is_over():
            raise
    return Trials(trials, frozenset(chosen))


def _chosen(found: Findings, rows: int, *, by_jobs: bool) -> Iterator[tuple[str, list[Law]]]:
    """The laws of each kind that are tried: those of the least error, and of a listing those of the most interest.

    Where each law of a listing is tried by jobs of its own, few of them are.
    """
    most_cells, most_exact_cells = (0, 0) if by_jobs else (_MOST_CELLS, _MOST_EXACT_CELLS)
    for kind in ("key", "fd"):
        blocks = [
            block for block in found.blocks if block.kind == kind and block.errors is not None and len(block.sets)
        ]
        if blocks:
            yield kind, _least_wrong(blocks, _most(_MOST_CELLS, rows))
    for kind in dict.fromkeys(listing.kind for listing in found.listings if len(listing)):
        listings = [listing for listing in found.listings if listing.kind == kind and len(listing)]
        if all(listing.errors is not None for listing in listings):
            yield kind, _most_interesting(listings, _most(most_cells, rows))
        elif sum(map(len, listings)) <= _most(most_exact_cells, rows):
            yield kind, [law for listing in listings for law in listing.laws()]


def _most(cells: int, rows: int) -> int:
    return max(_FEWEST, cells // max(1, rows))


def _least_wrong(blocks: Sequence[Block], most: int) -> list[Law]:
    errors = np.concatenate([block.errors for block in blocks if block.errors is not None])
    laws = [law for block in blocks for law in block.laws()]
    return [laws[place] for place in np.argsort(errors, kind="stable")[:most].tolist()]


def _most_interesting(listings: Sequence[Listing], most: int) -> list[Law]:
    interests = np.concatenate([listing.interests for listing in listings])
    laws = [law for listing in listings for law in listing.laws()]
    return [laws[place] for place in np.argsort(-interests, kind="stable")[:most].tolist()]


class ExactStrengths:
    """The strengths of keys and FDs that hold.

    Parameters
    ----------
    coverage
        Tells whether two rows of a sample agree on a set.
    found
        What was found; it must have all keys for these to decide what the sample does not show.
    rows
        How many rows the table has.
    """

    def __init__(self, coverage: Coverage, found: Findings, rows: int) -> None:
        self._coverage, self._rows = coverage, rows
        self._keys: list[Words] | None = None
        if "key" in found.finished:
            self._keys = [block.sets for block in found.blocks if block.goal == KEY and len(block.sets)]
        self._known: set[bytes] | None = None

    def weigh(self, sets: Words, right_sides: Int64s, interests: Floats) -> Floats:
        """1 for what is tested, 0 for what nothing tests, NaN where that is not known."""
        strengths = np.ones(len(sets))
        is_fd = right_sides != NO_RIGHT_SIDE
        strengths[~is_fd] = 1.0 if self._rows > 1 else 0.0
        strengths[is_fd & (set_sizes(sets) == 0)] = 0.0  # a constant loses nothing whatever the other columns are
        unseen = np.flatnonzero(is_fd & (strengths > 0.0) & ~self._coverage.sees(interests))
        if unseen.size:
            strengths[unseen] = 0.0 if self._coverage.is_exact else self._by_keys(sets[unseen])
        return strengths

    def _by_keys(self, sets: Words) -> Floats:
        if self._keys is None or sum(map(len, self._keys)) > _MANY_KEYS:
            return np.full(len(sets), np.nan)
        if self._known is None:
            self._known = {each.tobytes() for some in self._keys for each in np.ascontiguousarray(some)}
        is_key: Flags = np.array([each.tobytes() in self._known for each in np.ascontiguousarray(sets)], np.bool_)
        return np.where(is_key, 0.0, 1.0)
