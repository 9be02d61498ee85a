"""What a rewriting gives back: the query, each step with the laws that justify it, and what was left and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lawful.results.documents import FORMAT, html_table

Clause = Literal["order by", "group by"]


@dataclass(frozen=True)
class Step:
    """One change of a clause: in words, before and after, and the laws and filters that justify it."""

    clause: Clause
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    laws: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "clause": self.clause,
            "text": self.text,
            "before": list(self.before),
            "after": list(self.after),
            "laws": list(self.laws),
        }


@dataclass(frozen=True)
class IndexUse:
    """Whether an existing index or sort order suffices for the ORDER BY.

    Attributes
    ----------
    index
        The index as it was given.
    suffices
        Whether reading rows in its order gives the order that was asked for.
    order_by
        The shortest beginning of it that does, as an ORDER BY.
    backwards
        Whether the index is read from its end.
    alike
        Whether it leaves the same ties; if not, it only breaks ties of the ORDER BY.
    laws
        What makes it suffice.
    """

    index: str
    suffices: bool
    order_by: tuple[str, ...] = ()
    backwards: bool = False
    alike: bool = False
    laws: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        found = {"index": self.index, "suffices": self.suffices}
        if not self.suffices:
            return found
        how = {"order_by": list(self.order_by), "backwards": self.backwards, "alike": self.alike}
        return found | how | {"laws": list(self.laws)}


@dataclass(frozen=True)
class Rewriting:
    """A query and the query that says the same with less.

    `notes` say what was left as it is, and why; `refused` which laws could not justify anything.
    """

    original: str
    sql: str
    dialect: str
    steps: tuple[Step, ...] = ()
    indexes: tuple[IndexUse, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether there is anything to gain."""
        return bool(self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful rewrite` prints."""
        return {
            "format": FORMAT,
            "query": self.original,
            "rewritten": self.sql,
            "changed": self.changed,
            "dialect": self.dialect or None,
            "steps": [step.to_dict() for step in self.steps],
            "indexes": [use.to_dict() for use in self.indexes],
            "notes": list(self.notes),
            "refused": list(self.refused),
        }

    def _repr_html_(self) -> str:
        records = [{"clause": step.clause, "step": step.text, "by": "; ".join(step.laws)} for step in self.steps]
        return html_table(self.sql, records)
