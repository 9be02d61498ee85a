"""Laws as the command line gives them: texts, files of texts, JSON documents, or what a broken-off discovery left."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.common.errors import LawfulError, NotationError, SourceError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law, from_documents, parse_laws

_LARGEST_FILE = 1 << 30
_BEGINS_AS_JSON = re.compile(r'\s*\{\s*("([^"\\]|\\.)*"\s*:|\}\s*$)')
"""An object's first name and its colon, or nothing at all: no law begins so, though some begin with a brace."""


@dataclass(frozen=True)
class _Source:
    """One `--laws`: how to get its laws once the columns are known, and the settings that it was written with.

    It also keeps what it was read from: a document, or laws in their notation.
    """

    name: str
    read: Callable[[Sequence[str]], list[Law]]
    settings: Mapping[str, Any]
    document: Mapping[str, Any] | None = None
    text: str | None = None


@dataclass(frozen=True)
class LawsInput:
    """Every `--laws` of a command line, read and waiting for the names of the columns."""

    sources: tuple[_Source, ...]

    def laws(self, names: Sequence[str]) -> list[Law]:
        """All laws as values."""
        laws = [law for source in self.sources for law in source.read(names)]
        if not laws:
            raise UsageError("there are no laws to check", 'Give at least one, for example --laws "zip -> state".')
        return laws

    def null_policy(self) -> tuple[NullPolicy, str] | None:
        """Return what null meant to the laws of a document, and the document's name, if there is one."""
        found: tuple[NullPolicy, str] | None = None
        for source in self.sources:
            if source.settings.get("null") not in list(NullPolicy):
                continue
            policy = NullPolicy(source.settings["null"])
            if found is not None and found[0] is not policy:
                raise UsageError(
                    f"{found[1]} was written with --null {found[0]}, and {source.name} with --null {policy}",
                    "Check them one after the other, or say with --null what null means now.",
                )
            found = found or (policy, source.name)
        return found


def load_laws(choices: Sequence[str]) -> LawsInput:
    """Read every `--laws`, which is the name of a file that exists, or laws; before work is spent on the table."""
    for choice in choices:
        if choice.endswith((".json", ".txt", ".partial")) and _existing_file(choice) is None:
            raise UsageError(f"{choice}: there is no such file of laws")
    return LawsInput(tuple(_load(choice) for choice in choices))


def _load(choice: str) -> _Source:
    path = _existing_file(choice)
    if path is None:
        return _Source(choice, lambda names: parse_laws(choice, names), {}, text=choice)
    if path.stat().st_size > _LARGEST_FILE:
        raise SourceError(f"{path}: is larger than {_LARGEST_FILE >> 20} MB", "Split the file of laws.")
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read as text: {error}") from None
    with _named(path):
        if path.suffix == ".partial":
            lines = _whole_lines(text)
            return _Source(choice, _naming(path, lambda names: _parse_each(lines, names)), {})
        if path.suffix == ".json" or _BEGINS_AS_JSON.match(text):
            document = _document(text)
            settings = document.get("settings")
            settings = settings if isinstance(settings, dict) else {}
            read = _naming(path, lambda names: from_documents(document["dependencies"], names))
            return _Source(choice, read, settings, document)
    return _Source(choice, _naming(path, lambda names: parse_laws(text, names)), {}, text=text)


def _existing_file(choice: str) -> Path | None:
    try:
        path = Path(choice)
        return path if path.is_file() else None
    except (OSError, ValueError):  # a law may be longer than any file name, or hold a NUL
        return None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors name the file that they speak of."""
    try:
        yield
    except NotationError as error:
        raise NotationError(f"{path}: {error.message}", error.hint, error.text, error.position) from None
    except LawfulError as error:
        raise SourceError(f"{path}: {error.message}", error.hint) from None


def _naming(path: Path, read: Callable[[Sequence[str]], list[Law]]) -> Callable[[Sequence[str]], list[Law]]:
    def read_or_name(names: Sequence[str]) -> list[Law]:
        with _named(path):
            return read(names)

    return read_or_name


def _document(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"is not valid JSON: {error}") from None
    laws = document.get("dependencies") if isinstance(document, dict) else None
    if laws is None or document.get("format") != "lawful/1" or not isinstance(laws, list):
        raise SourceError('is not a document of laws: it needs "format": "lawful/1" and a list of "dependencies"')
    assert isinstance(document, dict)
    return document


def _whole_lines(text: str) -> list[str]:
    """Return the laws of a broken-off discovery; the end may have come in the middle of the last line."""
    lines = text.split("\n")
    laws = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            law = json.loads(line)
        except ValueError:
            law = None
        if not isinstance(law, str):
            raise SourceError(f"line {number} is not a law in JSON quotes, as a discovery writes them")
        laws.append(law)
    return laws


def _parse_each(texts: Sequence[str], names: Sequence[str]) -> list[Law]:
    return [law for text in texts for law in parse_laws(text, names)]
