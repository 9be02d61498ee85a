"""The verbs of a table that changes: states, streams, history."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lawful.api.reading import read_options
from lawful.common.arguments import function, mapping, number, text, texts, whole_number
from lawful.common.meanings import Measure, null_policy
from lawful.runs.laws_input import GivenLaws
from lawful.runs.request import default_measure, families_of
from lawful.runs.run import EngineName, Progress, SparkSettings, Where, silent
from lawful.tables.options import CsvDialect, ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from lawful.maintenance.batches import Missing
    from lawful.maintenance.settings import StateSettings
    from lawful.results.batch_report import BatchReport
    from lawful.results.history_report import HistoryReport
    from lawful.runs.following import Followed
    from lawful.runs.handed_on import OnEvent
    from lawful.runs.maintain import OpenState
    from lawful.runs.spread_states import OpenSpreadState
    from lawful.runs.stream_batches import BatchTold
    from lawful.tables.living.incoming import Misfits


def make_state(
    path: str | os.PathLike[str],
    source: Any,
    find: str | Iterable[str] = ("key", "fd"),
    *,
    row_key: Sequence[str] = (),
    pins: GivenLaws | None = None,
    max_size: int | None = None,
    error: float = 0.0,
    measure: Measure | None = None,
    evidence: str = "auto",
    only_pinned: bool = False,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    null: str = "equal",
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    progress: Progress | None = None,
    notes: Progress | None = None,
) -> OpenState | OpenSpreadState:
    """Make a state of a table and its laws in a new folder, to be kept up to date while rows come and go.

    With `SparkSettings(placement="shuffle")` the rows are spread over a cluster, for tables that are too large for a
    process; the source is then files or one of Spark's own tables and frames.

    Parameters
    ----------
    path
        The folder, which must not be there or be empty. A spread state may be on any file system that Spark writes to.
    source
        The table, as for `check`.
    find
        The kinds of laws to keep: `key`, `fd`, `canonical-od`, `list-od`, `pod`, `dc`.
    row_key
        Columns that tell rows apart, and by which rows are deleted; without them, rows are deleted by value.
    pins
        Laws to watch, of any kind: every batch tells whether they hold.
    max_size, error, measure
        As for `discover`.
    evidence
        How laws are kept: `counted`, by all pairs of rows; `witnesses`, by a few of them; `auto`.
    only_pinned
        Look for no laws, and keep those that are pinned: then a batch costs its rows, and not the table.
    time_limit, memory_limit
        Seconds after which to give up, and the memory of this process beyond which to; no state is made then.
    null, engine, spark, format, columns, types, limit, dialect, progress
        As for `check`. Types and the texts that mean null are pinned: batches are read by them.
    notes
        Is told which kind of laws takes long to find, and is dear to keep, as soon as that shows.

    Returns
    -------
    OpenState
        The state, open for writing. Use it in a `with` block, or close it.
    """
    from lawful.runs.new_states import NewState
    from lawful.runs.states import make_state as make

    options = read_options(format, columns, types, limit, dialect)
    settings = _state_settings(find, null, max_size, error, measure, evidence, row_key, only_pinned=only_pinned)
    where, told = Where.of(engine, spark), silent if progress is None else function("progress", progress)
    noted = silent if notes is None else function("notes", notes)
    return make(path, NewState(source, options, settings, where, pins, time_limit, memory_limit, told, noted))


def open_state(
    path: str | os.PathLike[str],
    *,
    writes: bool = True,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
) -> OpenState | OpenSpreadState:
    """Open a state, to apply batches to it or, with `writes=False`, only to look at it.

    Only one process at a time can have it open for writing, unless it is spread over a cluster.

    Parameters
    ----------
    path
        The folder of the state.
    writes
        Whether it is to be changed.
    time_limit, memory_limit
        Seconds after which to give up, and the memory of this process beyond which to: opening the state, and what is
        done with it that has no limits of its own.
    engine, spark
        Where laws are checked; see `check`.
    """
    from lawful.common.sizes import size_in_bytes
    from lawful.runs.states import open_state as open_it
    from lawful.runs.stopping import UserWatch

    limits = UserWatch(time_limit, size_in_bytes(memory_limit))
    return open_it(path, Where.of(engine, spark), limits, writes=writes)


def maintain(
    source: Any,
    state: str | os.PathLike[str],
    find: str | Iterable[str] = ("key", "fd"),
    *,
    pin: GivenLaws | None = None,
    row_key: Sequence[str] = (),
    only_pinned: bool = False,
    max_size: int | None = None,
    error: float = 0.0,
    measure: Measure | None = None,
    evidence: str = "auto",
    null: str = "equal",
    trigger: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    events: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    quarantine: str | os.PathLike[str] | None = None,
    misfits: Misfits = "refuse",
    missing: Missing = "refuse",
    new_query: bool = False,
    memory_limit: int | str | None = None,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
) -> BatchReport | StreamingQuery:
    """Keep the laws of a table up to date with a stream, or with one batch.

    Parameters
    ----------
    source
        A streaming DataFrame of Spark: then a query is started that keeps the state up to date. Any other table, as for
        `check`: the state is made of it or, if it is there, the rows are applied as a batch.
    state
        The folder of the state. With Spark Connect it is a folder of the server.
    find, row_key, only_pinned, max_size, error, measure, evidence, null
        What a state keeps that is made now; see `make_state`.
    pin
        Laws to watch.
    trigger
        `once`, `available-now`, or an interval such as `10s`; a batch as soon as there are rows if left out.
    checkpoint
        The folder of the query's checkpoint; the state's own name and `.checkpoint` if left out.
    events, on_event
        A file that what happens to laws is appended to as JSON lines, and a function that each event is given to.
    quarantine
        A folder, or a table of Spark's as `table:NAME`, for rows that would break a pinned law, have a key that is
        there already or do not fit: they are put aside, and the rest is let through.
    misfits, missing
        What becomes of values that do not fit, and of rows to delete that are not there; as for `OpenState.apply`.
    new_query
        Whether a query that the state does not know may go on with it.
    memory_limit
        The memory of the process that keeps the state beyond which the batch is given up, and the stream with it.
    engine, spark
        Where laws are checked; see `check`.

    Returns
    -------
    StreamingQuery or BatchReport
        Of a stream Spark's own query; else what the batch did.
    """
    from lawful.runs.stream_verbs import maintain as run
    from lawful.runs.streams import StreamSettings

    where = Where.of(engine, spark)
    settings = _state_settings(find, null, max_size, error, measure, evidence, row_key, only_pinned=only_pinned)
    how = StreamSettings(
        checkpoint, trigger, misfits, missing, quarantine, events, on_event, memory_limit, new_query, engine
    )
    return run(source, state, settings, pin, how, where, ReadOptions())


def follow(
    source: str,
    state: str | os.PathLike[str],
    find: str | Iterable[str] = ("key", "fd"),
    *,
    pin: GivenLaws | None = None,
    row_key: Sequence[str] = (),
    only_pinned: bool = False,
    max_size: int | None = None,
    error: float = 0.0,
    measure: Measure | None = None,
    evidence: str = "auto",
    null: str = "equal",
    trigger: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    events: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    quarantine: str | os.PathLike[str] | None = None,
    misfits: Misfits = "refuse",
    missing: Missing = "refuse",
    new_query: bool = False,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    dialect: CsvDialect | None = None,
    source_options: Mapping[str, str] | None = None,
    told: Callable[[BatchTold], None] | None = None,
    progress: Progress | None = None,
) -> Followed:
    """Follow a stream by the name of its source until it ends, at a limit, or by a signal after the batch under way.

    Parameters
    ----------
    source
        A folder where files arrive, `kafka:HOST:PORT/TOPIC`, `delta:PATH`, `changes:TABLE`, `table:NAME` or `rate:N`.
    time_limit
        Seconds after which to end.
    format, dialect
        How files are written.
    source_options
        Options for Spark's reader, such as `{"maxFilesPerTrigger": "10"}`.
    told
        Is given every batch when it is applied.
    state, find, pin, row_key, only_pinned, max_size, error, measure, evidence, null, trigger, checkpoint, events, \
    on_event, quarantine, misfits, missing, new_query, memory_limit, engine, spark, progress
        As for `maintain`.

    Returns
    -------
    Followed
        How much was done, and how the state is in the end.
    """
    from lawful.runs.stream_verbs import follow_source
    from lawful.runs.streams import StreamSettings

    where = Where.of(engine, spark)
    settings = _state_settings(find, null, max_size, error, measure, evidence, row_key, only_pinned=only_pinned)
    how = StreamSettings(
        checkpoint, trigger, misfits, missing, quarantine, events, on_event, memory_limit, new_query, engine
    )
    options = read_options(format, None, None, None, dialect)
    asked = mapping("source_options", source_options or {}, '{"maxFilesPerTrigger": "10"}')
    return follow_source(
        text("source", source),
        state,
        settings,
        pin,
        how,
        where,
        options,
        asked,
        time_limit=time_limit,
        told=told,
        progress=progress or silent,
    )


def history(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    column: str | None = None,
    text: str | None = None,
    broke_since: int | None = None,
    min_age: int | None = None,
) -> HistoryReport:
    """The lives of the laws of a state: from which batch to which each was valid; see `OpenState.history`."""
    with open_state(path, writes=False, engine="local") as opened:
        return opened.history(kind=kind, column=column, text=text, broke_since=broke_since, min_age=min_age)


def events(path: str | os.PathLike[str], spark: SparkSession, since: int = 0) -> DataFrame:
    """What happened to the laws of a state in versions after `since`, as a DataFrame of Spark."""
    from lawful.runs.stream_verbs import events_frame

    return events_frame(path, spark, since)


def is_state(
    path: str | os.PathLike[str],
    *,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
) -> bool:
    """Whether there is a state in a folder; another file system than this machine's is asked through Spark."""
    from lawful.runs.states import is_state as look

    return look(path, Where.of(engine, spark))


def _state_settings(
    find: str | Iterable[str],
    null: str,
    max_size: int | None,
    error: float,
    measure: Measure | None,
    evidence: str,
    row_key: Sequence[str],
    *,
    only_pinned: bool = False,
) -> StateSettings:
    """Gather the arguments that say what a state keeps."""
    from lawful.maintenance.settings import StateSettings

    size = None if max_size is None else whole_number("max_size", max_size)
    families, keys = families_of(find), texts("row_key", row_key)
    measure = measure or default_measure(families)
    if only_pinned and families == ("key", "fd"):
        families = ()
    return StateSettings(
        families, null_policy(null), size, number("error", error), measure, evidence, keys, only_pinned=only_pinned
    )
