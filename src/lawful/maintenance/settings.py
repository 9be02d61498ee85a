"""What is settled when a state is made: which laws are kept and how, how batches are read, how rows are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Words
from lawful.common.errors import UsageError
from lawful.common.meanings import MEASURES, Measure, NullPolicy
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.findings import KEY, Block
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.pods.questions import PointwiseQuestion
from lawful.discovery.questions import Question
from lawful.search import set_sizes
from lawful.tables.options import CsvDialect

WAYS = ("auto", "counted", "witnesses")
PACKED_KINDS = ("key", "fd")
"""What is kept unless something else is asked for."""
KEPT_KINDS = (*PACKED_KINDS, "canonical-od", "list-od", "pod", "dc")
_WITH_FDS = ("canonical-od", "list-od")
"""What builds on FDs."""

MOST_COUNTED = 2_000_000_000
"""Cells of pairs (pairs of rows times columns, 64 columns counting as much as 8) up to which all pairs are counted when
nobody says otherwise: some ten seconds on two cores, once; then every batch costs its rows times the table."""
_CELLS_AT_ONCE = 8


class Shown(NamedTuple):
    """Which of the keys and FDs that are kept are told: others are kept for the laws that build on them."""

    keys: bool
    fds: bool
    max_size: int | None

    def of(self, block: Block) -> Flags:
        """Which laws of a block are told."""
        if not (self.keys if block.goal == KEY else self.fds):
            return np.zeros(len(block.sets), np.bool_)
        if self.max_size is None:
            return np.ones(len(block.sets), np.bool_)
        return np.asarray(set_sizes(block.sets) <= self.max_size)


@dataclass(frozen=True)
class StateSettings:
    """What a state keeps.

    Parameters
    ----------
    find
        The kinds of laws.
    null
        What null means.
    max_size
        The most columns of a key or of a left side.
    error, measure
        The share of the pairs of rows (g1) or of the rows (g3) that may break a law.
    way
        How evidence is kept: `counted`, `witnesses`, or `auto` until the table is known.
    row_key
        The columns by which rows are deleted, and which no two rows may share; empty: rows are deleted by value.
    dialect
        How CSV batches are written, and which texts mean null.
    columns
        The columns that were chosen when the state was made; None if all are kept.
    only_pinned
        Whether no laws are looked for, and only the pinned ones are kept.
    """

    find: tuple[str, ...] = PACKED_KINDS
    null: NullPolicy = NullPolicy.EQUAL
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g1"
    way: str = "auto"
    row_key: tuple[str, ...] = ()
    dialect: CsvDialect = field(default_factory=CsvDialect)
    columns: tuple[str, ...] | None = None
    only_pinned: bool = False

    def __post_init__(self) -> None:
        if self.only_pinned and (self.find or self.max_size is not None or self.error or self.way != "auto"):
            raise UsageError(
                "nothing is looked for if only pinned laws are kept",
                "Leave out --only-pinned, or --find, --max-size, --error and --evidence.",
            )
        for kind in self.find:
            if kind not in KEPT_KINDS:
                raise UsageError(
                    f"laws of the kind {kind!r} cannot be kept up to date yet", f"Kinds: {', '.join(KEPT_KINDS)}."
                )
        if not self.find and not self.only_pinned:
            raise UsageError("no kind of law is asked for", f"Kinds: {', '.join(KEPT_KINDS)}.")
        if self.way not in WAYS:
            raise UsageError(f"unknown way {self.way!r} to keep evidence", f"Use {', '.join(WAYS)}.")
        if self.measure not in MEASURES:
            raise UsageError(f"unknown measure {self.measure!r}", "Use g1 (share of pairs) or g3 (share of rows).")
        others = [kind for kind in self.find if kind not in PACKED_KINDS]
        if others and self.error:
            raise UsageError(
                f"laws of the kind {others[0]} within an error cannot be kept up to date yet",
                f"Leave out --error, or {', '.join(others)}.",
            )
        if self.way == "counted" and not self.has_packed:
            raise UsageError(
                f"laws of the kind {others[0]} are kept by witnesses", "Leave out --evidence, or keep key or fd too."
            )
        self.question()
        if "list-od" in self.find:
            self.list_question()

    @property
    def has_packed(self) -> bool:
        """Whether keys or FDs are kept, be it for other laws that build on them."""
        return any(kind in self.find for kind in (*PACKED_KINDS, *_WITH_FDS))

    @property
    def has_orders(self) -> bool:
        """Whether laws are kept that compare values by their order."""
        return any(kind not in PACKED_KINDS for kind in self.find)

    @property
    def shown(self) -> Shown:
        """Which keys and FDs are told: as a discovery does, FDs with canonical order dependencies too."""
        return Shown("key" in self.find, "fd" in self.find or "canonical-od" in self.find, self.max_size)

    @property
    def has_pods(self) -> bool:
        """Whether pointwise order dependencies are kept."""
        return "pod" in self.find

    @property
    def has_canonical(self) -> bool:
        """Whether canonical order dependencies are kept, be it for the list-based ones that follow from them."""
        return any(kind in self.find for kind in _WITH_FDS)

    @property
    def inner_size(self) -> int | None:
        """The most columns of what is kept: lists of k columns each ask about sets of 2 k - 1."""
        if self.max_size is None or "list-od" not in self.find:
            return self.max_size
        return max(self.max_size, 2 * self.max_size - 1)

    def tells_contexts(self, contexts: Words) -> Flags:
        """Which of the contexts that are kept are told."""
        if "canonical-od" not in self.find:
            return np.zeros(len(contexts), np.bool_)
        if self.max_size is None:
            return np.ones(len(contexts), np.bool_)
        return np.asarray(set_sizes(contexts) <= self.max_size)

    def canonical_question(self) -> CanonicalQuestion:
        """What is asked of a search for canonical order dependencies."""
        return CanonicalQuestion(self.null, self.inner_size)

    def list_question(self) -> ListQuestion:
        """What is asked of a search for list-based order dependencies."""
        return ListQuestion(self.null, max_size=self.max_size)

    def denial_question(self) -> DenialQuestion:
        """What is asked of a search for denial constraints."""
        return DenialQuestion(self.null, self.max_size)

    def pod_question(self) -> PointwiseQuestion:
        """What is asked of a search for pointwise order dependencies."""
        return PointwiseQuestion(self.null, self.max_size)

    def question(self) -> Question:
        """What is asked of a search for keys and FDs; it refuses what cannot be meant."""
        return Question(
            keys="key" in self.find,
            fds="fd" in self.find or any(kind in self.find for kind in _WITH_FDS),
            null_policy=self.null,
            max_size=self.inner_size,
            error=self.error,
            measure=self.measure,
        )

    def is_counted(self, rows: int, width: int) -> bool:
        """Whether all pairs are counted on a table of this size; for keys and FDs alone they ever are."""
        if not self.has_packed:
            return False
        if self.way != "auto":
            return self.way == "counted"
        return rows * (rows - 1) // 2 * -(-width // _CELLS_AT_ONCE) <= MOST_COUNTED

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        dialect = self.dialect
        return {
            "find": list(self.find),
            "null": self.null.value,
            "max_size": self.max_size,
            "error": self.error,
            "measure": self.measure,
            "way": self.way,
            "row_key": list(self.row_key),
            "separator": dialect.separator,
            "header": dialect.header,
            "quote": dialect.quote,
            "escape": dialect.escape,
            "encoding": dialect.encoding,
            "null_tokens": list(dialect.null_tokens),
            "columns": None if self.columns is None else list(self.columns),
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> StateSettings:
        """Read what `to_dict` wrote."""
        columns = document["columns"]
        return StateSettings(
            tuple(document["find"]),
            NullPolicy(document["null"]),
            document["max_size"],
            float(document["error"]),
            document["measure"],
            document["way"],
            tuple(document["row_key"]),
            CsvDialect(
                document["separator"],
                document["header"],
                document["quote"],
                document["escape"],
                document["encoding"],
                tuple(document["null_tokens"]),
            ),
            None if columns is None else tuple(columns),
            not document["find"],
        )
