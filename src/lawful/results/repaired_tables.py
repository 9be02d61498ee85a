"""Copies of a table with other cells, as frames and as files with a log beside them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from lawful.common.errors import UsageError
from lawful.results.json_files import harmless_json
from lawful.tables.encoded_table import METADATA, EncodedTable
from lawful.tables.shuffled.table import ShuffledTable, is_shuffled
from lawful.tables.typed_values import typed_values, value_type

if TYPE_CHECKING:
    from lawful.tables.mending import Change, Rows
    from lawful.tables.spark_rows import SourceRows


@dataclass(frozen=True)
class ReadSource:
    """What a table was read from: a path, a frame, or Spark's own table with the rows that were encoded."""

    given: Any
    spark_rows: SourceRows | None = None

    @property
    def path(self) -> Path | None:
        """The file or folder, if it is one."""
        is_path = isinstance(self.given, str | os.PathLike) and self.spark_rows is None
        return Path(self.given) if is_path else None


class Suggested(Protocol):
    """A cell with what it should be."""

    @property
    def row(self) -> int:
        """Its row."""

    @property
    def column(self) -> str:
        """Its column."""

    @property
    def suggested(self) -> str | None:
        """What it should be."""

    @property
    def rank(self) -> int | None:
        """The rank of that."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""


def changes_of(table: EncodedTable, cells: Iterable[Suggested]) -> list[Change]:
    """The cells that get what is suggested, each with a row that has it already."""
    from lawful.tables.mending import Change

    names = list(table.names)
    examples: dict[tuple[int, int], int] = {}
    changes = []
    for cell in cells:
        if cell.rank is None or cell.suggested is None:
            continue
        column = names.index(cell.column)
        key = column, cell.rank
        if is_shuffled(table):
            examples[key] = -1
        elif key not in examples:
            examples[key] = int(np.argmax(np.asarray(table.column(column)) == cell.rank))
        changes.append(Change(cell.row, column, cell.suggested, cell.rank, examples[key]))
    return changes


def mended_copy(table: EncodedTable, source: ReadSource, changes: Sequence[Change], rows: Rows = None) -> Any:
    """A frame of the source's own kind with other cells, or with only some rows; an Arrow table for a file.

    Of a table that no process holds it is Spark's.
    """
    from lawful.tables.mending import mended_arrow, mended_frame

    if isinstance(table, ShuffledTable):
        from lawful.tables.shuffled.mending import mended_shuffled

        return mended_shuffled(table, source.given, changes, rows)
    if source.spark_rows is not None:
        from lawful.tables.spark_mending import mended_spark

        return mended_spark(table, source.spark_rows, changes, rows)
    if source.path is None:
        return mended_frame(table, source.given, changes, rows)
    everything = np.arange(table.rows)
    read = pa.table(
        [typed_values(table, everything, column, value_type(table, column)) for column in range(table.width)],
        names=list(table.names),
    )
    mended = mended_arrow(table, read, changes)
    return mended if rows is None else mended.take(pa.array(sorted(rows), pa.int64()))


def require_new(path: Path, source: Any) -> None:
    """Refuse a place that something is at already, the source first of all, before work is spent."""
    with suppress(OSError):
        if isinstance(source, str | os.PathLike) and Path(source).exists():
            if path.resolve() == Path(source).resolve():
                raise UsageError(f"{path} is the table itself, which is never changed", "Name another file.")
            if Path(source).resolve() in path.resolve().parents:
                raise UsageError(f"{path} is inside the table, which is never changed", "Name another folder.")
            if (Path(source) / METADATA).is_file():
                raise UsageError(
                    f"{source} is an encoded table, and no copy can be made in its format",
                    "Give the table that it was made from.",
                )
    for place in (path, log_of(path)):
        if place.exists() or place.is_symlink():
            raise UsageError(f"{place}: there is something already, and nothing is written over", "Name a new file.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.absolute().parent}")


def log_of(path: Path) -> Path:
    """Where the log of a repair or quarantine lies."""
    return path.with_name(f"{path.name}.log.jsonl")


def write_copy(
    table: EncodedTable,
    source: ReadSource,
    path: Path,
    changes: Sequence[Change],
    rows: Rows,
    logged: Sequence[Suggested],
) -> Path:
    """Write a copy of a source and a log of its cells, whole or not at all."""
    require_new(path, source.given)
    aside, log = path.with_name(f".{path.name}.{os.getpid()}.writing{path.suffix}"), log_of(path)
    log_aside = aside.with_name(f"{aside.name}.log")
    try:
        _write(table, source, aside, changes, rows)
        with log_aside.open("w", encoding="utf-8") as out:
            out.writelines(f"{harmless_json(json.dumps(cell.to_dict(), ensure_ascii=False))}\n" for cell in logged)
        log_aside.replace(log)
        aside.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            log_aside.unlink(missing_ok=True)
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            aside.unlink(missing_ok=True)
    return log


def _is_written_by_spark(table: EncodedTable) -> bool:
    """Whether no process takes in the files of a table: those of texts are copied line by line."""
    if not isinstance(table, ShuffledTable):
        return False
    from lawful.tables.shuffled.mending import is_text

    return not is_text(table)


def _write(table: EncodedTable, source: ReadSource, aside: Path, changes: Sequence[Change], rows: Rows) -> None:
    if source.path is not None and not _is_written_by_spark(table):
        from lawful.tables.mending import write_mended

        write_mended(table, source.path, changes, aside, rows)
        return
    copy = mended_copy(table, source, changes, rows)
    if source.spark_rows is not None or is_shuffled(table):  # a folder of Parquet files, where Spark can write it
        copy.write.parquet(aside.absolute().as_uri())
        return
    from pyarrow import parquet

    from lawful.tables.local_pipeline import as_arrow

    parquet.write_table(as_arrow(copy), aside)
