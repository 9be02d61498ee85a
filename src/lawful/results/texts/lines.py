"""Lines of text with a style for each part, and how much of a result is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lawful.results.texts.shown_text import counted, shortened, shown_name, shown_value, visible
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place
from lawful.tables.shuffled.table import is_shuffled

_LINES_OF_A_PAGE = 50


class Part(NamedTuple):
    """A piece of a line, and how it looks where there are styles: words that Rich knows, or nothing."""

    text: str
    style: str = ""


Line = tuple[Part, ...]


def line(text: str, style: str = "") -> Line:
    """A line of one style."""
    return (Part(text, style),)


def plain_text(lines: Iterable[Line]) -> str:
    """Lines without their styles, a page at most."""
    texts = ["".join(part.text for part in each) for each in islice(lines, _LINES_OF_A_PAGE + 1)]
    if len(texts) > _LINES_OF_A_PAGE:
        texts[_LINES_OF_A_PAGE - 1 :] = ["…"]
    return "\n".join(texts)


@dataclass(frozen=True)
class Limits:
    """How much to show: None is all of it.

    `laws` is the number of verdicts, `found` the number of discovered laws and the fewest of a kind; `groups`,
    `variants` and `places` are those of violating rows. `law`, `name`, `value` and `extreme` are the most characters of
    each. `width` is that of a screen that the strongest laws have to fit. `everything` says where the rest can be seen.
    """

    laws: int | None = None
    found: tuple[int, int] | None = None
    groups: int | None = None
    variants: int | None = None
    places: int | None = None
    columns: int | None = None
    law: int | None = None
    name: int | None = None
    value: int | None = None
    extreme: int | None = None
    width: int | None = None
    everything: str = ""


ALL = Limits()
"""Everything, whole."""
COMMAND_PAGE = Limits(
    laws=200,
    found=(50, 15),
    groups=10,
    variants=10,
    places=5,
    law=500,
    name=40,
    value=40,
    extreme=28,
    everything="see them all with --all, --json or --out.",
)
"""What a command shows, on a terminal and in a pipe alike."""
A_PAGE = Limits(
    laws=10,
    found=(25, 5),
    groups=4,
    variants=5,
    places=5,
    columns=45,
    law=200,
    name=40,
    value=40,
    extreme=28,
    width=120,
    everything="see them all with to_dict().",
)
"""For `print`."""


def heading(table: EncodedTable, engine: str) -> Line:
    """Name the table, its size and where the work was done: the first line of every result."""
    size = f"{counted(table.rows, 'row')}, {counted(table.width, 'column')}"
    placed = ", rows shuffled" if is_shuffled(table) else ""
    return line(f"{visible(table.name)}: {size}, engine {engine}{placed}")


def left_out(number: int, noun: str, limits: Limits) -> str:
    """Say how much is not shown."""
    return f"… and {number:,} more{noun and f' {noun}'}: {limits.everything}"


def shown_law(text: str, limits: Limits) -> str:
    """Return a law as the reader can take it in."""
    return shortened(visible(text), limits.law)


def shown_place(place: Place, table_name: str) -> str:
    """Where a row is from."""
    return f"{shown_file(place, table_name)}{place.unit} {place.number}"


def shown_file(place: Place, table_name: str) -> str:
    """Name the file of a row, unless the table is that one file, which the first line of a result names."""
    is_clear = place.file is None or Path(place.file).name == table_name
    return "" if is_clear else f"{visible(place.file or '')}, "


def cells(values: Mapping[str, str | None], limits: Limits) -> str:
    """Columns and their values in one line."""
    shown = (f"{shown_name(name, limits.name)} = {shown_value(value, limits.value)}" for name, value in values.items())
    return shortened(", ".join(shown), limits.law)


def shown_names(names: Iterable[str], limits: Limits) -> str:
    """Columns in one line."""
    return shortened(", ".join(shown_name(name, limits.name) for name in names), limits.law)


def indented(lines: Iterable[str], by: str) -> Iterator[Line]:
    """Lines without a style, moved to the right."""
    return (line(by + text) for text in lines)
