"""What happened to laws, batch by batch, told from what the log of a state has of each batch.

| event | what happened |
|---|---|
| `broke` | a pinned law that held is broken now |
| `worse` | new rows break a pinned law that was broken before |
| `mended` | a pinned law that was broken holds now |
| `gone` | a law left the minimal ones: two rows break it or, if it is `implied`, a smaller law says more |
| `new` | a law came to the minimal ones |
| `aside` | a row of the batch was put aside: it would have broken pinned laws, or a value did not fit |

Events are never stored beside the batches that they tell of: they are made from the log, and after a compaction from
the history, which holds them as the log had them. Each has its place, the version and a number within it. So whoever
hands them on can tell what was handed on before, whatever was killed in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lawful.dependencies import Law, format_law, kind_of
from lawful.maintenance.applied import PinnedLaw
from lawful.maintenance.kept_laws import LawBlock, LawsChange

Event = dict[str, Any]
Place = tuple[int, int]
"""The version and the number within it of an event."""

KINDS = ("aside", "broke", "worse", "mended", "gone", "new")
"""The kinds of events, in the order in which those of one batch are told."""


class LoggedChange(NamedTuple):
    """What the log has of a batch: its entry in the history, and what became of laws.

    `notes` has `pinned`, the events of pinned laws; `gone` and `new`, the laws that went and came, each with its kind;
    `implied`, those that went and hold all the same; `shown`, for some that went, rows that broke them; and `aside`,
    the rows that were put aside.
    """

    entry: dict[str, Any]
    notes: Mapping[str, Any]

    def events(self) -> list[Event]:
        """What happened, in the order in which it is told."""
        told = sorted(self._told(), key=lambda event: (KINDS.index(event["event"]), event["law"] or ""))
        head = {name: self.entry[name] for name in ("version", "batch", "time")}
        return [{**head, "number": number, **event} for number, event in enumerate(told)]

    def _told(self) -> Iterator[Event]:
        for aside in self.notes.get("aside", ()):
            law = aside["law"]
            yield _event(
                "aside", law, aside["kind"], rows=[aside["row"]], reason=aside["reason"], pinned=law is not None
            )
        yield from (dict(event) for event in self.notes.get("pinned", ()))
        implied, shown = set(self.notes.get("implied", ())), self.notes.get("shown", {})
        for kind, law in self.notes.get("gone", ()):
            yield _event("gone", law, kind, implied=law in implied, rows=shown.get(law, []))
        for kind, law in self.notes.get("new", ()):
            yield _event("new", law, kind)


def _event(
    event: str,
    law: str | None,
    kind: str | None,
    *,
    rows: Sequence[Any] = (),
    pinned: bool = False,
    implied: bool = False,
    reason: str | None = None,
    violating: int | None = None,
    error: float | None = None,
) -> Event:
    return {
        "event": event,
        "law": law,
        "kind": kind,
        "pinned": pinned,
        "implied": implied,
        "reason": reason,
        "violating": violating,
        "error": error,
        "rows": list(rows),
    }


def pinned_events(
    broken: Mapping[str, int],
    pins: Sequence[tuple[Law, PinnedLaw]],
    shown: Mapping[str, Sequence[Any]],
    rows: int,
) -> list[Event]:
    """The pinned laws that a batch broke or mended.

    Parameters
    ----------
    broken
        The pinned laws that were broken before the batch.
    pins
        How they fare now.
    shown
        Rows that break them.
    rows
        How many rows there are now.
    """
    events = []
    for law, now in pins:
        was_broken = now.text in broken
        if now.holds != was_broken and not (was_broken and len(now.offenders)):
            continue
        events.append(
            _event(
                "mended" if now.holds else "worse" if was_broken else "broke",
                now.text,
                kind_of(law),
                pinned=True,
                violating=now.violating,
                error=now.violating / rows if rows else 0.0,
                rows=shown.get(now.text, ()),
            )
        )
    return events


def implied_texts(changes: LawsChange, names: Sequence[str]) -> list[str]:
    """The laws that went and hold all the same."""
    return [
        format_law(law, names)
        for block, implied in zip(changes.removed, changes.implied, strict=True)
        if implied.any()
        for law, is_implied in zip(block.laws(), implied.tolist(), strict=True)
        if is_implied
    ]


def law_texts(blocks: Sequence[LawBlock], names: Sequence[str]) -> list[list[str]]:
    """Laws in their notation, each behind its kind."""
    return [[kind_of(law), format_law(law, names)] for block in blocks for law in block.laws()]
