"""The verbs that show and hand on: a page, exports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.api.reading import open as open_table
from lawful.common.arguments import function
from lawful.results.exporting import register_exporter
from lawful.runs.run import EngineName, Progress, SparkSettings, silent
from lawful.tables.options import CsvDialect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.reports.page import ReportPage


def report(
    laws: Any,
    table: Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    time_limit: float | None = None,
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
) -> ReportPage:
    """Make a page to open in a browser: broken laws and their rows first, then all that is known of the table.

    Parameters
    ----------
    laws
        What `strongest`, `discover`, `check` or `load` gave back, the path of a document or of a state, an open state;
        with a table, laws in any form that `check` takes.
    table
        The table to check the laws on, as for `check`. If left out, the page shows what is known of the laws; rows and
        plots where the result has its table at hand.
    out, replace
        The file to write, and whether it may be there already.
    time_limit
        Seconds of checking and gathering rows after which the page is made of what there is.
    null, engine, spark, format, columns, types, limit, dialect, reuse, progress
        As for `check`.

    Returns
    -------
    ReportPage
        The page, with `save` and `to_html`. When it is interrupted (Ctrl-C), what there is, with `is_whole` false.
    """
    from lawful.reports.limits import PageLimits
    from lawful.reports.making import page_of_source, page_on_table
    from lawful.reports.page import require_place
    from lawful.reports.sources import page_source

    told, limits = silent if progress is None else function("progress", progress), PageLimits()
    if out is not None:
        require_place(Path(out), replace=replace)
    source = page_source(laws, limits)
    if table is None:
        page = page_of_source(source, time_limit, told, limits)
    else:
        with open_table(
            table,
            engine=engine,
            spark=spark,
            format=format,
            columns=columns,
            types=types,
            limit=limit,
            dialect=dialect,
            reuse=reuse,
            progress=progress,
        ) as opened:
            page = page_on_table(source, opened, null, time_limit, told, limits)
    if out is not None:
        page.save(out, replace=replace)
    return page


def _export(*arguments: Any, **options: Any) -> Any:
    from lawful.exports import export

    return export(*arguments, **options)


register_exporter(_export)
