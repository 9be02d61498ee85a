"""Every way of giving laws as texts, as the command line does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lawful.common.errors import LawfulError, NotationError, SourceError
from lawful.dependencies import FD, CanonicalOD, Key, Law
from lawful.runs.laws_input import given_laws

NAMES = ["zip", "city", "state", "unit price"]
DOCUMENT = {"format": "lawful/1", "dependencies": [{"kind": "fd", "lhs": ["zip"], "rhs": "state", "holds": False}]}


def read_laws(choices: list[str], names: list[str]) -> list[Law]:
    return given_laws(choices).laws(names)


def test_laws_are_read_in_the_order_given_each_once(tmp_path: Path) -> None:
    texts = tmp_path / "laws.txt"
    texts.write_text("# places nest\nzip -> city\n{state}: zip ~ city desc\n")
    document = tmp_path / "laws.json"
    document.write_text(json.dumps(DOCUMENT))
    assert read_laws(["key(zip)", str(texts), "zip -> state, city", str(document)], NAMES) == [
        Key((0,)),
        FD((0,), 1),
        CanonicalOD((2,), 0, 1, "desc"),
        FD((0,), 2),
    ]


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("{state}: zip ~ city", CanonicalOD((2,), 0, 1, "asc")),
        ("{}: zip ~ city", CanonicalOD((), 0, 1, "asc")),
        ('{"unit price"}: zip ~ city', CanonicalOD((3,), 0, 1, "asc")),
        ('{"unit price", zip} -> city', FD((0, 3), 1)),
        ("\ufeffzip -> city", FD((0,), 1)),
    ],
)
def test_a_file_may_begin_with_a_brace(tmp_path: Path, text: str, law: object) -> None:
    path = tmp_path / "laws"
    path.write_text(text + "\n", "utf-8")
    assert read_laws([str(path)], NAMES) == [law]


@pytest.mark.parametrize("name", ["laws", "laws.txt", "laws.json", "laws.data"])
def test_a_document_is_known_by_its_beginning(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\ufeff \n" + json.dumps(DOCUMENT, indent=1), "utf-8")
    assert read_laws([str(path)], NAMES) == [FD((0,), 2)]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("laws.json", b"[]", "is not a document of laws"),
        ("laws.json", b"{}", "is not a document of laws"),
        ("laws", b"{ }\n", "is not a document of laws"),
        ("laws.json", b"zip -> city", "is not valid JSON"),
        ("laws.json", b"[" * 100_000, "is not valid JSON"),
        ("laws", b'{"format": "lawful/1", ', "is not valid JSON"),
        ("laws", b'{"format": "lawful/2", "dependencies": []}', "is not a document of laws"),
        ("laws", b'{"format": "lawful/1", "dependencies": {}}', "is not a document of laws"),
        ("laws", b'{"format": "lawful/1", "dependencies": [{"kind": "fd"}]}', "dependencies[0] has no field 'lhs'"),
        ("laws", b"\xff\xfe", "cannot be read as text"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SourceError) as refusal:
        read_laws([str(path)], NAMES)
    assert refusal.value.message.startswith(f"{path}: ")
    assert words in refusal.value.message


def test_a_mistake_in_a_file_is_shown_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "laws.txt"
    path.write_text("zip -> city\nzip -> stat\n")
    with pytest.raises(NotationError) as refusal:
        read_laws([str(path)], NAMES)
    assert refusal.value.message.startswith(f"{path}: ")
    assert "zip -> stat\n" in refusal.value.message
    assert refusal.value.hint == 'Did you mean "state"?'


def test_a_law_that_is_no_file_name_at_all() -> None:
    with pytest.raises(LawfulError):
        read_laws(["zip -> " + "x" * 5_000], NAMES)
    with pytest.raises(LawfulError):
        read_laws(["zip\0 -> city"], NAMES)
