"""What `lawful.open` gives: a table that is read once, with the verbs of lawful as methods."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from lawful.common.meanings import Measure, NullPolicy, null_policy
from lawful.dependencies import Law
from lawful.results import CheckReport, DiscoveryReport, Explanation, TableProfile
from lawful.runs.check import check_laws, laws_of, one_law
from lawful.runs.opened import Opened
from lawful.runs.run import silent

if TYPE_CHECKING:
    from lawful.runs.request import DenialWishes, ListWishes, Request, Strategy


class OpenTable:
    """A table that was read once, by `lawful.open`, and can be asked again and again.

    Its engine stays open between calls until the table is closed, as by the end of a `with` block. A call that is
    interrupted (Ctrl-C) or ends at a limit leaves it ready for the next one. Results can be used after it is closed:
    violating rows are then found with your Spark session or, if the session was lawful's own, by this process.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def __enter__(self) -> OpenTable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        max_size: int | None = None,
        error: float = 0.0,
        measure: Measure = "g1",
        min_interest: float = 0.0,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        seed: int = 0,
        strategy: Strategy = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        partition_chain: int | None = None,
        lists: ListWishes | None = None,
        denials: DenialWishes | None = None,
        null: str = "equal",
    ) -> DiscoveryReport:
        """Find all minimal laws that the table obeys. See `lawful.discover`."""
        request = request_of(
            find,
            max_size,
            error,
            measure,
            min_interest,
            time_limit,
            memory_limit,
            seed,
            strategy,
            checkpoint,
            resume,
            partition_chain,
            lists,
            denials,
        )
        return self.discover_as(request, null_policy(null))

    def discover_as(self, request: Request, null: NullPolicy) -> DiscoveryReport:
        """Find what a request asks for."""
        from lawful.runs.discover import discover_laws

        with self._opened.run(null) as run:
            return discover_laws(run, request, silent)

    def check(self, laws: str | Law | Iterable[str | Law], *, null: str = "equal") -> CheckReport:
        """Check laws on the table. See `lawful.check`."""
        with self._opened.run(null_policy(null)) as run:
            return check_laws(run, laws_of(laws, run.table.names))

    def explain(self, law: str | Law, *, null: str = "equal") -> Explanation:
        """Explain why one law holds on the table, or which rows break it. See `lawful.explain`."""
        from lawful.runs.explain import explain_law

        with self._opened.run(null_policy(null)) as run:
            return explain_law(run, one_law(law, run.table.names), silent)

    def profile(self) -> TableProfile:
        """Describe the columns: types, distinct values, nulls, extremes. See `lawful.profile`."""
        with self._opened.run(NullPolicy.EQUAL, needs_engine=False) as run:
            return TableProfile.of(run.table, run.seconds)


def request_of(
    find: str | Iterable[str],
    max_size: int | None,
    error: float,
    measure: Measure,
    min_interest: float,
    time_limit: float | None,
    memory_limit: int | str | None,
    seed: int,
    strategy: Strategy,
    checkpoint: str | os.PathLike[str] | None,
    resume: bool,
    partition_chain: int | None,
    lists: ListWishes | None,
    denials: DenialWishes | None,
) -> Request:
    """Gather what is asked of a discovery, and refuse what cannot be meant."""
    from lawful.runs.discover import parse_memory
    from lawful.runs.request import DenialWishes, ListWishes, Request, families_of

    return Request(
        families_of(find),
        max_size,
        error,
        measure,
        min_interest,
        time_limit,
        parse_memory(memory_limit) if isinstance(memory_limit, str) else memory_limit,
        seed,
        strategy,
        None if checkpoint is None else Path(checkpoint),
        resume,
        partition_chain,
        lists or ListWishes(),
        denials or DenialWishes(),
    )
