"""Documents as JSON, written piece by piece: there may be millions of laws, which memory need not hold twice."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from lawful.common.errors import UsageError

BETWEEN_ENTRIES = ",\n    "
_LAWS_AT_ONCE = 1_000
_ENDS_A_LINE_OR_HIDES = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@runtime_checkable
class Blocks(Protocol):
    """Laws that write themselves, many at a time."""

    def blocks(self, *, ensure_ascii: bool) -> Iterator[str]:
        """Their JSON text, with `BETWEEN_ENTRIES` between two of them."""


def json_pieces(document: Mapping[str, Any], *, ensure_ascii: bool = False) -> Iterator[str]:
    """Write a document as JSON, with a line for each law."""
    wide, flat = (json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent).encode for indent in (2, None))
    separator = "{"
    for name, value in document.items():
        yield f"{separator}\n  {json.dumps(name)}: "
        separator = ","
        if name == "dependencies":
            blocks = value.blocks(ensure_ascii=ensure_ascii) if isinstance(value, Blocks) else _blocks(value, flat)
            yield from _law_lines(blocks)
        else:
            yield harmless_json(wide(value)).replace("\n", "\n  ")
    yield "\n}\n"


def _law_lines(blocks: Iterable[str]) -> Iterator[str]:
    before, end = "[\n    ", "[]"
    for block in blocks:
        yield before
        yield block
        before, end = BETWEEN_ENTRIES, "\n  ]"
    yield end


def _blocks(entries: Iterable[Mapping[str, Any]], encode: Callable[[Any], str]) -> Iterator[str]:
    remaining = iter(entries)
    while some := BETWEEN_ENTRIES.join(map(encode, islice(remaining, _LAWS_AT_ONCE))):
        yield harmless_json(some)


def harmless_json(text: str) -> str:
    r"""Write the characters that JSON lets through, but a terminal obeys or hides, as `\u` escapes.

    Outside of its strings JSON is plain ASCII, so the document stays the same.
    """
    return _ENDS_A_LINE_OR_HIDES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_document(document: Mapping[str, Any], path: Path) -> None:
    """Write a document to a file, whole or not at all."""
    try:
        target = path.resolve()  # a link stays a link, to a new document
        if is_device(target):
            _write_pieces(document, target)
            return
        aside = target.with_name(f".{target.name}.{os.getpid()}.writing")
        try:
            _write_pieces(document, aside)
            aside.replace(target)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _write_pieces(document: Mapping[str, Any], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json_pieces(document))


def is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device, which must not be replaced and beside which nothing can be."""
    return path.exists() and not path.is_file()
