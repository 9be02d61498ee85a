"""The verbs that judge laws which someone has written, and the reading of laws."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.api.reading import open as open_table
from lawful.common.meanings import Measure
from lawful.runs.laws_input import GivenLaws, LawsInput, OneLaw, given_laws, load_document
from lawful.runs.open_table import null_of_laws
from lawful.runs.run import EngineName, Progress, SparkSettings
from lawful.tables.options import CsvDialect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.results import (
        CheckReport,
        Explanation,
        SavedLaws,
    )


def check(
    source: Any,
    laws: GivenLaws,
    *,
    error: float | None = None,
    measure: Measure | None = None,
    null: str | None = None,
    strength: bool = False,
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
        The share of the rows (`g3`) or of the pairs of rows (`g1`) that may break a law, for all laws; without a
        measure g3, or g1 for laws whose g3 is too hard. If left out, laws that were found within an error are judged by
        that, and others must hold on all rows.
    null
        `equal`: null is a value like any other. `ignore`: a law is judged on the rows without null in it. If left out,
        what it meant when the laws were found, else `equal`.
    strength
        Whether to tell of each law how strong it is, and g1 and g3; of FDs tau and RFI+ too.
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
        return table.check(given, error=error, measure=measure, null=null, strength=strength)


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
