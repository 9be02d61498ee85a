"""The verbs of lawful as Python functions; the command line calls these and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.common.meanings import Measure, null_policy
from lawful.dependencies import Law
from lawful.results import CheckReport, DiscoveryReport, Explanation, TableProfile
from lawful.runs.open_table import OpenTable, request_of
from lawful.runs.opened import open_source
from lawful.runs.run import EngineName, Where
from lawful.tables.options import CsvDialect, ReadOptions, parse_column_types

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.runs.request import DenialWishes, ListWishes, Strategy


def open(  # noqa: A001  # what it does to a table is what the other one does to a file
    source: Any,
    *,
    engine: EngineName = "auto",
    spark: SparkSession | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
) -> OpenTable:
    """Read a table once, to ask several things of it.

    Use it in a `with` block, or close it. See `check` for the arguments.

    Returns
    -------
    OpenTable
        The table, with `discover`, `check`, `explain` and `profile`.
    """
    options = read_options(format, columns, types, limit, dialect)
    return OpenTable(open_source(source, options, Where(engine, spark=spark), reuse=reuse))


def discover(
    source: Any,
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
    engine: EngineName = "auto",
    spark: SparkSession | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
) -> DiscoveryReport:
    """Find all minimal laws that a table obeys.

    Parameters
    ----------
    source
        The table, as for `check`.
    find
        The kinds of laws: `key`, `fd`, `canonical-od`, `list-od`, `dc`.
    max_size
        The most columns of a key, of a left side, of a context or of a list; the most predicates of a DC.
    error, measure
        The share of the pairs of rows (`g1`) or of the rows (`g3`) that may break a law.
    min_interest
        Leave out laws of less interest.
    time_limit
        Seconds of searching after which to stop with what is certain.
    memory_limit
        Bytes that this process may use, or a text such as `"4g"`.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        How to search: `full` compares all pairs of rows, `hybrid` some and checks (keys, FDs, DCs); `lattice` and
        `evidence` (canonical ODs); `findod` and `canonical` (list ODs); `completion` (DCs); `auto`: whatever is
        quicker.
    checkpoint, resume
        A file in which a search for canonical ODs keeps every verdict, and whether to go on from it.
    partition_chain
        Keep the partitions on the way to another one if it takes at most so many products; of a longer way, only the
        end (canonical ODs). No law depends on it.
    lists, denials
        What only list-based order dependencies and only denial constraints can be asked for.
    null, engine, spark, format, columns, types, limit, dialect, reuse
        As for `check`.

    Returns
    -------
    DiscoveryReport
        The laws. At a limit, or when it is interrupted (Ctrl-C), those that are certain, with `complete` false.
    """
    request = request_of(  # first, because it refuses what cannot be meant before the table is read
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
    policy = null_policy(null)
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
    ) as table:
        return table.discover_as(request, policy)


def check(
    source: Any,
    laws: str | Law | Iterable[str | Law],
    *,
    null: str = "equal",
    engine: EngineName = "auto",
    spark: SparkSession | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
) -> CheckReport:
    """Check laws on a table.

    Parameters
    ----------
    source
        A path (CSV, Parquet, JSON lines, a folder of them), `table:NAME` or `sql:QUERY` for Spark, or a Spark,
        pandas, polars or Arrow table.
    laws
        Laws in their notation (`"zip -> state"`) or as values; see the page on notation.
    null
        `equal`: null is a value like any other. `ignore`: a law is judged on the rows without null in it.
    engine
        `local`, `spark`, or `auto`, which takes Spark for Spark's own tables and for large files.
    spark
        The session to use; an active one is found by itself.
    format, columns, types, limit, dialect
        What to read of the source and how; see `ReadOptions`.
    reuse
        Whether the encoded table of a file is kept, and taken again while the file is unchanged.

    Returns
    -------
    CheckReport
        The verdicts. When it is interrupted (Ctrl-C), those that there are, with `complete` false.
    """
    null_policy(null)  # refused before the table is read
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
    ) as table:
        return table.check(laws, null=null)


def explain(
    source: Any,
    law: str | Law,
    *,
    null: str = "equal",
    engine: EngineName = "auto",
    spark: SparkSession | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
) -> Explanation:
    """Explain why one law holds on a table, or which rows break it. See `check`."""
    null_policy(null)  # refused before the table is read
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
    ) as table:
        return table.explain(law, null=null)


def profile(
    source: Any,
    *,
    engine: EngineName = "auto",
    spark: SparkSession | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
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
    ) as table:
        return table.profile()


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
    return ReadOptions(
        format=format_,
        dialect=dialect or CsvDialect(),
        columns=None if columns is None else tuple(columns),
        types=parse_column_types([f"{name}={type_}" for name, type_ in (types or {}).items()]),
        limit=limit,
    )
