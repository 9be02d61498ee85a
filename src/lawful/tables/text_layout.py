"""What a text source looks like: its format, its columns, and how its blocks are parsed.

A layout is found once from the first file and then travels to every thread or Spark task that parses blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError
from lawful.tables.csv_text import ParsedBlock, header_cells, parse_cells, parse_csv_block, parse_header
from lawful.tables.json_text import JsonNames, parse_json_block
from lawful.tables.left_out import choose_ordered_columns
from lawful.tables.options import CsvDialect, ReadOptions, choose_columns
from lawful.tables.text_blocks import BLOCK_BYTES, BlockError, TextBlock, cut_into_blocks


class TextLayout(NamedTuple):
    """The columns of a text source and the positions of those to keep."""

    format: str
    dialect: CsvDialect
    names: tuple[str, ...]
    keep: tuple[int, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    """The columns of JSON lines that hold lists or objects, with what they hold."""

    @property
    def is_json(self) -> bool:
        """Whether texts are marked with their JSON type."""
        return self.format == "jsonl"

    @property
    def kept_names(self) -> ColumnNames:
        """The names of the columns that are read."""
        return ColumnNames((self.names[position] for position in self.keep), dict(self.left_out))

    def blocks(self, chunks: Iterable[bytes], block_bytes: int = BLOCK_BYTES) -> Iterator[TextBlock]:
        """Cut a stream of bytes into blocks of whole records."""
        return cut_into_blocks(chunks, self.dialect, quoted=not self.is_json, block_bytes=block_bytes)

    def parse(self, block: TextBlock) -> ParsedBlock:
        """Parse a block of records, header removed."""
        if self.is_json:
            return parse_json_block(block, self.dialect.encoding, self.kept_names)
        return parse_csv_block(block, self.dialect, len(self.names), self.keep)

    def begin_file(self, block: TextBlock) -> TextBlock | None:
        """Take the header off the first block of a file; None where nothing is left."""
        if self.is_json or not self.dialect.header:
            return block
        record, rest = block.split_first_record()
        cells = [] if record is None else header_cells(record, self.dialect)
        if cells != list(self.names):
            differs = next(
                (name for name, cell in zip(self.names, cells, strict=False) if name != cell),
                "the column count",
            )
            raise BlockError(
                block.first_line if record is None else record.first_line,
                f"the header is not that of the first file: it differs at {differs!r}",
                "All files of a folder must have the same columns in the same order.",
            )
        return rest


def csv_layout(first_records: bytes, options: ReadOptions, where: str) -> TextLayout:
    """Find the columns from the first bytes of the first file, which hold its first record whole."""
    blocks = cut_into_blocks([first_records] if first_records else [], options.dialect, quoted=True, block_bytes=1)
    first = next(blocks, None)
    record = first.split_first_record()[0] if first is not None else None
    if record is None:
        raise BlockError(1, "the file is empty", "A table needs at least one line.")
    read_cells = parse_header if options.dialect.header else parse_cells
    cells = read_cells(record, options.dialect)
    names = tuple(cells) if options.dialect.header else tuple(f"c{number}" for number in range(1, len(cells) + 1))
    return TextLayout("csv", options.dialect, names, tuple(choose_columns(names, options, where)))


def add_names(names: JsonNames, more: Mapping[str, Iterable[str]]) -> None:
    """Add the names of another part of the source."""
    for name, kinds in more.items():
        names.setdefault(name, set()).update(kinds)


def json_layout(names: JsonNames, options: ReadOptions, where: str) -> TextLayout:
    """A layout of the names that occur anywhere in the source; those with a list or an object are left out."""
    if "" in names:
        raise SourceError(f"{where}: a name is empty", "A column needs a name.")
    if not names:
        raise BlockError(1, "there is no JSON object", "Each line must be one JSON object with at least one name.")
    nested = {name: " or ".join(sorted(kinds)) for name, kinds in names.items() if kinds}
    kept = choose_ordered_columns(tuple(names), nested, options, where)
    place = {name: position for position, name in enumerate(names)}
    return TextLayout(
        "jsonl", options.dialect, tuple(names), tuple(place[name] for name in kept), tuple(kept.left_out.items())
    )
