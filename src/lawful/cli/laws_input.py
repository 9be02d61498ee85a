"""Laws as the command line gives them: texts, files of texts, or JSON documents."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from lawful.dependencies import Law, from_documents, parse_laws
from lawful.errors import LawfulError, NotationError, SourceError, UsageError

_LARGEST_FILE = 256 << 20
_BEGINS_AS_JSON = re.compile(r'\s*\{\s*("([^"\\]|\\.)*"\s*:|\}\s*$)')
"""An object's first name and its colon, or nothing at all: no law begins so, though some begin with a brace."""


def require_law_files(choices: Sequence[str]) -> None:
    """Refuse the name of a file that is not there, before work is spent on the table."""
    for choice in choices:
        if choice.endswith((".json", ".txt")) and _existing_file(choice) is None:
            raise UsageError(f"{choice}: there is no such file of laws")


def read_laws(choices: Sequence[str], names: Sequence[str]) -> list[Law]:
    """Read every `--laws`: the name of a file that exists, else laws in their notation."""
    require_law_files(choices)
    laws: list[Law] = []
    for choice in choices:
        path = _existing_file(choice)
        laws.extend(parse_laws(choice, names) if path is None else _read_file(path, names))
    if not laws:
        raise UsageError("there are no laws to check", 'Give at least one, for example --laws "zip -> state".')
    return laws


def _existing_file(choice: str) -> Path | None:
    try:
        path = Path(choice)
        return path if path.is_file() else None
    except (OSError, ValueError):  # a law may be longer than any file name, or hold a NUL
        return None


def _read_file(path: Path, names: Sequence[str]) -> list[Law]:
    if path.stat().st_size > _LARGEST_FILE:
        raise SourceError(f"{path}: is larger than {_LARGEST_FILE >> 20} MB", "Split the file of laws.")
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read as text: {error}") from None
    try:
        if path.suffix == ".json" or _BEGINS_AS_JSON.match(text):
            return _read_document(text, names)
        return parse_laws(text, names)
    except NotationError as error:
        raise NotationError(f"{path}: {error.message}", error.hint, error.text, error.position) from None
    except LawfulError as error:
        raise SourceError(f"{path}: {error.message}", error.hint) from None


def _read_document(text: str, names: Sequence[str]) -> list[Law]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"is not valid JSON: {error}") from None
    laws = document.get("dependencies") if isinstance(document, dict) else None
    if laws is None or document.get("format") != "lawful/1" or not isinstance(laws, list):
        raise SourceError('is not a document of laws: it needs "format": "lawful/1" and a list of "dependencies"')
    return from_documents(laws, names)
