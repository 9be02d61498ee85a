"""The rows that decide the laws of a spread table: few enough for this process, with the same laws as all rows.

What holds on a table holds on any of its rows. So if each minimal law of some rows holds on the whole table, both have
the same laws: a pair of rows that breaks anything else is among these few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check
from lawful.common.errors import StoppedError
from lawful.common.meanings import ColumnType
from lawful.dependencies import FD, Key, Law, ListOD
from lawful.discovery.canonical_ods.discover import discover_canonical_ods
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.list_ods.discover import discover_list_ods
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.maintenance.settings import StateSettings
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.text_rows import text_rows

_SAMPLED_ROWS, _SAMPLED_CELLS = 20_000, 1_000_000
_TOO_MANY = 4
"""Times as many rows as a first sample has: then most are forgotten, and those that are missed come back."""


def sample_size(width: int) -> int:
    """How many rows of a table are looked at first."""
    return min(_SAMPLED_ROWS, _SAMPLED_CELLS // max(1, width))


@dataclass(frozen=True)
class Sought:
    """The minimal laws of some rows: those that are told, and those that are to be checked on all rows.

    Lists need no check of their own: they follow from functional dependencies and canonical order dependencies. Nor do
    functional dependencies whose left side is a key: that it is one is checked instead, once for all of them.
    """

    told: tuple[Law, ...]
    checked: tuple[Law, ...]


@dataclass(frozen=True)
class DecidingRows:
    """Some rows of a table: their ids (`row`) and texts (`c0`, `c1`, …), and the types of the columns."""

    table: pa.Table
    types: tuple[ColumnType, ...]

    @cached_property
    def ids(self) -> frozenset[int]:
        """The ids of the rows."""
        return frozenset(self.table.column("row").to_pylist())

    @cached_property
    def view(self) -> LiveView:
        """The rows as an encoded table."""
        columns = {n: self.table.column(f"c{n}").combine_chunks() for n in range(len(self.types))}
        return text_rows(columns, self.types, self.table.num_rows)

    def without(self, gone: Iterable[int]) -> DecidingRows:
        """The rows without some; and, if they have become too many, without most."""
        leaving = set(gone)
        kept = [place for place, id_ in enumerate(self.table.column("row").to_pylist()) if id_ not in leaving]
        if len(kept) > _TOO_MANY * (most := sample_size(len(self.types))):
            kept = sorted(np.random.default_rng(0).choice(kept, most, replace=False).tolist())
        return replace(self, table=self.table.take(pa.array(kept, pa.int64())))

    def plus(self, more: pa.Table) -> DecidingRows:
        """The rows with more of the same table."""
        is_new = pa.array([id_ not in self.ids for id_ in more.column("row").to_pylist()], pa.bool_())
        both = pa.concat_tables([self.table, more.select(self.table.column_names).filter(is_new)])
        return replace(self, table=both)

    @property
    def is_small(self) -> bool:
        """Whether less than half of a sample is left: what these rows obey is then mostly broken by others."""
        return 2 * len(self.ids) < sample_size(len(self.types))

    def room(self) -> int:
        """How many rows may come before there are as many as a first sample has."""
        return max(0, sample_size(len(self.types)) - len(self.ids))

    def laws(self, settings: StateSettings, watch: Watch) -> Sought:
        """All minimal laws of these rows."""
        told = list(laws_in(self.findings(settings, watch)))
        checked: list[Law] = [law for law in told if not isinstance(law, ListOD)]
        if "list-od" in settings.find:
            parts = replace(settings, find=("canonical-od",), max_size=settings.inner_size)
            checked = [*laws_in(self.findings(parts, watch)), *checked]
        return Sought(tuple(told), tuple(dict.fromkeys(self._by_keys(checked, settings))))

    def _by_keys(self, laws: Sequence[Law], settings: StateSettings) -> Iterator[Law]:
        """The laws with a key, where these rows have one, for all functional dependencies that follow from it."""
        workspace = Workspace(self.view, settings.null)
        left_sides = {law.lhs for law in laws if isinstance(law, FD)}
        keys = {left for left in left_sides if check(CheckTask(0, Key(left)), self.view, workspace).witness is None}
        for law in laws:
            yield Key(law.lhs) if isinstance(law, FD) and law.lhs in keys else law

    def findings(self, settings: StateSettings, watch: Watch) -> Findings:
        """The minimal laws of these rows that are told, as a discovery gives them."""
        engine = LocalEngine()
        engine.open(self.view, settings.null)
        found = Findings(complete=True)
        try:
            for discover in _searches(settings):
                more = discover(Search(self.view, engine, watch))
                if not more.complete:
                    raise StoppedError(more.stopped_because or "the search did not come to its end")
                found.blocks += more.blocks
                found.listings += more.listings
        finally:
            engine.close()
        return found

    def refuting(self, laws: Sequence[Law], settings: StateSettings) -> dict[Law, tuple[int, int] | None]:
        """For each of some laws the places of two rows that break it; None if it holds."""
        workspace = Workspace(self.view, settings.null)
        return {law: check(CheckTask(0, law), self.view, workspace).witness for law in laws}


def _searches(settings: StateSettings) -> Iterator[Callable[[Search], Findings]]:
    """The searches that find what a state tells."""
    null, size = settings.null, settings.max_size
    has_canonical = "canonical-od" in settings.find
    question = Question(keys="key" in settings.find, fds="fd" in settings.find, null_policy=null, max_size=size)
    if has_canonical:  # which come with all FDs
        yield lambda search: discover_canonical_ods(search, CanonicalQuestion(null, size))
        question = replace(question, fds=False)
    if question.keys or question.fds:
        yield lambda search: discover_keys_and_fds(search, question)
    if "list-od" in settings.find:
        yield lambda search: discover_list_ods(search, settings.list_question())
    if settings.has_pods:
        yield lambda search: discover_pointwise(search, settings.pod_question())


def laws_in(found: Findings) -> Iterator[Law]:
    """The laws that were found, as values."""
    for block in found.blocks:
        yield from block.laws()
    for listing in found.listings:
        yield from listing.laws()
