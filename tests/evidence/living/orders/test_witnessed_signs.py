"""Vectors of signs are those of the values, whichever way round a pair is given, and last as long as their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from maintenance.changing_tables import Row, arrow_of

from lawful.common.meanings import NullPolicy
from lawful.evidence.living.orders import TableKeys
from lawful.evidence.living.orders.witnessed_signs import WitnessedSigns
from lawful.tables.living.living_table import LivingTable
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import ReadOptions

Signs = tuple[str, ...]


def rows_at_random(width: int) -> list[Row]:
    chance = np.random.default_rng(2)
    return [tuple(None if cell < 0 else int(cell) for cell in chance.integers(-1, 12, width)) for _ in range(12)]


def sign(one: int | None, other: int | None, policy: NullPolicy) -> str:
    if policy is NullPolicy.IGNORE and (one is None or other is None):
        return "?"
    a, b = (-1 if value is None else value for value in (one, other))
    return "<" if a < b else "=" if a == b else ">"


def signs_of(one: Row, other: Row, policy: NullPolicy) -> Signs:
    """The signs of a pair, the way round that is kept."""
    signs = tuple(sign(a, b, policy) for a, b in zip(one, other, strict=True))
    falls = next((each for each in signs if each in "<>"), "<") == ">"
    return tuple({"<": ">", ">": "<"}.get(each, each) for each in signs) if falls else signs


def unpacked(kept: WitnessedSigns) -> list[Signs]:
    signs = kept.signs()
    planes = [np.unpackbits(plane.view(np.uint8), axis=1, bitorder="little") for plane in (signs.less, signs.greater)]
    told = np.array(["=", "<", ">", "?"])[planes[0] + 2 * planes[1]]
    return [tuple(line) for line in told[:, : kept.width].tolist()]


def expected(rows: Sequence[Row], pairs: np.ndarray, policy: NullPolicy) -> set[Signs]:
    return {signs_of(rows[one], rows[other], policy) for one, other in pairs.tolist()}


@pytest.mark.parametrize("policy", list(NullPolicy))
@pytest.mark.parametrize("width", [1, 3, 64, 70])
def test_vectors_are_those_of_the_values(width: int, policy: NullPolicy) -> None:
    rows = rows_at_random(width)
    table = LivingTable.of(encode_arrow(arrow_of(rows, width), ReadOptions(), "compared"))
    kept = WitnessedSigns(TableKeys(table), policy)
    pairs = np.array(list(combinations(range(len(rows)), 2)), np.int32)
    given = pairs.copy()
    came = kept.add(pairs)
    assert np.array_equal(pairs, given)
    found = unpacked(kept)
    assert len(found) == len(set(found)) == len(kept) == len(came)
    assert set(found) == expected(rows, pairs, policy)
    assert not len(kept.add(pairs[:, ::-1])), "a mirror image is the same vector"
    for vector, places in zip(found, kept.pairs, strict=True):
        for one, other in places[places[:, 0] >= 0].tolist():
            told = tuple(sign(a, b, policy) for a, b in zip(rows[one], rows[other], strict=True))
            assert told == vector, "witnesses stand as their vector compares them"
    live = np.arange(len(rows)) % 3 > 0
    lost = kept.drop(live)
    assert len(lost) + len(kept) == len(found)
    assert set(unpacked(kept)) <= expected(rows, pairs[live[pairs].all(axis=1)], policy)
