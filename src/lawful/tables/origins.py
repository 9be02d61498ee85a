"""Where each row came from, so that a violation can be shown at its file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Place:
    """The source of one row: a file (None where the source is no file) and a line or row in it, from 1."""

    file: str | None
    number: int
    unit: str

    def __str__(self) -> str:
        return f"row {self.number}" if self.file is None else f"{self.file}, {self.unit} {self.number}"


class Origins(NamedTuple):
    """A piecewise linear map from row ids to files and line numbers.

    `runs` has a line per run of rows on consecutive lines of one file: first row id, index of the file, number
    of the line. Most files are a single run.
    """

    files: tuple[str, ...]
    unit: str
    runs: npt.NDArray[np.int64]

    def place(self, row: int) -> Place:
        """Where this row came from."""
        if len(self.runs) == 0:
            return Place(None, row + 1, "row")
        run = self.runs[int(np.searchsorted(self.runs[:, 0], row, side="right")) - 1]
        file = int(run[1])
        number = int(run[2]) + row - int(run[0])
        return Place(self.files[file] if file >= 0 else None, number, self.unit)

    def places(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where many rows came from: the index of each one's file, -1 where there is none, and its number in it."""
        if len(self.runs) == 0:
            return np.full(len(rows), -1, np.int64), rows + 1
        runs = self.runs[np.searchsorted(self.runs[:, 0], rows, side="right") - 1]
        return runs[:, 1], runs[:, 2] + rows - runs[:, 0]


NO_ORIGINS = Origins((), "row", np.zeros((0, 3), np.int64))


def runs_of_lines(lines: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Fold the line numbers of consecutive rows into runs: (first row, first line) pairs."""
    if len(lines) == 0:
        return np.zeros((0, 2), np.int64)
    starts = np.flatnonzero(np.concatenate(([True], np.diff(lines) != 1)))
    return np.stack([starts, lines[starts]], axis=1)


def join_runs(
    pieces: Iterable[tuple[int, int, npt.NDArray[np.int64]]], limit: int | None = None
) -> npt.NDArray[np.int64]:
    """Put pieces of (file index, rows, runs of the piece) in row order into one array of runs."""
    first_row = 0
    parts = []
    for file, rows, runs in pieces:
        part = np.empty((len(runs), 3), np.int64)
        part[:, 0] = runs[:, 0] + first_row
        part[:, 1] = file
        part[:, 2] = runs[:, 1]
        parts.append(part)
        first_row += rows
    joined = np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)
    if limit is not None:
        joined = joined[joined[:, 0] < limit]
    return _merge_adjacent(joined)


def _merge_adjacent(runs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Drop a run that only continues the one before it."""
    if len(runs) < 2:
        return runs
    same_file = runs[1:, 1] == runs[:-1, 1]
    continues = (runs[1:, 2] - runs[1:, 0]) == (runs[:-1, 2] - runs[:-1, 0])
    return runs[np.concatenate(([True], ~(same_file & continues)))]
