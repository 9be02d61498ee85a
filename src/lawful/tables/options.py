"""How a source is to be read: one value that holds everything that can change the encoded table."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lawful.common.arguments import texts
from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType

FORMATS = ("csv", "parquet", "jsonl")
_NOT_TO_BE_CHOSEN = (ColumnType.NULL, ColumnType.BINARY, ColumnType.DURATION)  # no text can be read as one of these
OVERRIDES = tuple(type_.value for type_ in ColumnType if type_ not in _NOT_TO_BE_CHOSEN)


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written down.

    An `escape` equal to `quote` (the default) means that a quote inside quotes is doubled. Empty cells, quoted
    or not, are null, and so are the `null_tokens`.
    """

    separator: str = ","
    header: bool = True
    quote: str | None = '"'
    escape: str | None = '"'
    encoding: str = "utf-8"
    null_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "null_tokens", texts("null_tokens", self.null_tokens))
        for name, character in (
            ("separator", self.separator),
            ("quote", self.quote),
            ("escape", self.escape),
        ):
            if character is not None and (len(character) != 1 or not character.isascii() or character in "\r\n"):
                raise UsageError(
                    f"the {name} must be one ASCII character, not {character!r}",
                    r"For a tab give --sep '\t'.",
                )
        if self.separator in (self.quote, self.escape):
            raise UsageError(f"the separator {self.separator!r} cannot also be the quote or the escape")
        try:
            "a".encode(self.encoding)  # some codecs, such as rot13, are not of text
        except (LookupError, ValueError):
            raise UsageError(
                f"there is no encoding called {self.encoding!r}",
                "Common ones: utf-8, latin-1, cp1252, utf-16.",
            ) from None

    @property
    def splits_at_newline_bytes(self) -> bool:
        """Whether every ASCII byte stands for its character here, so that bytes can be cut into lines and cells.

        So it is in UTF-8 and in encodings of one byte per character. In others, such as UTF-16 and Shift-JIS, a
        byte that looks like a separator may be half of a character.
        """
        if codecs.lookup(self.encoding).name == "utf-8":
            return True
        ascii_half, upper_half = bytes(range(128)), bytes(range(128, 256))
        try:
            reads_ascii = ascii_half.decode(self.encoding, "replace") == ascii_half.decode("ascii")
            return reads_ascii and len(upper_half.decode(self.encoding, "replace")) == len(upper_half)
        except UnicodeError:  # a codec that cannot replace what it cannot read
            return False


@dataclass(frozen=True)
class ReadOptions:
    """What to read of a source and how.

    Parameters
    ----------
    format
        One of `csv`, `parquet`, `jsonl`; None decides by the file's name.
    columns
        The columns to keep, in this order; None keeps all.
    types
        Types chosen by the user, by column name; the rest are inferred (text sources) or taken from the schema.
    limit
        Keep only the first rows.
    """

    format: str | None = None
    dialect: CsvDialect = field(default_factory=CsvDialect)
    columns: tuple[str, ...] | None = None
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise UsageError(f"unknown format {self.format!r}", f"Known formats: {', '.join(FORMATS)}.")
        if self.limit is not None and self.limit < 0:
            raise UsageError(f"the row limit must not be negative, and is {self.limit}")
        if self.columns is not None and len(set(self.columns)) != len(self.columns):
            raise UsageError("a column is chosen twice")

    def with_format(self, format_: str) -> ReadOptions:
        """Return the same options with the format settled."""
        return ReadOptions(format_, self.dialect, self.columns, self.types, self.limit)

    def to_dict(self) -> dict[str, Any]:
        """Everything that can change the encoded table, as plain JSON values."""
        dialect = self.dialect
        return {
            "format": self.format,
            "separator": dialect.separator,
            "header": dialect.header,
            "quote": dialect.quote,
            "escape": dialect.escape,
            "encoding": dialect.encoding,
            "null_tokens": sorted(dialect.null_tokens),
            "columns": None if self.columns is None else list(self.columns),
            "types": {name: self.types[name].value for name in sorted(self.types)},
            "limit": self.limit,
        }


def parse_column_types(choices: Sequence[str]) -> dict[str, ColumnType]:
    """Read `name=type` choices as the command line gives them."""
    types: dict[str, ColumnType] = {}
    for choice in choices:
        name, equals, type_name = choice.rpartition("=")
        if not equals or not name:
            raise UsageError(f"{choice!r} does not choose a type", "Write column=type, for example zip=string.")
        if type_name not in OVERRIDES:
            raise UsageError(f"unknown type {type_name!r} for column {name!r}", f"Types: {', '.join(OVERRIDES)}.")
        types[name] = ColumnType(type_name)
    return types


def choose_columns(available: Sequence[str], options: ReadOptions, where: str) -> list[int]:
    """The positions of the columns to keep, with every chosen name checked against the source."""
    known = {name: position for position, name in enumerate(available)}
    wanted = dict.fromkeys((*(options.columns or ()), *options.types))
    if missing := [name for name in wanted if name not in known]:
        columns = "column" if len(missing) == 1 else "columns"
        raise UsageError(f"{where} has no {columns} {_shortened(missing)}", f"Its columns: {_shortened(available)}.")
    chosen = list(available) if options.columns is None else list(options.columns)
    if not chosen:
        raise UsageError(f"no columns to read from {where}", "A table needs at least one column.")
    return [known[name] for name in chosen]


def _shortened(names: Sequence[str], most: int = 30) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
