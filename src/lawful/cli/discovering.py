"""The verb that finds laws."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups
from lawful.common.errors import EXIT_FINE, EXIT_STOPPED, StoppedError, UsageError

if TYPE_CHECKING:
    from lawful.results import DiscoveryReport
    from lawful.runs.partial_files import PartialFile
    from lawful.runs.request import Request
    from lawful.runs.run import Run

_FINDING = "What to find"

Find = Annotated[
    str,
    opt.option(
        _FINDING,
        "The kinds of laws: key, fd, canonical-od, list-od, dc.  [default: key,fd]",
        "--find",
        metavar="KIND,KIND",
    ),
]
MaxSize = Annotated[
    int | None,
    opt.option(
        _FINDING,
        "The most columns of a key, a left side, a context or a list; the most predicates of a dc.",
        "--max-size",
        metavar="N",
    ),
]
Error = Annotated[
    float,
    opt.option(_FINDING, "The share that may break a law, below 1.  [default: 0]", "--error", metavar="X"),
]
MeasureOption = Annotated[
    str,
    opt.option(
        _FINDING,
        "What --error is a share of: g1, the pairs of rows; g3, the rows.  [default: g1]",
        "--measure",
        metavar="g1|g3",
    ),
]
MinInterest = Annotated[
    float, opt.option(_FINDING, "Leave out laws of less interest, from 0 to 1.", "--min-interest", metavar="X")
]
TimeLimit = Annotated[
    float | None,
    opt.option(_FINDING, "Stop searching after so many seconds, with what is certain.", "--time-limit", metavar="S"),
]
MemoryLimit = Annotated[
    str | None,
    opt.option(
        _FINDING, "Stop when this process uses more memory, with what is certain.", "--memory-limit", metavar="SIZE"
    ),
]
Seed = Annotated[
    int,
    opt.option(
        _FINDING,
        "Where random numbers start; every seed gives the same laws.  [default: 0]",
        "--seed",
        metavar="N",
    ),
]
StrategyOption = Annotated[
    str,
    opt.option(
        _FINDING,
        "How to search. key, fd, dc: full compares all pairs of rows, hybrid some, then checks; canonical-od: lattice"
        " or evidence; list-od: findod or canonical; dc: also completion; auto: what is quicker.  [default: auto]",
        "--strategy",
        metavar="NAME",
    ),
]
Checkpoint = Annotated[
    Path | None,
    opt.option(
        _FINDING,
        "canonical-od: keep every verdict in this file, so that a run that was cut off can go on.",
        "--checkpoint",
        metavar="FILE",
    ),
]
Resume = Annotated[bool, opt.option(_FINDING, "Go on from the --checkpoint of a run that was cut off.", "--resume")]
PartitionChain = Annotated[
    int | None,
    opt.option(
        _FINDING,
        "canonical-od: keep the partitions on the way to another one if it takes at most so many products; of a longer"
        " way, keep only the end.  [default: keep all]",
        "--partition-chain",
        metavar="N",
    ),
]
Unidirectional = Annotated[bool, opt.option(_FINDING, "list-od: all columns rise, none falls.", "--unidirectional")]
WithImplied = Annotated[
    bool,
    opt.option(
        _FINDING,
        "list-od: state constants, and columns that order rows alike, in full instead of once.",
        "--with-implied",
    ),
]
ForwardRule = Annotated[
    str,
    opt.option(
        _FINDING,
        "list-od: what makes a list minimal, fd as now defined or od as older systems have it.  [default: fd]",
        "--forward-rule",
        metavar="fd|od",
    ),
]
CrossColumns = Annotated[
    bool,
    opt.option(
        _FINDING,
        "dc: compare columns with like values with each other too, or each only with itself.",
        "--cross-columns/--no-cross-columns",
    ),
]
Convention = Annotated[
    str,
    opt.option(
        _FINDING,
        "dc: which minimal ones: reduced by what implies what; one predicate for a pair of columns; or all minimal "
        "sets.  [default: reduced]",
        "--convention",
        metavar="reduced|one-per-pair|set-minimal",
    ),
]
OrderOnText = Annotated[bool, opt.option(_FINDING, "dc: compare texts by < and > too.", "--order-on-text")]
Constants = Annotated[
    int,
    opt.option(
        _FINDING,
        "dc: compare each column with so many of its most frequent values too.  [default: 0]",
        "--constants",
        metavar="N",
    ),
]
Operators = Annotated[
    list[str] | None,
    opt.option(
        _FINDING,
        "dc: the operators to use: '=,!=' for all columns, 'salary:<,<=' for one, 'name:none' to leave it out; may be "
        "repeated.  [default: =,<,<=,>,>=,!=]",
        "--operators",
        metavar="[COLUMN:]OPERATORS",
    ),
]
LeastShared = Annotated[
    float,
    opt.option(
        _FINDING,
        "dc: compare two columns by = if this share of their values is common.  [default: 0.2]",
        "--least-shared",
        metavar="X",
    ),
]
LeastMeanRatio = Annotated[
    float,
    opt.option(
        _FINDING,
        "dc: compare two columns by < if their means differ by no more than this factor.  [default: 0.1]",
        "--least-mean-ratio",
        metavar="X",
    ),
]


@takes_groups
def discover(
    table: opt.Table,
    find: Find = "key,fd",
    max_size: MaxSize = None,
    error: Error = 0.0,
    measure: MeasureOption = "g1",
    min_interest: MinInterest = 0.0,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    seed: Seed = 0,
    strategy: StrategyOption = "auto",
    checkpoint: Checkpoint = None,
    resume: Resume = False,
    partition_chain: PartitionChain = None,
    unidirectional: Unidirectional = False,
    with_implied: WithImplied = False,
    forward_rule: ForwardRule = "fd",
    cross_columns: CrossColumns = True,
    convention: Convention = "reduced",
    order_on_text: OrderOnText = False,
    constants: Constants = 0,
    operators: Operators = None,
    least_shared: LeastShared = 0.2,
    least_mean_ratio: LeastMeanRatio = 0.1,
    null: opt.Null = "equal",
    *,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Find all minimal laws of a table, the most interesting first: keys, functional and order dependencies, denials.

    With --out, laws are kept in a file beside it, named .partial, as soon as they are certain; it goes when the whole
    document is written.

    Exit code: 0 all laws were found, 2 bad input or usage, 3 stopped before the end, with what was found shown.

    \b
    Examples:
      lawful discover tax.csv --out laws.json
      lawful discover tax.csv --find fd --max-size 3 --min-interest 0.001
      lawful discover tax.csv --error 0.01 --measure g3 --time-limit 60
      lawful discover tax.csv --find canonical-od,list-od
      lawful discover tax.csv --find dc --max-size 3 --no-cross-columns --operators "=,!=" --operators "salary:<,>"
      lawful check new.csv --laws laws.json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli import output
    from lawful.results.json_files import is_device
    from lawful.runs.discover import discover_laws, parse_memory
    from lawful.runs.partial_files import PartialFile
    from lawful.runs.request import DenialWishes, ListWishes, Request, families_of, operators_of

    request = Request(
        families_of(find),
        max_size,
        error,
        measure,  # type: ignore[arg-type]  # the request checks it and says which there are
        min_interest,
        time_limit,
        None if memory_limit is None else parse_memory(memory_limit),
        seed,
        strategy,  # type: ignore[arg-type]  # likewise
        checkpoint,
        resume,
        partition_chain,
        ListWishes(unidirectional, with_implied, forward_rule),  # type: ignore[arg-type]  # likewise
        DenialWishes(
            cross_columns,
            convention,  # type: ignore[arg-type]  # likewise
            order_on_text,
            constants,
            *operators_of(operators or ()),
            least_shared,
            least_mean_ratio,
        ),
    )
    output.require_writable(showing.out, table)
    if showing.out is not None and checkpoint is not None:
        _refuse_one_file_for_two(showing.out, checkpoint)
    kept = PartialFile(None if showing.out is None or is_device(showing.out) else showing.out)
    with _left_behind_is_named(kept), kept:
        with (
            output.shown_progress() as progress,
            opt.open_table(table, reading, running, progress, opt.null_option(null)) as run,
        ):
            if "dc" in request.find:
                output.print_notes(*_compared_cells(run, request))
            report = discover_laws(run, request, progress, kept)
        if kept.failure is not None:
            output.print_notes(f"{kept.failure}; the search went on without it")
        _show(report, showing)
        if showing.out is not None:
            _write(report, showing.out)
            kept.forget()
    output.print_notes(*(f"{path} of an earlier run holds laws that were not found now" for path in kept.left))
    raise typer.Exit(EXIT_FINE if report.complete else EXIT_STOPPED)


def _refuse_one_file_for_two(out: Path, checkpoint: Path) -> None:
    from lawful.runs.partial_files import may_be_partial

    if checkpoint.resolve() == out.resolve():
        raise UsageError(f"{out} cannot be both the document and the checkpoint", "Name another file.")
    if may_be_partial(checkpoint, out):
        raise UsageError(
            f"{checkpoint} cannot be the checkpoint: laws on the way to {out} are kept in files of such names",
            "Name another file.",
        )


def _write(report: DiscoveryReport, out: Path) -> None:
    """Write the document, and say how far that is: it may have millions of laws."""
    from lawful.cli.output import shown_progress
    from lawful.results.json_files import write_document

    with shown_progress() as progress:
        progress("writing the document")
        write_document(report.streamed(lambda written: progress(f"wrote {written:,} of {len(report):,} laws")), out)


def _show(report: DiscoveryReport, showing: opt.Showing) -> None:
    """Show the result before it is written: what cannot be written was at least shown."""
    from lawful.cli import output
    from lawful.cli.discovery_output import print_discovery

    try:
        if showing.json_:
            output.print_json(report.streamed())
        else:
            print_discovery(report, showing.page)
    except KeyboardInterrupt:
        if showing.out is not None:
            raise
        raise StoppedError("stopped while the result was shown", "--out keeps it in a file.") from None


def _compared_cells(run: Run, request: Request) -> list[str]:
    """The predicates of denial constraints, which decide how long the search takes: told before it begins."""
    from lawful.discovery.denials.questions import predicate_space

    (question,) = (asked for asked in request.questions(run.null_policy) if hasattr(asked, "convention"))
    return predicate_space(run.table, question).describe(run.table.names)


@contextmanager
def _left_behind_is_named(kept: PartialFile) -> Iterator[None]:
    """When the work breaks off, say where the laws are that were found by then."""
    from lawful.cli.output import print_notes

    try:
        yield
    except BaseException as error:
        if kept.path is not None:
            some = "what was found so far" if kept.failure is None else "a part of what was found so far"
            print_notes(f"{some} is in {kept.path}")
            if isinstance(error, KeyboardInterrupt):
                raise StoppedError("stopped before the document was written") from None
        raise
