"""What an export gives back: files, and which laws they do not hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lawful.common.errors import UsageError
from lawful.results.documents import FORMAT, html_table

_NAMED = 3


@dataclass(frozen=True)
class Unsaid:
    """A law, or a rule of another tool, that the other side has no words for, and why."""

    law: str
    reason: str


@dataclass(frozen=True)
class Query:
    """A law and the query that gives rows exactly if it is broken."""

    law: str
    query: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"law": self.law, "query": self.query}


@dataclass(frozen=True)
class Export:
    """Laws in the words of another tool.

    Attributes
    ----------
    target
        The tool.
    files
        Their relative paths, and their texts.
    said
        How many laws they hold.
    unsaid
        The laws that the tool cannot be told, and why.
    notes
        What is good to know of the files.
    queries
        The queries of `sql` and `pyspark`, law by law.
    """

    target: str
    files: dict[str, str]
    said: int
    unsaid: tuple[Unsaid, ...] = ()
    notes: tuple[str, ...] = ()
    queries: tuple[Query, ...] = ()

    @property
    def text(self) -> str:
        """The text of the only file, or of all with their names between them."""
        if len(self.files) == 1:
            return next(iter(self.files.values()))
        return "\n".join(f"==> {name} <==\n{text}" for name, text in self.files.items())

    def to_dict(self) -> dict[str, Any]:
        """Return what `lawful export --json` prints, but for `sql`, where it prints the queries alone."""
        return {
            "format": FORMAT,
            "target": self.target,
            "laws": self.said,
            "files": dict(self.files),
            "unsaid": [{"law": each.law, "reason": each.reason} for each in self.unsaid],
            "notes": list(self.notes),
        }

    def summary(self) -> list[str]:
        """What was exported, and what was not and why, a line for each."""
        laws = "1 law" if self.said == 1 else f"{self.said:,} laws"
        files = "1 file" if len(self.files) == 1 else f"{len(self.files):,} files"
        lines = [f"{laws} exported to {self.target} in {files}"]
        for reason in dict.fromkeys(each.reason for each in self.unsaid):
            left = [each.law for each in self.unsaid if each.reason == reason]
            shown = "; ".join(left[:_NAMED]) + ("; …" if len(left) > _NAMED else "")
            lines.append(f"{len(left):,} not exported, because {reason}: {shown}")
        return [*lines, *self.notes]

    def write(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Write the files into a folder, which is made if it is not there.

        Parameters
        ----------
        folder
            Where to.
        overwrite
            Whether files that are there may be written over; without it nothing is written if one is.
        """
        root = Path(folder)
        if root.exists() and not root.is_dir():
            raise UsageError(f"cannot write to {root}: it is not a folder", "Name a folder.")
        places = [_inside(root, name) for name in self.files]
        _refuse_existing(places, overwrite)
        for place, text in zip(places, self.files.values(), strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            _write(place, text, overwrite)
        return places

    def _repr_html_(self) -> str:
        return html_table(self.summary()[0], [{"file": name, "text": text} for name, text in self.files.items()])


def _inside(root: Path, name: str) -> Path:
    """The place of a file; its name must not lead out of the folder, nor may links that are there."""
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
        raise UsageError(f"{name!r} leads out of the folder {root}")
    place = root.joinpath(*parts)
    if not place.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{place} leads out of the folder {root}", "A link is in the way.")
    return place


def _refuse_existing(places: Sequence[Path], overwrite: bool) -> None:
    if there := [place for place in places if place.exists() or place.is_symlink()]:
        if overwrite and all(place.is_file() and not place.is_symlink() for place in there):
            return
        more = f" and {len(there) - 1} more files are" if len(there) > 1 else " is"
        raise UsageError(
            f"{there[0]}{more} there already, and nothing was written", "Name another folder, or give --overwrite."
        )


def _write(place: Path, text: str, overwrite: bool) -> None:
    with place.open("w" if overwrite else "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
