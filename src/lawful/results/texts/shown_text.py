"""Texts of anyone's making, made fit to be shown: names and values may hold whatever a terminal obeys."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rich.cells import cell_len

from lawful.dependencies.notation import format_name

_WIDEST_COLUMN = 60
_PLAIN_VALUE = re.compile(r"[^\s,='\"]+(?: [^\s,='\"]+)*")


def visible(text: str) -> str:
    r"""Write every character that does not print as an escape: `\n`, `\x1b`, `\u202e`."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def visible_lines(text: str) -> str:
    """Do the same for a text of several lines, which stay lines."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()


def shortened(text: str, most: int | None) -> str:
    """Cut a text that is longer than `most`, with a mark that says so."""
    return text if most is None or len(text) <= most else text[: most - 1] + "…"


def shown_value(value: str | None, most: int | None = None) -> str:
    """Write a value so that one sees where it ends: in quotes unless it is a plain word or a few of them."""
    if value is None:
        return "null"
    if value != "null" and _PLAIN_VALUE.fullmatch(value):
        return shortened(visible(value), most)
    quoted = value.replace("'", "''")
    return f"'{shortened(visible(quoted), most)}'"


def shown_name(name: str, most: int | None = None) -> str:
    """Write a column's name as laws write it."""
    return shortened(visible(format_name(0, [name])), most)


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def shown_strength(strength: float) -> str:
    """Three digits, but 1 only for a law that holds, and 0 for one that is no better than chance."""
    return f"{strength:g}" if strength in (0.0, 1.0) else f"{min(strength, 0.999):.3f}"


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Write cells as lines with aligned columns.

    A cell that is far wider than the others' usual width sticks out, and does not make every line that wide.
    """
    widths = [
        max((cell_len(cell) for cell in column if cell_len(cell) <= _WIDEST_COLUMN), default=0)
        for column in zip(*rows, strict=True)
    ]
    lines = []
    for row in rows:
        padded = []
        for position, cell in enumerate(row):
            padding = " " * (widths[position] - cell_len(cell))
            padded.append(padding + cell if position in right else cell + padding)
        lines.append("  ".join(padded).rstrip())
    return lines
