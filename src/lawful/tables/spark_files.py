"""The files of a source as Spark sees them, and what is in them: lines, or whole contents."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import SourceError
from lawful.tables.files import is_hidden_name, list_files
from lawful.tables.identity import local_identity
from lawful.tables.parquet_folders import partition_names, refuse_for_spark
from lawful.tables.spark_facts import is_connect
from lawful.tables.spark_tasks import HEADS, decoded_path, head_finder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

_FEW_FILES = 32
_FIRST_LINES = 200
_OWN_COLUMN = "_metadata"
_UNMERGED = re.compile(r'incompatible data types "(\w+)[^"]*" and "(\w+)[^"]*"')
_NANOSECONDS_AS_NUMBERS = "spark.sql.legacy.parquet.nanosAsLong"


@dataclass(frozen=True)
class SparkFiles:
    """The files of a source, with what changes when one of them does.

    `local` are the same files where this process can read them, named as the user named them; elsewhere empty.
    """

    source: str
    paths: list[str]
    identity: list[Any]
    local: list[Path] = field(default_factory=list)

    @property
    def location(self) -> str:
        """The source as Spark is to be given it: its working folder need not be ours."""
        return str(Path(self.source).absolute()) if self.local else self.source

    def shown(self, path: str) -> str:
        """How the user knows a file that Spark names by its whole path."""
        return self._shown.get(path, path)

    @cached_property
    def _shown(self) -> dict[str, str]:
        return {path: str(file) for path, file in zip(self.paths, self.local, strict=False)}


def list_on_spark(spark: SparkSession, path: str) -> SparkFiles:
    """List files from here where the driver sees what Spark sees, else through Spark."""
    if "://" not in path and not is_connect(spark):
        found = list_files(Path(path))
        _refuse_names_that_spark_cannot_read(found)
        return SparkFiles(path, [str(file.absolute()) for file in found], local_identity(found), found)
    rows = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .load(literal(path))
        .selectExpr("_metadata.file_path as path", "length", "cast(modificationTime as string) as changed")
        .collect()
    )
    listed = sorted((decoded_path(row["path"]), row["length"], row["changed"]) for row in rows)
    listed = [entry for entry in listed if not is_hidden_name(Path(entry[0]).name)]
    if not listed:
        raise SourceError(f"{path}: the folder has no data files")
    identity = [list(entry) for entry in listed]
    if not is_connect(spark):
        identity += _seen_from_here([entry[0] for entry in listed])
    return SparkFiles(path, [entry[0] for entry in listed], identity)


def _seen_from_here(paths: Sequence[str]) -> list[Any]:
    """What this process knows of files that Spark was given as `file:///…`, where it sees them too."""
    files = [Path(path) for path in paths if "://" not in path]
    return local_identity([file for file in files if file.is_file()])


def _refuse_names_that_spark_cannot_read(files: Sequence[Path]) -> None:
    for file in files:
        if is_hidden_name(file.name):  # Spark would give an empty table without a word
            raise SourceError(f"{file}: Spark passes over files of such names", "Rename it, or use --engine local.")
        if ":" in file.name:
            raise SourceError(
                f"{file}: Spark cannot read a file with a colon in its name", "Rename it, or use --engine local."
            )


def literal(path: str) -> str:
    """A path in which Spark finds no wildcards."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def lines_of(spark: SparkSession, files: SparkFiles) -> DataFrame:
    """The raw lines of the files with the split that each is from, in order within a split."""
    text = _load(spark.read.format("text").option("lineSep", "\n"), files)
    return text.selectExpr(
        "cast(value as binary) as line", "_metadata.file_path as file", "_metadata.file_block_start as start"
    )


def contents_of(spark: SparkSession, files: SparkFiles) -> DataFrame:
    """Whole files, for encodings whose bytes cannot be cut into lines: each is read by one task."""
    whole = _load(spark.read.format("binaryFile"), files)
    return whole.selectExpr("content", "_metadata.file_path as file", "0L as start")


def _load(reader: DataFrameReader, files: SparkFiles) -> DataFrame:
    """Load exactly these files.

    Spark looks at each path of a list by itself, at ten milliseconds per file. Many are better listed as the
    folder that they lie in, if that is the same: Spark follows links to folders, for one.
    """
    if len(files.paths) > _FEW_FILES:
        folder = reader.option("recursiveFileLookup", "true").load(literal(files.location))
        if sorted(map(decoded_path, folder.inputFiles())) == sorted(files.paths):
            return folder
    return reader.load([literal(path) for path in files.paths])


def as_whole_files(lines: DataFrame) -> DataFrame:
    """The same lines with every file in one partition and in its order, as one split."""
    ordered = lines.selectExpr("line", "file", "start", "monotonically_increasing_id() as number")
    in_order = ordered.repartition("file").sortWithinPartitions("file", "start", "number")
    return in_order.selectExpr("line", "file", "0L as start")


def first_lines(spark: SparkSession, files: SparkFiles, encoding: str | None) -> bytes:
    """The first lines of the first file that has any; with an `encoding`, files are read whole and decoded."""
    for path in files.paths:
        one = SparkFiles(path, [path], [])
        if encoding is None:
            rows = lines_of(spark, one).where("start = 0").limit(_FIRST_LINES).collect()
            head = b"".join(bytes(row["line"]) + b"\n" for row in rows).removeprefix(b"\xef\xbb\xbf")
        else:
            heads = contents_of(spark, one).mapInArrow(head_finder(encoding), HEADS).collect()
            head = b"".join(bytes(row["head"]) for row in heads)
        if head:
            return head
    return b""


def parquet_rows(
    spark: SparkSession, files: SparkFiles, columns: Collection[str] | None = None, *, only_counted: bool = False
) -> DataFrame:
    """The rows of Parquet files, some columns of which matter; folders that are no partitions are looked into too.

    Where only Spark sees the files, it has to look into all of them to tell whether they differ, which is not done if
    rows are only counted.
    """
    if files.local:
        nanoseconds = spark.conf.get(_NANOSECONDS_AS_NUMBERS, "false") == "true"
        refuse_for_spark(files.local, columns, nanoseconds=nanoseconds)
        is_partitioned = bool(partition_names(Path(files.source), files.local))
    else:
        is_partitioned = any("=" in path.removeprefix(files.source) for path in files.paths)
    options = {} if is_partitioned else {"recursiveFileLookup": "true"}
    rows = spark.read.options(**options).parquet(literal(files.location))
    if not files.local and len(files.paths) > 1 and not only_counted:
        _refuse_differing(spark, files, options, rows, columns)
    if _OWN_COLUMN in rows.columns:
        raise SourceError(
            f"{files.source}: Spark has a column {_OWN_COLUMN!r} of its own, and so do the files",
            "Rename that column, or use --engine local.",
        )
    return rows


def _refuse_differing(
    spark: SparkSession, files: SparkFiles, options: dict[str, str], rows: DataFrame, columns: Collection[str] | None
) -> None:
    """Refuse files that only Spark sees, whose columns or types are not the same: it looks into all of them."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    advice = "All files of a folder must have the same columns and types. Write them anew with one schema."
    try:
        merged = spark.read.options(**options, mergeSchema="true").parquet(literal(files.location)).schema
    except (PySparkException, Py4JError) as error:
        if "CANNOT_MERGE" not in str(error):
            raise
        found = _UNMERGED.search(str(error))
        told = "" if found is None else f": {found[1].lower()} and {found[2].lower()}"
        raise SourceError(f"{files.source}: a column has different types in its files{told}", advice) from error
    of_one = {column.name: column.dataType for column in rows.schema}
    for column in merged:
        name, type_ = column.name, column.dataType
        if name not in of_one:
            raise SourceError(f"{files.source}: not all files have the column {name!r}", advice)
        if (columns is None or name in columns) and type_ != of_one[name]:
            types = f"{of_one[name].simpleString()} and {type_.simpleString()}"
            raise SourceError(f"{files.source}: column {name!r} is {types} in different files", advice)
