"""The history of a state: one entry for each batch, and what happened to laws, for good.

What came since the last base is in the log, and kept here in memory. A compaction, which removes the log, first
writes it to a *segment*: two Parquet files, `batches-FIRST-LAST.parquet` and `events-FIRST-LAST.parquet`, named by the
versions that they tell of. A segment that is no longer than the one behind it is joined with it, so that there are few
of them, and each event is written only so often as the logarithm of the number of batches says.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lawful.common.errors import DamagedStateError
from lawful.maintenance.law_events import Event, LoggedChange
from lawful.maintenance.state_files import StateFiles, segment_name
from lawful.maintenance.stream_place import StreamPlace

_TEXT, _NUMBER = pa.string(), pa.int64()
_BATCHES = pa.schema(
    [
        ("version", _NUMBER),
        ("batch", _TEXT),
        ("time", _TEXT),
        ("rows", _NUMBER),
        ("inserted", _NUMBER),
        ("deleted", _NUMBER),
        ("added", _NUMBER),
        ("removed", _NUMBER),
        ("broken", _TEXT),
        ("stream", _TEXT),
    ]
)
_EVENTS = pa.schema(
    [
        ("version", _NUMBER),
        ("number", _NUMBER),
        ("time", _TEXT),
        ("batch", _TEXT),
        ("event", _TEXT),
        ("law", _TEXT),
        ("kind", _TEXT),
        ("pinned", pa.bool_()),
        ("implied", pa.bool_()),
        ("reason", _TEXT),
        ("violating", _NUMBER),
        ("error", pa.float64()),
        ("rows", _TEXT),
    ]
)
EVENT_FIELDS = _EVENTS.names
_AS_JSON = ("broken", "stream", "rows")
"""Members that hold more than one value, and are JSON texts in Parquet; `rows` only of events."""


class History:
    """What happened to a state.

    Parameters
    ----------
    files
        The folder of the state.
    recent
        What came since the last base, in order.
    """

    def __init__(self, files: StateFiles, recent: Iterable[LoggedChange] = ()) -> None:
        self._files = files
        self._recent = list(recent)

    def add(self, change: LoggedChange) -> None:
        """Note a batch."""
        self._recent.append(change)

    def entries(self) -> list[dict[str, Any]]:
        """One entry for each batch."""
        older = self._rows("batches", _BATCHES) if self._is_written() else []
        return [*older, *(dict(change.entry) for change in self._recent)]

    def events(self, since: int = 0) -> Iterator[Event]:
        """All events of versions after `since`, in order."""
        if self._is_written():
            yield from self._rows("events", _EVENTS, since)
        for change in self._recent:
            if change.entry["version"] > since:
                yield from change.events()

    def place_of(self, wanted: StreamPlace) -> StreamPlace | None:
        """The micro-batch of a query with the same number, if it was ever seen."""
        found = (StreamPlace.of(entry.get("stream")) for entry in reversed(self.entries()))
        return next((place for place in found if place is not None and place.id == wanted.id), None)

    def write(self) -> list[dict[str, Any]]:
        """Write what is only in the log to a segment; return all segments as the state's document lists them."""
        segments = [dict(segment) for segment in self._segments()]
        if self._recent:
            entries = [change.entry for change in self._recent]
            events = [event for change in self._recent for event in change.events()]
            first, last = entries[0]["version"], entries[-1]["version"]
            batches, told = _as_table(entries, _BATCHES), _as_table(events, _EVENTS)
            while segments and last - first >= segments[-1]["last"] - segments[-1]["first"]:
                before = segments.pop()
                batches = pa.concat_tables([self._read("batches", before), batches])
                told = pa.concat_tables([self._read("events", before), told])
                first = before["first"]
            segments.append(self._written(first, last, {"batches": batches, "events": told}))
        return segments

    def is_in_base(self) -> None:
        """Everything is in segments now that a base lists."""
        self._recent = []

    def _is_written(self) -> bool:
        return bool(self._segments())

    def _segments(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._files.document.get("history", [])
        return listed

    def _written(self, first: int, last: int, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
        segment: dict[str, Any] = {"first": first, "last": last, "crc32": {}}
        for what, table in tables.items():
            packed = io.BytesIO()
            pq.write_table(table, packed, compression="zstd")
            data = packed.getvalue()
            segment["crc32"][what] = zlib.crc32(data)
            self._files.write_segment(segment_name(what, segment), data)
        return segment

    def _rows(self, what: str, schema: pa.Schema, since: int = 0) -> list[dict[str, Any]]:
        """What segments tell; a writer may have joined them since this state was opened."""
        listed, newest = self._files.current_history()
        try:
            tables = [
                self._read(what, segment).filter(pc.field("version") > since)
                for segment in listed
                if segment["last"] > since
            ]
        except DamagedStateError:
            if self._files.current_history()[0] == listed:
                raise
            return self._rows(what, schema, since)
        rows = (_from_table(row, schema) for table in tables for row in table.to_pylist())
        return [row for row in rows if row["version"] <= newest]

    def _read(self, what: str, segment: Mapping[str, Any]) -> pa.Table:
        data = self._files.read_segment(segment_name(what, segment), segment["crc32"][what])
        return pq.read_table(io.BytesIO(data))


def _as_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    texts = {name for name in _AS_JSON if name in schema.names and schema.field(name).type == _TEXT}
    plain = [
        {
            name: json.dumps(row[name]) if name in texts and row.get(name) is not None else row.get(name)
            for name in schema.names
        }
        for row in rows
    ]
    return pa.Table.from_pylist(plain, schema)


def _from_table(row: dict[str, Any], schema: pa.Schema) -> dict[str, Any]:
    for name in _AS_JSON:
        if name in schema.names and schema.field(name).type == _TEXT and row[name] is not None:
            row[name] = json.loads(row[name])
    if schema is _BATCHES:
        return {name: value for name, value in row.items() if value is not None}
    return row


def events_table(events: Iterable[Event]) -> pa.Table:
    """Events as a table, with the rows of each as a JSON text."""
    return _as_table(list(events), _EVENTS)
