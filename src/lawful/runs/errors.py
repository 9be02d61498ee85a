"""A search for wrong cells from question to report: almost-laws found, heard on every row, the blame settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawful.checks.voting.asking import VotingLaw
from lawful.common.errors import EngineError, StoppedError, TooLargeError, UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import FD, format_law
from lawful.discovery.search import Search
from lawful.discovery.strongest.discover import StrongestQuestion, find_strongest
from lawful.discovery.strongest.worth import Standard, Tried
from lawful.repairs.blame import Hearing, Judge, Suspicion, entities_among, reverse_law, with_suggestion
from lawful.repairs.columns import ColumnFacts
from lawful.results.errors_report import ErrorsReport, WrongCell
from lawful.results.repaired_tables import ReadSource
from lawful.runs.cells_of_tables import Cells, cells_of
from lawful.runs.run import Progress, Run
from lawful.runs.searched_tables import checks_of_table, jobs_ended_by, placement_of, searched_table
from lawful.runs.stopping import UserWatch, ctrl_c_ends
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shuffled.table import MOST_SUSPICIOUS, is_shuffled

_LAWS_A_COLUMN = 16
"""So many laws are heard about each right side, the strongest."""
_LAWS_SOUGHT_A_COLUMN = 40
_OPINIONS_AT_ONCE = 8 << 20
"""Rows are settled in blocks of about so many opinions, so that memory does not grow with the table."""

_ROWS_A_LOOK = 100
_MOST_REVERSED = 64
"""So many different questions are asked about what left sides should be, the commonest."""


@dataclass(frozen=True)
class ErrorsQuestion:
    """What counts as an error: from which probability on, and by laws of how many columns on the left."""

    min_probability: float = 0.5
    max_size: int = 2
    null_policy: NullPolicy = NullPolicy.EQUAL
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.min_probability <= 1.0:
            raise UsageError(f"the least probability must be above 0 and at most 1, and is {self.min_probability:g}")


def find_errors(
    run: Run,
    question: ErrorsQuestion,
    progress: Progress,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    source: ReadSource | None = None,
) -> ErrorsReport:
    """Find the cells of an opened run that are probably wrong.

    A limit, or Ctrl-C, ends it with the cells that were settled by then. `source` is what the table was read from.
    """
    watch = UserWatch(time_limit, memory_limit)
    found: list[Suspicion] = []
    heard = _Heard((), ())
    facts: ColumnFacts | None = None
    notes: list[str] = []  # why the answer may lack something though the work came to its end
    stopped: str | None = None
    with run.timed("errors"), ctrl_c_ends(watch, run.cancel):
        try:
            with jobs_ended_by(run, watch):
                cells = cells_of(run)
                facts = ColumnFacts(cells)
                search = _search(run, watch, question, progress)
                heard = _heard_laws(search, question)
                if not search.findings.complete:
                    notes.append(search.findings.stopped_because or "the search for laws was stopped")
                found += _typos_of_the_usual(run.table, cells, facts, question, notes)
                for suspicion in _settled(run, search, question, heard, cells, facts, notes):
                    found.append(suspicion)  # one by one: what is settled stays when a limit ends it
                found = _with_suggestions(run, search, found, facts)
        except StoppedError as stop:
            stopped = watch.reason() or stop.message
        except TooLargeError as error:
            stopped = error.typed_message
        except EngineError:
            stopped = watch.reason()  # a job that was cut off is no failure
            if stopped is None:
                raise
    stopped = stopped or next(iter(notes), None)
    wrong = () if facts is None else _wrong_cells(run.table, facts, found)
    settings = {
        "min_probability": question.min_probability,
        "max_size": question.max_size,
        "null": question.null_policy.value,
        "seed": question.seed,
        "engine": run.engine.name,
        **placement_of(run.table),
    }
    texts = tuple(format_law(law, run.table.names) for law in heard.laws)
    return ErrorsReport(
        run.table, wrong, texts, settings, stopped is None, stopped, run.seconds, source or ReadSource(None)
    )


def _search(run: Run, watch: UserWatch, question: ErrorsQuestion, progress: Progress) -> Search:
    """A search for laws; where no process holds the table, on a sample of it, with all rows checked."""
    table = searched_table(run, question.seed, progress)
    return Search(table, run.engine, watch, progress=progress, checks=checks_of_table(run.engine, table))


@dataclass(frozen=True)
class _Heard:
    """The laws that are heard, and a number for each column, the same for columns that determine each other."""

    laws: Sequence[VotingLaw]
    entities: Sequence[int]


def _heard_laws(search: Search, question: ErrorsQuestion) -> _Heard:
    """The strongest laws about each column."""
    width = search.table.width
    top = _LAWS_SOUGHT_A_COLUMN * max(1, width)
    # Laws that are listed by luck do little harm: each doubts itself.
    standard = Standard(sure_of_all=False)
    wanted = StrongestQuestion(("fd", "key"), top, question.max_size, question.null_policy, question.seed, standard)
    found = find_strongest(search, wanted).laws
    # An order has two columns beside its context: with one more, contexts are as large as other left sides less one.
    orders = replace(wanted, find=("canonical-od",), max_size=question.max_size + 1)
    found |= find_strongest(search, orders).laws
    strengths = {tried.law: tried.trial.strength for tried in found["fd"] if isinstance(tried.law, FD)}
    heard = _best_of_each(found["fd"], lambda law: (law.rhs,))
    heard += _best_of_each(found["canonical-od"], lambda law: (law.left, law.right), is_broken=True)
    heard += _best_of_each(found["key"], lambda law: law.columns, is_broken=True)
    return _Heard(heard, entities_among(width, strengths))


def _best_of_each(
    laws: Sequence[Tried], about: Callable[[Any], Iterable[int]], *, is_broken: bool = False
) -> list[VotingLaw]:
    """The strongest laws about each column, each once; of those that say nothing unless they are broken, such alone."""
    by_column: dict[int, list[Tried]] = defaultdict(list)
    for tried in sorted(laws, key=lambda tried: (-tried.trial.sure_strength, tried.rank)):
        if tried.trial.pairs or not is_broken:
            for column in about(tried.law):
                by_column[column].append(tried)
    best = (tried.law for column in sorted(by_column) for tried in by_column[column][:_LAWS_A_COLUMN])
    return [law for law in dict.fromkeys(best) if isinstance(law, VotingLaw)]


def _settled(
    run: Run,
    search: Search,
    question: ErrorsQuestion,
    heard: _Heard,
    cells: Cells,
    facts: ColumnFacts,
    notes: list[str],
) -> Iterator[Suspicion]:
    """Hear all laws on the rows that any finds something wrong with, and settle the blame."""
    laws = heard.laws
    if not laws:
        return
    search.progress(f"asking {len(laws)} laws")
    first = run.engine.opinions(laws, search.watch.is_over)
    notes += dict.fromkeys(opinion.unheard for opinion in first if opinion.unheard is not None)
    rows = np.unique(np.concatenate([opinion.rows for opinion in first]))
    if is_shuffled(run.table) and rows.size > MOST_SUSPICIOUS:
        rows = rows[:MOST_SUSPICIOUS]
        notes.append(f"more than {MOST_SUSPICIOUS:,} rows look wrong, and only the first of these were settled")
    judge = Judge(laws, first, heard.entities, facts, question.min_probability)
    at_once = max(1_000, _OPINIONS_AT_ONCE // len(laws))
    for begin in range(0, rows.size, at_once):
        search.progress(f"settling {begin:,} of {rows.size:,} rows")
        some = rows[begin : begin + at_once]
        hearing = Hearing.of(some, run.engine.opinions(laws, search.watch.is_over, some), cells.ranks(some))
        facts.know(hearing.asked_about(laws))
        for place in range(some.size):
            if place % _ROWS_A_LOOK == 0:
                search.look()
            yield from judge.settle(hearing, place)


def _with_suggestions(run: Run, search: Search, found: Sequence[Suspicion], facts: ColumnFacts) -> list[Suspicion]:
    """Ask what the cells should be that only left sides speak of: rows with the same right sides may say it."""
    asked: dict[FD, list[int]] = defaultdict(list)
    for number, suspicion in enumerate(found):
        law = reverse_law(suspicion)
        if law is not None:
            asked[law].append(number)
    laws = sorted(asked, key=lambda law: -len(asked[law]))[:_MOST_REVERSED]
    if not laws:
        return list(found)
    rows = np.unique([found[number].row for law in laws for number in asked[law]])
    answered = list(found)
    for law, opinion in zip(laws, run.engine.opinions(laws, search.watch.is_over, rows), strict=True):
        for number in asked[law]:
            place = int(np.searchsorted(rows, found[number].row))
            answered[number] = with_suggestion(found[number], place, opinion)
    facts.know((each.column, each.suggested) for each in answered if each.suggested is not None)
    return answered


def _typos_of_the_usual(
    table: EncodedTable, cells: Cells, facts: ColumnFacts, question: ErrorsQuestion, notes: list[str]
) -> Iterator[Suspicion]:
    """Cells of text columns that look like the value that nearly all rows have, and are not."""
    for column in range(table.width):
        if table.type(column) is not ColumnType.STRING:  # one number for another is no typo
            continue
        typos = [each for each in facts.typos_of_the_usual(column) if each[2] >= question.min_probability]
        if not typos:
            continue
        rows = cells.rows_with(column, [rank for rank, _, _ in typos], MOST_SUSPICIOUS)
        if rows is None:
            notes.append(f"more than {MOST_SUSPICIOUS:,} rows have what looks like a typo of {table.names[column]}")
            continue
        for rank, usual, likeness in typos:
            for row in rows[rank]:
                yield Suspicion(row, column, usual, likeness, (FD((), column),), rank)


def _wrong_cells(table: EncodedTable, facts: ColumnFacts, found: Sequence[Suspicion]) -> tuple[WrongCell, ...]:
    """What people read of suspicions, each cell once, the most probable first."""
    best: dict[tuple[int, int], Suspicion] = {}
    for suspicion in found:
        known = best.get((suspicion.row, suspicion.column))
        if known is None or known.probability < suspicion.probability:
            best[suspicion.row, suspicion.column] = suspicion
    ordered = sorted(best.values(), key=lambda each: (-each.probability, each.row, each.column))
    return tuple(
        WrongCell(
            each.row,
            table.names[each.column],
            table.place(each.row),
            facts.text(each.column, each.own),
            None if each.suggested is None else facts.text(each.column, each.suggested),
            each.probability,
            tuple(format_law(law, table.names) for law in each.laws),
            each.suggested,
        )
        for each in ordered
    )
