"""The verbs of a table that changes: maintain and state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups
from lawful.cli.streaming import Streaming, Watching, follow_stream
from lawful.common.errors import EXIT_BAD_INPUT, EXIT_FINE, EXIT_LAWS_BROKEN, UsageError

if TYPE_CHECKING:
    from lawful.api import OpenSpreadState, OpenState, Progress
    from lawful.results.batch_report import BatchReport

_BATCH, _NEW = "The batch", "A new state"

State = Annotated[str, typer.Argument(help="The folder of the state.", show_default=False, metavar="STATE")]
Pin = Annotated[
    list[str] | None,
    typer.Option(
        "--pin",
        help="A law, or a file of laws, to watch from now on; may be repeated.",
        show_default=False,
        metavar="LAW|FILE",
    ),
]


@dataclass(frozen=True)
class NewState:
    """What is settled when a state is made."""

    from_: Annotated[
        str | None,
        opt.option(_NEW, "Make the state of this table, if it is not there yet.", "--from", metavar="TABLE"),
    ] = None
    find: Annotated[
        str,
        opt.option(
            _NEW,
            "The kinds of laws to keep: key, fd, canonical-od, list-od, pod, dc.  [default: key,fd]",
            "--find",
            metavar="KIND,KIND",
        ),
    ] = "key,fd"
    max_size: Annotated[
        int | None,
        opt.option(
            _NEW,
            "The most columns of a key, a left side, a context or a list, or predicates.",
            "--max-size",
            metavar="N",
        ),
    ] = None
    error: Annotated[float, opt.option(_NEW, "The share that may break a law, below 1.", "--error", metavar="X")] = 0.0
    measure: Annotated[
        str | None,
        opt.option(
            _NEW,
            "What --error is a share of: g3, the rows; g1, the pairs of rows.  [default: g3]",
            "--measure",
            metavar="g1|g3",
        ),
    ] = None
    evidence: Annotated[
        str,
        opt.option(
            _NEW,
            "How laws are kept: counted, by all pairs of rows; witnesses, by a few of them; auto.  [default: auto]",
            "--evidence",
            metavar="auto|counted|witnesses",
        ),
    ] = "auto"
    only_pinned: Annotated[bool, opt.option(_NEW, "Look for no laws: keep those of --pin alone.", "--only-pinned")] = (
        False
    )
    row_key: Annotated[
        str | None,
        opt.option(_NEW, "Columns that tell rows apart; rows are deleted by them.", "--row-key", metavar="A,B"),
    ] = None
    null: Annotated[
        str,
        opt.option(
            _NEW,
            "equal: null is a value like any other; ignore: a law is judged on rows without null in its columns.  "
            "[default: equal]",
            "--null",
            metavar="equal|ignore",
        ),
    ] = "equal"

    def refuse_without_table(self) -> None:
        """Refuse what would say nothing about a state that is there."""
        if self.from_ is None and self != NewState():
            given = next(field.name for field in fields(self) if getattr(self, field.name) != field.default)
            raise UsageError(
                f"--{given.replace('_', '-')} is settled when a state is made", "Give it with --from TABLE."
            )

    def arguments(self) -> opt.Asked:
        """The same as arguments of `make_state`."""
        return {
            "find": self.find,
            "max_size": self.max_size,
            "error": self.error,
            "measure": self.measure,
            "evidence": self.evidence,
            "only_pinned": self.only_pinned,
            "row_key": opt.split_names(self.row_key) if self.row_key else (),
            "null": self.null,
        }


@dataclass(frozen=True)
class BatchOptions:
    """What comes and goes, and what becomes of what does not fit."""

    insert: Annotated[str | None, opt.option(_BATCH, "Rows to insert.", "--insert", metavar="TABLE")] = None
    delete: Annotated[
        str | None,
        opt.option(_BATCH, "Rows to delete, by the row key or by all of their values.", "--delete", metavar="TABLE"),
    ] = None
    changes: Annotated[
        str | None,
        opt.option(_BATCH, "Both in one table: its column _op says + or -.", "--changes", metavar="TABLE"),
    ] = None
    batch_id: Annotated[
        str | None,
        opt.option(
            _BATCH,
            "A batch whose id was seen changes nothing.  [default: told by the content of its files]",
            "--batch-id",
            metavar="TEXT",
        ),
    ] = None
    misfits: Annotated[
        str,
        opt.option(
            _BATCH,
            "Values that do not fit the pinned types: refuse the batch, quarantine their rows, or widen the column "
            "to text.  [default: refuse]",
            "--misfits",
            metavar="refuse|quarantine|widen",
        ),
    ] = "refuse"
    missing: Annotated[
        str,
        opt.option(
            _BATCH,
            "Rows to delete that are not there: refuse the batch, or skip them.  [default: refuse]",
            "--missing",
            metavar="refuse|skip",
        ),
    ] = "refuse"

    @property
    def first(self) -> str | None:
        """The name of a table that the batch is read from, if there is a batch."""
        return self.insert or self.delete or self.changes

    def apply_to(
        self,
        state: OpenState | OpenSpreadState,
        reading: opt.Reading,
        limits: Mapping[str, Any],
        watching: Watching,
        progress: Progress,
    ) -> BatchReport:
        """Apply the batch; without one, tell how the pinned laws fare."""
        if self.first is None:
            return state.as_it_is()
        return state.apply(
            self.insert,
            self.delete,
            changes=self.changes,
            batch_id=self.batch_id,
            misfits=self.misfits,  # type: ignore[arg-type]  # a text, which is checked
            missing=self.missing,  # type: ignore[arg-type]  # likewise
            quarantine=watching.quarantine,
            events=watching.events,
            progress=progress,
            **limits,
            **reading.of_batch(self.first, state.dialect),
        )


@takes_groups
def maintain(
    state: State,
    pin: Pin = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            help="Give up after so many seconds; nothing is changed then.",
            show_default=False,
            metavar="S",
        ),
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit",
            help="Give up when this process uses more memory; nothing is changed then.",
            show_default=False,
            metavar="SIZE",
        ),
    ] = None,
    *,
    new: NewState,
    batch: BatchOptions,
    streaming: Streaming,
    watching: Watching,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Keep the laws of a table up to date while its rows come and go.

    The first call makes a state from a table. Each later call applies a batch: deletions first, then insertions. It
    tells which laws went, with two rows that broke each, and which came. A batch is applied whole or not at all. With
    --stream it follows a source: every micro-batch of a Spark streaming query is applied, exactly once.

    Exit code: 0 done, 1 a pinned law is broken, 2 bad input or usage, 3 stopped before the end.

    \b
    Examples:
      lawful maintain people.state --from people.csv --row-key id --pin "zip -> city"
      lawful maintain people.state --from people.csv --only-pinned --pin laws.txt
      lawful maintain hdfs:///people --from people.parquet --max-size 2 --placement shuffle
      lawful maintain people.state --insert new.csv --delete old.csv
      lawful maintain people.state --changes today.csv --misfits quarantine --json
      lawful maintain people.state --stream incoming/ --pin "zip -> city" --events events.jsonl --quarantine aside/
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import is_state, make_state, open_state
    from lawful.cli import output
    from lawful.results.json_files import write_document

    output.require_writable(showing.out, state)
    streaming.refuse_beside(batch.first)
    if new.from_ is None and batch.first is None and not pin and streaming.stream is None:
        raise UsageError(
            "nothing to do", "Give --from TABLE to make a state, or --insert, --delete, --changes or --stream."
        )
    if streaming.stream is None:
        new.refuse_without_table()
    is_new = new.from_ is not None and not is_state(state, **running.arguments())
    limits: dict[str, Any] = {"time_limit": time_limit, "memory_limit": memory_limit}
    if streaming.stream is not None:
        if is_new:
            how = new.arguments() | reading.arguments(new.from_ or "")
            del how["reuse"]
            where = running.arguments() if running.placement == "shuffle" else {}
            with make_state(state, new.from_, **how, **where, pins=pin, memory_limit=memory_limit):
                pass
        settled = {} if is_new or is_state(state, **running.arguments()) else new.arguments()
        follow_stream(state, pin, settled, limits, streaming, watching, batch, reading, running, showing)
    with output.shown_progress() as progress:
        if is_new:
            how = new.arguments() | reading.arguments(new.from_ or "") | running.arguments()
            del how["reuse"]
            told: dict[str, Any] = {"progress": progress, "notes": output.print_notes}
            opened = make_state(state, new.from_, **how, **limits, pins=pin, **told)
        else:
            opened, limits = open_state(state, **limits, **running.arguments()), {}  # they count from here to the end
        with opened:
            if pin and not is_new:
                opened.pin(pin)
            report = batch.apply_to(opened, opt.Reading() if new.from_ else reading, limits, watching, progress)
    if new.from_ is not None and not is_new:
        output.print_notes(f"{state} is there already: {new.from_} was not read")
    if showing.json_:
        output.print_json(report.to_dict())
    else:
        output.print_batch(report, showing.limits)
    if showing.out is not None:
        write_document(report.to_dict(), showing.out)
    raise typer.Exit(EXIT_FINE if report.holds else EXIT_LAWS_BROKEN)


def state(
    state: State,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute everything anew from the rows, and compare.")
    ] = False,
    json_: opt.Json = False,
    out: opt.Out = None,
    all_: opt.All = False,
    debug: opt.Debug = False,
) -> None:
    """Show what is in a state: its table, its laws, its last batches.

    Exit code: 0 fine, 1 a pinned law is broken, 2 the state is damaged, or what it keeps is not what its rows say.

    \b
    Examples:
      lawful state people.state
      lawful state people.state --verify
      lawful state people.state --out laws.json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import open_state
    from lawful.cli import output
    from lawful.results.json_files import write_document

    showing = opt.Showing(json_, out, all_, debug)
    output.require_writable(out, state)
    with output.shown_progress() as progress, open_state(state, writes=False) as opened:
        shown = opened.described(progress, verify=verify)
        laws = opened.document() if out is not None else None
    if json_:
        output.print_json(shown.to_dict())
    else:
        output.print_state(shown, showing.limits)
    if out is not None and laws is not None:
        write_document(laws, out)
    if not shown.is_right:
        raise typer.Exit(EXIT_BAD_INPUT)
    raise typer.Exit(EXIT_FINE if shown.holds else EXIT_LAWS_BROKEN)
