"""The front door: any form of laws, and a clear word where sqlglot is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lawful.common.errors import UsageError
from lawful.dependencies import NamedLaw, parse_laws
from lawful.results import CheckReport, DiscoveryReport, SavedLaws
from lawful.rewriting.known_laws import KnownLaws
from lawful.rewriting.laws_input import known_from_input
from lawful.rewriting.result import Rewriting
from lawful.runs.laws_input import LawsInput

Laws: TypeAlias = (
    KnownLaws
    | DiscoveryReport
    | CheckReport
    | SavedLaws
    | Mapping[str, Any]
    | str
    | NamedLaw
    | Iterable[str | NamedLaw]
    | LawsInput
)


def rewrite(
    sql: str,
    laws: Laws,
    names: Sequence[str] | None = None,
    *,
    dialect: str = "",
    indexes: Sequence[str] = (),
    not_null: Sequence[str] = (),
    exact_text: bool = False,
) -> Rewriting:
    """Find the shortest ORDER BY and GROUP BY that say the same, by the laws of the table that is queried.

    Parameters
    ----------
    sql
        One query. What cannot be rewritten safely stays as it is, with the reason among the `notes`.
    laws
        Laws that hold on the table, with null as a value: what `discover`, `check` or `load` gave back, the document
        of it, laws bound to names and texts in their notation over `names`, or what `read_laws` read.
    names
        The names of the table's columns; a document and laws bound to names bring their own.
    dialect
        The SQL dialect by the name that sqlglot has for it; without one, nulls sort first ascending.
    indexes
        Indexes or sort orders that there are, each as the list of an ORDER BY: `"a, b desc"`.
    not_null
        Columns that hold no null, besides those of which the document knows it.
    exact_text
        Whether the database compares text by code point even where its usual collation does not.
    """
    if isinstance(indexes, str) or isinstance(not_null, str):  # a text is a sequence of characters too
        raise UsageError("indexes and not_null must be lists", 'Write ["a, b desc"].')
    known = _known(laws, names).without_nulls(not_null)
    try:
        from lawful.rewriting.sql import rewrite_query
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("sqlglot"):
            raise
        raise UsageError("rewriting a query needs sqlglot", "Run: pip install 'lawful[sql]'") from None
    return rewrite_query(sql, known, dialect, indexes, exact_text)


def _known(laws: Laws, names: Sequence[str] | None) -> KnownLaws:
    if isinstance(laws, KnownLaws):
        return laws
    if isinstance(laws, LawsInput):
        return known_from_input(laws)
    if isinstance(laws, DiscoveryReport | CheckReport | SavedLaws):
        return KnownLaws.from_document(laws.to_dict())
    if isinstance(laws, Mapping):
        return KnownLaws.from_document(laws)
    several = [laws] if isinstance(laws, str) or not isinstance(laws, Iterable) else list(laws)
    given = [bound for law in several for bound in _bound(law, names)]
    if names is None:
        names = list(dict.fromkeys(name for law in given for name in law.names))
    return KnownLaws.of((law.on(names) for law in given), names)


def _bound(law: object, names: Sequence[str] | None) -> Iterator[NamedLaw]:
    if isinstance(law, NamedLaw):
        yield law
    elif isinstance(law, str):
        if names is None:
            raise UsageError("laws that are no document need the names of the columns", "Give them as names.")
        yield from (NamedLaw(parsed, tuple(names)) for parsed in parse_laws(law, names))
    else:
        raise UsageError(
            f"it is not known of which columns {law!r} speaks, or whether it holds on all rows",
            "Give a text, a law bound to names (lawful.NamedLaw), or the whole result that the law is from.",
        )
