"""Where the rows of a table go: all on every node, or spread over the nodes.

Replicated rows are quicker as long as a node has room for them: its disk and memory for the ranks of all columns, and
each of its tasks for one column while the table is encoded. That is the question Spark asks of joins: broadcast what is
small, shuffle what is not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import LawfulError
from lawful.common.machine import memory_bytes
from lawful.engines.session_settings import runs_on_this_machine
from lawful.engines.worker_memory import bytes_of
from lawful.tables.encoded_table import MOST_ROWS
from lawful.tables.files import format_of, is_packed
from lawful.tables.json_text import json_names
from lawful.tables.options import ReadOptions
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import is_connect, parallelism
from lawful.tables.spark_files import SparkFiles, first_lines, list_on_spark, parquet_rows
from lawful.tables.text_blocks import BlockError, TextBlock
from lawful.tables.text_layout import csv_layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RANK_BYTES = 4
_ROW_BYTES_OF_A_TASK = 24
"""What a row of a column takes in the task that ranks it: a code, a rank, and its share of values and pieces."""
_SMALL = 256 << 20
"""Files of fewer bytes are replicated without a look at their rows."""
_UNPACKED = 4
"""How many times larger text is than what it is packed into, about."""


@dataclass(frozen=True)
class Placed:
    """Where rows go, and why."""

    is_shuffled: bool
    because: str


def place(rows: int, width: int, node_bytes: int, tasks: int) -> Placed:
    """Decide for a table of so many rows and columns, on nodes of so much memory that run so many tasks."""
    needed = rows * (_RANK_BYTES * width + _ROW_BYTES_OF_A_TASK * tasks)
    size = f"{rows:,} rows x {width} would take {needed >> 20:,} MB of each node, which has {node_bytes >> 20:,} MB"
    return Placed(rows > MOST_ROWS or needed > node_bytes, size)


def placed_source(spark: SparkSession, source: Any, options: ReadOptions) -> Placed:
    """Decide for a source: the rows of Parquet files are counted, those of text files estimated from the first ones."""
    if not isinstance(source, str | os.PathLike) or str(source).startswith(("table:", "sql:")):
        return Placed(False, "how many rows a table, query or frame has is not known before it is read")
    with translated():
        files = list_on_spark(spark, os.fspath(source))
        options = options.with_format(format_of(files.paths, options, os.fspath(source)))
        if _bytes_of(files) < _SMALL:
            return Placed(False, f"the files are smaller than {_SMALL >> 20} MB")
        if options.format == "parquet":
            frame = parquet_rows(spark, files, options.columns, only_counted=True)
            rows, width = frame.count(), len(frame.columns)
        else:
            rows, width = estimated_rows(spark, files, options)
    width = width if options.columns is None else len(options.columns)
    return place(rows if options.limit is None else min(rows, options.limit), width, *node_of(spark))


def _bytes_of(files: SparkFiles) -> int:
    """The bytes of all files; of packed ones about what they have when they are unpacked."""
    listed = zip(files.paths, files.identity, strict=False)
    return sum(int(entry[1]) * (_UNPACKED if is_packed(Path(path)) else 1) for path, entry in listed)


def estimated_rows(spark: SparkSession, files: SparkFiles, options: ReadOptions) -> tuple[int, int]:
    """About how many rows text files have if all lines are as long as the first ones, and how many columns."""
    encoding = None if options.dialect.splits_at_newline_bytes else options.dialect.encoding
    head = first_lines(spark, files, encoding)
    lines = max(1, head.count(b"\n"))
    try:
        if options.format == "csv":
            width = len(csv_layout(head, options, files.source).names)
        else:
            width = len(json_names(TextBlock(head, 1), "utf-8"))
    except (BlockError, LawfulError):  # which is told when the files are read
        width = 1
    return _bytes_of(files) * lines // max(1, len(head)), width


def node_of(spark: SparkSession) -> tuple[int, int]:
    """The memory of a node and the tasks that it runs, as far as the session tells."""
    if not is_connect(spark):
        master = spark.sparkContext.master or ""
        if runs_on_this_machine(master) and not master.startswith("local-cluster"):
            return memory_bytes(), parallelism(spark)
    heap = bytes_of(spark.conf.get("spark.executor.memory", "1g") or "1g") or 1 << 30
    python = bytes_of(spark.conf.get("spark.executor.pyspark.memory", "") or "") or heap
    return heap + python, max(1, int(spark.conf.get("spark.executor.cores", "1") or 1))
