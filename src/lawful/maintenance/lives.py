"""The lives of laws, told from what happened to them.

The laws of the first version are not written down: they are those that are there now with all events undone. So the
history of a law that nothing ever happened to takes no room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from lawful.common.errors import UsageError
from lawful.dependencies import Law, columns_of, format_law, kind_of, parse_law
from lawful.maintenance.law_events import Event
from lawful.results.history_report import HistoryReport, Life, Span
from lawful.tables.living.living_table import LivingTable


class LawFilter(NamedTuple):
    """Which laws are told: of a kind, about a column, with a text in them, broken since a version, so old."""

    kind: str | None = None
    column: str | None = None
    text: str | None = None
    broke_since: int | None = None
    min_age: int | None = None

    def chosen(self, lives: Iterable[Life], names: Sequence[str], version: int) -> list[Life]:
        """The lives of those laws."""
        if self.column is not None and self.column not in names:
            raise UsageError(f"there is no column {self.column!r}", f"Columns: {', '.join(names)}.")
        return [
            life
            for life in lives
            if (self.kind is None or life.kind == self.kind)
            and (self.text is None or self.text in life.law)
            and (self.broke_since is None or (life.broke or -1) >= self.broke_since)
            and (self.min_age is None or life.age(version) >= self.min_age)
            and (self.column is None or self.column in _columns(life.law, names))
        ]


def _columns(text: str, names: Sequence[str]) -> set[str]:
    return {names[column] for column in columns_of(parse_law(text, names))}


class Remembering(Protocol):
    """A state as far as it remembers what happened to laws."""

    @property
    def table(self) -> LivingTable:
        """The table, which knows its version."""

    @property
    def pins(self) -> Sequence[Law]:
        """The laws that are pinned."""

    @property
    def broken(self) -> Mapping[str, int]:
        """The pinned laws that are broken, with how many rows break each."""

    @property
    def history(self) -> list[dict[str, Any]]:
        """One entry for each batch."""

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`."""


def history_of(state: Remembering, kept: Iterable[Law], chosen: LawFilter) -> HistoryReport:
    """The lives of laws of a state, of those that are pinned and those that are kept beside them."""
    names = state.table.names
    now = [(kind_of(law), format_law(law, names)) for law in kept]
    pins = [(kind_of(law), format_law(law, names)) for law in state.pins]
    entries, events = state.history, list(state.events())
    lives = lives_of(now, pins, state.broken, events, entries)
    times = {entry["version"]: entry["time"] for entry in entries}
    version = state.table.version
    return HistoryReport(state.table.name, version, times, ranked(chosen.chosen(lives, names, version), version))


def lives_of(
    now: Iterable[tuple[str, str]],
    pins: Iterable[tuple[str, str]],
    broken: Container[str],
    events: Iterable[Event],
    entries: Sequence[Mapping[str, Any]],
) -> list[Life]:
    """The lives of laws.

    Parameters
    ----------
    now, pins
        The laws that are kept now, and those that are pinned, each with its kind.
    broken
        Which of the pinned ones are broken now. One that was so from the beginning has no event.
    events, entries
        All that happened, and all batches.
    """
    spans: defaultdict[tuple[bool, str, str], list[Span]] = defaultdict(list)
    since: dict[tuple[bool, str, str], int] = {}
    for event in events:
        law = event["pinned"], event["kind"], event["law"]
        if event["event"] in ("gone", "broke"):
            ended = "implied" if event["implied"] else "broken"
            spans[law].append(Span(since.pop(law, 0), event["version"] - 1, ended))
        elif event["event"] in ("new", "mended"):
            since[law] = event["version"]
    valid = [(False, *law) for law in now]
    for kind, text in pins:
        spans.setdefault((True, kind, text), [])
    valid += [(True, kind, text) for kind, text in pins if text not in broken]
    for law in valid:
        spans[law].append(Span(since.pop(law, 0)))
    errors: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for entry in entries:
        for text, rows in entry.get("broken", {}).items():
            errors[text][entry["version"]] = rows
    return [
        Life(text, kind, pinned, tuple(found), errors[text] if pinned else {})
        for (pinned, kind, text), found in spans.items()
    ]


def ranked(lives: Iterable[Life], version: int) -> list[Life]:
    """Pinned laws first, then those that one can rely on: valid now, seldom broken, old."""
    return sorted(
        lives,
        key=lambda life: (not life.pinned, not life.holds, life.breaks, -life.age(version), len(life.law), life.law),
    )
