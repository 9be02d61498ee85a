"""The words of the notation, and errors that point at the character where a text goes wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

from lawful.common.errors import NotationError
from lawful.dependencies.notation import BARE_NAME

LONGEST_TEXT: Final = 20_000_000
"""Characters of notation that are read at once: room for a hundred thousand constraints, and an end."""

_CHARACTERS_BEFORE_CARET: Final = 60
_CHARACTERS_AFTER_CARET: Final = 40
_QUOTING_HINT: Final = 'Column names with other characters are written in double quotes: "unit price".'

_LINE_BREAK: Final = re.compile(r"\r\n?|\n")

# The quantifiers of quoted words are possessive: an unclosed quote must fail, not give back half a "" pair.
_WORD: Final = re.compile(
    rf"""
      (?P<SPACE>   [^\S\r\n]+ | \#[^\r\n]* )
    | (?P<BREAK>   \r\n? | \n | ; )
    | (?P<NAME>    {BARE_NAME} )
    | (?P<QUOTED>  "(?:[^"]++|"")*+" )
    | (?P<TEXT>    '(?:[^']++|'')*+' )
    | (?P<NUMBER>  -?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)? (?!\w) )
    | (?P<FOREIGN> <> | == | => | [≠≤≥→⇒] )
    | (?P<SYMBOL>  -> | != | <= | >= | [{{}}\[\]():,~.<>=] )
    """,
    re.VERBOSE,
)


_WRITTEN_HERE: Final = {
    "<>": "!=", "==": "=", "=>": "->", "≠": "!=", "≤": "<=", "≥": ">=", "→": "->", "⇒": "->",
}  # fmt: skip
"""How signs of other languages are written in this notation."""


class TokenKind(Enum):
    """What a word of the notation is."""

    NAME = auto()
    QUOTED = auto()
    TEXT = auto()
    NUMBER = auto()
    SYMBOL = auto()
    BREAK = auto()
    END = auto()


class Token(NamedTuple):
    """One word: its kind, its value without quotes, and where it begins."""

    kind: TokenKind
    value: str
    position: int

    def __str__(self) -> str:
        if self.kind is TokenKind.END:
            return "the text ends"
        if self.kind is TokenKind.BREAK:
            return "found ';'" if self.value == ";" else "the line ends"
        shown = self.value if len(self.value) <= 40 else f"{self.value[:37]}…"
        return f"found {shown!r}"


def tokenize(text: str, *, lines_end_laws: bool) -> Iterator[Token]:
    """Yield the words of a text one by one, and last an END.

    A line break is a BREAK where laws are given one per line, but within brackets it is only space.
    """
    if len(text) > LONGEST_TEXT:
        message = f"A text of {len(text):,} characters is too long to be read; at most {LONGEST_TEXT:,} are."
        raise NotationError(message, "Give the laws in several texts.", text[:1000], 0)
    position, end, depth = 0, 0, 0
    while position < len(text):
        match = _WORD.match(text, position)
        if match is None:
            raise _unreadable(text, position)
        kind, word = match.lastgroup, match.group()
        if kind == "FOREIGN":
            raise notation_error(text, position, f"{word!r} has no meaning here.", f"Write {_WRITTEN_HERE[word]!r}.")
        if kind == "BREAK":
            if word == ";" or (lines_end_laws and depth == 0):
                depth = 0
                yield Token(TokenKind.BREAK, word, position)
        elif kind != "SPACE":
            assert kind is not None
            yield Token(TokenKind[kind], _unquoted(kind, word), position)
            end = match.end()
            depth += (word in ("{", "[", "(")) - (depth > 0 and word in ("}", "]", ")"))
        position = match.end()
    yield Token(TokenKind.END, "", end)


def names_in(text: str) -> Iterator[str]:
    """Give the words of laws that can be names; keywords among them do no harm."""
    for token in tokenize(text, lines_end_laws=True):
        if token.kind in (TokenKind.NAME, TokenKind.QUOTED):
            yield token.value


def notation_error(text: str, position: int, message: str, hint: str | None = None) -> NotationError:
    """Make the error that shows the line with a caret under the character at `position`."""
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    line_break = _LINE_BREAK.search(text, position)
    end = line_break.start() if line_break else len(text)
    where = ""
    if _LINE_BREAK.search(text):
        line_number = sum(1 for _ in _LINE_BREAK.finditer(text, 0, start)) + 1
        where = f"Line {line_number}, character {position - start + 1}: "
    first = start if position - start <= _CHARACTERS_BEFORE_CARET else position - _CHARACTERS_BEFORE_CARET
    last = end if end - position <= _CHARACTERS_AFTER_CARET else position + _CHARACTERS_AFTER_CARET
    before = ("…" if first > start else "") + _visible(text[first:position])
    after = _visible(text[position:last]) + ("…" if last < end else "")
    caret = " " * sum(_cells_wide(character) for character in before) + "^"
    return NotationError(f"{where}{message}\n  {before}{after}\n  {caret}", hint, text, position)


def _unquoted(kind: str, word: str) -> str:
    if kind not in ("QUOTED", "TEXT"):
        return word
    quote = word[0]
    return word[1:-1].replace(quote * 2, quote)


def _unreadable(text: str, position: int) -> NotationError:
    character = text[position]
    if character in "\"'":
        message = "This quote is never closed."
        return notation_error(text, position, message, f"A quote within quotes is doubled: {character * 2}.")
    if character.isdecimal():
        message = "A column name that begins with a digit must be quoted, and a number must end in a digit."
        return notation_error(text, position, message, _QUOTING_HINT)
    return notation_error(text, position, f"{character!r} has no meaning here.", _QUOTING_HINT)


def _visible(text: str) -> str:
    """Replace what would move the cursor of a terminal, one character for one."""
    return "".join(
        " " if character.isspace() else character if unicodedata.category(character) != "Cc" else "�"
        for character in text
    )


def _cells_wide(character: str) -> int:
    """Count the cells of a terminal that a character fills."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
