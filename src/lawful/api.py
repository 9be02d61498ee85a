"""The verbs of lawful as Python functions; the command line calls these and nothing else."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.arguments import function, instance, mapping, number, text, texts, whole_number
from lawful.common.errors import LawfulWarning, UsageError
from lawful.common.meanings import Measure, null_policy
from lawful.results import (
    CheckReport,
    DiscoveryReport,
    ErrorsReport,
    Explanation,
    SavedLaws,
    StrongestReport,
    TableProfile,
)
from lawful.runs.laws_input import GivenLaws, LawsInput, OneLaw, given_laws, load_document
from lawful.runs.open_table import OpenTable, null_of_laws
from lawful.runs.opened import open_source
from lawful.runs.partial_files import PartialFile
from lawful.runs.request import families_of, request_of
from lawful.runs.run import EngineName, Progress, SparkSettings, Where, silent
from lawful.runs.stopping import UserWatch, read_within
from lawful.tables.advice import advice
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import CsvDialect, ReadOptions, parse_column_types

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.runs.maintain import OpenState
    from lawful.runs.warm_up import WarmUp

__all__ = [
    "CsvDialect",
    "LawsInput",
    "OpenState",
    "PartialFile",
    "Progress",
    "SparkSettings",
    "check",
    "discover",
    "errors",
    "explain",
    "is_state",
    "load",
    "make_state",
    "open",
    "open_state",
    "profile",
    "read_laws",
    "strongest",
    "warm_up",
]


def open(  # noqa: A001  # what it does to a table is what the other one does to a file
    source: Any,
    *,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> OpenTable:
    """Read a table once, to ask several things of it.

    Use it in a `with` block, or close it. See `check` for the arguments.

    Returns
    -------
    OpenTable
        The table, with `errors`, `discover`, `check`, `explain` and `profile`.
    """
    options = read_options(format, columns, types, limit, dialect)
    told = silent if progress is None else function("progress", progress)
    opened = open_source(source, options, Where.of(engine, spark), reuse=reuse, progress=told)
    _warn_of_table(opened.table)
    return OpenTable(opened, told)


def discover(
    source: Any,
    find: str | Iterable[str] = ("key", "fd"),
    *,
    max_size: int | None = None,
    error: float = 0.0,
    measure: Measure | None = None,
    min_interest: float = 0.0,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    seed: int = 0,
    strategy: str = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    null: str = "equal",
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
    notes: Progress | None = None,
    partial: PartialFile | None = None,
    **options: Any,
) -> DiscoveryReport:
    """Find all minimal laws that a table obeys.

    Parameters
    ----------
    source
        The table, as for `check`.
    find
        The kinds of laws: `key`, `fd`, `canonical-od`, `list-od`, `pod`, `dc`.
    max_size
        The most columns of a key, of a left side, of a context or of a list; the most predicates of a DC.
    error, measure
        The share of the rows (`g3`) or of the pairs of rows (`g1`) that may break a law; without a measure g3,
        or g1 where `pod` or `dc` is asked for.
    min_interest
        Leave out laws of less interest.
    time_limit
        Seconds after which to stop with what is certain; reading counts, compiling does not.
    memory_limit
        Bytes that this process may use, or a text such as `"4g"`; three quarters of the machine's memory if left out.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        How to search: `full` compares all pairs of rows, `hybrid` compares some and checks what is left (keys, FDs,
        DCs); `lattice` and `evidence` (canonical ODs); `findod` and `canonical` (list ODs); `completion` (DCs); `auto`:
        whatever is quicker.
    checkpoint, resume
        A file in which every verdict is kept, and whether to go on from it.
    null, engine, spark, format, columns, types, limit, dialect, reuse, progress
        As for `check`.
    notes
        Is told, before the search begins, what is good to know of it, such as which columns will be compared.
    partial
        A file that every law is appended to as soon as it is certain; see `PartialFile`.
    options
        What only some kinds of laws can be asked for, such as `unidirectional=True` or `cross_columns=False`; the page
        on Python lists them.

    Returns
    -------
    DiscoveryReport
        The laws. At a limit, or when it is interrupted (Ctrl-C), those that are certain, with `complete` false.
    """
    common = {
        "find": find,
        "max_size": max_size,
        "error": error,
        "measure": measure,
        "min_interest": min_interest,
        "time_limit": time_limit,
        "memory_limit": memory_limit,
        "seed": seed,
        "strategy": strategy,
        "checkpoint": checkpoint,
        "resume": resume,
    }
    request = request_of(common | options)  # first, because it refuses what cannot be meant before the table is read
    policy = null_policy(null)
    if partial is not None:
        instance("partial", partial, PartialFile, 'lawful.PartialFile("laws.json")').refuse_checkpoint(
            request.checkpoint
        )
    watch = UserWatch(request.time_limit, request.memory_limit)  # reading counts too

    def read() -> OpenTable:
        return open(
            source,
            engine=engine,
            spark=spark,
            format=format,
            columns=columns,
            types=types,
            limit=limit,
            dialect=dialect,
            reuse=reuse,
            progress=progress,
        )

    is_here = Where.of(engine, spark).settle(source) == "local"
    with read_within(watch, read) if is_here and request.time_limit is not None else read() as table:
        return table.discover_as(request, policy, notes, partial, watch)


def strongest(
    source: Any,
    find: str | Iterable[str] = ("key", "fd", "canonical-od"),
    *,
    top: int = 100,
    max_size: int = 3,
    null: str = "equal",
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    seed: int = 0,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> StrongestReport:
    """Find the laws that matter: the strongest ones, holding or almost holding, without a threshold.

    Parameters
    ----------
    source
        The table, as for `check`.
    find
        The kinds of laws: `key`, `fd`, `canonical-od`.
    top
        How many laws of each kind and size, at most, those that follow from others included.
    max_size
        The most columns of a key and of a left side; the context of an order has two less.
    time_limit
        Seconds of searching after which to stop with the strongest by then.
    memory_limit
        Bytes that this process may use, or a text such as `"4g"`.
    seed
        Where random numbers start.
    null, engine, spark, format, columns, types, limit, dialect, reuse, progress
        As for `check`.

    Returns
    -------
    StrongestReport
        The laws, the strongest first. `statements` is what they say together, with what follows folded away.
    """
    with open(
        source,
        engine=engine,
        spark=spark,
        format=format,
        columns=columns,
        types=types,
        limit=limit,
        dialect=dialect,
        reuse=reuse,
        progress=progress,
    ) as table:
        return table.strongest(
            find,
            top=top,
            max_size=max_size,
            null=null,
            time_limit=time_limit,
            memory_limit=memory_limit,
            seed=seed,
        )


def errors(
    source: Any,
    *,
    min_probability: float = 0.5,
    max_size: int = 2,
    null: str = "equal",
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    seed: int = 0,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> ErrorsReport:
    """Find the cells of a table that are probably wrong, by all laws that almost hold.

    Parameters
    ----------
    source
        The table, as for `check`.
    min_probability
        How probable it has to be that a cell is wrong.
    max_size
        The most columns on the left of a law that is heard.
    time_limit
        Seconds after which to stop with the cells that were settled by then.
    memory_limit
        Bytes that this process may use, or a text such as `"4g"`.
    seed
        Where random numbers start, for the search for laws on large tables.
    null, engine, spark, format, columns, types, limit, dialect, reuse, progress
        As for `check`.

    Returns
    -------
    ErrorsReport
        The cells, the most probable first. `repaired` gives the table with what is suggested, `suspicious_rows` the
        rows with a wrong cell; the source itself is never changed.
    """
    with open(
        source,
        engine=engine,
        spark=spark,
        format=format,
        columns=columns,
        types=types,
        limit=limit,
        dialect=dialect,
        reuse=reuse,
        progress=progress,
    ) as table:
        return table.errors(
            min_probability=min_probability,
            max_size=max_size,
            null=null,
            time_limit=time_limit,
            memory_limit=memory_limit,
            seed=seed,
        )


def check(
    source: Any,
    laws: GivenLaws,
    *,
    error: float | None = None,
    measure: Measure | None = None,
    null: str | None = None,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> CheckReport:
    """Check laws on a table.

    Parameters
    ----------
    source
        A path (CSV, Parquet, JSON lines, a folder of them), `table:NAME` or `sql:QUERY` for Spark, or a Spark,
        pandas, polars or Arrow table. Columns of lists, structures and the like are left out with a
        `LawfulWarning`: laws are about single values.
    laws
        Laws in their notation (`"zip -> state"`); the path of a file of them or of a document; what `discover`,
        `check` or `load` gave back, or some of the laws in it. They are bound to the names of columns, and refused
        where the table lacks one.
    error, measure
        The share of the pairs of rows (`g1`) or of the rows (`g3`) that may break a law, for all laws. If left out,
        laws that were found within an error are judged by that, and others must hold on all rows.
    null
        `equal`: null is a value like any other. `ignore`: a law is judged on the rows without null in it. If left out,
        what it meant when the laws were found, else `equal`.
    engine
        `local`, `spark`, or `auto`, which takes Spark for Spark's own tables and for large files.
    spark
        The session to use, or the `SparkSettings` of one that is started or connected to; an active one is found by
        itself.
    format, columns, types, limit, dialect
        What to read of the source and how; see `ReadOptions`.
    reuse
        Whether the encoded table of a file is kept, and taken again while the file is unchanged.
    progress
        Is told what is being done, in a few words, whenever that changes.

    Returns
    -------
    CheckReport
        The verdicts. When it is interrupted (Ctrl-C), those that there are, with `complete` false.
    """
    given = read_laws(laws)  # first, because what is no law is refused before the table is read
    null_of_laws(null, given)
    with open(
        source,
        engine=engine,
        spark=spark,
        format=format,
        columns=columns,
        types=types,
        limit=limit,
        dialect=dialect,
        reuse=reuse,
        progress=progress,
    ) as table:
        return table.check(given, error=error, measure=measure, null=null)


def explain(
    source: Any,
    law: OneLaw,
    *,
    null: str | None = None,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> Explanation:
    """Explain why one law holds on all rows of a table, or which rows break it. See `check`."""
    given = read_laws(law)
    null_of_laws(null, given)
    with open(
        source,
        engine=engine,
        spark=spark,
        format=format,
        columns=columns,
        types=types,
        limit=limit,
        dialect=dialect,
        reuse=reuse,
        progress=progress,
    ) as table:
        return table.explain(given, null=null)


def read_laws(laws: GivenLaws) -> LawsInput:
    """Read laws in any form that `check` takes, and refuse what is none; they are bound to columns when they are used.

    Returns
    -------
    LawsInput
        The laws, which `check`, `explain` and `rewrite` take.
    """
    return given_laws(laws)


def load(path: str | os.PathLike[str]) -> SavedLaws:
    """Read the laws of a document that `discover` or `check` wrote, with the settings that they were found with."""
    return load_document(Path(path))


def profile(
    source: Any,
    *,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> TableProfile:
    """Read a table and describe its columns: types, distinct values, nulls, extremes. See `check`."""
    with open(
        source,
        engine=engine,
        spark=spark,
        format=format,
        columns=columns,
        types=types,
        limit=limit,
        dialect=dialect,
        reuse=reuse,
        progress=progress,
    ) as table:
        return table.profile()


def make_state(
    path: str | os.PathLike[str],
    source: Any,
    find: str | Iterable[str] = ("key", "fd"),
    *,
    row_key: Sequence[str] = (),
    pins: GivenLaws | None = None,
    max_size: int | None = None,
    error: float = 0.0,
    measure: Measure = "g1",
    evidence: str = "auto",
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
) -> OpenState:
    """Make a state of a table and its laws in a new folder, to be kept up to date while rows come and go.

    Parameters
    ----------
    path
        The folder, which must not be there or be empty.
    source
        The table, as for `check`.
    find
        The kinds of laws to keep: `key`, `fd`, `pod`.
    row_key
        Columns that tell rows apart, and by which rows are deleted; without them, rows are deleted by value.
    pins
        Laws to watch, of any kind: every batch tells whether they hold.
    max_size, error, measure
        As for `discover`.
    evidence
        How laws are kept: `counted`, by all pairs of rows; `witnesses`, by a few of them; `auto`.
    time_limit, memory_limit
        Seconds after which to give up, and the memory of this process beyond which to; no state is made then.
    null, engine, spark, format, columns, types, limit, dialect, progress
        As for `check`. Types and the texts that mean null are pinned: batches are read by them.

    Returns
    -------
    OpenState
        The state, open for writing. Use it in a `with` block, or close it.
    """
    from lawful.maintenance.settings import StateSettings
    from lawful.runs.maintain import make_state as make

    options = read_options(format, columns, types, limit, dialect)
    size = None if max_size is None else whole_number("max_size", max_size)
    families, keys = families_of(find), texts("row_key", row_key)
    settings = StateSettings(families, null_policy(null), size, number("error", error), measure, evidence, keys)
    where, told = Where.of(engine, spark), silent if progress is None else function("progress", progress)
    limits: dict[str, Any] = {"time_limit": time_limit, "memory_limit": memory_limit}
    return make(Path(path), source, options, settings, where, pins=pins, **limits, progress=told)


def open_state(
    path: str | os.PathLike[str],
    *,
    writes: bool = True,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
) -> OpenState:
    """Open a state, to apply batches to it or, with `writes=False`, only to look at it.

    Only one process at a time can have it open for writing.
    """
    from lawful.runs.maintain import open_state as open_it

    return open_it(Path(path), Where.of(engine, spark), writes=writes)


def is_state(path: str | os.PathLike[str]) -> bool:
    """Whether there is a state in a folder."""
    from lawful.runs.maintain import is_state as look

    return look(Path(path))


def warm_up(find: str | Iterable[str] | None = None, *, progress: Progress | None = None) -> WarmUp:
    """Compile everything that lawful compiles, once for a machine or an image, so that no later run waits for it.

    Parameters
    ----------
    find
        The kinds of laws that will be looked for and checked; None for all.
    progress
        Is told what is being done, in a few words.

    Returns
    -------
    WarmUp
        How many kernels were compiled, how long that took, and the folder where they are kept.
    """
    from lawful.runs.warm_up import warm_up as compile_all

    return compile_all(find, progress or silent)


def _warn_of_table(table: EncodedTable) -> None:
    """Warn at the line that called a verb, through however many functions of this file."""
    left_out = table.names.told()
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        depth, frame = depth + 1, frame.f_back
    for told in (*([left_out] if left_out else []), *advice(table)):
        warnings.warn(LawfulWarning(f"{table.name}: {told}"), stacklevel=depth)


def read_options(
    format_: str | None,
    columns: Sequence[str] | None,
    types: Mapping[str, str] | None,
    limit: int | None,
    dialect: CsvDialect | None,
) -> ReadOptions:
    """Gather the arguments that say how to read a source."""
    if isinstance(columns, str):  # a text is a sequence of characters too
        raise UsageError(f"columns must be a list of names, not {columns!r}", f"Write [{columns!r}].")
    if dialect is not None:
        instance("dialect", dialect, CsvDialect, 'lawful.CsvDialect(separator=";")')
    chosen = mapping("types", types or {}, '{"zip": "string"}')
    return ReadOptions(
        format=None if format_ is None else text("format", format_),
        dialect=dialect or CsvDialect(),
        columns=None if columns is None else texts("columns", columns),
        types=parse_column_types([f"{text('types', name)}={type_}" for name, type_ in chosen.items()]),
        limit=None if limit is None else whole_number("limit", limit),
    )
