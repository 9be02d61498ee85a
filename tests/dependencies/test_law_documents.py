"""Laws as JSON: there and back, and hostile documents refused by the name of the field."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import named_laws

from lawful.common.errors import SourceError, UsageError
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
    from_document,
    from_documents,
    kinds,
    to_document,
)

NAMES = ["a", "b", "c"]


@given(named_laws())
def test_documents_give_the_law_back(drawn):
    law, names = drawn
    document = to_document(law, names)
    assert document["text"] == format_law(law, names)
    assert from_document(document, names) == law
    assert from_document(json.loads(json.dumps(document)), names) == law


CONTRACTS = [
    (Key((0,)), {"kind": "key", "columns": ["a"]}),
    (FD((0,), 1), {"kind": "fd", "lhs": ["a"], "rhs": "b"}),
    (
        CanonicalOD((0,), 1, 2, "desc"),
        {"kind": "canonical-od", "context": ["a"], "left": "b", "right": "c", "direction": "desc"},
    ),
    (ListOD(((0, "asc"),), ((1, "desc"),)),
     {"kind": "list-od", "lhs": [["a", "asc"]], "rhs": [["b", "desc"]]}),
    (POD(((0, "<"),), (1, "<=")), {"kind": "pod", "lhs": [["a", "<"]], "rhs": ["b", "<="]}),
    (
        DC((Predicate(Cell("t", 0), "=", Cell("s", 0)), Predicate(Cell("t", 1), "!=", Cell("s", 1)))),
        {"kind": "dc", "predicates": [["t", "a", "=", "s", "a"], ["t", "b", "!=", "s", "b"]]},
    ),
    (
        DC((Predicate(Cell("t", 0), "=", Constant(0.5)), Predicate(Cell("s", 1), "!=", Constant("x")))),
        {"kind": "dc", "predicates": [["t", "a", "=", "const", 0.5], ["s", "b", "!=", "const", "x"]]},
    ),
    (
        DC((Predicate(Cell("t", 0), "=", Constant(Decimal("0.1000000000000000000000001"))),)),
        {"kind": "dc", "predicates": [["t", "a", "=", "const", {"decimal": "0.1000000000000000000000001"}]]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("law", "document"), CONTRACTS)
def test_the_document_of_each_family(law, document):
    written = to_document(law, NAMES)
    assert written.pop("text") == format_law(law, NAMES)
    assert written == document
    assert from_document({**document, "error": 0.1, "interest": 2, "text": "ignored"}, NAMES) == law


HOSTILE = [
    (None, "dependency must be an object"),
    ([], "must be an object"),
    ({}, "no field 'kind'"),
    ({"kind": "ucc"}, r"dependency\.kind must be one of key, fd"),
    ({"kind": ["key"]}, r"dependency\.kind"),
    ({"kind": "key"}, "no field 'columns'"),
    ({"kind": "key", "columns": "a"}, r"dependency\.columns must be an array"),
    ({"kind": "key", "columns": ["a", 1]}, r"dependency\.columns\[1\] must be the name"),
    ({"kind": "key", "columns": ["x"]}, r'dependency\.columns\[0\]: There is no column named "x"'),
    ({"kind": "fd", "lhs": ["a"]}, "no field 'rhs'"),
    ({"kind": "fd", "lhs": ["a"], "rhs": ["b"]}, r"dependency\.rhs must be the name"),
    ({"kind": "fd", "lhs": ["a"], "rhs": "a"}, "dependency: A functional"),
    ({"kind": "canonical-od", "context": [], "left": "a", "right": "b", "direction": "up"}, "direction must"),
    ({"kind": "canonical-od", "context": [], "left": "a", "right": "a", "direction": "asc"}, "two different"),
    ({"kind": "list-od", "lhs": [["a"]], "rhs": []}, r"dependency\.lhs\[0\] must have 2 elements, but has 1"),
    ({"kind": "list-od", "lhs": [["a", 5]], "rhs": []}, r"dependency\.lhs\[0\]\[1\] must be one of asc"),
    ({"kind": "pod", "lhs": [["a", "!="]], "rhs": ["b", "<"]}, r"dependency\.lhs\[0\]\[1\]"),
    ({"kind": "pod", "lhs": [], "rhs": ["b", ">"]}, r"dependency\.rhs\[1\] must be one of <, <=, ="),
    ({"kind": "dc", "predicates": {}}, r"dependency\.predicates must be an array"),
    ({"kind": "dc", "predicates": [["t", "a", "="]]}, r"predicates\[0\] must have 5 elements"),
    ({"kind": "dc", "predicates": [["u", "a", "=", "s", "a"]]}, r"predicates\[0\]\[0\]"),
    ({"kind": "dc", "predicates": [["t", "a", "~", "s", "a"]]}, r"predicates\[0\]\[2\]"),
    ({"kind": "dc", "predicates": [["t", "a", "=", "v", "a"]]}, r"\[0\]\[3\] must be .* t, s, const"),
    ({"kind": "dc", "predicates": [["t", "a", "=", "t", "a"]]}, r"predicates\[0\]: .*itself"),
    ({"kind": "dc", "predicates": [["t", "a", "=", "const", None]]}, r"predicates\[0\]\[4\] must be text"),
    ({"kind": "dc", "predicates": [["t", "a", "=", "const", {"decimal": "x"}]]}, r"\[0\]\[4\]: 'x'"),
    ({"kind": "dc", "predicates": [["t", "a", "=", "const", {"decimal": "NaN"}]]}, r"finite"),
    ({"kind": "dc", "predicates": [["t", "a", "=", "const", float("nan")]]}, r"\[0\]\[4\]: .*finite"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "reason"), HOSTILE)
def test_errors_name_the_field(document, reason):
    with pytest.raises(SourceError, match=reason):
        from_document(document, NAMES)


def test_errors_about_huge_values_stay_short():
    nested = []
    for _ in range(900):
        nested = [nested]
    for value in (nested, ["x"] * 10**6, {"x": "y" * 10**6}):
        with pytest.raises(SourceError) as caught:
            from_document({"kind": "fd", "lhs": [], "rhs": value}, NAMES)
        assert len(caught.value.message) < 300


def test_errors_name_the_entry():
    good, bad = {"kind": "key", "columns": ["a"]}, {"kind": "fd", "lhs": [], "rhs": "bb"}
    assert from_documents([good, good], NAMES) == [Key((0,))] * 2
    with pytest.raises(SourceError, match=r"dependencies\[1\]\.rhs: There is no column"):
        from_documents([good, bad], NAMES)
    with pytest.raises(SourceError, match="dependencies must be an array"):
        from_documents({"kind": "key"}, NAMES)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([*NAMES, *kinds(), "t", "s", "const", "<", "=", "asc"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["decimal", "x"]), inner),
    max_leaves=8,
)
FIELDS = ["columns", "lhs", "rhs", "context", "left", "right", "direction", "predicates"]


@given(st.sampled_from(kinds()), st.fixed_dictionaries(dict.fromkeys(FIELDS, json_values)))
def test_any_document_is_read_or_refused_on_purpose(kind, fields):
    try:
        law = from_document({"kind": kind, **fields}, NAMES)
    except SourceError:
        return
    assert from_document(to_document(law, NAMES), NAMES) == law


def test_a_law_over_more_columns_than_there_are_names():
    with pytest.raises(UsageError, match="column 7"):
        to_document(Key((7,)), NAMES)
