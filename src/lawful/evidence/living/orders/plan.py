"""Which indexes to keep, so that every POD of a set has one that finds the pairs that break it (section V-B of IncPOD).

`correlation` is ChooseIndex, algorithm 3: indexes of equal values that are selective, then pairs of columns by
(1 - |r|) / coverage, then what is left. It goes for indexes of few chains. `share`, the default, goes for what an index
is there for: it estimates on a sample of pairs what each fetch would list, and takes, one after the other, the fetches
that add the fewest pairs for each POD that they cover. Where A and B rise together, algorithm 3 takes an index for A<
and B<, which finds nearly every row; other comparisons of the same POD may find none.

Laws of which all pairs of comparisons find many pairs are offered three comparisons, one of them by =, too: for a law
within classes, such as {state=, salary<} -> rate<=, nothing less finds only what breaks it.

Departures beside: any operators on two columns can be answered by any index on them, so pairs of columns are covered
and not pairs of operators; what is covered is struck off after a choice, not while it is looked through, and indexes
that cover nothing any more are not built (I10); chains are sorted by operators that allow ties, which need the fewest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawful.common.arrays import Flags, Int64s
from lawful.common.meanings import NullPolicy
from lawful.dependencies.laws import POD
from lawful.evidence.living.orders.chain_index import ChainIndex
from lawful.evidence.living.orders.equality_index import EqualityIndex
from lawful.evidence.living.orders.fetches import Fetch, fetches_of, finer_fetches_of, widest
from lawful.evidence.living.orders.order_keys import TableKeys
from lawful.evidence.living.orders.ranges import Ranges, RowIndex, total_counts
from lawful.evidence.living.orders.sampled_pairs import SampledPairs
from lawful.evidence.living.row_clusters import RowClusters
from lawful.tables.living.living_table import LivingTable

Scoring = Literal["share", "correlation"]

_MOST_EQUAL = 0.6
"""The paper's l: an index of equal values is chosen at once if its score is below."""
_LEAST_CORRELATION = 0.2
"""The paper's alpha: a correlation beyond this decides whether B rises or falls along the chains."""
_LISTED_AGAIN = 0.25
"""What listing a pair costs, as a part of what comparing it costs."""
_VISIT = 1 / 1024
"""What asking an index costs beside what it lists, as a share of the table."""

_FINE_ENOUGH = 1 / 1024
"""A POD that has a fetch which finds no larger share of all pairs is offered none of three comparisons."""
_MOST_FINER = 8
"""Of these, the best so many are looked at for each POD."""

_Choice = tuple[object, ...]
"""What is scored: columns with all fetches on them, or one fetch."""
_Served = dict[int, Fetch]
"""The PODs that a choice covers, by their numbers, each with the fetch that finds what breaks it."""


@dataclass(frozen=True)
class PlannedIndex:
    """An index, what it is asked for each new row, and the PODs that this serves.

    Attributes
    ----------
    serves
        The places of the PODs in the set that the plan is for.
    share
        The share of the table that it lists for a new row, estimated when it was chosen.
    """

    index: RowIndex
    fetches: tuple[Fetch, ...]
    serves: tuple[int, ...]
    share: float

    @property
    def rank(self) -> int:
        """The number of chains."""
        return self.index.rank

    def ranges(self, rows: Int64s) -> list[Ranges]:
        """Where the rows are that some rows are to be compared with."""
        return [part for fetch in self.fetches for part in self.index.ranges(rows, fetch)]

    def counts(self, rows: Int64s) -> Int64s:
        """How many rows it would list for each of some rows, without listing them."""
        return total_counts(self.ranges(rows), len(rows))


@dataclass(frozen=True)
class IndexPlan:
    """The indexes for a set of PODs; each POD is served by one of them.

    They are of one `LivingTable` for as long as rows keep their numbers: once rows that left are cleared away, a plan
    has to be made anew.
    """

    table: LivingTable
    pods: tuple[POD, ...]
    indexes: tuple[PlannedIndex, ...]
    keys: TableKeys
    clusters: RowClusters

    def covers(self, pod: POD) -> bool:
        """Whether the plan finds all pairs that break another POD, without any change.

        It does for whatever follows from a POD of the plan: for all that takes the place of one that is broken (end of
        section VI of IncPOD).
        """
        asked = [fetch for each in self.indexes for fetch in each.fetches]
        return any(
            all(any(part.is_within(fetch) for fetch in asked) for part in option.parts())
            for options in (fetches_of, finer_fetches_of)
            for option in options(pod)
        )

    def catch_up(self) -> None:
        """Take in the rows that have come, after each change of the table."""
        self.keys.catch_up()
        self.clusters.catch_up()
        for each in self.indexes:
            each.index.catch_up()

    @property
    def visits(self) -> int:
        """How many questions are asked for new rows."""
        return sum(len(each.fetches) for each in self.indexes)

    @property
    def memory(self) -> int:
        """Bytes in use by the indexes and the order keys."""
        return self.keys.memory + sum(each.index.memory for each in self.indexes)


def choose_indexes(
    table: LivingTable,
    pods: Iterable[POD],
    policy: NullPolicy,
    clusters: RowClusters | None = None,
    *,
    scoring: Scoring = "share",
    seed: int = 0,
    before: IndexPlan | None = None,
) -> IndexPlan:
    """Choose indexes for a set of PODs and build them.

    Parameters
    ----------
    clusters
        The rows by value, if there are some already; a plan before has its own.
    before
        A plan for the same table and the same meaning of null, up to date, whose indexes are kept where they are chosen
        again.
    """
    keys, pods = before.keys if before else TableKeys(table), tuple(pods)
    clusters = before.clusters if before else clusters or RowClusters(table)
    known = {_columns_of(each.fetches[0]): each.index for each in before.indexes} if before else {}
    sample = SampledPairs(keys, policy, seed)
    options = [fetches_of(pod) for pod in pods]
    if scoring == "share":
        chosen = _by_share(_with_finer(options, pods, sample), sample)
    else:
        chosen = _by_correlation(options, sample)
    grouped: dict[tuple[tuple[int, ...], bool, int], dict[int, Fetch]] = defaultdict(dict)
    for number, fetch in chosen.items():
        grouped[_columns_of(fetch)][number] = fetch
    indexes = []
    for group, served in sorted(grouped.items()):
        fetches = widest(served.values())
        index = known.get(group)
        if index is None and fetches[0].is_equality:
            index = EqualityIndex(table, clusters, fetches[0].first, policy)
        elif index is None:
            index = _chain_index(keys, fetches, sample, policy)
        indexes.append(PlannedIndex(index, fetches, tuple(sorted(served)), sample.share(fetches)))
    return IndexPlan(table, pods, tuple(indexes), keys, clusters)


def _columns_of(fetch: Fetch) -> tuple[tuple[int, ...], bool, int]:
    """What tells the index that answers a fetch from all others."""
    return fetch.columns, fetch.is_equality, -1 if fetch.within is None else fetch.within


def _chain_index(keys: TableKeys, fetches: Sequence[Fetch], sample: SampledPairs, policy: NullPolicy) -> ChainIndex:
    """The index on two columns with the direction that needs fewer chains, as far as the sample can tell."""
    columns, within = fetches[0].columns, fetches[0].within
    if len(columns) == 1:
        return ChainIndex(keys, (columns[0], "<="), None, policy)
    related = sample.correlation(*columns)
    if abs(related) > _LEAST_CORRELATION:
        falls = related < 0
    else:
        apart = [fetch for fetch in fetches if "=" not in (fetch.first_op, fetch.second_op)]
        falls = 2 * sum(fetch.first_op[0] != str(fetch.second_op)[0] for fetch in apart) > len(apart)
    return ChainIndex(keys, (columns[0], "<="), (columns[1], ">=" if falls else "<="), policy, within)


class _ListedShares:
    """What fetches cost, given those that are chosen: pairs that these find are not compared again, only listed."""

    def __init__(self, fetches: Iterable[Fetch], sample: SampledPairs) -> None:
        self._place: dict[_Choice, int] = {fetch: place for place, fetch in enumerate(fetches)}
        found = [sample.finds(fetch) for fetch in self._place if isinstance(fetch, Fetch)]
        self._finds: Flags = np.stack(found) if found else np.empty((0, 0), np.bool_)
        self._is_open = np.ones(self._finds.shape[1], np.bool_)
        self._listed: Int64s = np.count_nonzero(self._finds, axis=1)
        self._compared = self._listed.copy()

    def cost(self, choice: _Choice) -> float:
        place = self._place[choice]
        pairs = self._compared[place] + _LISTED_AGAIN * self._listed[place]
        return _VISIT + float(pairs) / max(1, len(self._is_open))

    def take(self, choice: _Choice) -> None:
        added = self._finds[self._place[choice]] & self._is_open
        self._is_open &= ~added
        self._compared -= np.count_nonzero(self._finds[:, added], axis=1)


def _with_finer(options: Sequence[Sequence[Fetch]], pods: Sequence[POD], sample: SampledPairs) -> list[list[Fetch]]:
    """The fetches of each POD, and for PODs whose fetches all find many pairs the best ones of three comparisons."""
    shares: dict[Fetch, float] = {}

    def share(fetch: Fetch) -> float:
        if fetch not in shares:
            shares[fetch] = sample.share((fetch,))
        return shares[fetch]

    found = []
    for pod, fetches in zip(pods, options, strict=True):
        least = min(map(share, fetches))
        finer = finer_fetches_of(pod) if least > _FINE_ENOUGH else []
        better = sorted((fetch for fetch in finer if 2 * share(fetch) <= least), key=share)
        found.append([*fetches, *better[:_MOST_FINER]])
    return found


def _by_share(options: Sequence[Sequence[Fetch]], sample: SampledPairs) -> _Served:
    """The fetch that is chosen for each POD."""
    found: dict[_Choice, _Served] = defaultdict(dict)
    for number, fetches in enumerate(options):
        for fetch in fetches:
            found[fetch][number] = fetch
    shares = _ListedShares(dict.fromkeys(fetch for fetches in options for fetch in fetches), sample)
    return _cover(found, shares.cost, shares.take)


def _by_correlation(options: Sequence[Sequence[Fetch]], sample: SampledPairs) -> _Served:
    """The same by algorithm 3, whose first and last lines are about equal values."""
    equal: dict[_Choice, _Served] = defaultdict(dict)
    others: dict[_Choice, _Served] = defaultdict(dict)
    scores: dict[_Choice, float] = {}
    for number, fetches in enumerate(options):
        for fetch in fetches:
            if fetch.is_equality:
                equal[fetch][number] = fetch
                scores[fetch] = 1 - sample.distinct_share(fetch.first)
            elif "=" not in (fetch.first_op, fetch.second_op):
                others[fetch.columns][number] = fetch
                if fetch.columns not in scores:
                    related = 0.0 if fetch.second is None else sample.correlation(fetch.first, fetch.second)
                    scores[fetch.columns] = 1 - abs(related)
    telling = {choice: served for choice, served in equal.items() if scores[choice] < _MOST_EQUAL}
    chosen = _cover(telling, scores.__getitem__, per_pod=False)
    chosen |= _cover(_without(others, chosen), scores.__getitem__)
    return chosen | _cover(_without(equal, chosen), scores.__getitem__, per_pod=False)


def _without(found: Mapping[_Choice, _Served], covered: Iterable[int]) -> dict[_Choice, _Served]:
    done = set(covered)
    return {
        choice: {number: fetch for number, fetch in served.items() if number not in done}
        for choice, served in found.items()
    }


def _cover(
    found: Mapping[_Choice, _Served],
    score: Callable[[_Choice], float],
    take: Callable[[_Choice], None] = lambda _: None,
    *,
    per_pod: bool = True,
) -> _Served:
    """Choose until all that can be is covered, each time what has the least score, or score per POD that it adds."""
    chosen: _Served = {}
    left = {choice: served for choice, served in found.items() if served}
    while left:
        best = min(left, key=lambda choice: (score(choice) / (len(left[choice]) if per_pod else 1), str(choice)))
        take(best)
        chosen |= left[best]
        left = {choice: served for choice, served in _without(left, left[best]).items() if served}
    return chosen
