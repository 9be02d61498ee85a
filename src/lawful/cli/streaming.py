"""A stream that is followed: its options, and what is shown while it runs and when it has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from lawful.cli import options as opt
from lawful.common.errors import EXIT_FINE, EXIT_LAWS_BROKEN, UsageError
from lawful.results.texts.shown_text import counted

if TYPE_CHECKING:
    from lawful.api import BatchTold
    from lawful.cli.maintaining import BatchOptions

_STREAM, _WATCHING = "The stream", "What is told"
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Streaming:
    """What is followed, and how."""

    stream: Annotated[
        str | None,
        opt.option(
            _STREAM,
            "Follow a source: a folder where files arrive, kafka:HOST:PORT/TOPIC, delta:PATH, changes:TABLE, "
            "table:NAME or rate:N.",
            "--stream",
            metavar="SOURCE",
        ),
    ] = None
    trigger: Annotated[
        str | None,
        opt.option(
            _STREAM,
            "once; available-now: all that is there, then end; or an interval such as 10s.  [default: a batch as soon "
            "as there are rows]",
            "--trigger",
            metavar="WHEN",
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        opt.option(
            _STREAM,
            "The folder of the query's checkpoint.  [default: STATE.checkpoint]",
            "--checkpoint",
            metavar="DIR",
        ),
    ] = None
    source_option: Annotated[
        list[str] | None,
        opt.option(
            _STREAM,
            "An option of Spark's reader, e.g. maxFilesPerTrigger=10; may be repeated.",
            "--source-option",
            metavar="NAME=VALUE",
        ),
    ] = None
    new_query: Annotated[
        bool, opt.option(_STREAM, "Go on with a query that the state does not know.", "--new-query")
    ] = False

    def refuse_beside(self, batch: str | None) -> None:
        """Refuse a batch beside a stream, and options of a stream without one."""
        if self.stream is not None and batch is not None:
            raise UsageError("a batch and a stream are given", "Give --stream alone, or a batch.")
        if self.stream is None and self != Streaming():
            raise UsageError("options of a stream are given, and no stream", "Give --stream SOURCE.")

    def options(self) -> dict[str, str]:
        """The options of the reader."""
        found = {}
        for text in self.source_option or ():
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise UsageError(f"{text!r} is no option", "Write --source-option maxFilesPerTrigger=10.")
            found[name] = value
        return found


@dataclass(frozen=True)
class Watching:
    """Who is told what happens to laws, and where rows go that would break them."""

    events: Annotated[
        Path | None,
        opt.option(
            _WATCHING,
            "Append what happens to laws to this file, as JSON lines.",
            "--events",
            metavar="FILE",
        ),
    ] = None
    quarantine: Annotated[
        str | None,
        opt.option(
            _WATCHING,
            "Put rows aside that would break pinned laws or do not fit, in this folder or table of Spark's, and let "
            "the rest through.",
            "--quarantine",
            metavar="DIR|table:NAME",
        ),
    ] = None


def follow_stream(
    state: str,
    pin: Sequence[str] | None,
    settled: Mapping[str, Any],
    limits: Mapping[str, Any],
    streaming: Streaming,
    watching: Watching,
    batch: BatchOptions,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> NoReturn:
    """Follow a stream until it ends, and leave with the exit code that the pinned laws ask for."""
    from lawful.api import follow
    from lawful.cli import output
    from lawful.results.json_files import write_document

    def tell(told: BatchTold) -> None:
        if not showing.json_:
            output.print_lines(batch_line(told))

    read = reading.arguments(streaming.stream or "")
    with output.shown_progress() as progress:
        followed = follow(
            streaming.stream or "",
            state,
            **settled,
            **limits,
            **running.arguments(),
            pin=pin,
            trigger=streaming.trigger,
            checkpoint=streaming.checkpoint,
            source_options=streaming.options(),
            new_query=streaming.new_query,
            events=watching.events,
            quarantine=watching.quarantine,
            misfits=batch.misfits,  # type: ignore[arg-type]  # a text, which is checked
            missing=batch.missing,  # type: ignore[arg-type]  # likewise
            format=read["format"],
            dialect=read["dialect"],
            told=tell,
            progress=progress,
        )
    report = followed.report
    document = ({} if report is None else report.to_dict()) | {"stream": followed.to_dict()}
    if showing.json_:
        output.print_json(document)
    elif report is not None:
        output.print_batch(report, showing.limits)
    else:
        output.print_notes(f"{state} is on the machine of the server: lawful state shows it there")
    if showing.out is not None:
        write_document(document, showing.out)
    raise typer.Exit(EXIT_FINE if report is None or report.holds else EXIT_LAWS_BROKEN)


def batch_line(told: BatchTold) -> str:
    """A batch in one line: what it did, how fast, how late, and how large everything is."""
    report = told.report
    rows = report.inserted + report.deleted
    speed = f" ({rows / told.seconds:,.0f} a second)" if told.seconds > 0 else ""
    parts = [
        f"+{report.inserted:,} -{report.deleted:,} rows in {told.seconds:.2f} s{speed}",
        f"lag {told.lag:.1f} s",
        counted(report.rows, "row"),
        f"state {told.bytes / _MEGABYTE:,.1f} MB",
        f"memory {told.memory / _MEGABYTE:,.0f} MB",
    ]
    if report.was_known:
        parts = ["applied before"]
    if report.removed or report.added:
        parts.append(f"{counted(len(report.removed), 'law')} went, {len(report.added):,} came")
    if report.quarantined:
        parts.append(f"{counted(len(report.quarantined), 'value')} did not fit")
    broken = [pin.text for pin in report.pins if not pin.holds]
    if broken:
        parts.append(f"BROKEN: {'; '.join(broken)}")
    return f"batch {told.number}: {', '.join(parts)}"
