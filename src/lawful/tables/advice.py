"""What a table looks like it was not meant to be: good to know before its laws are read.

All of it follows from the encoded table, so that it is the same whoever read the table, and when.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from lawful.common.column_names import listed_names
from lawful.common.meanings import ColumnType
from lawful.tables.arrow_functions import pc
from lawful.tables.csv_text import UNNAMED_INDEX
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shuffled.table import is_shuffled
from lawful.tables.text_values import sort_texts

_NULL_WORDS = (
    "NA N/A n/a na #N/A NULL null Null NONE None none NaN nan - -- ? . \\N missing Missing MISSING unknown nil"
).split()
_SEPARATORS = {";": "';'", "\t": r"'\t'", "|": "'|'"}
_MOST_EXAMPLES = 3


def advice(table: EncodedTable) -> list[str]:
    """Sentences for a person, none if all looks well."""
    if table.settings.get("format") != "csv":
        return []
    words = () if is_shuffled(table) else _words_for_null(table)  # nobody has all values of a column
    return [*_one_column(table), *words, *_index(table)]


def _one_column(table: EncodedTable) -> Iterator[str]:
    """A file with another separator is a table of one column."""
    if table.width != 1 or table.settings.get("columns") is not None:
        return
    shown = table.names[0] if table.settings.get("header", True) or not table.rows else table.value(0, 0) or ""
    for separator, typed in _SEPARATORS.items():
        if separator in shown:
            yield (
                f"there is one column, and its first line has {_SPOKEN[separator]} in it: "
                f"if that separates columns, read it with --sep {typed}"
            )
            return


_SPOKEN = {";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}


def _words_for_null(table: EncodedTable) -> Iterator[str]:
    """A column of numbers or dates with a few words for null among them is text."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for position, name in enumerate(table.names):
        if table.type(position) is ColumnType.STRING and (words := _hiding_words(table.values(position))):
            columns.setdefault(words, []).append(name)
    for words, names in columns.items():
        options = " ".join(f"--null-token '{word}'" for word in words)
        yield (
            f"{listed_names(names)} would be numbers, dates or the like but for "
            f"{' and '.join(repr(word) for word in words)}: if that means null, give {options}"
        )


def _hiding_words(values: pa.Array) -> tuple[str, ...]:
    """The words for null that keep a column of texts from another type."""
    if not pa.types.is_string(values.type):
        return ()
    words = tuple(word for word in _NULL_WORDS if _contains(values, word))
    if not words or len(words) == len(values):
        return ()
    others = values.filter(pc.invert(pc.is_in(values, pa.array(words))))
    return words if sort_texts(others).type is not ColumnType.STRING else ()


def _contains(values: pa.Array, word: str) -> bool:
    """Whether a word is one of the texts, which are in the order of their bytes."""
    wanted, first, last = word.encode(), 0, len(values)
    while first < last:
        middle = (first + last) // 2
        if values[middle].as_py().encode() < wanted:
            first = middle + 1
        else:
            last = middle
    return first < len(values) and values[first].as_py() == word


def _index(table: EncodedTable) -> Iterator[str]:
    """The row numbers that pandas writes before the columns."""
    if UNNAMED_INDEX in table.names and table.width > 1:
        others = [name for name in table.names if name != UNNAMED_INDEX]
        chosen = ",".join(others[:_MOST_EXAMPLES]) + (",…" if len(others) > _MOST_EXAMPLES else "")
        yield (
            f"{UNNAMED_INDEX!r} looks like the row numbers that pandas writes, which say nothing of the rows: "
            f"leave it out with --columns {chosen}"
        )
