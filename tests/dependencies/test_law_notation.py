"""Writing and reading laws: inverse to each other, and errors that point at the character."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import laws, named_laws, names

from lawful.common.errors import NotationError, UsageError
from lawful.dependencies import (
    DC,
    FD,
    POD,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    ListOD,
    Predicate,
    format_law,
    from_documents,
    kind_of,
    kinds,
    parse_law,
    parse_laws,
    tokens,
)

NAMES = ["zip", "state", "unit price", "month", "day"]
ZIP, STATE, PRICE, MONTH, DAY = range(5)


@given(named_laws())
def test_parsing_is_the_inverse_of_printing(drawn):
    law, column_names = drawn
    text = format_law(law, column_names)
    assert parse_law(text, column_names) == law
    assert parse_laws(text, column_names) == [law]


@given(st.data())
def test_many_laws_at_once(data):
    column_names = data.draw(names)
    many = data.draw(st.lists(laws(len(column_names)), max_size=4))
    for separator in ("\n", ";", ' ; \r\n# a -> b; "\n\n'):
        assert parse_laws(separator.join(format_law(law, column_names) for law in many), column_names) == many


@given(named_laws(), named_laws())
def test_different_laws_are_written_differently(one, other):
    (law, column_names), (other_law, other_names) = one, other
    if len(other_names) <= len(column_names) and law != other_law:
        assert format_law(law, column_names) != format_law(other_law, column_names)


WRITTEN = [
    (FD((ZIP,), STATE), "zip -> state"),
    (FD((), ZIP), "{} -> zip"),
    (FD((ZIP, PRICE), STATE), 'zip, "unit price" -> state'),
    (Key((ZIP, STATE)), "key(zip, state)"),
    (Key(()), "key()"),
    (CanonicalOD((MONTH,), DAY, STATE, "desc"), "{month}: state asc ~ day desc"),
    (CanonicalOD((), ZIP, DAY, "asc"), "{}: zip asc ~ day asc"),
    (ListOD(((MONTH, "asc"), (DAY, "desc")), ((ZIP, "asc"),)), "[month asc, day desc] -> [zip asc]"),
    (ListOD((), ((ZIP, "asc"),)), "[] -> [zip asc]"),
    (POD(((ZIP, "<"), (DAY, ">=")), (STATE, "<=")), "{zip<, day>=} -> {state<=}"),
    (POD((), (STATE, "<=")), "{} -> {state<=}"),
    (
        DC((Predicate(Cell("t", STATE), "!=", Cell("s", STATE)),
            Predicate(Cell("t", ZIP), "=", Cell("s", ZIP)))),
        "not(t.zip = s.zip and t.state != s.state)",
    ),
    (DC((Predicate(Cell("t", STATE), "=", Constant("NY's")),)), "not(t.state = 'NY''s')"),
    (DC((Predicate(Cell("s", PRICE), "<", Constant(-1.5)),)), 'not(s."unit price" < -1.5)'),
    (DC((Predicate(Cell("t", DAY), "=", Constant(True)),)), "not(t.day = true)"),
    (DC(()), "not()"),
]  # fmt: skip


@pytest.mark.parametrize(("law", "text"), WRITTEN)
def test_the_notation_of_each_family(law, text):
    assert format_law(law, NAMES) == text
    assert parse_law(text, NAMES) == law


CONVENIENCES = [
    ("{zip, state} -> day", FD((ZIP, STATE), DAY)),
    ("{zip, state}: [] -> day", FD((ZIP, STATE), DAY)),
    ("{}:[\n]->zip", FD((), ZIP)),
    ("  zip->state  # why not", FD((ZIP,), STATE)),
    ("zip\n->\nstate", FD((ZIP,), STATE)),
    ("KEY ( zip )", Key((ZIP,))),
    ("{month}: day desc ~ zip desc", CanonicalOD((MONTH,), ZIP, DAY, "asc")),
    ("{month}: day desc ~ zip", CanonicalOD((MONTH,), ZIP, DAY, "desc")),
    ("[month, day DESC] -> [zip]", ListOD(((MONTH, "asc"), (DAY, "desc")), ((ZIP, "asc"),))),
    ("{zip<, day>=} -> {state>}", POD(((ZIP, ">"), (DAY, "<=")), (STATE, "<"))),
    ("Not(s.zip = t.zip AND 'NY' = t.state)", DC((
        Predicate(Cell("t", ZIP), "=", Cell("s", ZIP)), Predicate(Cell("t", STATE), "=", Constant("NY"))))),
    ("not(5 < s.day and s.day > 5.0)", DC((Predicate(Cell("s", DAY), ">", Constant(5)),))),
    ("not(t.day = 15e-1)", DC((Predicate(Cell("t", DAY), "=", Constant(1.5)),))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "law"), CONVENIENCES)
def test_what_is_read_but_never_written(text, law):
    assert parse_law(text, NAMES) == law


def test_keywords_are_quoted_when_they_are_names():
    assert format_law(Key((0, 1, 2, 3)), ["key", "Asc", "t", "keys"]) == 'key("key", "Asc", t, keys)'


def test_the_examples_of_the_manual_are_laws():
    manual = (Path(__file__).parents[2] / "docs" / "notation.md").read_text(encoding="utf-8")
    column_names = ["zip", "street", "state", "year", "month", "day", "amount", "no", "salary", "tax", "rate"]
    examples = re.findall(r"^\| (?:key|[a-z -]+ dependency|denial constraint) \| `(.+?)` \|", manual, re.MULTILINE)
    assert [kind_of(parse_law(text, column_names)) for text in examples] == list(kinds())
    assert all(format_law(parse_law(text, column_names), column_names) == text for text in examples)
    documents = [json.loads(line) for line in re.findall(r"^    (\{\"kind\".*)$", manual, re.MULTILINE)]
    assert [kind_of(law) for law in from_documents(documents, column_names)] == list(kinds())


def test_keywords_are_names_where_a_name_is_expected():
    column_names = ["key", "not", "asc", "desc", "and", "t", "s", "true"]
    assert parse_law("key -> not", column_names) == FD((0,), 1)
    assert parse_law("{t}: desc desc ~ asc", column_names) == CanonicalOD((5,), 2, 3, "desc")
    assert parse_law("not(t.t = s.s and t.and = true)", column_names) == DC(
        (Predicate(Cell("t", 5), "=", Cell("s", 6)), Predicate(Cell("t", 4), "=", Constant(True)))
    )


def test_several_right_sides_and_several_laws():
    text = "# all laws\nzip -> state, day;key(zip)\n\n  not(t.zip = s.zip\n  and t.day < s.day)  # two lines\n"
    assert parse_laws(text, NAMES) == [
        FD((ZIP,), STATE),
        FD((ZIP,), DAY),
        Key((ZIP,)),
        parse_law("not(t.zip = s.zip and t.day < s.day)", NAMES),
    ]
    assert parse_laws("{} -> zip, day", NAMES) == [FD((), ZIP), FD((), DAY)]
    assert parse_laws("{zip}: [] -> state, day; {}: [] -> zip", NAMES) == [
        FD((ZIP,), STATE),
        FD((ZIP,), DAY),
        FD((), ZIP),
    ]
    assert parse_laws(" \n # nothing\n;;", NAMES) == []


BAD = [
    ("", 0, "Expected a law"),
    ("   ", 0, "Expected a law"),
    ("zip", 3, "Expected '->', but the text ends"),
    ("zip ->", 6, "Expected a column name"),
    ("zip -> state day", 13, "Expected the end"),
    ("zip code -> state", 4, "Expected '->'"),
    ("zip -> stat", 7, 'no column named "stat"'),
    ("zip -> zip", 7, "right side"),
    ("zip -> state, day", 12, "Only one law"),
    ("zip -> state; day -> zip", 12, "Only one law"),
    ("unit price -> zip", 0, 'Did you mean "unit price"'),
    ("ZIP -> day", 0, 'Did you mean "zip"'),
    ("zip-code -> state", 3, "no meaning"),
    ("1st -> zip", 0, "digit"),
    ('"zip -> state', 0, "never closed"),
    ('zip -> """', 7, "never closed"),
    ("not(t.zip = 'NY)", 12, "never closed"),
    ("foo(zip)", 0, "no form of law"),
    ("key(zip", 7, "',' or '\\)'"),
    ("key(zip,)", 8, "a column name"),
    ("{zip}", 5, "Expected '->'"),
    ("{zip<}: day ~ state", 1, "no operators"),
    ("{zip}: zip ~ day", 0, "its own context"),
    ("{}: zip ~ zip", 0, "two different"),
    ("{}: zip day", 8, "Expected '~'"),
    ("{zip}: [day] -> state", 8, "Expected ']'"),
    ("{zip}: []: state", 9, "Expected '->'"),
    ("{zip}: [] -> zip", 13, "right side"),
    ("{zip}: [] -> [day]", 13, "Expected a column name"),
    ("{zip<}: [] -> day", 1, "no operators"),
    ("{zip} -> {day<}", 1, "needs an operator"),
    ("{zip<, day} -> {state<}", 7, "needs an operator"),
    ("{zip<} -> day", 10, "Expected '{'"),
    ("{zip<} -> {day}", 14, "one of < <= = >= >"),
    ("{zip!=} -> {day<}", 4, "',' or '}'"),
    ("{zip<} -> {zip<}", 0, "only once"),
    ("[zip, zip desc] -> [day]", 0, "same column twice"),
    ("[zip] -> day", 9, "Expected '\\['"),
    ("[zip up] -> [day]", 5, "',' or '\\]'"),
    ("not(t.zip = s.zip or t.day = s.day)", 18, "'and' or '\\)'"),
    ("not(t.zip = s.zip and)", 21, "t.column"),
    ("not(t.zip = state)", 12, "t.column"),
    ("not(t.zip ~ s.zip)", 10, "one of = <"),
    ("not(u.zip = s.zip)", 4, "t.column"),
    ("not(t.zip = t.zip)", 4, "itself"),
    ("not(1 = 2)", 4, "two constants"),
    ("not(t.zip = 1e999)", 12, "digits"),
    ("not(t.zip = 1e9999999999999999999)", 12, "number"),
    ("not(t.zip = " + "9" * 5000 + ")", 12, "too long"),
    ("not t.zip = s.zip", 0, 'no column named "not"'),
]


@pytest.mark.parametrize(("text", "position", "reason"), BAD)
def test_errors_point_at_the_character(text, position, reason):
    with pytest.raises(NotationError, match=reason) as caught:
        parse_law(text, NAMES)
    assert caught.value.position == position
    assert caught.value.text == text
    excerpt, caret = caught.value.message.split("\n")[-2:]
    assert caret.strip() == "^"
    assert excerpt[caret.index("^") :].startswith(text.strip()[position : position + 20])


def test_errors_in_several_lines_show_the_line():
    text = "zip -> state\r\nkey(zap)\nday -> zip"
    with pytest.raises(NotationError) as caught:
        parse_laws(text, NAMES)
    assert caught.value.position == text.index("zap")
    assert caught.value.message.split("\n") == [
        'Line 2, character 5: There is no column named "zap".',
        "  key(zap)",
        "      ^",
    ]
    assert 'Did you mean "zip"?' in str(caught.value)


def test_a_law_ends_with_its_line_unless_a_bracket_is_open():
    with pytest.raises(NotationError, match="the line ends") as caught:
        parse_laws("zip ->\nstate", NAMES)
    assert caught.value.position == 6


def test_the_caret_counts_cells_of_the_terminal():
    text = '"数量", "e\u0301" -> nowhere'
    with pytest.raises(NotationError) as caught:
        parse_law(text, ["数量", "e\u0301"])
    assert caught.value.message.split("\n")[-1] == "  " + " " * (text.index("nowhere") + 2 - 1) + "^"


def test_long_lines_and_control_characters_are_shown_shortened_and_harmless():
    text = 'zip, "\x1b[31m\t"' + ", zip" * 1000 + " -> nowhere" + " # tail" * 1000
    with pytest.raises(NotationError) as caught:
        parse_law(text, ["zip", "\x1b[31m\t"])
    _, excerpt, caret = caught.value.message.split("\n")
    assert len(excerpt) < 120
    assert excerpt[caret.index("^") :].startswith("nowhere")
    with pytest.raises(NotationError) as caught:
        parse_law('"\x1b[31m\t" -> nowhere', ["zip", "\x1b[31m\t"])
    assert "\x1b" not in caught.value.message
    assert "\t" not in caught.value.message


def test_unknown_columns_without_a_close_name_list_the_columns():
    with pytest.raises(NotationError, match='The columns are "zip", "state"'):
        parse_law("qqqq -> zip", NAMES)
    with pytest.raises(NotationError, match="no column named"):
        parse_law(f'"{"x" * 100_000}" -> zip', ["y" * 100_000, "zip"])


def test_a_text_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(tokens, "LONGEST_TEXT", 100)
    with pytest.raises(NotationError, match="too long"):
        parse_laws("zip -> state\n" * 10, NAMES)


def test_deep_brackets_do_not_exhaust_the_stack():
    for bracket in "({[":
        with pytest.raises(NotationError):
            parse_law(bracket * 100_000, NAMES)


@given(st.text(alphabet="zip state{}[]()->:,~.<>=!'\"#;\n\t15ets and not key", max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text):
    refusal, read = None, []
    try:
        read = parse_laws(text, NAMES)
    except NotationError as error:
        refusal = error
    if refusal is not None:
        assert 0 <= refusal.position <= len(text)
        assert pickle.loads(pickle.dumps(refusal)).position == refusal.position
    assert parse_laws("\n".join(format_law(law, NAMES) for law in read), NAMES) == read


def test_a_law_over_more_columns_than_there_are_names():
    with pytest.raises(UsageError, match="column 7"):
        format_law(Key((7,)), NAMES)


@pytest.mark.parametrize(
    ("text", "found", "meant"),
    [
        ("not(t.a <> s.a)", "<>", "!="),
        ("not(t.a == s.a)", "==", "="),
        ("not(t.a ≠ s.a)", "≠", "!="),
        ("a => b", "=>", "->"),
        ("a → b", "→", "->"),
        ("{a≤} -> {b=}", "≤", "<="),
    ],
)
def test_signs_of_other_languages_are_told_how_they_are_written_here(text: str, found: str, meant: str) -> None:
    with pytest.raises(NotationError, match=f"'{found}' has no meaning here.") as refused:
        parse_law(text, ["a", "b"])
    assert (refused.value.hint, refused.value.position) == (f"Write '{meant}'.", text.index(found))
