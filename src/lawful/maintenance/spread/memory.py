"""What a spread state remembers: of the last batches by its manifest, and of those before by segments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lawful.maintenance.law_events import Event, LoggedChange
from lawful.maintenance.spread.document import SpreadDocument, origins_document
from lawful.maintenance.stream_place import StreamPlace
from lawful.tables.living.living_table import RowOrigins
from lawful.tables.spread.past import Past, PastSegments, RowPlaces

MOST_CHANGES = 100
"""Batches that a manifest tells of."""
_MOST_BYTES = 1 << 20
"""What it may say of them; a batch may have put many rows aside."""


class Memory:
    """What happened to a state, and where its rows came from.

    Parameters
    ----------
    past
        What reads and writes segments.
    document
        The manifest.
    """

    def __init__(self, past: Past, document: SpreadDocument) -> None:
        self._past, self._document = past, document
        self._known: dict[str, dict[str, Any] | None] = {
            change.entry["batch"]: change.entry for change in document.changes
        }
        self.places = RowPlaces(
            document.origins.starts, document.origins.batches, lambda ids: past.places(document.past, ids)
        )

    def entries(self) -> list[dict[str, Any]]:
        """One entry for each batch."""
        return [change.entry for change in self._changes(0)]

    def events(self, since: int) -> Iterator[Event]:
        """What happened to laws in the versions after `since`."""
        for change in self._changes(since):
            yield from change.events()

    def _changes(self, since: int) -> Iterator[LoggedChange]:
        last = self._document.changes
        if since < self._document.version - len(last):
            yield from (LoggedChange(*told) for told in self._past.told(self._document.past, since))
        yield from (change for change in last if change.entry["version"] > since)

    def version_of(self, batch: str) -> int | None:
        """The version that a batch made; those of streams are told apart by their places."""
        entry = self._entry(batch)
        return None if entry is None or "stream" in entry else int(entry["version"])

    def place_of(self, wanted: StreamPlace) -> StreamPlace | None:
        """The micro-batch of a query with the same number, if it was ever seen."""
        entry = self._entry(wanted.id)
        return None if entry is None else StreamPlace.of(entry.get("stream"))

    def _entry(self, batch: str) -> dict[str, Any] | None:
        if batch not in self._known:
            self._known[batch] = self._past.entry(self._document.past, batch)
        return self._known[batch]

    def moved(self) -> PastSegments | None:
        """Everything in segments, where a manifest would say too much; None where it does not."""
        changes, origins = self._document.changes, self._document.origins
        told = [(change.entry, dict(change.notes)) for change in changes]
        if len(told) <= MOST_CHANGES and len(json.dumps([told, origins_document(origins)])) <= _MOST_BYTES:
            return None
        return self._past.plus(self._document.past, told, origins)

    def begun(self, origins: RowOrigins) -> PastSegments:
        """The segments that tell where the rows of a first table came from."""
        return self._past.plus(PastSegments(), (), origins)
