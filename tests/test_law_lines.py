"""Lines of laws that are put together by the thousand are those that are written one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.dependencies import FD, Key, format_law
from lawful.results.json_files import json_pieces
from lawful.results.law_entries import _FEW, LawEntries
from lawful.results.law_lines import NotationLines
from lawful.results.packed_laws import AT_ONCE, NO_RIGHT_SIDE, PackedLaws, PackedPart
from lawful.results.ranking import Ranking
from lawful.search import pack_sets

WIDTH = 70
HOSTILE = ['"', "\\", "a b", "\n", "\x1b", "\u2028", "ü", "\U0001f642", "\ud800"]
NAMES = st.lists(st.text(max_size=6) | st.sampled_from(HOSTILE), max_size=20, unique=True).map(
    lambda names: [*names, *(f"column {place}" for place in range(WIDTH - len(names)))]
)
SETS = st.lists(st.frozensets(st.integers(0, WIDTH - 2), max_size=5), min_size=1, max_size=8, unique=True)


@given(NAMES, SETS)
def test_laws_in_their_notation(names: list[str], sets: list[frozenset[int]]) -> None:
    packed, writer = pack_sets(sets, WIDTH), NotationLines(names)
    fds = [FD(tuple(columns), WIDTH - 1) for columns in sets]
    for goal, laws in ((WIDTH - 1, fds), (NO_RIGHT_SIDE, [Key(tuple(columns)) for columns in sets])):
        expected = "".join(json.dumps(format_law(law, names)) + "\n" for law in laws)
        assert writer.lines(packed, goal).decode("ascii") == expected


def _ranking(sets: list[frozenset[int]], *, has_errors: bool) -> Ranking:
    packed, interests = pack_sets(sets, WIDTH), [1.0, 1 / 3, 1e-7, 0.5, 0.25, 2 / 3, 1e-12, 0.1]
    known = dict(zip(map(bytes, packed), interests, strict=False))
    errors = np.arange(len(sets)) / 7 if has_errors else None

    def rate(some: np.ndarray) -> np.ndarray:
        return np.array([known[bytes(one)] for one in some])

    keys = PackedLaws((PackedPart(NO_RIGHT_SIDE, packed, errors),), rate)
    return Ranking(keys, PackedLaws((PackedPart(WIDTH - 1, packed, errors),), rate))


@given(NAMES, SETS, st.booleans(), st.booleans())
def test_entries_of_a_document(
    names: list[str], sets: list[frozenset[int]], ensure_ascii: bool, has_errors: bool
) -> None:
    entries = LawEntries(_ranking(sets, has_errors=has_errors), names)
    one_by_one = "".join(json_pieces({"dependencies": list(entries)}, ensure_ascii=ensure_ascii))
    assert "".join(json_pieces({"dependencies": entries}, ensure_ascii=ensure_ascii)) == one_by_one
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lawful.results.law_entries._FEW", 0)  # so that kernels write even so few
        assert "".join(json_pieces({"dependencies": entries}, ensure_ascii=ensure_ascii)) == one_by_one


def test_many_entries_come_in_pieces_and_are_counted() -> None:
    count = 2 * AT_ONCE + _FEW
    sets = np.arange(1, count + 1, dtype=np.uint64).reshape(-1, 1)
    names, told = [f"c{place}" for place in range(40)], []
    fds = PackedLaws((PackedPart(39, sets),), lambda some: np.ones(len(some)))
    entries = LawEntries(Ranking(PackedLaws((), fds.rate), fds), names, told.append)
    text = "".join(json_pieces({"dependencies": entries}))
    assert json.loads(text)["dependencies"] == list(entries)
    assert text.count("\n") == count + 4
    assert told == [AT_ONCE, 2 * AT_ONCE, count]
