"""The verbs that find: laws, the strongest of them, wrong cells."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lawful.api.reading import open as open_table
from lawful.common.arguments import instance
from lawful.common.meanings import Measure, null_policy
from lawful.runs.open_table import OpenTable
from lawful.runs.partial_files import PartialFile
from lawful.runs.request import request_of
from lawful.runs.run import EngineName, Progress, SparkSettings, Where, silent
from lawful.runs.stopping import UserWatch, read_within
from lawful.tables.options import CsvDialect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.results import (
        DiscoveryReport,
        ErrorsReport,
        StrongestReport,
    )
    from lawful.runs.warm_up import WarmUp


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
        return open_table(
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
    with open_table(
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
    with open_table(
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
