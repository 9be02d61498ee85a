"""All violations of a law on one table, exactly: the rows, how many pairs, how few removals mend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lawful.checks.verdict import Damage
from lawful.common.arrays import Int32s


@dataclass(frozen=True, eq=False, slots=True)
class Violations:
    """The rows that break a law, and how badly.

    Attributes
    ----------
    rows
        The violating row ids, group by group, ascending within a group; no row occurs twice. A group is
        a class of rows that agree: on the columns of a key; on the left side of a functional dependency (all
        rows of a class that has more than one value on the right); on the context of an order dependency
        (only the rows that take part in a swap). Of a list-based order dependency a group is the rows that are
        linked by splits and swaps. Of a denial constraint it is the rows that are in a violating pair, by the
        columns on which it wants t and s to be equal.
    offsets
        Group `g` is `rows[offsets[g]:offsets[g + 1]]`.
    pairs
        The number of unordered pairs of rows that refute the law: g1, but counted.
    removals
        The fewest rows whose removal makes the law hold: g3, but counted. None for a denial constraint that is
        no key, functional or order dependency in disguise: there this number is NP-hard.
    """

    rows: Int32s
    offsets: Int32s
    pairs: int
    removals: int | None

    @property
    def damage(self) -> Damage:
        """The numbers alone."""
        return Damage(self.rows.size, self.offsets.size - 1, self.pairs, self.removals)

    def __iter__(self) -> Iterator[Int32s]:
        for g in range(self.offsets.size - 1):
            yield self.rows[self.offsets[g] : self.offsets[g + 1]]
