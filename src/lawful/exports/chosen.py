"""Which laws to export, of what they were given as, and what is known of their table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import NullPolicy, null_policy
from lawful.dependencies import NamedLaw, parse_laws
from lawful.dependencies.tokens import names_in
from lawful.exports.known_columns import KnownColumn, columns_of_document
from lawful.results import DiscoveryReport, FoundLaw, SavedLaws
from lawful.results.check_report import CheckReport
from lawful.results.strongest_report import StrongestReport
from lawful.runs.any_state import AnyOpenState
from lawful.runs.laws_input import LawsInput, LawSource, given_laws
from lawful.runs.run import Where
from lawful.runs.states import is_state, open_state
from lawful.tables.options import parse_column_types

_LARGEST_SELECTION = 1 << 26


@dataclass(frozen=True)
class ChosenLaws:
    """Laws of one table.

    Attributes
    ----------
    table
        The name of the table, as a word of its own.
    columns
        What is known of its columns, by name.
    all_names
        The names of all of its columns, if they are known.
    null
        What null means to the laws.
    laws
        The laws, and what is known of each.
    """

    table: str
    columns: Mapping[str, KnownColumn]
    all_names: tuple[str, ...]
    null: NullPolicy
    laws: tuple[FoundLaw, ...]
    notes: tuple[str, ...] = ()

    def may_be_null(self, names: Iterable[str]) -> bool:
        """Whether one of these columns had nulls, or it is not known."""
        return any(name not in self.columns or self.columns[name].nulls != 0 for name in names)


def chosen_laws(
    laws: Any,
    *,
    null: str | None = None,
    types: Mapping[str, str] | None = None,
    cast: bool | None = None,
    top: int | None = None,
    min_strength: float | None = None,
    select: Any = None,
) -> ChosenLaws:
    """Read laws, and keep those that were chosen; see `lawful.export`."""
    given = _documents(laws)
    found, names = _found(given)
    policy = null_policy(null) if null is not None else (given.null_policy() or (NullPolicy.EQUAL,))[0]
    columns: dict[str, KnownColumn] = {}
    for source in given.sources:
        if source.document is not None:
            columns |= columns_of_document(source.document, cast)
    known = tuple(columns)
    for name, type_ in parse_column_types([f"{name}={type_}" for name, type_ in (types or {}).items()]).items():
        if name not in names:
            raise UsageError(f"there is no column {name!r} whose type could be chosen")
        columns[name] = columns.get(name, KnownColumn(name, is_text=bool(cast))).typed(type_)
    kept, notes = _kept(found, names, top, min_strength, select)
    return ChosenLaws(_table_name(given), columns, known, policy, tuple(kept), tuple(notes))


def _documents(laws: Any) -> LawsInput:
    """Laws in any form that `check` takes; states and what only reports know as the documents that they write."""
    if isinstance(laws, AnyOpenState):
        laws = _of_state(laws)
    if isinstance(laws, DiscoveryReport | CheckReport | StrongestReport):
        laws = laws.to_dict()
    if isinstance(laws, str | os.PathLike) and _is_folder(laws):
        here = Where.of("local", None)
        if not is_state(laws, here):
            raise UsageError(f"{laws}: is a folder, but no state", "Name a file of laws, or the folder of a state.")
        with open_state(laws, here, writes=False) as state:
            document = _of_state(state)
            document["table"]["name"] = PurePath(laws).name
            return given_laws(document)
    if isinstance(laws, Sequence) and not isinstance(laws, str):
        laws = [each.to_dict() if isinstance(each, DiscoveryReport | StrongestReport) else each for each in laws]
    return given_laws(laws)


def _of_state(state: AnyOpenState[Any]) -> dict[str, Any]:
    document = state.document()
    return document | {"dependencies": list(document["dependencies"])}


def _is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether this is a folder, here or, as only those of states are given, on another file system."""
    try:
        return "://" in os.fspath(path) or Path(path).is_dir()
    except (OSError, ValueError):  # a law may be longer than any file name
        return False


def _found(given: LawsInput) -> tuple[list[FoundLaw], tuple[str, ...]]:
    """All laws with what documents say of them, each once, and the names of all columns."""
    names = tuple(dict.fromkeys(name for source in given.sources for name in _names(source)))
    found: dict[NamedLaw, FoundLaw] = {}
    for source in given.sources:
        if source.document is not None:
            for each in SavedLaws.of(source.document):
                found.setdefault(each.law, each)
            continue
        for asked in source.read(names):
            law = _own(NamedLaw(asked.law, names))
            found.setdefault(law, FoundLaw(law, law.text, None, allowed=asked.allowed))
    return list(found.values()), names


def _own(law: NamedLaw) -> NamedLaw:
    """The law over the names of its own columns: among the words of its text there are others."""
    return NamedLaw(law.on(law.columns), law.columns)


def _names(source: LawSource) -> Iterator[str]:
    if source.document is not None:
        yield from (name for law in SavedLaws.of(source.document) for name in law.law.names)
    else:
        yield from source.names or names_in(source.text or "")


def _table_name(given: LawsInput) -> str:
    for source in given.sources:
        table = (source.document or {}).get("table")
        name = table.get("name") if isinstance(table, Mapping) else None
        if isinstance(name, str) and name:
            stem = PurePath(name.removeprefix("table:")).name
            return stem.partition(".")[0] or stem
    return "data"


def _kept(
    found: list[FoundLaw], names: Sequence[str], top: int | None, min_strength: float | None, select: Any
) -> tuple[list[FoundLaw], list[str]]:
    notes = []
    if select is not None:
        found = _selected(found, names, select)
    if min_strength is not None:
        unknown = sum(each.strength is None for each in found)
        found = [each for each in found if each.strength is not None and each.strength >= min_strength]
        if unknown:
            notes.append(f"{unknown:,} laws are left out, because nothing tells how strong they are")
    if top is not None:
        if top < 1:
            raise UsageError(f"--top must be at least 1, and is {top}")
        # Stable: documents list what is as strong by interest.
        found = sorted(found, key=lambda each: -1.0 if each.strength is None else each.strength, reverse=True)[:top]
    if not found:
        raise UsageError("there are no laws to export", "Choose fewer with --top, or lower --min-strength.")
    return found, notes


def _selected(found: list[FoundLaw], names: Sequence[str], select: Any) -> list[FoundLaw]:
    """The laws whose texts a person chose, in that order."""
    text, place = _selection(select)
    by_law = {each.law: each for each in found}
    chosen = []
    try:
        wanted = [NamedLaw(law, tuple(names)) for law in parse_laws(text, names)]
    except UsageError as error:
        raise UsageError(f"{place}: {error.typed_message}", error.typed_hint) from None
    for law in wanted:
        if law not in by_law:
            raise UsageError(f"{place}: {law.text} is not among the laws", "Give texts as the document has them.")
        chosen.append(by_law[law])
    return list(dict.fromkeys(chosen))


def _selection(select: Any) -> tuple[str, str]:
    if isinstance(select, os.PathLike):
        path = Path(select)
        try:
            if path.stat().st_size > _LARGEST_SELECTION:
                raise SourceError(f"{path}: is too large for a selection of laws")
            return path.read_text("utf-8-sig"), str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"{path}: cannot be read as a selection of laws: {error}") from None
    if isinstance(select, Iterable) and not isinstance(select, str):
        return "\n".join(each.text if isinstance(each, NamedLaw | FoundLaw) else str(each) for each in select), "select"
    return str(select), "select"
