"""Laws as people give them: texts, files of texts, documents, what a broken-off discovery left, or values of Python.

All are read before work is spent on a table, and wait for the names of its columns.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from lawful.checks import checks_of
from lawful.checks.law_checks import can_be_checked
from lawful.common.arguments import number
from lawful.common.errors import LawfulError, NotationError, SourceError, UsageError
from lawful.common.meanings import Allowance, Measure, NullPolicy
from lawful.dependencies import Law, NamedLaw, format_law, kind_of, parse_laws
from lawful.dependencies.tokens import names_in
from lawful.results import CheckReport, DiscoveryReport, FoundLaw, Outcome, SavedLaws

_LARGEST_FILE = 1 << 30
_BEGINS_AS_JSON = re.compile(r'\s*\{\s*("([^"\\]|\\.)*"\s*:|\}\s*$)')
"""An object's first name and its colon, or nothing at all: no law begins so, though some begin with a brace."""


OneLaw: TypeAlias = str | os.PathLike[str] | NamedLaw | FoundLaw | Outcome
"""A law as a text, the path of a file of laws, or a law that was found or checked before."""


class AskedLaw(NamedTuple):
    """A law over the positions of a table's columns, and the error within which it counts as holding, if any."""

    law: Law
    allowed: Allowance | None = None


@dataclass(frozen=True)
class LawSource:
    """One thing that laws were given as: how to get them once the columns are known, and what null meant to them.

    It also keeps what it was read from, a document or laws in their notation, and otherwise the names of the columns
    that the laws speak of.
    """

    name: str
    read: Callable[[Sequence[str]], list[AskedLaw]]
    null: NullPolicy | None = None
    document: Mapping[str, Any] | None = None
    text: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class LawsInput:
    """All laws of a call or of a command line, read and waiting for the names of the columns."""

    sources: tuple[LawSource, ...]

    def asked(self, names: Sequence[str]) -> list[AskedLaw]:
        """All laws over the positions of these columns; what is asked twice is asked once."""
        asked = list(dict.fromkeys(law for source in self.sources for law in source.read(names)))
        if not asked:
            raise UsageError("there are no laws to check", 'Give at least one, for example "zip -> state".')
        return asked

    def laws(self, names: Sequence[str]) -> list[Law]:
        """The same without their errors."""
        return [asked.law for asked in self.asked(names)]

    def one_law(self, names: Sequence[str]) -> Law:
        """The only law."""
        found = self.laws(names)
        if len(found) > 1:
            listed = "; ".join(format_law(each, names) for each in found[:3]) + ("; …" if len(found) > 3 else "")
            raise UsageError(f"one law is explained at a time, and these are {len(found)}: {listed}")
        return found[0]

    def null_policy(self) -> tuple[NullPolicy, str] | None:
        """Return what null meant to laws that were found before, and where that is from, if there are such laws."""
        found: tuple[NullPolicy, str] | None = None
        for source in self.sources:
            if source.null is None:
                continue
            if found is not None and found[0] is not source.null:
                raise UsageError(
                    f"{found[1]} was written with --null {found[0]}, and {source.name} with --null {source.null}",
                    "Check them one after the other, or say with --null what null means now.",
                )
            found = found or (source.null, source.name)
        return found


GivenLaws: TypeAlias = (
    OneLaw | Iterable[OneLaw] | DiscoveryReport | SavedLaws | CheckReport | Mapping[str, Any] | LawsInput
)
"""Laws in any form that `check` takes."""


def given_laws(laws: object) -> LawsInput:
    """Read what was given in Python: one thing, or several."""
    if isinstance(laws, LawsInput):
        return laws
    is_one = not isinstance(laws, Iterable) or isinstance(laws, (str, Mapping, *_REPORTS))
    several: Iterable[object] = [laws] if is_one else cast(Iterable[object], laws)
    return LawsInput(tuple(map(_source, several)))


def allowances(asked: Sequence[AskedLaw], error: float | None, measure: Measure | None) -> list[Allowance | None]:
    """The error that each law is allowed: one for all if it is given, else what the law was found within."""
    if error is not None:
        share = number("error", error)
        return [Allowance(share, measure or usual_measure(law.law)) if share else None for law in asked]
    if measure is not None:
        raise UsageError("a measure says what an error is a share of, and no error is given", "Give --error too.")
    return [law.allowed for law in asked]


def usual_measure(law: Law) -> Measure:
    """What the error of a law is a share of unless someone says so: the rows, or the pairs where rows are too hard."""
    return "g3" if can_be_checked(kind_of(law)) and checks_of(law).counts_removals(law) else "g1"


def load_document(path: Path) -> SavedLaws:
    """Read a document of laws."""
    with _named(path):
        return SavedLaws.of(_json(_read_text(path)))


_REPORTS = (DiscoveryReport, SavedLaws, CheckReport)


def _source(given: object) -> LawSource:
    match given:
        case str():
            return _of_text(given)
        case os.PathLike():
            path = Path(given)
            if not path.is_file():
                raise UsageError(f"{path}: there is no such file of laws")
            return _of_file(str(path), path)
        case NamedLaw():
            return LawSource(given.text, lambda names: [AskedLaw(given.on(names))], names=given.columns)
        case FoundLaw() | Outcome():
            bound = given.law
            return LawSource(
                given.text, lambda names: [AskedLaw(bound.on(names), given.allowed)], given.null, names=bound.columns
            )
        case DiscoveryReport() | SavedLaws() | CheckReport():
            return _of_report(given)
        case Mapping():
            return _of_report(SavedLaws.of(given))
    raise _no_law(given)


def _of_report(report: DiscoveryReport | SavedLaws | CheckReport, name: str = "") -> LawSource:
    def read(names: Sequence[str]) -> list[AskedLaw]:
        each: Iterable[FoundLaw | Outcome] = report.outcomes if isinstance(report, CheckReport) else report
        return [AskedLaw(found.law.on(names), found.allowed) for found in each]

    document = report.document if isinstance(report, SavedLaws) else None
    return LawSource(name or "a result", read, report.null_policy, document)


def _no_law(given: object) -> UsageError:
    if not isinstance(given, Law):
        return UsageError(
            f"{given!r} is not a law",
            'Give a text such as "zip -> state", what a discovery found, or the path of a file of laws.',
        )
    return UsageError(
        f"{given!r} speaks of columns by their positions, which are other columns in another table",
        'Give its text, such as "zip -> state", or bind it to names: lawful.NamedLaw(law, names).',
    )


def _of_text(choice: str) -> LawSource:
    path = _existing_file(choice)
    if path is not None:
        return _of_file(choice, path)
    if choice.endswith((".json", ".txt", ".partial")):
        raise UsageError(f"{choice}: there is no such file of laws")
    return LawSource(choice, lambda names: _parsed([choice], names), text=choice)


def _of_file(name: str, path: Path) -> LawSource:
    text = _read_text(path)
    with _named(path):
        if path.suffix == ".partial":
            lines = _whole_lines(text)
            own = tuple(dict.fromkeys(word for line in lines for word in names_in(line)))
            return LawSource(name, _naming(path, lambda names: _parsed(lines, names)), names=own)
        if path.suffix == ".json" or _BEGINS_AS_JSON.match(text):
            source = _of_report(SavedLaws.of(_json(text)), name)
            return LawSource(name, _naming(path, source.read), source.null, source.document)
    return LawSource(name, _naming(path, lambda names: _parsed([text], names)), text=text)


def _existing_file(choice: str) -> Path | None:
    try:
        path = Path(choice)
        return path if path.is_file() else None
    except (OSError, ValueError):  # a law may be longer than any file name, or hold a NUL
        return None


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SourceError(f"{path}: is larger than {_LARGEST_FILE >> 20} MB", "Split the file of laws.")
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise SourceError(f"{path}: there is no such file of laws") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read as text: {error}") from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors name the file that they speak of."""
    try:
        yield
    except NotationError as error:
        raise NotationError(f"{path}: {error.typed_message}", error.typed_hint, error.text, error.position) from None
    except LawfulError as error:
        message = (
            error.typed_message if error.typed_message.startswith(f"{path}: ") else f"{path}: {error.typed_message}"
        )
        raise SourceError(message, error.typed_hint) from None


def _naming(path: Path, read: Callable[[Sequence[str]], list[AskedLaw]]) -> Callable[[Sequence[str]], list[AskedLaw]]:
    def read_or_name(names: Sequence[str]) -> list[AskedLaw]:
        with _named(path):
            return read(names)

    return read_or_name


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"is not valid JSON: {error}") from None


def _whole_lines(text: str) -> list[str]:
    """Return the laws of a broken-off discovery; the end may have come in the middle of the last line."""
    lines = text.split("\n")
    laws = []
    for line_number, line in enumerate(lines[:-1], 1):
        try:
            law = json.loads(line)
        except ValueError:
            law = None
        if not isinstance(law, str):
            raise SourceError(f"line {line_number} is not a law in JSON quotes, as a discovery writes them")
        laws.append(law)
    return laws


def _parsed(texts: Sequence[str], names: Sequence[str]) -> list[AskedLaw]:
    return [AskedLaw(law) for text in texts for law in parse_laws(text, names)]
