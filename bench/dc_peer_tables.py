"""Tables as FastADC accepts them, with the predicates that lawful has: it refuses nulls and dates, and reads types its
own way.

- A null is one more value, below all others as it is here.
- A column that lawful orders stays as it is if it holds plain numbers and no nulls, or gets ranks in place of values:
  of dates, of numbers that FastADC would read as dates (20121218) and of numbers with nulls. Orders are the same.
- Every text begins with a letter, so that none is read as a number, which would be compared by order.
"""

from __future__ import annotations

import re
from pathlib import Path

from lawful.dependencies.predicate_space import ORDER_OPERATORS
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.tables.encoded_table import EncodedTable

_PLAIN_NUMBER = re.compile(r"[+-]?(\d{1,7}|\d{9,17})(\.\d*)?")


def write_for_peer(table: EncodedTable, target: Path, separator: str) -> list[int]:
    """Write a table for FastADC, without a header; return the columns that it would have read in another way."""
    space = predicate_space(table, DenialQuestion(cross_columns=False))
    ordered = {p.left.column for p in space.predicates if p.operator in ORDER_OPERATORS}
    columns, changed = [], []
    for column in range(table.width):
        texts = table.texts(range(table.rows), column).to_pylist()
        is_plain = all(text is not None and _PLAIN_NUMBER.fullmatch(text.strip()) for text in texts)
        if is_plain != (column in ordered):
            changed.append(column)
        if column not in ordered:
            columns.append([_as_text(text, separator) for text in texts])
        elif is_plain:
            columns.append([text.strip() for text in texts])
        else:
            columns.append([str(rank) for rank in table.column(column).tolist()])
    with target.open("w", encoding="utf-8", newline="") as out:
        out.writelines(separator.join(cells) + "\n" for cells in zip(*columns, strict=True))
    return changed


def write_without_header(source: Path, target: Path, header: bool) -> None:
    """Write a file without its first line if that is a header: FastADC then numbers the columns."""
    content = source.read_bytes()
    target.write_bytes(content.partition(b"\n")[2] if header else content)


def _as_text(text: str | None, separator: str) -> str:
    """A text that begins with a letter and needs no quotes, different for different texts; a null is the first."""
    if text is None:
        return "n"
    for number, character in enumerate((separator, '"', "\n", "\r", "\\")):
        text = text.replace("~", "~~") if number == 0 else text
        text = text.replace(character, f"~{number}")
    return f"v{text}"
