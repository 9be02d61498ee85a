"""The keys and rules of other tools as laws, where laws can state them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.common.arguments import text
from lawful.common.errors import LawfulError, SourceError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import NamedLaw, parse_laws
from lawful.dependencies.tokens import names_in
from lawful.exports.reading.rules import Rule, Rules
from lawful.exports.result import Unsaid
from lawful.results.documents import FORMAT
from lawful.results.exporting import Exportable
from lawful.results.json_files import write_document

_LARGEST_FILE = 1 << 26
_NAMED = 5


@dataclass(frozen=True)
class ImportedLaws(Exportable):
    """Laws that other tools' files state, and what is in them that no law states.

    Attributes
    ----------
    laws
        The laws.
    unsaid
        The rules that are no laws, and why.
    null
        What null means to them: rows with null are left out, unless the files are from lawful and say otherwise.
    """

    laws: tuple[NamedLaw, ...]
    unsaid: tuple[Unsaid, ...]
    null: NullPolicy

    def to_dict(self) -> dict[str, Any]:
        """Return the document of the laws, as `lawful check` reads it."""
        return {
            "format": FORMAT,
            "complete": False,
            "settings": {"null": self.null.value},
            "dependencies": [law.to_dict() for law in self.laws],
            "unsaid": [{"rule": each.law, "reason": each.reason} for each in self.unsaid],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a file, whole or not at all."""
        write_document(self.to_dict(), Path(path))

    def summary(self) -> list[str]:
        """What was read, and what was not and why, a line for each reason."""
        laws = "1 law" if len(self.laws) == 1 else f"{len(self.laws):,} laws"
        lines = [f"{laws}, null: {self.null.value}"]
        for reason in dict.fromkeys(each.reason for each in self.unsaid):
            left = [each.law for each in self.unsaid if each.reason == reason]
            shown = "; ".join(left[:_NAMED]) + ("; …" if len(left) > _NAMED else "")
            lines.append(f"{len(left):,} not read, because {reason}: {shown}")
        return lines


def import_laws(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, table: str | None = None, dialect: str = ""
) -> ImportedLaws:
    """Read the keys and rules of other tools as laws.

    Parameters
    ----------
    files
        Properties of dbt models (YAML), a suite of Great Expectations (JSON), an ODCS contract (YAML), or SQL that
        makes tables; which of them a file is, its content tells.
    table
        Take the rules of this table or model alone.
    dialect
        The dialect of SQL files, by the name that sqlglot has for it.

    Returns
    -------
    ImportedLaws
        The laws, with `save` to write the document that `check` and `export` take, and what no law states.
    """
    several = [files] if isinstance(files, str | os.PathLike) else list(files)
    rules = Rules()
    for file in several:
        _read(Path(file), rules, text("dialect", dialect))
    found = [rule for rule in rules.rules if table is None or rule.table in (None, table)]
    if table is not None and rules.rules and not found:
        others = sorted({rule.table for rule in rules.rules if rule.table})
        raise UsageError(f"there are no rules of {table!r}", f"There are rules of: {', '.join(others[:_NAMED])}.")
    tables = {rule.table for rule in found if rule.table}
    if len(tables) > 1:
        listed = ", ".join(sorted(tables)[:_NAMED])
        raise UsageError(f"these are the rules of several tables: {listed}", "Choose one with --table.")
    laws: dict[NamedLaw, bool] = {}
    for rule in found:
        for law in _laws(rule):  # a test may say more of a key than the constraint beside it
            laws[law] = laws.get(law, False) or rule.null == "equal"
    null = NullPolicy.EQUAL if laws and all(laws.values()) else NullPolicy.IGNORE
    unsaid = [each.unsaid for each in rules.left if table is None or each.table in (None, table)]
    return ImportedLaws(tuple(laws), tuple(unsaid), null)


def _laws(rule: Rule) -> list[NamedLaw]:
    """The laws of a rule's text, over their own names."""
    names = list(dict.fromkeys(names_in(rule.law)))
    bound = [NamedLaw(law, tuple(names)) for law in parse_laws(rule.law, names)]
    return [NamedLaw(law.on(law.columns), law.columns) for law in bound]


def _read(path: Path, rules: Rules, dialect: str) -> None:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SourceError(f"{path}: is larger than {_LARGEST_FILE >> 20} MB")
        content = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise SourceError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read as text: {error}") from None
    try:
        _read_text(content, path.suffix.lower(), rules, dialect)
    except LawfulError as error:
        raise SourceError(f"{path}: {error.typed_message}", error.typed_hint) from None


def _read_text(content: str, suffix: str, rules: Rules, dialect: str) -> None:
    if suffix == ".sql":
        from lawful.exports.reading.ddl import read_ddl

        read_ddl(content, dialect, rules)
        return
    if suffix == ".json":
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"is not valid JSON: {error}") from None
    else:
        from lawful.exports.yaml_text import from_yaml

        document = from_yaml(content)
    if not isinstance(document, Mapping):
        raise _unknown()
    if isinstance(document.get("expectations"), list):
        from lawful.exports.reading.great_expectations import read_suite

        read_suite(document, rules)
    elif document.get("kind") == "DataContract" or isinstance(document.get("schema"), list):
        from lawful.exports.reading.odcs import read_contract

        read_contract(document, rules)
    elif any(isinstance(document.get(kind), list) for kind in ("models", "sources", "seeds", "snapshots")):
        from lawful.exports.reading.dbt import read_properties

        read_properties(document, rules)
    else:
        raise _unknown()


def _unknown() -> SourceError:
    return SourceError(
        "is none of the files that are read",
        "These are: properties of dbt models, a suite of Great Expectations, an ODCS contract, and SQL (.sql).",
    )
