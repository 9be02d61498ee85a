"""Laws as the command line gives them: texts, files of texts, or JSON documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from lawful.dependencies import Law, from_documents, parse_laws
from lawful.errors import LawfulError, NotationError, SourceError, UsageError

_LARGEST_FILE = 256 << 20


def read_laws(choices: Sequence[str], names: Sequence[str]) -> list[Law]:
    """Read every `--laws`: the name of a file that exists, else a law in its notation."""
    laws: list[Law] = []
    for choice in choices:
        path = _existing_file(choice)
        if path is not None:
            laws.extend(_read_file(path, names))
        elif choice.endswith((".json", ".txt")):
            raise UsageError(f"{choice}: there is no such file of laws")
        else:
            laws.extend(parse_laws(choice, names))
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
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read as text: {error}") from None
    try:
        if text.lstrip().startswith("{"):
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
    if document.get("format") != "lawful/1" or not isinstance(document.get("dependencies"), list):
        raise SourceError('is not a document of laws: it needs "format": "lawful/1" and a list of "dependencies"')
    return from_documents(document["dependencies"], names)
