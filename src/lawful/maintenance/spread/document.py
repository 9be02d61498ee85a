"""What is known of a spread state: the manifest that counts, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lawful.common.errors import DamagedTableError
from lawful.common.meanings import ColumnType
from lawful.dependencies import Law
from lawful.dependencies.documents import from_documents, to_document
from lawful.engines.spread.cuts import Ranges
from lawful.engines.spread.tallies import ShownRow
from lawful.maintenance.law_events import LoggedChange
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread.found_laws import FoundLaws
from lawful.maintenance.stream_place import StreamPlace
from lawful.tables.living.codes import Codes
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.living.living_table import LivingColumn, LivingTable, RowOrigins
from lawful.tables.origins import Origins
from lawful.tables.spread.past import PastSegments
from lawful.tables.spread.segments import Segment

FORMAT = "lawful-spread/1"


@dataclass(frozen=True)
class ColumnFacts:
    """A column: its name, its type, and what is settled of it (`LivingColumn`)."""

    name: str
    type: ColumnType
    settled: bool | None


@dataclass(frozen=True)
class Witness:
    """Two rows that break a law, and the bucket that they are in."""

    bucket: int
    rows: tuple[ShownRow, ShownRow]


@dataclass(frozen=True)
class SpreadDocument:
    """A version of a spread state.

    Attributes
    ----------
    buckets
        How many buckets rows and the lines of each law are in.
    row_segments, index_segments
        What is read.
    tallies
        For each law, how many rows and pairs break it in each bucket where some do; of a law in buckets by range, how
        many rows do, and how many partners they have together.
    witnesses
        For laws that are broken, two rows that break them, where such are known.
    changes, origins
        What the last batches did, and where their rows came from.
    past
        What tells the same of all batches before.
    stream
        The micro-batch that was applied last, if a streaming query feeds the state.
    ranges, degree_segments
        The buckets of laws that compare no column by `=`, and the segments that say how many partners rows have.
    replaced
        The segments that were joined last. They stay until others are: somebody may be reading them.
    found
        The laws that were found, where a state keeps such.
    """

    name: str
    columns: tuple[ColumnFacts, ...]
    settings: StateSettings
    pins: tuple[Law, ...]
    buckets: int
    version: int = 0
    rows: int = 0
    next_id: int = 0
    origins: RowOrigins = field(default_factory=RowOrigins)
    row_segments: tuple[Segment, ...] = ()
    index_segments: tuple[Segment, ...] = ()
    tallies: Mapping[int, Mapping[int, tuple[int, int]]] = field(default_factory=dict)
    witnesses: Mapping[int, Witness] = field(default_factory=dict)
    changes: tuple[LoggedChange, ...] = ()
    past: PastSegments = field(default_factory=PastSegments)
    stream: StreamPlace | None = None
    replaced: tuple[str, ...] = ()
    ranges: Mapping[int, Ranges] = field(default_factory=dict)
    degree_segments: tuple[Segment, ...] = ()
    found: FoundLaws = field(default_factory=FoundLaws)

    @property
    def types(self) -> list[ColumnType]:
        """The types of the columns."""
        return [column.type for column in self.columns]

    def segment_names(self) -> set[str]:
        """The names of all segments that are read."""
        read = (*self.row_segments, *self.index_segments, *self.degree_segments)
        deciding = () if self.found.rows is None else (self.found.rows.name,)
        return {*(segment.name for segment in read), *self.past.names, *deciding}

    def face(self, origins: RowOrigins | None = None) -> LivingTable:
        """A living table with these columns that holds no row: what batches are matched with and fitted to."""
        columns = [LivingColumn(each.name, each.type, Dictionary(), each.settled) for each in self.columns]
        no_rows = Codes(np.empty((len(columns), 0), np.int32))
        table = LivingTable(self.name, columns, no_rows, origins=origins, version=self.version, next_id=self.next_id)
        table.rows = self.rows
        return table

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        names = [column.name for column in self.columns]
        return {
            "format": FORMAT,
            "name": self.name,
            "columns": [[each.name, each.type.value, each.settled] for each in self.columns],
            "settings": self.settings.to_dict(),
            "pins": [to_document(law, names) for law in self.pins],
            "buckets": self.buckets,
            "version": self.version,
            "rows": self.rows,
            "next_id": self.next_id,
            "origins": origins_document(self.origins),
            "row_segments": [segment.to_dict() for segment in self.row_segments],
            "index_segments": [segment.to_dict() for segment in self.index_segments],
            "tallies": [
                [number, [[bucket, *counts] for bucket, counts in sorted(buckets.items())]]
                for number, buckets in sorted(self.tallies.items())
            ],
            "witnesses": [
                [number, each.bucket, [[row.id, list(row.cells)] for row in each.rows]]
                for number, each in sorted(self.witnesses.items())
            ],
            "changes": [[change.entry, dict(change.notes)] for change in self.changes],
            "past": self.past.to_dict(),
            "stream": None if self.stream is None else self.stream.to_dict(),
            "replaced": list(self.replaced),
            "ranges": [[number, ranges.to_dict()] for number, ranges in sorted(self.ranges.items())],
            "degree_segments": [segment.to_dict() for segment in self.degree_segments],
            "found": self.found.to_dict(names),
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any], where: str) -> SpreadDocument:
        """Read what `to_dict` wrote."""
        if document.get("format") != FORMAT:
            raise DamagedTableError(
                f"the state {where} has the format {document.get('format')!r}, and this version reads {FORMAT!r}",
                "Use the version of lawful that made it, or make it anew.",
            )
        columns = tuple(ColumnFacts(name, ColumnType(type_), settled) for name, type_, settled in document["columns"])
        names = [column.name for column in columns]
        return SpreadDocument(
            document["name"],
            columns,
            StateSettings.from_dict(document["settings"]),
            tuple(from_documents(document["pins"], names)),
            document["buckets"],
            document["version"],
            document["rows"],
            document["next_id"],
            _origins(document["origins"]),
            tuple(map(Segment.from_dict, document["row_segments"])),
            tuple(map(Segment.from_dict, document["index_segments"])),
            {number: {b: (rows, pairs) for b, rows, pairs in buckets} for number, buckets in document["tallies"]},
            {number: Witness(bucket, _pair(rows)) for number, bucket, rows in document["witnesses"]},
            tuple(LoggedChange(entry, notes) for entry, notes in document["changes"]),
            PastSegments.from_dict(document["past"]),
            StreamPlace.of(document["stream"]),
            tuple(document["replaced"]),
            {number: Ranges.from_dict(ranges) for number, ranges in document.get("ranges", ())},
            tuple(map(Segment.from_dict, document.get("degree_segments", ()))),
            FoundLaws.from_dict(document.get("found"), names),
        )


def origins_document(origins: RowOrigins) -> list[Any]:
    """Where rows came from, as plain JSON values."""
    return [
        [first, list(batch.files), batch.unit, batch.runs.tolist()]
        for first, batch in zip(origins.starts, origins.batches, strict=True)
    ]


def _origins(entries: Sequence[Sequence[Any]]) -> RowOrigins:
    found = RowOrigins()
    for first, files, unit, runs in entries:
        found.add(first, Origins(tuple(files), unit, np.array(runs, np.int64).reshape(-1, 3)))
    return found


def _pair(rows: Sequence[Sequence[Any]]) -> tuple[ShownRow, ShownRow]:
    first, second = (ShownRow(id_, tuple(cells)) for id_, cells in rows)
    return first, second
