"""Reading laws: recursive descent over the grammar in docs/notation.md.

No word is reserved: a column may be called `key` or `asc`, because the grammar always knows whether a name
or a keyword comes next. The grammar does not nest, so neither do the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from lawful.common.errors import NotationError, UsageError
from lawful.common.meanings import Direction
from lawful.dependencies.forms import form_called
from lawful.dependencies.laws import (
    DC,
    FD,
    MIRRORED,
    OPERATORS,
    POD,
    POD_LEFT_OPERATORS,
    CanonicalOD,
    Cell,
    Constant,
    Law,
    ListOD,
    Operator,
    Predicate,
    Row,
    number_from_text,
)
from lawful.dependencies.notation import unknown_column
from lawful.dependencies.tokens import Token, TokenKind, notation_error, tokenize

_Built = TypeVar("_Built")
_Item = TypeVar("_Item")

_FORMS_HINT = (
    "A law is written as one of: a, b -> c | key(a, b) | {c}: a asc ~ b desc | [a asc] -> [b desc] | "
    "{a<, b>=} -> {c<=} | not(t.a = s.a and t.b != s.b)."
)
_NUMBER_HINT = 'A column whose name is a number is quoted: "1".'
_NAME_HINT = 'A column name that is more than one word is quoted: "unit price".'


def parse_law(text: str, names: Sequence[str]) -> Law:
    """Read one law; `names[i]` is the name of column i.

    Raises
    ------
    NotationError
        Where the text is not exactly one law over these names; it points at the character.
    """
    parser = _Parser(text, names, several=False)
    (law,) = parser.statement()
    parser.expect_end()
    return law


def parse_laws(text: str, names: Sequence[str]) -> list[Law]:
    """Read laws separated by semicolons or line breaks, in the order of the text.

    `a -> b, c` gives one law for each right side, `#` begins a comment, and a text may hold no law at all.
    """
    parser = _Parser(text, names, several=True)
    laws: list[Law] = []
    while True:
        while parser.token.kind is TokenKind.BREAK:
            parser.advance()
        if parser.token.kind is TokenKind.END:
            return laws
        laws += parser.statement()
        parser.expect_end()


class _Parser:
    """One word of look-ahead over a text; `several` allows more than one law in it."""

    def __init__(self, text: str, names: Sequence[str], *, several: bool) -> None:
        self.text = text
        self.names = names
        self.several = several
        self.index = {name: column for column, name in enumerate(names)}
        self.tokens = tokenize(text, lines_end_laws=several)
        self.token = next(self.tokens)

    def statement(self) -> list[Law]:
        """Read one statement, which is one law or the same left side with several right sides."""
        if self._at("{"):
            return self._braces()
        if self._at("["):
            return [self._list_od()]
        if self.token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self._expected("a law", _FORMS_HINT)
        first = self.advance()
        if first.kind is TokenKind.NAME and self._at("("):
            return [self._form(first)]
        columns = [self._column(first)]
        while self._accept(","):
            columns.append(self._name())
        self._expect("->", _NAME_HINT)
        return self._fds(columns)

    def expect_end(self) -> None:
        """Make sure that the law ends here."""
        at_break = self.token.kind is TokenKind.BREAK
        if at_break and not self.several:
            raise self._error(self.token, "Only one law is expected here.")
        if not at_break and self.token.kind is not TokenKind.END:
            raise self._expected("the end of the law", "Laws are separated by semicolons or line breaks.")

    def advance(self) -> Token:
        """Take the word at hand and look at the next."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.token = next(self.tokens)
        return token

    # The forms of laws

    def _form(self, word: Token) -> Law:
        called = form_called(word.value.lower())
        if called is None and word.value.lower() != "not":
            raise self._error(word, f"{word.value!r} is no form of law; key(…) and not(…) are.", _FORMS_HINT)
        opening = self.advance()
        if called is not None:
            make, columns = called.call, self._items(")", self._name)
            assert make is not None
            law: Law = self._build(opening, lambda: make(tuple(columns)))
            return law
        predicates = [] if self._at(")") else [self._predicate()]
        while not self._at(")"):
            if self.token.kind is not TokenKind.NAME or self.token.value.lower() != "and":
                raise self._expected("'and' or ')'")
            self.advance()
            predicates.append(self._predicate())
        self.advance()
        return self._build(opening, lambda: DC(tuple(predicates)))

    def _fds(self, lhs: list[int]) -> list[Law]:
        laws: list[Law] = [self._fd(lhs)]
        while self._at(","):
            if not self.several:
                raise self._error(self.token, "Only one law is expected here, with one right side.")
            self.advance()
            laws.append(self._fd(lhs))
        return laws

    def _fd(self, lhs: list[int]) -> FD:
        token = self.token
        rhs = self._name()
        return self._build(token, lambda: FD(tuple(lhs), rhs))

    def _braces(self) -> list[Law]:
        """Read the forms that begin with a brace; what follows the closing one tells them apart."""
        opening = self.advance()
        items = self._items("}", self._maybe_marked)
        if self._accept(":"):
            for token, _, operator in items:
                if operator is not None:
                    raise self._error(token, "The context of an order dependency has no operators.")
            context = [column for _, column, _ in items]
            return self._constants(context) if self._at("[") else [self._canonical_od(opening, context)]
        self._expect("->", "':' makes it a canonical order dependency, '->' another law.")
        marked = any(operator is not None for _, _, operator in items)
        if not marked and not self._at("{"):
            return self._fds([column for _, column, _ in items])
        self._expect("{", "The right side of a pointwise order dependency is one column with an operator.")
        return [self._pod(opening, items)]

    def _constants(self, context: list[int]) -> list[Law]:
        """Read the rest of `X: [] -> A`, as the literature on canonical order dependencies writes an FD."""
        self._expect("[")
        self._expect("]", "A context determines columns by '[] ->', or orders two of them by '~'.")
        self._expect("->")
        return self._fds(context)

    def _canonical_od(self, opening: Token, context: list[int]) -> CanonicalOD:
        left, left_direction = self._directed()
        self._expect("~", _NAME_HINT)
        right, right_direction = self._directed()
        direction: Direction = "asc" if left_direction == right_direction else "desc"
        return self._build(opening, lambda: CanonicalOD(tuple(context), left, right, direction))

    def _pod(self, opening: Token, items: list[tuple[Token, int, Operator | None]]) -> POD:
        lhs: list[tuple[int, Operator]] = []
        for token, column, operator in items:
            if operator is None:
                raise self._error(token, "Each column of a pointwise order dependency needs an operator.")
            lhs.append((column, operator))
        column, operator = self._name(), self._operator(POD_LEFT_OPERATORS)
        self._expect("}")
        if operator in (">", ">="):
            # Exchanging the two rows of every pair says the same with the operators mirrored.
            lhs = [(each, MIRRORED[mark]) for each, mark in lhs]
            operator = MIRRORED[operator]
        return self._build(opening, lambda: POD(tuple(lhs), (column, operator)))

    def _list_od(self) -> ListOD:
        opening = self.advance()
        lhs = self._items("]", self._directed)
        self._expect("->")
        self._expect("[")
        rhs = self._items("]", self._directed)
        return self._build(opening, lambda: ListOD(tuple(lhs), tuple(rhs)))

    def _predicate(self) -> Predicate:
        token = self.token
        left = self._operand()
        operator = self._operator(OPERATORS)
        right = self._operand()
        if not isinstance(left, Constant):
            cell, other = left, right
        elif not isinstance(right, Constant):
            cell, other, operator = right, left, MIRRORED[operator]
        else:
            raise self._error(token, "A comparison of two constants says nothing of the table.")
        return self._build(token, lambda: Predicate(cell, operator, other))

    # The parts of laws

    def _items(self, closing: str, read: Callable[[], _Item]) -> list[_Item]:
        """Read items separated by commas up to and with the closing bracket."""
        if self._accept(closing):
            return []
        items = [read()]
        while not self._accept(closing):
            if not self._accept(","):
                raise self._expected(f"',' or '{closing}'", _NAME_HINT)
            items.append(read())
        return items

    def _name(self) -> int:
        if self.token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self._expected("a column name", _NUMBER_HINT if self.token.kind is TokenKind.NUMBER else None)
        return self._column(self.advance())

    def _column(self, token: Token) -> int:
        column = self.index.get(token.value)
        if column is None:
            message, hint = unknown_column(token.value, self.names)
            raise self._error(token, message, hint)
        return column

    def _maybe_marked(self) -> tuple[Token, int, Operator | None]:
        token = self.token
        column = self._name()
        marked = self.token.kind is TokenKind.SYMBOL and self.token.value in POD_LEFT_OPERATORS
        return token, column, self._operator(POD_LEFT_OPERATORS) if marked else None

    def _directed(self) -> tuple[int, Direction]:
        column = self._name()
        word = self.token.value.lower() if self.token.kind is TokenKind.NAME else ""
        if word in ("asc", "desc"):
            self.advance()
            return column, cast(Direction, word)
        return column, "asc"

    def _operator(self, allowed: tuple[Operator, ...]) -> Operator:
        if self.token.kind is not TokenKind.SYMBOL or self.token.value not in allowed:
            raise self._expected(f"one of {' '.join(allowed)}")
        return cast(Operator, self.advance().value)

    def _operand(self) -> Cell | Constant:
        token = self.token
        if token.kind is TokenKind.TEXT:
            return Constant(self.advance().value)
        if token.kind is TokenKind.NUMBER:
            self.advance()
            return self._build(token, lambda: number_from_text(token.value))
        if token.kind is TokenKind.NAME and token.value in ("t", "s"):
            self.advance()
            self._expect(".")
            return Cell(cast(Row, token.value), self._name())
        if token.kind is TokenKind.NAME and token.value.lower() in ("true", "false"):
            return Constant(self.advance().value.lower() == "true")
        raise self._expected("t.column, s.column or a constant", "Text constants are written in single quotes.")

    # Words and errors

    def _at(self, symbol: str) -> bool:
        return self.token.kind is TokenKind.SYMBOL and self.token.value == symbol

    def _accept(self, symbol: str) -> bool:
        if self._at(symbol):
            self.advance()
            return True
        return False

    def _expect(self, symbol: str, hint: str | None = None) -> None:
        if not self._accept(symbol):
            raise self._expected(f"'{symbol}'", hint)

    def _expected(self, what: str, hint: str | None = None) -> NotationError:
        return self._error(self.token, f"Expected {what}, but {self.token}.", hint)

    def _build(self, token: Token, make: Callable[[], _Built]) -> _Built:
        """Make a law or a part of it, and let a refusal point at the text that asked for it."""
        try:
            return make()
        except UsageError as refusal:
            raise self._error(token, refusal.typed_message, refusal.typed_hint) from None

    def _error(self, token: Token, message: str, hint: str | None = None) -> NotationError:
        return notation_error(self.text, token.position, message, hint)
