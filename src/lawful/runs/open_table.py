"""What `lawful.open` gives: a table that is read once, with the verbs of lawful as methods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lawful.common import small_work
from lawful.common.arguments import number, whole_number
from lawful.common.closing import Closing
from lawful.common.meanings import Measure, NullPolicy, null_policy
from lawful.common.sizes import parse_size
from lawful.dependencies import FD, Key
from lawful.runs.check import check_laws
from lawful.runs.laws_input import GivenLaws, LawsInput, OneLaw, allowances, given_laws
from lawful.runs.opened import Opened
from lawful.runs.partial_files import PartialFile
from lawful.runs.request import Request, families_of, request_of
from lawful.runs.run import Progress, silent
from lawful.runs.stopping import UserWatch

if TYPE_CHECKING:
    from lawful.results import (
        CheckReport,
        DiscoveryReport,
        ErrorsReport,
        Explanation,
        StrongestReport,
        TableProfile,
    )

_QUICK = 250_000
"""If more cells are looked at in all sets of columns, the strongest laws take Python longer than it takes to load what
was compiled: 120,000 took 0.2 s of processor time, loading 0.3 s."""


class OpenTable(Closing):
    """A table that was read once, by `lawful.open`, and can be asked again and again.

    Its engine stays open between calls until the table is closed, as by the end of a `with` block. A call that is
    interrupted (Ctrl-C) or ends at a limit leaves it ready for the next one. Results can be used after it is closed:
    violating rows are then found with your Spark session or, if the session was lawful's own, by this process.
    """

    def __init__(self, opened: Opened, progress: Progress = silent) -> None:
        self._opened, self._progress = opened, progress

    def __repr__(self) -> str:
        table = self._opened.table
        size = f"{table.rows:,} rows, {table.width:,} columns"
        state = f"engine {self._opened.engine_name}" if self._opened.is_open else "closed"
        return f"<lawful table {table.name!r}: {size}, {state}>"

    def close(self) -> None:
        """Let go of the engine, and of Spark if lawful started it. A closed table cannot be asked any more."""
        self._opened.close()

    def discover(
        self,
        find: str | Iterable[str] = ("key", "fd"),
        *,
        null: str = "equal",
        notes: Progress | None = None,
        partial: PartialFile | None = None,
        **asked: Any,
    ) -> DiscoveryReport:
        """Find all minimal laws that the table obeys. See `lawful.discover`, which says what can be asked."""
        request = request_of({"find": find} | asked)
        if partial is not None:
            partial.refuse_checkpoint(request.checkpoint)
        return self.discover_as(request, null_policy(null), notes, partial)

    def discover_as(
        self,
        request: Request,
        null: NullPolicy,
        notes: Progress | None = None,
        partial: PartialFile | None = None,
        watch: UserWatch | None = None,
    ) -> DiscoveryReport:
        """Find what a request asks for; its limits began with the watch, else they begin now."""
        from lawful.runs.discover import discover_laws, notes_before

        with self._opened.run(null) as run:
            # All columns are held against each other to say which are compared: a limit does not wait for that.
            if notes is not None and request.time_limit is None:
                for note in notes_before(run, request):
                    notes(note)
            in_python = all(search.runs_in_python for search in request.searches())
            with small_work.of(run.table.rows, run.table.width, runs_in_python=in_python):
                return discover_laws(run, request, self._progress, partial, watch)

    def strongest(
        self,
        find: str | Iterable[str] = ("key", "fd", "canonical-od"),
        *,
        top: int = 100,
        max_size: int = 3,
        null: str = "equal",
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        seed: int = 0,
    ) -> StrongestReport:
        """Find the strongest laws of the table, holding or almost holding. See `lawful.strongest`."""
        from lawful.discovery.strongest.discover import StrongestQuestion
        from lawful.runs.strongest import require_families, strongest_laws

        question = StrongestQuestion(families_of(find), top, max_size, null_policy(null), seed)
        require_families(question.find)
        memory = parse_size(memory_limit) if isinstance(memory_limit, str) else memory_limit
        rows, width = self._opened.table.rows, self._opened.table.width
        sets = sum(math.comb(width, size) for size in range(min(width, question.max_size) + 1))
        size = small_work.of(rows, width, runs_in_python=True, is_quick=rows * width * sets <= _QUICK)
        with self._opened.run(question.null_policy) as run, size:
            return strongest_laws(run, question, self._progress, time_limit, memory)

    def errors(
        self,
        *,
        min_probability: float = 0.5,
        max_size: int = 2,
        null: str = "equal",
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        seed: int = 0,
    ) -> ErrorsReport:
        """Find the cells of the table that are probably wrong. See `lawful.errors`."""
        from lawful.runs.errors import ErrorsQuestion, find_errors

        least, size = number("min_probability", min_probability), whole_number("max_size", max_size)
        question = ErrorsQuestion(least, size, null_policy(null), whole_number("seed", seed))
        memory = parse_size(memory_limit) if isinstance(memory_limit, str) else memory_limit
        cells = self._opened.table.rows, self._opened.table.width
        with self._opened.run(question.null_policy) as run, small_work.of(*cells, runs_in_python=False):
            return find_errors(run, question, self._progress, time_limit, memory, self._opened.source)

    def check(
        self,
        laws: GivenLaws,
        *,
        error: float | None = None,
        measure: Measure | None = None,
        null: str | None = None,
        strength: bool = False,
    ) -> CheckReport:
        """Check laws on the table. See `lawful.check`."""
        given = given_laws(laws)
        return self.check_as(given, null_of_laws(null, given), error, measure, strength=strength)

    def check_as(
        self,
        given: LawsInput,
        null: NullPolicy,
        error: float | None = None,
        measure: Measure | None = None,
        *,
        strength: bool = False,
        watch: UserWatch | None = None,
    ) -> CheckReport:
        """Check laws that were read, until the watch is over."""
        with self._opened.run(null) as run:
            asked = given.asked(run.table.names)
            in_python = all(isinstance(each.law, Key | FD) for each in asked)
            with small_work.of(run.table.rows, run.table.width, runs_in_python=in_python):
                allowed, laws_ = allowances(asked, error, measure), [each.law for each in asked]
                return check_laws(run, laws_, self._progress, allowed, strength=strength, watch=watch)

    def explain(self, law: OneLaw | LawsInput, *, null: str | None = None) -> Explanation:
        """Explain why one law holds on the table, or which rows break it. See `lawful.explain`."""
        from lawful.runs.explain import explain_law

        given = given_laws(law)
        with self._opened.run(null_of_laws(null, given)) as run:
            return explain_law(run, given.one_law(run.table.names), self._progress)

    def profile(self) -> TableProfile:
        """Describe the columns: types, distinct values, nulls, extremes. See `lawful.profile`."""
        from lawful.results.table_profile import TableProfile

        with self._opened.run(NullPolicy.EQUAL, needs_engine=False) as run:
            return TableProfile.of(run.table, run.seconds)


def null_of_laws(name: str | None, given: LawsInput) -> NullPolicy:
    """Settle what null means: what is asked for, else what it meant to the laws, else `equal`."""
    if name is not None:
        return null_policy(name)
    meant = given.null_policy()
    return NullPolicy.EQUAL if meant is None else meant[0]
