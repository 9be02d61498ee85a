"""Violating rows as CSV files in a folder, one file per broken law."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from lawful.common.errors import UsageError

_LONGEST_SLUG = 60


def require_empty(folder: Path) -> None:
    """Refuse a folder with anything in it: violations of two runs in one folder could not be told apart."""
    try:
        is_fine = not folder.exists() or (folder.is_dir() and next(folder.iterdir(), None) is None)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from None
    if not is_fine:
        reason = "is not empty, and violations of two runs must not mix" if folder.is_dir() else "is not a folder"
        raise UsageError(f"{folder}: {reason}", "Name a new folder, or empty this one.")


def file_name(number: int, law: str) -> str:
    """Name the file of a law: its place among the laws that were checked, and a few of its words."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", law)[:_LONGEST_SLUG].strip("-").lower()
    return f"{number:03d}-{words or 'law'}.csv"


def write_rows(path: Path, names: Iterable[str], parts: Iterable[pa.RecordBatch]) -> None:
    """Write batches as one CSV: every text in quotes, and null as a cell without any."""
    header = io.StringIO(newline="")
    csv.writer(header, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(names)
    from pyarrow import csv as arrow_csv

    options = arrow_csv.WriteOptions(include_header=False)
    try:
        with path.open("wb") as out:
            out.write(header.getvalue().encode("utf-8"))
            for part in parts:
                arrow_csv.write_csv(part, out, options)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
