"""The shortest ORDER BY and GROUP BY that say the same, and the sort orders that suffice: pure reasoning.

X orders Y if rows sorted by the list X are sorted by the list Y: the list-based order dependency X -> Y of
FindOD (section III). Two facts carry everything here:

- *Ties.* If X orders Y and rows that agree on Y agree on X, then X and Y sort alike, ties included: rows that Y
  leaves tied X leaves tied, and where Y puts one row before another X cannot put it after or beside it.
- *Finer.* If X only orders Y, sorting by X is one of the results that ORDER BY Y allows; X breaks ties of Y.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Final, Literal, NamedTuple, TypeAlias

from lawful.common.meanings import Direction
from lawful.rewriting.reasoning import Proof, Reasoner, joined

_MOST_LISTS: Final = 2_000
"""How many beginnings of lists are tried before the search for a shorter ORDER BY ends with what it has."""

_MOST_GROUPINGS: Final = 10
"""Of up to so many columns that a GROUP BY could spare, the best choice is searched; of more, a good one."""


class Term(NamedTuple):
    """One column of an ORDER BY.

    Laws take null for the smallest value: first ascending, last descending. `nulls_high` marks a term that sorts
    null as the largest value, of a column that may hold some. No law about order speaks of such a term.
    """

    column: int
    direction: Direction = "asc"
    nulls_high: bool = False

    @property
    def backwards(self) -> Term:
        """The term that sorts the other way round, nulls included."""
        return Term(self.column, "desc" if self.direction == "asc" else "asc", self.nulls_high)


Terms: TypeAlias = tuple[Term, ...]
Why: TypeAlias = Literal["repeated", "determined", "ordered", "replaced"]


@dataclass(frozen=True, slots=True)
class OrderStep:
    """One step from an ORDER BY to one that sorts alike, ties included.

    `repeated` and `determined`: rows that agree on the terms before agree on the dropped one. `ordered`: rows sorted
    by the other terms are sorted by the dropped one. `replaced`: other columns sort alike.
    """

    why: Why
    before: Terms
    after: Terms
    proof: Proof


@dataclass(frozen=True, slots=True)
class IndexFit:
    """A sort order that suffices: its shortest beginning that orders what is asked."""

    terms: Terms
    backwards: bool
    alike: bool
    proof: Proof


def orders(reasoner: Reasoner, first: Terms, second: Terms) -> Proof | None:
    """Show that rows sorted by `first` are sorted by `second`.

    By its canonical parts (see `canonical_parts`): no split, if first determines each column of second; no swap, if
    no two columns that can be the first difference disagree.
    """
    no_split = reasoner.determined(_columns(first), _columns(second))
    if no_split is None:
        return None
    proofs = [no_split]
    for place in range(len(first)):
        no_swap = _no_swap(reasoner, first[: place + 1], second)
        if no_swap is None:
            return None
        proofs.append(no_swap)
    return joined(*proofs)


def _no_swap(reasoner: Reasoner, beginning: Terms, second: Terms) -> Proof | None:
    """Show that two rows whose first difference is in the last term of a list are not swapped by another list."""
    *before, last = beginning
    fixed = set(_columns(before))
    proofs: list[Proof] = []
    for term in second:
        proof = _agree_on_order(reasoner, fixed, last, term)
        if proof is None:
            return None
        proofs.append(proof)
        fixed.add(term.column)
    return joined(*proofs)


def _agree_on_order(reasoner: Reasoner, fixed: Collection[int], one: Term, other: Term) -> Proof | None:
    if one == other:
        return ()
    if one.column == other.column or one.nulls_high or other.nulls_high:
        for term in (one, other):
            constant = reasoner.determined(fixed, (term.column,))
            if constant is not None:
                return constant
        return None
    direction: Direction = "asc" if one.direction == other.direction else "desc"
    return reasoner.compatible(fixed, one.column, other.column, direction)


def sorts_alike(reasoner: Reasoner, first: Terms, second: Terms) -> Proof | None:
    """Show that two lists sort alike, ties included."""
    ordered, same_ties = orders(reasoner, first, second), reasoner.determined(_columns(second), _columns(first))
    return None if ordered is None or same_ties is None else joined(ordered, same_ties)


def shorten(reasoner: Reasoner, asked: Terms, others: Sequence[Term] = ()) -> list[OrderStep]:
    """Find the way from an ORDER BY to the shortest one that sorts alike; no step if it is the shortest.

    Parameters
    ----------
    reasoner
        What is known of the rows.
    asked
        The terms of the ORDER BY.
    others
        Terms that may stand in for the asked ones, the better first. Each is tried in both directions.
    """
    steps: list[OrderStep] = []
    terms = asked
    for dropping in (_drop_determined, _drop_ordered):
        for step in dropping(reasoner, terms):
            steps.append(step)
            terms = step.after
    for size in range(1, len(terms)):
        replaced = _replaced(reasoner, terms, size, (*terms, *others))
        if replaced is not None:
            steps.append(replaced)
            break
    return [_justified(reasoner, step) for step in steps]


def _justified(reasoner: Reasoner, step: OrderStep) -> OrderStep:
    """The step with no more laws than it needs."""
    return replace(step, proof=reasoner.fewest(step.proof, lambda r: sorts_alike(r, step.after, step.before)))


def _drop_determined(reasoner: Reasoner, terms: Terms) -> Iterator[OrderStep]:
    place = 0
    while place < len(terms):
        before, term, rest = terms[:place], terms[place], terms[place + 1 :]
        proof = reasoner.determined(_columns(before), (term.column,))
        if proof is None:
            place += 1
            continue
        repeated = term.column in _columns(before)
        yield OrderStep("repeated" if repeated else "determined", terms, before + rest, proof)
        terms = before + rest


def _drop_ordered(reasoner: Reasoner, terms: Terms) -> Iterator[OrderStep]:
    """Drop what later terms order too, from the last to the first: a dropped term never helps to keep another."""
    for place in reversed(range(len(terms) - 1)):
        without = terms[:place] + terms[place + 1 :]
        proof = orders(reasoner, without, terms)
        if proof is not None:  # rows that agree on all terms agree on fewer, so ties are the same
            yield OrderStep("ordered", terms, without, proof)
            terms = without


def _replaced(reasoner: Reasoner, terms: Terms, size: int, candidates: Iterable[Term]) -> OrderStep | None:
    """Find a list of a certain length that sorts alike, among columns that the terms determine."""
    both_ways = dict.fromkeys(way for term in candidates for way in (term, term.backwards))
    usable = [term for term in both_ways if reasoner.determined(_columns(terms), (term.column,)) is not None]
    beginnings: list[Terms] = [()]
    tried = 0
    for length in range(1, size + 1):
        longer: list[Terms] = []
        for beginning in beginnings:
            for term in usable:
                if tried == _MOST_LISTS:
                    return None
                if reasoner.determined(_columns(beginning), (term.column,)) is not None:
                    continue
                tried += 1
                extended = (*beginning, term)
                if _no_swap(reasoner, extended, terms) is None:
                    continue
                longer.append(extended)
                proof = sorts_alike(reasoner, extended, terms) if length == size else None
                if proof is not None:
                    return OrderStep("replaced", terms, extended, proof)
        beginnings = longer
    return None


def fit_index(reasoner: Reasoner, index: Terms, asked: Terms) -> IndexFit | None:
    """Find the shortest beginning of an index, read forwards or backwards, that orders what is asked."""
    for size in range(1, len(index) + 1):
        for backwards in (False, True):
            terms = tuple(term.backwards if backwards else term for term in index[:size])
            proof = orders(reasoner, terms, asked)
            if proof is not None:
                alike = sorts_alike(reasoner, terms, asked)
                prove = orders if alike is None else sorts_alike
                fewest = reasoner.fewest(alike or proof, partial(prove, first=terms, second=asked))
                return IndexFit(terms, backwards, alike is not None, fewest)
    return None


def shorten_grouping(reasoner: Reasoner, columns: Sequence[int], needed: Collection[int]) -> dict[int, Proof]:
    """Find columns that a GROUP BY can do without, as many as possible, each with what makes the others suffice.

    Groups stay the same if the kept columns determine the dropped ones. At least one column is kept: without any,
    a query makes one row even where there is none to group.
    """
    spare = [column for column in dict.fromkeys(columns) if column not in needed]
    kept_anyway = [column for column in columns if column in needed]
    for kept in _choices(reasoner, spare, kept_anyway):
        if kept_anyway or kept:
            proofs = {
                column: reasoner.determined((*kept_anyway, *kept), (column,)) for column in spare if column not in kept
            }
            if all(proof is not None for proof in proofs.values()):
                return {column: proof for column, proof in proofs.items() if proof is not None}
    return {}


def _choices(reasoner: Reasoner, spare: list[int], kept_anyway: list[int]) -> Iterator[Collection[int]]:
    """What to keep of the columns that could be spared, the fewest first."""
    if len(spare) <= _MOST_GROUPINGS:
        for size in range(len(spare) + 1):
            yield from combinations(spare, size)
        return
    kept = list(spare)
    for column in reversed(spare):
        fewer = [other for other in kept if other != column]
        if (kept_anyway or fewer) and reasoner.determined((*kept_anyway, *fewer), (column,)) is not None:
            kept = fewer
    yield kept


def _columns(terms: Iterable[Term]) -> list[int]:
    return [term.column for term in terms]
