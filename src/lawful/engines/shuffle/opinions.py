"""What almost-laws think of the rows of a shuffled table: the opinions of one place, from votes that shuffles count.

Each law is first asked for what it loses in the whole table, which is a line of sums. From that follows its doubt, and
so the rows that it may find wrong: only these come here, with their votes. How often rows like them fail, which can
make them exceptions, is counted for the values that they have. The rest are the formulas of `checks.voting`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.key_opinions import key_weight
from lawful.checks.voting.opinions import (
    CLASS_THAT_TELLS,
    CLUSTER,
    FAILS,
    MOST_REPEATS,
    MOST_VOTES,
    SLIP,
    Losses,
    Opinion,
    cluster_rates,
    doubt_of,
    fd_weights,
    same_slip,
)
from lawful.checks.voting.order_opinions import CLOSE, FREE_VOTES, doubt_of_order, order_weights
from lawful.checks.voting.votes import Votes
from lawful.common.arrays import Floats, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key
from lawful.engines.shuffle.classes import LARGEST_CLASS, too_large
from lawful.engines.shuffle.keys import lines_a_row
from lawful.engines.shuffle.value_facts import ValueFacts
from lawful.engines.shuffle.votes import VotingJob, judged_columns
from lawful.tables.shuffled.table import MOST_SUSPICIOUS, ShuffledTable
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_FAILED = 1.0 / 3.0
"""Where so many rows fail, none can fail three times as often."""
_TOO_MANY = f"more than {MOST_SUSPICIOUS:,} rows look wrong to a law, and one process takes no more"
_ROUNDING = 1.0 + 1e-9
_LOSSES = (
    "sum(m) as tested",
    "sum(if(rival > m - 1, m, 0)) as failed",
    "sum(cast(m as double) * (n - m) / n) as lost",
    "sum(cast(m as double) / n) as by_luck",
    "sum(if(tells, m, 0)) as telling",
    "sum(if(tells, cast(m as double) * n, 0D)) as sizes",
    "sum(if(tells, m * k, 0D)) as minor",
    "sum(if(tells, m * k / n, 0D)) as minor_shares",
    "sum(if(tells, m * k * k / n, 0D)) as minor_squares",
)


@dataclass(frozen=True)
class Told:
    """What a law says of the whole table: how much it doubts itself, what it loses, and why it cannot be asked."""

    tested: int = 0
    failed: int = 0
    doubt: float = 1.0
    losses: Losses | None = None
    unheard: str | None = None

    @property
    def failed_share(self) -> float:
        """How many of the rows that it votes on fail."""
        return self.failed / max(1, self.tested)

    @property
    def may_have_exceptions(self) -> bool:
        """Whether rows can fail so much more often than others that they are exceptions."""
        return self.failed > CLUSTER and self.failed_share < _MOST_FAILED


class _Lines(NamedTuple):
    """The votes of one law on some rows, in the order of the rows."""

    rows: Int64s
    own: Int64s
    others: Int64s
    alike: Int64s
    rival: Int64s
    suggested: Int64s

    @property
    def votes(self) -> Votes:
        return Votes(self.others, self.alike, self.rival, self.suggested)


class Asking:
    """Asks the laws of one table.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    chunk_rows
        How many rows of an order a task takes at once.
    facts
        How often values occur.
    gathered
        Runs a job and gives its lines.
    told
        What laws have said of the whole table so far; what others say is added.
    """

    def __init__(
        self,
        table: ShuffledTable,
        policy: NullPolicy,
        chunk_rows: int,
        facts: ValueFacts,
        gathered: Callable[[DataFrame], pa.Table],
        told: dict[VotingLaw, Told],
    ) -> None:
        self._table, self._policy, self._chunk_rows, self._facts = table, policy, chunk_rows, facts
        self._data, self._gathered, self._told = table.dataset, gathered, told

    def opinions(self, laws: Sequence[VotingLaw], rows: Int64s | None) -> list[Opinion]:
        """What each law thinks of some rows; without any, of those that it finds something wrong with."""
        for job in self._jobs(laws):
            self._learn(job)
        heard = [law for law in laws if self._told[law].unheard is None and self._told[law].tested]
        lines: dict[VotingLaw, _Lines] = {}
        for job in self._jobs(heard, is_asked=True):
            lines |= self._suspicious(job) if rows is None else self._chosen(job, rows)
        weights = self._weights(lines)
        return [self._opinion(law, lines.get(law), weights.get(law), rows) for law in laws]

    def _jobs(self, laws: Sequence[VotingLaw], *, is_asked: bool = False) -> Iterator[list[VotingLaw]]:
        """Laws of one kind in jobs: those that have not told what they lose, or those that are asked about rows."""
        at_once = lines_a_row(self._data)
        for kind in (FD, CanonicalOD, Key):
            some = [law for law in dict.fromkeys(laws) if isinstance(law, kind) and (is_asked or law not in self._told)]
            for first in range(0, len(some), at_once):
                yield some[first : first + at_once]

    def _voting(self, laws: Sequence[VotingLaw], rows: DataFrame | None = None) -> VotingJob:
        return VotingJob(self._data, laws, self._policy, self._chunk_rows, rows)

    def _learn(self, laws: Sequence[VotingLaw]) -> None:
        """Let laws of one kind tell what they lose."""
        self._told.update(dict.fromkeys(laws, Told()))
        if self._table.rows > LARGEST_CLASS:
            whole = [law for law in laws if isinstance(law, CanonicalOD) and not law.context]
            self._told.update(dict.fromkeys(whole, Told(unheard=too_large())))
            laws = [law for law in laws if law not in whole]
        if not laws or not self._table.rows:
            return
        voting, expr = self._voting(laws), self._data.expr
        if isinstance(laws[0], FD):
            usual = "greatest(rival, if(a = 0, if(suggested > 0, 0, n), m))"
            tells = f"n >= {CLASS_THAT_TELLS} as tells"
            parts = voting.parts().selectExpr("*", tells, f"cast(n - {usual} as double) as k")
            frame = parts.groupBy("t").agg(*map(expr, _LOSSES))
        elif isinstance(laws[0], Key):
            frame = voting.repeats().groupBy("t").agg(expr("sum(n) as tested"))
        else:
            close = f"count_if(rival > 0 and rival / others < {CLOSE}D) as close"
            counts = ("count(t) as tested", "count_if(rival > 0) as failed", close, "max(error) as error")
            frame = voting.frame().groupBy("t").agg(*map(expr, counts))
        lines = self._gathered(frame).to_pylist()
        error = next((line["error"] for line in lines if line.get("error") is not None), None)
        if error is not None and len(laws) > 1:  # one of them is at fault
            for law in laws:
                self._learn([law])
            return
        if error is not None:
            self._told[laws[0]] = Told(unheard=error)
            return
        for line in lines:
            self._told[laws[line["t"]]] = self._told_by(laws[line["t"]], line)

    def _told_by(self, law: VotingLaw, line: dict[str, Any]) -> Told:
        if isinstance(law, FD):
            losses = Losses(**{each.name: line[each.name] for each in fields(Losses)})
            doubt = doubt_of(law, losses, self._facts.same_by_chance(law.rhs))
            return Told(losses.tested, losses.failed, doubt, losses)
        if isinstance(law, Key):
            return Told(line["tested"], line["tested"])
        return Told(line["tested"], line["failed"], doubt_of_order(law, line["tested"], line["failed"], line["close"]))

    def _suspicious(self, laws: Sequence[VotingLaw]) -> dict[VotingLaw, _Lines]:
        """The rows that laws may find wrong: all that they do, and those that are exceptions to them."""
        if isinstance(laws[0], Key):  # which never finds a row wrong by itself
            return {}
        doubts = [self._told[law].doubt for law in laws]
        doubt = f"element_at(array({', '.join(f'{each!r}D' for each in doubts)}), t + 1)"
        if isinstance(laws[0], FD):
            slips = [same_slip(self._told[law].failed_share) for law in laws]
            slip = f"element_at(array({', '.join(f'{each!r}D' for each in slips)}), t + 1)"
            alike = "if(own = 0, 0, alike)"
            share = f"({alike} + 1) / (others + 1) / {slip}"
            times = f"power(greatest(1D, {share}), least({alike}, {MOST_REPEATS}))"
            least = f"{doubt} * {times} / ({doubt} * {times} + 1 - {doubt})"
        else:
            against = f"power({SLIP}D, least(greatest(rival - {FREE_VOTES}, 0), {MOST_VOTES}))"
            least = f"{doubt} + (1 - {doubt}) * {against}"
        wrong = f"rival > alike and {least} < {math.exp(FAILS) * _ROUNDING!r}D"
        votes = self._gathered(self._voting(laws).frame().where(wrong).limit(MOST_SUSPICIOUS + 1))
        if votes.num_rows <= MOST_SUSPICIOUS:
            return _by_law(laws, votes)
        if len(laws) > 1:
            return {law: lines for one in laws for law, lines in self._suspicious([one]).items()}
        self._told[laws[0]] = replace(self._told[laws[0]], unheard=_TOO_MANY)
        return {}

    def _chosen(self, laws: Sequence[VotingLaw], rows: Int64s) -> dict[VotingLaw, _Lines]:
        if not rows.size:
            return {}
        wanted = frame_of(self._data.spark, pa.table({"row": pa.array(np.unique(rows), pa.int64())}))
        return _by_law(laws, self._gathered(self._voting(laws, wanted).frame()))

    def _weights(self, lines: dict[VotingLaw, _Lines]) -> dict[VotingLaw, Floats]:
        """The opinion of each row that is voted on."""
        apart = self._exceptions({law: some for law, some in lines.items() if self._told[law].may_have_exceptions})
        wanted: dict[int, list[Int64s]] = defaultdict(list)
        for law, some in lines.items():
            if isinstance(law, FD):
                wanted[law.rhs] += [some.own, some.suggested]
        ranks = {column: np.unique(np.concatenate(each)) for column, each in wanted.items()}
        counts = self._facts.counts(ranks)

        def shares(column: int, of: Int64s) -> Floats:
            found: Floats = np.maximum(counts[column][np.searchsorted(ranks[column], of)], 1) / self._table.rows
            return found

        weights: dict[VotingLaw, Floats] = {}
        for law, some in lines.items():
            told, rates = self._told[law], apart.get(law, np.zeros(some.rows.size))
            if isinstance(law, FD):
                assert told.losses is not None
                own, other = shares(law.rhs, some.own), shares(law.rhs, some.suggested)
                weights[law] = fd_weights(some.votes, some.own == NULL_RANK, own, other, told.doubt, told.losses, rates)
            elif isinstance(law, Key):
                weights[law] = np.full(some.rows.size, key_weight(law, told.tested, self._table.rows))
            else:
                weights[law] = np.where(some.rival > 0, order_weights(some.rival, told.doubt, rates), 0.0)
        return weights

    def _exceptions(self, lines: dict[VotingLaw, _Lines]) -> dict[VotingLaw, Floats]:
        """How often rows fail that share a value with a row that fails, where that is far more often than usual."""
        failing: dict[VotingLaw, Int64s] = {
            law: some.rows[some.rival > some.alike]
            for law, some in lines.items()
            if not isinstance(law, Key) and (some.rival > some.alike).any()
        }
        if not failing:
            return {}
        ids = np.unique(np.concatenate(list(failing.values())))
        ranks = self._facts.ranks(ids).T
        rates: dict[VotingLaw, Floats] = {}
        for job in self._jobs(list(failing), is_asked=True):
            own = [ranks[np.searchsorted(ids, failing[law])] for law in job]
            counted = self._counted_beside(job, own)
            for number, law in enumerate(job):
                found = np.zeros(len(own[number]))
                for column in (each for each in range(self._table.width) if (number, each) in counted):
                    values, with_it, beside = counted[number, column]
                    places = np.minimum(np.searchsorted(values, own[number][:, column]), values.size - 1)
                    some = cluster_rates(with_it[places], beside[places], self._told[law].failed_share)
                    found = np.maximum(found, np.where(values[places] == own[number][:, column], some, 0.0))
                rates[law] = np.zeros(lines[law].rows.size)
                rates[law][lines[law].rival > lines[law].alike] = found
        return rates

    def _counted_beside(
        self, laws: Sequence[VotingLaw], own: Sequence[Int64s]
    ) -> dict[tuple[int, int], tuple[Int64s, Int64s, Int64s]]:
        """For each law and column those values of some rows that several rows fail with, how many, and who has them."""
        asked: list[Int64s] = []
        for number, (law, ranks) in enumerate(zip(laws, own, strict=True)):
            for column in sorted(set(range(self._table.width)) - set(judged_columns(law))):
                values = np.unique(ranks[:, column])
                values = values[values != NULL_RANK]
                asked.append(np.stack([np.full(values.size, number), np.full(values.size, column), values]))
        if not asked:
            return {}
        t, c, r = np.concatenate(asked, axis=1)
        wanted = frame_of(self._data.spark, pa.table({"t": pa.array(t, pa.int32()), "c": c, "r": r})).hint("broadcast")
        votes = self._voting(laws).frame().selectExpr("t", "row", "rival > alike as fails")
        cells = self._facts.cells(sorted(set(c.tolist())), votes.join(self._data.ranks, "row"))
        counts = [self._data.expr("count_if(fails) as with_it"), self._data.expr("count(*) as beside")]
        found = cells.join(wanted, ["t", "c", "r"]).groupBy("t", "c", "r").agg(*counts).where(f"with_it > {CLUSTER}")
        told = self._gathered(found).sort_by([("t", "ascending"), ("c", "ascending"), ("r", "ascending")])
        t, c, r, with_it, beside = (told.column(name).to_numpy() for name in ("t", "c", "r", "with_it", "beside"))
        keys = sorted(set(zip(t.tolist(), c.tolist(), strict=True)))
        places = {(law, column): (t == law) & (c == column) for law, column in keys}
        return {key: (r[some], with_it[some], beside[some]) for key, some in places.items()}

    def _opinion(self, law: VotingLaw, lines: _Lines | None, weights: Floats | None, rows: Int64s | None) -> Opinion:
        told = self._told[law]
        if lines is None or weights is None:
            asked = np.zeros(0, np.int64) if rows is None else rows
            none = np.zeros(asked.size, np.int64)
            return Opinion(asked, np.zeros(asked.size), none, none, none, told.tested, told.failed, told.unheard)
        sides = lines.others, lines.rival, lines.suggested
        if rows is None:
            wrong = weights < FAILS
            others, rival, suggested = (side[wrong] for side in sides)
            return Opinion(lines.rows[wrong], weights[wrong], others, rival, suggested, told.tested, told.failed)
        places = np.minimum(np.searchsorted(lines.rows, rows), lines.rows.size - 1)
        is_voted = lines.rows[places] == rows
        others, rival, suggested = (np.where(is_voted, side[places], 0) for side in sides)
        heard = np.where(is_voted, weights[places], 0.0)
        return Opinion(rows, heard, others, rival, suggested, told.tested, told.failed)


def _by_law(laws: Sequence[VotingLaw], votes: pa.Table) -> dict[VotingLaw, _Lines]:
    """The votes of each law, in the order of the rows."""
    votes = votes.sort_by([("t", "ascending"), ("row", "ascending")])
    numbers = votes.column("t").to_numpy()
    sides = [votes.column(name).to_numpy() for name in ("row", *_Lines._fields[1:])]
    found: dict[VotingLaw, _Lines] = {}
    for number, law in enumerate(laws):
        some = slice(*np.searchsorted(numbers, (number, number + 1)).tolist())
        if some.start < some.stop:
            found[law] = _Lines(*(side[some] for side in sides))
    return found
