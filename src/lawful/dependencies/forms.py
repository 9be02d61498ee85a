"""How the laws of each family are named, written and read: the part of a family that needs no table.

A law is whatever value a family says it is. Everything that names, prints, parses or stores laws asks the form of
their family, so a family that registers its form is written and read everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawful.common.errors import UsageError

Document = dict[str, Any]


@dataclass(frozen=True)
class LawForm:
    """The form of one family's laws.

    Attributes
    ----------
    kind
        The name of the family, in documents and on the command line.
    words
        What people call one law of the family, and several.
    law_type
        The type of its laws: immutable values that hold column indices.
    columns
        Every column that a law speaks of, once each and in order.
    text
        A law in its notation, with `names[i]` for column i.
    fields
        What a JSON object says of a law beside its kind, with column names.
    read
        Makes a law of such an object; see `documents.FieldReader`.
    call
        Makes a law of the columns of `word(a, b)`, for a family whose notation begins with its word.
    word
        That word; the kind, unless it is said.
    """

    kind: str
    words: tuple[str, str]
    law_type: type[Any]
    columns: Callable[[Any], tuple[int, ...]]
    text: Callable[[Any, Sequence[str]], str]
    fields: Callable[[Any, Sequence[str]], Document]
    read: Callable[[Any, Mapping[str, object]], Any]
    call: Callable[[tuple[int, ...]], Any] | None = None
    word: str | None = None


_by_kind: dict[str, LawForm] = {}
_by_type: dict[type[Any], LawForm] = {}


def register_form(form: LawForm) -> None:
    """Let laws of a family be written and read."""
    _by_kind[form.kind] = form
    _by_type[form.law_type] = form


def forget_form(kind: str) -> None:
    """Take a family's form out again."""
    del _by_type[_by_kind.pop(kind).law_type]


def kinds() -> tuple[str, ...]:
    """The names of all families, in the order in which they were registered."""
    return tuple(_by_kind)


def form_named(kind: object) -> LawForm | None:
    """The form of the family of a name, if there is one."""
    return _by_kind.get(kind) if isinstance(kind, str) else None


def form_called(word: str) -> LawForm | None:
    """The form of the family whose laws are written as `word(…)`, if there is one."""
    return next((form for form in _by_kind.values() if form.call and (form.word or form.kind) == word), None)


def form_of(law: object) -> LawForm:
    """The form of a law's family."""
    try:
        return _by_type[type(law)]
    except KeyError:
        raise UsageError(f"{law!r} is not a law.") from None


def words_of(kind: str) -> tuple[str, str]:
    """What people call one law of a family, and several."""
    return _by_kind[kind].words


def kind_of(law: object) -> str:
    """Name the family of a law, as documents and the command line do."""
    return form_of(law).kind


def columns_of(law: object) -> tuple[int, ...]:
    """List every column that a law speaks of, once each and in order."""
    return form_of(law).columns(law)


def format_law(law: object, names: Sequence[str]) -> str:
    """Write a law in its notation, with `names[i]` for column i."""
    return form_of(law).text(law, names)
