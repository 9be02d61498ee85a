"""Changing one clause in the text of a query, so that everything else stays as it was written."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def with_order(sql: str, wanted: exp.Expression, count: int, items: Sequence[int | str], dialect: Dialect) -> str:
    """Put other terms into the ORDER BY: numbers for some of the `count` that it has, texts for new ones.

    With no terms the clause goes. `wanted` is the tree of the query with this change. The text is cut where the
    tokens say; if it then does not mean the same as the tree, the tree is printed instead.
    """
    tokens = dialect.tokenize(sql)
    clause = _top_level(tokens, TokenType.ORDER_BY)
    if clause is None:
        return wanted.sql(dialect=dialect)
    spans = _spans(tokens, clause + 1, count)
    texts = [item if isinstance(item, str) else sql[slice(*spans[item])] for item in items]
    if texts:
        cut = sql[: spans[0][0]] + ", ".join(texts) + sql[spans[-1][1] :]
    else:
        cut = sql[: tokens[clause - 1].end + 1] + sql[spans[-1][1] :]
    return _verified(cut, wanted, dialect)


def without_groups(sql: str, wanted: exp.Expression, count: int, dropped: Collection[int], dialect: Dialect) -> str:
    """Take columns out of the GROUP BY, given by their places among the `count` terms in it."""
    tokens = dialect.tokenize(sql)
    clause = _top_level(tokens, TokenType.GROUP_BY)
    if clause is None:
        return wanted.sql(dialect=dialect)
    spans = _spans(tokens, clause + 1, count)
    cut = sql
    first_kept = min(set(range(len(spans))) - set(dropped))
    for place in sorted(dropped, reverse=True):
        # Cut with the comma before, or in front of the first one that stays with the comma behind.
        start, end = (
            (spans[place][0], spans[place + 1][0]) if place < first_kept else (spans[place - 1][1], spans[place][1])
        )
        cut = cut[:start] + cut[end:]
    return _verified(cut, wanted, dialect)


def _verified(text: str, wanted: exp.Expression, dialect: Dialect) -> str:
    try:
        parsed = dialect.parse(text)
    except (SqlglotError, RecursionError):
        parsed = []
    return text if len(parsed) == 1 and parsed[0] == wanted else wanted.sql(dialect=dialect)


def _top_level(tokens: Sequence[Token], type_: TokenType) -> int | None:
    """Find the one keyword of this kind that is in no brackets."""
    depth = 0
    found = []
    for place, token in enumerate(tokens):
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if token.token_type is type_ and depth == 0:
            found.append(place)
    return found[0] if len(found) == 1 else None


def _spans(tokens: Sequence[Token], first: int, count: int) -> list[tuple[int, int]]:
    """Find where the terms of a clause begin and end in the text; the last one ends as a plain column does."""
    spans: list[tuple[int, int]] = []
    start, depth = first, 0
    for place in range(first, len(tokens)):
        if len(spans) == count - 1:
            break
        token = tokens[place]
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth == 0 and token.token_type is TokenType.COMMA:
            spans.append((tokens[start].start, tokens[place - 1].end + 1))
            start = place + 1
    spans.append((tokens[start].start, tokens[_last_of_plain(tokens, start)].end + 1))
    return spans


def _last_of_plain(tokens: Sequence[Token], place: int) -> int:
    """Find the last token of a column with what may follow it: `a.b DESC NULLS LAST`."""

    def word(at: int) -> str:
        return tokens[at].text.upper() if at < len(tokens) else ""

    while place + 2 < len(tokens) and tokens[place + 1].token_type is TokenType.DOT:
        place += 2
    if word(place + 1) in ("ASC", "DESC"):
        place += 1
    if word(place + 1) == "NULLS" and word(place + 2) in ("FIRST", "LAST"):
        place += 2
    return place
