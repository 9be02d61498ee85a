"""The options that commands share, each defined once."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lawful.common.errors import UsageError
from lawful.discovery.families import Option
from lawful.results.texts.lines import ALL, COMMAND_PAGE, Limits
from lawful.tables.options import FORMATS, OVERRIDES, CsvDialect, parse_column_types

_READING, _RUNNING, _SHOWING = "How to read the table", "Where to run", "What to show"
_CSV = CsvDialect()


def option(panel: str, help_: str, *names: str, metavar: str | None = None) -> Any:
    """Define an option; its default, where there is one to know, is in the help itself."""
    return typer.Option(*names, help=help_, rich_help_panel=panel, metavar=metavar, show_default=False)


Asked = dict[str, Any]
"""The values of options that come from a table, by name."""


def parameter_of(option_: Option, panel: str, help_: str) -> inspect.Parameter:
    """An entry of a table of options as typer reads it."""
    default: Any = option_.default
    kind: Any = option_.type or type(default)
    flag = f"--{option_.name.replace('_', '-')}"
    if kind is bool:
        names = [f"{flag}/--no-{flag[2:]}"] if default else [flag]
    else:
        names = [flag]
        if default not in (None, ()):
            help_ += f"  [default: {default:g}]" if isinstance(default, float) else f"  [default: {default}]"
    if kind is tuple:
        kind, default = list[str], None
    annotation: Any = Annotated[
        kind if default is not None else kind | None,
        option(panel, help_, *names, metavar=option_.metavar),
    ]
    return inspect.Parameter(option_.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


Table = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet or JSON-lines file, a folder of them, table:NAME or sql:QUERY (Spark).",
        show_default=False,
        metavar="TABLE",
    ),
]
Format = Annotated[
    str | None,
    option(_READING, f"{', '.join(FORMATS)}; told by the file's name if left out.", "--format", metavar="FORMAT"),
]
Sep = Annotated[
    str | None, option(_READING, r"Separator of CSV cells; ',' if left out ('\t' for .tsv).", "--sep", metavar="CHAR")
]
Header = Annotated[
    bool,
    option(_READING, "Whether the first line names the columns (default: it does).", "--header/--no-header"),
]
Quote = Annotated[
    str, option(_READING, f"Quote of CSV cells; '' for none.  [default: {_CSV.quote}]", "--quote", metavar="CHAR")
]
Escape = Annotated[
    str,
    option(
        _READING,
        f"Escape of a quote inside quotes; the quote itself means doubled.  [default: {_CSV.escape}]",
        "--escape",
        metavar="CHAR",
    ),
]
Encoding = Annotated[
    str, option(_READING, f"Encoding of the text.  [default: {_CSV.encoding}]", "--encoding", metavar="NAME")
]
NullToken = Annotated[
    list[str] | None,
    option(
        _READING, "A text that means null, besides the empty cell; may be repeated.", "--null-token", metavar="TEXT"
    ),
]
Columns = Annotated[str | None, option(_READING, "Columns to read, separated by commas.", "--columns", metavar="A,B")]
Types = Annotated[
    list[str] | None,
    option(
        _READING,
        f"Choose a column's type: {', '.join(OVERRIDES)}; may be repeated.",
        "--types",
        metavar="COLUMN=TYPE",
    ),
]
Limit = Annotated[int | None, option(_READING, "Read only the first rows.", "--limit", metavar="N")]
NoCache = Annotated[bool, option(_READING, "Read the table anew and keep nothing of it.", "--no-cache")]
Null = Annotated[
    str,
    option(
        _READING,
        "equal: null is a value like any other; ignore: a law is judged on rows without null in its columns.  "
        "[default: equal]",
        "--null",
        metavar="equal|ignore",
    ),
]
NullOfLaws = Annotated[
    str | None,
    option(
        _READING,
        "equal: null is a value like any other; ignore: a law is judged on rows without null in its columns.  "
        "[default: what a document of laws was written with, else equal]",
        "--null",
        metavar="equal|ignore",
    ),
]
EngineOption = Annotated[
    str,
    option(
        _RUNNING,
        "local: in this process; spark; auto: local for small files, else Spark.",
        "--engine",
        metavar="auto|local|spark",
    ),
]
Master = Annotated[
    str | None, option(_RUNNING, "Spark master, e.g. local[4] or spark://host:7077.", "--master", metavar="URL")
]
Remote = Annotated[
    str | None, option(_RUNNING, "Spark Connect server, e.g. sc://host:15002.", "--remote", metavar="URL")
]
DriverMemory = Annotated[
    str | None,
    option(_RUNNING, "Memory of the Spark driver that is started, e.g. 4g.", "--driver-memory", metavar="SIZE"),
]
Conf = Annotated[
    list[str] | None,
    option(
        _RUNNING,
        "A setting of the Spark that is started, e.g. spark.executor.memory=8g; may be repeated.",
        "--conf",
        metavar="NAME=VALUE",
    ),
]
PlacementOption = Annotated[
    str,
    option(
        _RUNNING,
        "Where Spark has the rows: all on every node (replicate), spread over the nodes (shuffle), or so if the table "
        "is too large for a node (auto).",
        "--placement",
        metavar="auto|replicate|shuffle",
    ),
]
Packages = Annotated[
    str | None,
    option(
        _RUNNING,
        "Packages that the Spark that is started fetches, by Maven coordinates, separated by commas.",
        "--packages",
        metavar="GROUP:NAME:VERSION",
    ),
]
Json = Annotated[bool, option(_SHOWING, "Print the JSON document instead of text.", "--json")]
Out = Annotated[Path | None, option(_SHOWING, "Also write the JSON document to this file.", "--out", metavar="FILE")]
Violations = Annotated[
    Path | None,
    option(
        _SHOWING,
        "Write all violating rows here, a CSV for each broken law; a new or empty folder.",
        "--violations",
        metavar="DIR",
    ),
]
All = Annotated[
    bool,
    option(_SHOWING, "Show everything as text, long laws, names and values whole, instead of a page.", "--all"),
]
Debug = Annotated[bool, option(_SHOWING, "Show the traceback of an error.", "--debug")]


@dataclass(frozen=True)
class Reading:
    """How to read the table, still as texts."""

    format_: Format = None
    sep: Sep = None
    header: Header = _CSV.header
    quote: Quote = _CSV.quote or ""
    escape: Escape = _CSV.escape or ""
    encoding: Encoding = _CSV.encoding
    null_token: NullToken = None
    columns: Columns = None
    types: Types = None
    limit: Limit = None
    no_cache: NoCache = False

    def arguments(self, table: str) -> Asked:
        """The same as arguments of the Python functions."""
        dialect = CsvDialect(
            separator=self._separator(table),
            header=self.header,
            quote=self.quote or None,
            escape=self.escape or None,
            encoding=self.encoding,
            null_tokens=tuple(self.null_token or ()),
        )
        return {
            "format": self.format_,
            "columns": None if self.columns is None else split_names(self.columns),
            "types": parse_column_types(self.types or []),
            "limit": self.limit,
            "dialect": dialect,
            "reuse": not self.no_cache,
        }

    def as_typed(self) -> list[str]:
        """The options that are not their defaults, as one types them after the table."""
        words: list[str] = []
        for name in ("format_", "sep", "quote", "escape", "encoding", "columns", "limit"):
            value = getattr(self, name)
            if value != getattr(Reading, name):
                words += [f"--{name.rstrip('_')}", str(value)]
        words += ["--no-header"] if self.header != Reading.header else []
        words += [word for token in self.null_token or () for word in ("--null-token", token)]
        return words + [word for given in self.types or () for word in ("--types", given)]

    def of_batch(self, table: str, pinned: CsvDialect) -> Asked:
        """The same for a batch of a state: what is not given is as it is there, and some of it is pinned."""
        for name in ("null_token", "columns", "types", "limit"):
            if getattr(self, name) is not None:
                raise UsageError(
                    f"--{name.replace('_', '-')} is settled when a state is made, and cannot be given with a batch"
                )
        asked: CsvDialect = self.arguments(table)["dialect"]
        names = ("separator", "header", "quote", "escape", "encoding")
        given = {name: getattr(asked, name) for name in names if getattr(asked, name) != getattr(_CSV, name)}
        if self.sep is not None:
            given["separator"] = asked.separator
        return {"format": self.format_, "dialect": replace(pinned, **given)}

    def _separator(self, table: str) -> str:
        if self.sep is not None:
            return "\t" if self.sep == r"\t" else self.sep
        is_tabbed = re.search(r"\.tsv(\.(gz|bz2|zip|zst|zstd))?$", table.lower()) is not None
        return "\t" if is_tabbed else _CSV.separator


@dataclass(frozen=True)
class Running:
    """Where to run."""

    engine: EngineOption = "auto"
    master: Master = None
    remote: Remote = None
    driver_memory: DriverMemory = None
    conf: Conf = None
    packages: Packages = None
    placement: PlacementOption = "auto"

    def arguments(self) -> Asked:
        """The same as arguments of the Python functions."""
        from lawful.api import SparkSettings

        packages = [name.strip() for name in (self.packages or "").split(",") if name.strip()]
        conf = dict(map(_setting, self.conf or ()))
        placement: Any = self.placement  # which SparkSettings refuses if there is no such
        settings = SparkSettings(self.master, self.remote, self.driver_memory, conf, packages, placement)
        return {"engine": self.engine, "spark": None if settings == SparkSettings(packages=[]) else settings}


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{text!r} is no setting of Spark", "Write --conf spark.executor.memory=8g.")
    return name.strip(), value


@dataclass(frozen=True)
class Showing:
    """What to show, and where."""

    json_: Json = False
    out: Out = None
    all_: All = False
    debug: Debug = False

    @property
    def limits(self) -> Limits:
        """How much is shown as text: a page, on a terminal and in a pipe alike, or all of it."""
        return ALL if self.all_ else COMMAND_PAGE


def split_names(text: str) -> list[str]:
    """Column names separated by commas; a name with a comma in it is quoted as in CSV."""
    import csv

    names = next(csv.reader([text], skipinitialspace=True), [])
    if not all(names):
        raise UsageError(f"{text!r} does not list column names", "Write --columns a,b,c.")
    return names
