"""Parsing a block of JSON lines into dictionary-encoded texts.

JSON has types of its own: the string "12" is not the number 12. Each text is marked with its JSON type by its
first character (see `lawful.tables.ranking`), numbers keep their digits, and a column that mixes types is a
column of strings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lawful.tables.csv_text import ParsedBlock, to_utf8
from lawful.tables.ranking import JSON_BOOLEAN, JSON_NUMBER, JSON_STRING
from lawful.tables.text_blocks import BlockError, TextBlock

JsonNames = dict[str, set[str]]
"""Names, each with what it holds somewhere that is no single value: `list`, `object`."""


class _Number(str):
    """The digits of a JSON number, as written."""

    __slots__ = ()


def _constant(name: str) -> _Number | None:
    return None if name == "NaN" else _Number(name.replace("Infinity", "inf"))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {repeated!r} stands twice in one object")
    return members


_DECODER = json.JSONDecoder(
    parse_float=_Number, parse_int=_Number, parse_constant=_constant, object_pairs_hook=_without_repeats
)


def parse_json_objects(block: TextBlock, encoding: str) -> tuple[list[dict[str, Any]], list[int]]:
    """The objects of the block and the line of each; blank lines are passed over."""
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    text = to_utf8(block, encoding).decode("utf-8")
    for number, line in enumerate(text.split("\n"), block.first_line):
        stripped = line.strip()
        if not stripped:
            continue
        try:
            value = _DECODER.decode(stripped)
        except (ValueError, RecursionError) as error:
            raise BlockError(number, f"is not valid JSON: {error}", "Each line must be one JSON object.") from None
        if not isinstance(value, dict):
            raise BlockError(number, "is not a JSON object", "Each line must be one JSON object.")
        if "\\u" in stripped:
            _refuse_lone_surrogates(value, number)
        objects.append(value)
        lines.append(number)
    return objects, lines


def json_names(block: TextBlock, encoding: str) -> JsonNames:
    """The names in a block, in the order of their first appearance, each with the kinds of its lists and objects."""
    objects, _ = parse_json_objects(block, encoding)
    names: JsonNames = {}
    for entry in objects:
        for name, value in entry.items():
            kinds = names.setdefault(name, set())
            if isinstance(value, dict | list):
                kinds.add(_kind_of(value))
    return names


def _kind_of(value: dict[str, Any] | list[Any]) -> str:
    return "object" if isinstance(value, dict) else "list"


def _refuse_lone_surrogates(value: dict[str, Any], line: int) -> None:
    """JSON can escape one half of a surrogate pair, which is no character and cannot be stored as text."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BlockError(line, "escapes half of a surrogate pair, which is no character", "Mend the line.") from None


def parse_json_block(block: TextBlock, encoding: str, names: Sequence[str]) -> ParsedBlock:
    """Parse whole lines; a name that an object lacks is null in its row."""
    import numpy as np

    objects, lines = parse_json_objects(block, encoding)
    columns = []
    for name in names:
        texts = [_marked(entry.get(name), name, line) for entry, line in zip(objects, lines, strict=True)]
        columns.append(pa.array(texts, pa.string()).dictionary_encode())
    return ParsedBlock(columns, np.array(lines, np.int64))


def _marked(value: Any, name: str, line: int) -> str | None:
    if value is None:
        return None
    if isinstance(value, _Number):
        return JSON_NUMBER + value
    if isinstance(value, str):
        return JSON_STRING + value
    if isinstance(value, bool):
        return JSON_BOOLEAN + ("true" if value else "false")
    # Names with lists or objects were left out: the file has changed since its names were looked for.
    raise BlockError(line, f"holds {_kind_of(value)} under {name!r}, which it did not when reading began", "Try again.")
