"""Writing laws down: one notation for each law, which `parser.parse_law` reads back exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from lawful.common.column_names import ColumnNames, short_text
from lawful.common.errors import UsageError
from lawful.common.meanings import Direction
from lawful.dependencies.laws import (
    DC,
    FD,
    POD,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    ListOD,
    Predicate,
)

BARE_NAME: Final = r"[^\W\d]\w*"
"""The names that need no quotes: letters, digits and underscores of any script, with no digit in front."""

KEYWORDS: Final = frozenset({"asc", "desc", "key", "not", "and", "true", "false"})
"""Words that are quoted when they are column names. The parser does not need it; readers do."""

_BARE: Final = re.compile(BARE_NAME)
_MOST_LISTED: Final = 8
_REMEMBERED: Final = 1 << 14  # a million laws are made of some hundred columns and some thousand predicates
_LONGEST_GUESSED_NAME: Final = 200  # comparing long names is slow, and a guess about them helps nobody


def format_key(law: Key, names: Sequence[str]) -> str:
    """Write `key(a, b)`."""
    return f"key({_listed(law.columns, names)})"


def format_fd(law: FD, names: Sequence[str]) -> str:
    """Write `a, b -> c`."""
    return f"{_listed(law.lhs, names) or '{}'} -> {format_name(law.rhs, names)}"


def format_canonical_od(law: CanonicalOD, names: Sequence[str]) -> str:
    """Write `{c}: a asc ~ b desc`."""
    pair = f"{format_name(law.left, names)} asc ~ {format_name(law.right, names)} {law.direction}"
    return f"{{{_listed(law.context, names)}}}: {pair}"


def format_list_od(law: ListOD, names: Sequence[str]) -> str:
    """Write `[a asc] -> [b desc]`."""
    return f"{_directed(law.lhs, names)} -> {_directed(law.rhs, names)}"


def format_pod(law: POD, names: Sequence[str]) -> str:
    """Write `{a<, b>=} -> {c<=}`."""
    left_side = ", ".join(f"{format_name(column, names)}{mark}" for column, mark in law.lhs)
    column, mark = law.rhs
    return f"{{{left_side}}} -> {{{format_name(column, names)}{mark}}}"


def format_dc(law: DC, names: Sequence[str]) -> str:
    """Write `not(t.a = s.a and t.b != s.b)`."""
    named = tuple(names)
    return f"not({' and '.join([format_predicate(predicate, named) for predicate in law.predicates])})"


@lru_cache(maxsize=_REMEMBERED)
def format_predicate(predicate: Predicate, names: tuple[str, ...]) -> str:
    """Write one comparison of a denial constraint."""
    right = predicate.right
    written = format_constant(right) if isinstance(right, Constant) else _cell(right, names)
    return f"{_cell(predicate.left, names)} {predicate.operator} {written}"


def format_constant(constant: Constant) -> str:
    """Write a constant: text in single quotes, numbers in decimal, true or false."""
    value = constant.value
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value, "'") if isinstance(value, str) else str(value)


def format_name(column: int, names: Sequence[str]) -> str:
    """Write a column's name, in double quotes where it would not be read as one word."""
    try:
        name = names[column]
    except IndexError:
        raise UsageError(f"A law speaks of column {column}, but the table has only {len(names)}.") from None
    return _written(name)


@lru_cache(maxsize=_REMEMBERED)
def _written(name: str) -> str:
    bare = _BARE.fullmatch(name) is not None and name.lower() not in KEYWORDS
    return name if bare else _quoted(name, '"')


def unknown_column(name: str, names: Sequence[str]) -> tuple[str, str]:
    """Say that no column has this name, and guess what was meant: a message and a hint."""
    if isinstance(names, ColumnNames) and name in names.left_out:
        why = f"it has type {short_text(names.left_out[name])}, and laws are about single values"
        return f"The column {_shown(name)} is left out: {why}.", "Flatten it first."
    message = f"There is no column named {_shown(name)}."
    close = _close_names(name, names) if len(name) <= _LONGEST_GUESSED_NAME else []
    if close:
        return message, f"Did you mean {' or '.join(map(_shown, close))}?"
    return message, _known(names)


def unknown_columns(missing: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """Say the same of one name or of several."""
    if len(missing) == 1:
        return unknown_column(missing[0], names)
    listed = ", ".join(map(_shown, missing[:_MOST_LISTED]))
    message = f"There are no columns named {listed}{', …' if len(missing) > _MOST_LISTED else '.'}"
    short = (name for name in missing[:_MOST_LISTED] if len(name) <= _LONGEST_GUESSED_NAME)
    guesses = [f"{_shown(close[0])} for {_shown(name)}" for name in short if (close := _close_names(name, names))]
    return message, f"Did you mean {', '.join(guesses)}?" if guesses else _known(names)


def _known(names: Sequence[str]) -> str:
    known = ", ".join(map(_shown, names[:_MOST_LISTED]))
    return f"The columns are {known}{', …' if len(names) > _MOST_LISTED else '.'}"


def _close_names(name: str, names: Sequence[str]) -> list[str]:
    """Guess up to three names: other capitals first, then slips of the pen, then longer names."""
    folded = name.casefold()
    same = [each for each in names if each.casefold() == folded]
    longer = [each for each in names if folded and each.casefold().startswith(folded)]
    return list(dict.fromkeys((*same, *get_close_matches(name, names, n=3), *longer)))[:3]


def _listed(columns: Iterable[int], names: Sequence[str]) -> str:
    return ", ".join(format_name(column, names) for column in columns)


def _directed(columns: Iterable[tuple[int, Direction]], names: Sequence[str]) -> str:
    return f"[{', '.join(f'{format_name(column, names)} {direction}' for column, direction in columns)}]"


def _cell(cell: Cell, names: Sequence[str]) -> str:
    return f"{cell.row}.{format_name(cell.column, names)}"


def _quoted(text: str, quote: str) -> str:
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


def _shown(name: str) -> str:
    return _quoted(name if len(name) <= 60 else f"{name[:57]}…", '"')
